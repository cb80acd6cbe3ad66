//! What an agent is told at a moment of its session, and nothing when nothing is worth saying.
//!
//! A memory is shown once per session. Whoever calls decides what an error means; a hook says nothing
//! then.

use std::collections::HashSet;

use agents::{Heard, Moment, Root};
use model::{Kind, Memory, MemoryId, Phase, ProjectPath, SignalKind, Status};
use observe::shell::{self, Deed};
use observe::{Evidence, Modules, Seen, Support};
use recall::frame;
use store::{SessionRow, SightingRow, Store};

use super::context::{Context, Occasion};
use crate::learn::uses::stamped;
use crate::{Engine, Error};

/// Tokens of what is said when a session begins, and when a person has said what is to be done.
const START: u32 = 1_000;
const PROMPT: u32 = 800;
/// A prompt with fewer letters says nothing to search with: `go on`, `yes please`.
const SAYS_NOTHING: usize = 12;
/// The most warnings about one file at a time.
const WARNINGS: usize = 4;
/// A warning that takes more bytes than this is told by its summary: four of them stay within what
/// hosts pass on, and a block is never cut.
const LONG: usize = 2_000;
/// Stands for the errors to expect among what was shown.
const OUTLOOK: &str = "outlook";
/// What a fix is called that one session found.
const ONCE: &str = "seen once";

/// Something to say, and what is not to be said again.
struct Said {
    text: String,
    words: Vec<String>,
}

impl Engine {
    /// What to tell the agent now, if anything.
    pub async fn attend(&self, heard: &Heard) -> Result<Option<String>, Error> {
        Ok(self.attend_to(heard).await?.map(|it| it.0))
    }

    /// As `attend`, with the memories that the text speaks of.
    pub async fn attend_to(&self, heard: &Heard) -> Result<Option<(String, Vec<MemoryId>)>, Error> {
        let log = self.shown_log(&heard.session);
        if heard.moment == (Moment::Start { compacted: true }) {
            log.clear();
        }
        let shown = log.read();
        let said = match &heard.moment {
            Moment::Start { .. } => self.said_to(heard, "", START, &shown).await?,
            Moment::Prompt { text } if text.trim().len() > SAYS_NOTHING => {
                self.said_to(heard, text, PROMPT, &shown).await?
            }
            Moment::Touched { paths } => self.warned(heard, paths, &shown).await?,
            Moment::Failed { tool, command, answer } => {
                let class = command.as_ref().map_or_else(|| tool.clone(), |it| shell::head(it));
                self.fix(&class, answer, &shown).await?
            }
            Moment::Ran { command, answer } => self.after(heard, command, answer, &shown).await?,
            Moment::Prompt { .. } | Moment::End | Moment::Other => None,
        };
        let Some(said) = said else { return Ok(None) };
        log.add(&said.words)?;
        let memories = said.words.iter().filter_map(|it| it.parse().ok()).collect();
        Ok(Some((said.text, memories)))
    }

    /// What an agent should know when it begins, but for what its session has heard already. Noted as
    /// said.
    pub async fn tell_start(&self, session: &str, occasion: Occasion) -> Result<Context, Error> {
        let context = self.context_start(&self.unheard(session, occasion)).await?;
        self.note_context(session, &context)?;
        Ok(context)
    }

    /// What an agent should know about files, but for what its session has heard already. Noted as said.
    pub async fn tell_file(&self, session: &str, occasion: Occasion) -> Result<Context, Error> {
        let context = self.context_file(&self.unheard(session, occasion)).await?;
        self.note_context(session, &context)?;
        Ok(context)
    }

    fn unheard(&self, session: &str, occasion: Occasion) -> Occasion {
        let shown = self.shown_log(session).read();
        let outlook = occasion.outlook && !shown.contains(OUTLOOK);
        Occasion { already_shown: ids(&shown), outlook, ..occasion }
    }

    /// Notes that a session has heard what is in a context.
    pub fn note_context(&self, session: &str, context: &Context) -> Result<(), Error> {
        Ok(self.shown_log(session).add(&self.words_of(context))?)
    }

    /// Notes that a session has heard these memories: it asked for them.
    pub fn note_heard(
        &self,
        session: &str,
        memories: impl Iterator<Item = MemoryId>,
    ) -> Result<(), Error> {
        let words: Vec<String> = memories.flat_map(|it| self.noted(it)).collect();
        Ok(self.shown_log(session).add(&words)?)
    }

    /// The conversation in which a session was told things is gone; they may be told again.
    pub fn forget_heard(&self, session: &str) {
        self.shown_log(session).clear();
    }

    fn words_of(&self, context: &Context) -> Vec<String> {
        let ids = context.placed.iter().flat_map(|it| self.noted(it.hit.shown.memory.id));
        let outlook = (!context.outlook.is_empty()).then(|| OUTLOOK.to_owned());
        ids.chain(outlook).collect()
    }

    async fn said_to(
        &self,
        heard: &Heard,
        task: &str,
        budget: u32,
        shown: &HashSet<String>,
    ) -> Result<Option<Said>, Error> {
        let occasion = Occasion {
            task: task.to_owned(),
            budget: Some(budget),
            already_shown: ids(shown),
            general: task.is_empty(),
            outlook: !shown.contains(OUTLOOK),
            host: heard.host,
            ..Occasion::of(Phase::Implement)
        };
        let context = self.context_start(&occasion).await?;
        let words = self.words_of(&context);
        Ok((!context.text.is_empty()).then_some(Said { text: context.text, words }))
    }

