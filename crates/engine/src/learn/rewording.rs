//! Requests to the language model during learning: better wording of new memories, and an
//! interpretation of a module's statistics.
//!
//! At most one request per session: an interpretation, or else the wording (`learn.rs` decides).
//! `promote` formats the requests and checks the answers. If a request fails, or its answer is
//! malformed or not supported by the evidence, the composed text stays and the user gets a notice.

use model::Memory;
use promote::{ComposedNote, ModuleFacts, SynthesisedNote};
use store::StoreChange;

use super::LessonEffect;
use super::novelty::SightingOutcome;
use super::plan::LessonPlan;
use crate::models::{ANSWER_TIMEOUT, ModelSet};
use crate::text_admission::{OnSecret, admit_content};

/// Longest answer, in tokens: room for twenty notes of eighty tokens, and their JSON.
const MAX_ANSWER_TOKENS: u32 = 2_000;

/// The model's interpretation of a module's statistics.
#[derive(Default)]
pub(super) struct Interpretation {
    pub(super) insights: Vec<SynthesisedNote>,
    /// The model answered, though the answer may not be usable. A request that failed can be
    /// repeated by a later session.
    pub(super) is_answered: bool,
    /// A message for the user, if the answer could not be used.
    pub(super) notice: Option<String>,
}

/// Has the model reword the new memories of a plan. A memory keeps its text if the new one loses or
/// invents a fact.
pub(super) async fn reword_new_memories(models: &ModelSet, plan: &mut LessonPlan) {
    // The new memories by their position among the outcomes. The answer refers to them by their place
    // in these two parallel lists.
    let (mut positions, mut notes) = (Vec::new(), Vec::new());
    for (position, outcome) in plan.outcomes.iter().enumerate() {
        if is_new(outcome) && notes.len() < promote::MAX_REWORDED_NOTES {
            positions.push(position);
            notes.push(composed_note(outcome));
        }
    }
    if notes.is_empty() {
        return;
    }
    // The evidence is part of the request. The check allows the names and numbers in it as well.
    let request = promote::format_reword_request(&notes);
    let Some(answer) = generate(models, promote::REWORD_PROMPT, request).await else { return };
    let texts = answer.and_then(|it| promote::parse_rewording(&notes, &it).map_err(str::to_owned));
    match texts {
        Ok(texts) => {
            for (nth_note, text) in texts {
                reword_memory(plan, positions[nth_note], &text);
            }
        }
        Err(why) => plan.notices.push(format!("new memories keep their composed wording: {why}")),
    }
}

/// Has the model interpret the statistics of a module.
pub(super) async fn interpret_module(models: &ModelSet, facts: &ModuleFacts) -> Interpretation {
    let request = promote::format_synthesis_request(facts);
    let Some(answer) = generate(models, promote::SYNTHESIS_PROMPT, request).await else {
        return Interpretation::default();
    };
    let is_answered = answer.is_ok();
    match answer.and_then(|it| promote::parse_synthesis(facts, &it).map_err(str::to_owned)) {
        Ok(insights) => Interpretation { insights, is_answered, notice: None },
        Err(why) => Interpretation {
            insights: Vec::new(),
            is_answered,
            notice: Some(format!("nothing more was learned about `{}`: {why}", facts.module)),
        },
    }
}

/// Returns whether the outcome is a new memory. Memories that are stored already keep their
/// wording.
fn is_new(outcome: &SightingOutcome) -> bool {
    let effect = outcome.learned.as_ref().map(|it| it.effect);
    matches!(effect, Some(LessonEffect::Created | LessonEffect::Superseded(_)))
}

fn composed_note(outcome: &SightingOutcome) -> ComposedNote {
    ComposedNote {
        text: outcome.learned.as_ref().map(|it| it.memory.content.clone()).unwrap_or_default(),
        evidence: outcome.sighting.evidence.summary_line(),
    }
}

/// Sends one request to the model; `None` if no model is configured.
async fn generate(
    models: &ModelSet,
    system: &'static str,
    request: String,
) -> Option<Result<String, String>> {
    let answer = models.generate_text(system, request, MAX_ANSWER_TOKENS, ANSWER_TIMEOUT).await?;
    Some(answer.map_err(|it| it.to_string()))
}

/// Sets the text of a new memory in both places that hold it: the outcome and the change to write.
fn reword_memory(plan: &mut LessonPlan, position: usize, text: &str) {
    // A text that may not be stored, such as one that is too long, is ignored.
    let Ok(text) = admit_content(text, OnSecret::Redact).map(|it| it.text) else { return };
    let Some(learned) = &mut plan.outcomes[position].learned else { return };
    // Only inserted memories are new. Replacements concern stored ones.
    for change in &mut plan.changes {
        if let StoreChange::Insert(memory) = change
            && memory.id == learned.memory.id
        {
            set_memory_text(memory, &text);
        }
    }
    set_memory_text(&mut learned.memory, &text);
}

fn set_memory_text(memory: &mut Memory, text: &str) {
    memory.summary = promote::compose_summary(text, &memory.kind);
    memory.citation = promote::compose_citation(text);
    text.clone_into(&mut memory.content);
}
