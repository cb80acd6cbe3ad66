//! The language model's part in learning: better wording, and the reading of a module's statistics.
//!
//! At most one request per session. An answer that fails, is malformed or cannot be verified becomes
//! a notice, and the composed text stays.

use model::Memory;
use promote::{ComposedNote, ModuleFacts, SynthesisedNote};
use store::StoreChange;

use super::LessonEffect;
use super::novelty::SightingOutcome;
use super::plan::LessonPlan;
use crate::models::{ANSWER_TIMEOUT, ModelSet};
use crate::text_admission::{OnSecret, admit_content};

/// Longest answer, in tokens: twenty notes of about eighty.
const MAX_ANSWER_TOKENS: u32 = 2_000;

/// The model's reading of a module's statistics.
#[derive(Default)]
pub(super) struct Interpretation {
    pub(super) insights: Vec<SynthesisedNote>,
    /// A message for the user, if the answer could not be used.
    pub(super) notice: Option<String>,
}

/// Asks the model to reword the new memories of a plan. A text stays if its rewording loses or
/// invents something; the evidence always stays.
pub(super) async fn reword_new_memories(models: &ModelSet, plan: &mut LessonPlan) {
    let new: Vec<usize> = (0..plan.outcomes.len())
        .filter(|it| is_new(&plan.outcomes[*it]))
        .take(promote::MAX_REWORDED_NOTES)
        .collect();
    let composed: Vec<ComposedNote> = new.iter().map(|it| composed(&plan.outcomes[*it])).collect();
    if composed.is_empty() {
        return;
    }
    // The evidence goes along, so that the answer can be checked against it.
    let question = promote::format_reword_request(&composed);
    let Some(answer) = generate(models, promote::REWORD_PROMPT, question).await else { return };
    let texts =
        answer.and_then(|it| promote::parse_rewording(&composed, &it).map_err(str::to_owned));
    match texts {
        Ok(texts) => texts.into_iter().for_each(|(n, text)| set_text(plan, new[n], &text)),
        Err(why) => plan.notices.push(format!("new memories keep their composed wording: {why}")),
    }
}

/// Asks the model what the statistics of a module mean.
pub(super) async fn interpret_module(models: &ModelSet, facts: &ModuleFacts) -> Interpretation {
    let question = promote::format_synthesis_request(facts);
    let Some(answer) = generate(models, promote::SYNTHESIS_PROMPT, question).await else {
        return Interpretation::default();
    };
    match answer.and_then(|it| promote::parse_synthesis(facts, &it).map_err(str::to_owned)) {
        Ok(insights) => Interpretation { insights, notice: None },
        Err(why) => Interpretation {
            insights: Vec::new(),
            notice: Some(format!("nothing more was learned about `{}`: {why}", facts.module)),
        },
    }
}

/// One request without a conversation; `None` if no model is configured.
async fn generate(
    models: &ModelSet,
    system: &'static str,
    question: String,
) -> Option<Result<String, String>> {
    let answer = models.generate_text(system, question, MAX_ANSWER_TOKENS, ANSWER_TIMEOUT).await?;
    Some(answer.map_err(|it| it.to_string()))
}

/// Returns whether the outcome is a new memory. Stored memories keep their wording.
fn is_new(outcome: &SightingOutcome) -> bool {
    let effect = outcome.learned.as_ref().map(|it| it.effect);
    matches!(effect, Some(LessonEffect::Created | LessonEffect::Superseded(_)))
}

fn composed(outcome: &SightingOutcome) -> ComposedNote {
    ComposedNote {
        text: outcome.learned.as_ref().map(|it| it.memory.content.clone()).unwrap_or_default(),
        evidence: outcome.sighting.evidence.summary_line(),
    }
}

/// Sets the text of a new memory, in the result and in the change that stores it.
fn set_text(plan: &mut LessonPlan, nth: usize, text: &str) {
    let Ok(text) = admit_content(text, OnSecret::Redact).map(|it| it.text) else { return };
    let Some(learned) = &mut plan.outcomes[nth].learned else { return };
    // A superseded memory is replaced in the same plan; only the inserted one is reworded.
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