    async fn warned(
        &self,
        heard: &Heard,
        paths: &[String],
        shown: &HashSet<String>,
    ) -> Result<Option<Said>, Error> {
        let root = Root::new(Some(&self.place.root.to_string_lossy()), &heard.cwd);
        let files: Vec<ProjectPath> = paths.iter().filter_map(|it| root.relative(it)).collect();
        let mut warnings = self.by_file(&files, &ids(shown)).await?;
        if !warnings.is_empty() {
            let read = self.read_by(heard.host);
            warnings.retain(|it| !read.contains(&it.memory.content));
        }
        warnings.truncate(WARNINGS);
        let lines: Vec<String> = warnings.iter().map(|it| self.told(&it.memory)).collect();
        let words = warnings.iter().flat_map(|it| self.noted(it.memory.id)).collect();
        Ok(framed(&lines, words))
    }

    /// After a command of which nobody says how it ended: if it failed in a way that is known, what helped;
    /// otherwise what to beware of at the files that it went over.
    async fn after(
        &self,
        heard: &Heard,
        command: &str,
        answer: &str,
        shown: &HashSet<String>,
    ) -> Result<Option<Said>, Error> {
        let deeds = shell::deeds(command);
        let paths: Vec<String> = deeds
            .iter()
            .filter_map(|it| match it {
                Deed::Read(path) | Deed::Edit(path) => Some(path.clone()),
                _ => None,
            })
            .collect();
        // What stands in a file, or is searched for, is no failure of the command that only_shows it.
        let only_shows = |it: &Deed| matches!(it, Deed::Read(_) | Deed::Search(_) | Deed::List(_));
        let may_have_failed = deeds.is_empty() || !deeds.iter().all(only_shows);
        if may_have_failed
            && let Some(said) = self.fix(&shell::head(command), answer, shown).await?
        {
            return Ok(Some(said));
        }
        self.warned(heard, &paths, shown).await
    }

    /// What is kept of a memory that is shown: that it was, and when, so that its use can be told.
    fn noted(&self, id: MemoryId) -> [String; 2] {
        [id.to_string(), stamped(id, self.now)]
    }

    /// A memory in full, or its summary where that would be too long.
    pub(super) fn told(&self, memory: &Memory) -> String {
        let whole = self.note(memory, &memory.content, &[]);
        if whole.len() <= LONG { whole } else { self.note(memory, &memory.summary, &[]) }
    }

    /// What ended this very failure before: a memory of it, or what one session found.
    async fn fix(
        &self,
        class: &str,
        answer: &str,
        shown: &HashSet<String>,
    ) -> Result<Option<Said>, Error> {
        let (Some(failure), Some(store)) = (observe::failure(class, answer), self.project_store())
        else {
            return Ok(None);
        };
        if !store.exists() {
            return Ok(None);
        }
        let pattern = (SignalKind::ErrorRetry, failure.fingerprint.clone());
        let rows = store.sightings_of(vec![pattern]).await?;
        if let Some(id) = rows.iter().rev().find_map(|it| it.memory) {
            if shown.contains(&id.to_string()) {
                return Ok(None);
            }
            let memory = store.get(id).await?.filter(|it| it.status() == Status::Live);
            let lines: Vec<String> = memory.iter().map(|it| self.told(it)).collect();
            return Ok(framed(&lines, self.noted(id).to_vec()));
        }
        let word = format!("once {}", failure.fingerprint);
        if shown.contains(&word) {
            return Ok(None);
        }
        let line = self.seen_once(&store, &failure.fingerprint, rows).await?;
        Ok(line.and_then(|it| framed(&[it], vec![word])))
    }

    /// What a session found that nobody has to doubt: its work was validated, and nothing from outside
    /// had a hand in it.
    async fn seen_once(
        &self,
        store: &Store,
        fingerprint: &str,
        rows: Vec<SightingRow>,
    ) -> Result<Option<String>, Error> {
        let mut seen = Vec::new();
        for row in rows.into_iter().filter(|it| !it.tainted) {
            let Some(session) = store.session(row.session).await?.filter(is_sound) else {
                continue;
            };
            let evidence = Evidence::read(&row.evidence);
            seen.push(Seen { session: row.session, at: session.ended, n: row.times, evidence });
        }
        let draft = observe::draft(
            SignalKind::ErrorRetry,
            fingerprint,
            &seen,
            Support::default(),
            &Modules::default(),
        );
        let (Some(draft), Some(last)) = (draft, seen.last()) else { return Ok(None) };
        let label = Kind::ErrorPattern.row().label;
        let (remarks, id) = ([ONCE.to_owned()], last.session.short());
        let note = frame::Note { label, text: &draft.content, id: &id, remarks: &remarks };
        Ok(Some(frame::line(&note)))
    }
}

fn is_sound(session: &SessionRow) -> bool {
    session.validated.is_some() && session.outcome != model::Outcome::Failure
}

fn ids(shown: &HashSet<String>) -> HashSet<MemoryId> {
    shown.iter().filter_map(|it| it.parse().ok()).collect()
}

fn framed(lines: &[String], words: Vec<String>) -> Option<Said> {
    let text = format!("{}\n{}\n{}", frame::HEAD, lines.join("\n"), frame::FOOT);
    (!lines.is_empty()).then_some(Said { text, words })
}
