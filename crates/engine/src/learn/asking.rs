//! Asking a language model what a session taught: one call per session at most.
//!
//! `session_texts` and `dossier` compose what the model is shown, `prompt.md` tells it what to do, and
//! the crate `promote` checks its answer. `question` makes the call and stores the claims that pass as
//! memories, and all of them as sightings, which `explain` shows.

mod dossier;
mod question;
mod session_texts;

use std::path::{Path, PathBuf};

use observe::{Scratchpad, SessionOverview};
use source::Transcript;

use crate::draft_resolution::similar_memories;
use crate::learn::transcript::visit_transcript;
use crate::rules::list_rules;
use crate::{Error, ProjectReader};

pub use question::{AnsweredQuestion, AskCounts, AskLimits, QuestionOutcome};
pub(crate) use question::{ask_about, count_calls, is_model_claim};

use dossier::{DossierContext, SessionDossier, compose_dossier};
use session_texts::SessionTexts;

/// The system prompt.
pub(crate) const ASK_PROMPT: &str = include_str!("asking/prompt.md");
/// Memories that the model is told of, so that it does not repeat them.
const MAX_KNOWN_MEMORIES: u32 = 12;
/// Failed commands by which these are looked up.
const MAX_SUBJECT_COMMANDS: usize = 5;
/// Fewest episodes (interventions, failures, plans, conclusions) that are worth a call.
pub(crate) const MIN_EPISODES: usize = 4;

/// The folder in which agent programs run that are asked a question. It belongs to no project, so that
/// their sessions are never learned from.
pub fn ask_folder(data: &Path) -> PathBuf {
    data.join("ask")
}

/// A question about a session as a model gets it.
#[derive(Clone, Debug)]
pub struct PreparedQuestion {
    pub system: &'static str,
    pub dossier: String,
    pub n_episodes: usize,
    /// Estimated tokens of both.
    pub n_tokens: u32,
}

impl PreparedQuestion {
    /// Returns whether the session holds enough to be worth a call.
    pub const fn is_worth_asking(&self) -> bool {
        self.n_episodes >= MIN_EPISODES
    }
}

/// A session with its dossier, and everything that the answer is checked against.
struct SessionMaterial {
    session: SessionOverview,
    pad: Scratchpad,
    dossier: SessionDossier,
    context: DossierContext,
}

/// Composes the question about a session; `None` if the file is not a transcript with a session.
pub(crate) async fn prepare_question(
    reader: &ProjectReader,
    transcript: &Transcript,
) -> Result<Option<PreparedQuestion>, Error> {
    let material = read_material(reader, transcript).await?;
    Ok(material.map(|it| PreparedQuestion {
        system: ASK_PROMPT,
        n_episodes: it.dossier.n_moments,
        n_tokens: it.dossier.n_tokens + recall::estimate_tokens(ASK_PROMPT),
        dossier: it.dossier.text,
    }))
}

/// Reads a session a second time, with its texts, and composes its dossier.
async fn read_material(
    reader: &ProjectReader,
    transcript: &Transcript,
) -> Result<Option<SessionMaterial>, Error> {
    let mut texts = SessionTexts::default();
    let parsed = visit_transcript(reader, transcript, &mut |pad, event| texts.observe(pad, event))?;
    let Some(pad) = parsed.map(|it| it.pad) else { return Ok(None) };
    let Some(session) = observe::summarise_session(&pad) else { return Ok(None) };
    let context = load_context(reader, &session, &pad).await?;
    let dossier = compose_dossier(&session, &pad, &texts, &context);
    Ok(Some(SessionMaterial { session, pad, dossier, context }))
}

/// Loads the rules and memories that are nearest to what the session was about.
async fn load_context(
    reader: &ProjectReader,
    session: &SessionOverview,
    pad: &Scratchpad,
) -> Result<DossierContext, Error> {
    let edited = session.files.iter().filter(|it| it.edits > 0).map(|it| it.path.as_str());
    let edited: Vec<&str> = edited.take(20).collect();
    let failed = pad.errors.iter().filter_map(|it| pad.calls[it.call as usize].command);
    let failed: Vec<&str> =
        failed.take(MAX_SUBJECT_COMMANDS).map(|it| pad.strings.text(it)).collect();
    let subject = format!("{} {} {}", session.task, edited.join(" "), failed.join(" "));
    let words = model::words::query_keywords(&subject);
    let mut rules: Vec<String> = Vec::new();
    for rule in list_rules(reader).into_iter().flat_map(|it| it.rules) {
        rules.push(secrets::redact(&rule.text).text);
    }
    // Stable: rules that share as many words stay in the order of the file.
    rules.sort_by_key(|it| {
        let lower = it.to_lowercase();
        std::cmp::Reverse(words.iter().filter(|word| lower.contains(word.as_str())).count())
    });
    let mut known = Vec::new();
    if let Some(store) = reader.project_store_reader() {
        let memories = similar_memories(&store, &subject, MAX_KNOWN_MEMORIES).await?;
        // A tainted text may carry instructions to the model.
        known = memories.into_iter().filter(|it| !it.flags.tainted).collect();
    }
    Ok(DossierContext { rules, known })
}
