//! The one door of learning to a language model, and what becomes of its answers.
//!
//! At most one question a session. Whatever fails, is malformed or cannot be checked is a notice; what
//! was composed stands.

use std::future::Future;

use model::{Memory, Timestamp};
use promote::{Composed, Insight, ModuleFacts};
use store::Change;

use super::compose::Reviewed;
use super::{KeptHow, admit};
use crate::models::{LONG_PATIENCE, Models};

/// Tokens of an answer: twenty notes of about eighty.
const ANSWER: u32 = 2_000;

/// Whoever may be asked: one question, one answer, no conversation.
pub(super) trait Author {
    /// `None` where nobody writes.
    fn write(
        &self,
        system: &'static str,
        question: String,
    ) -> impl Future<Output = Option<Result<String, infer::Error>>> + Send;
}

impl Author for Models {
    fn write(
        &self,
        system: &'static str,
        question: String,
    ) -> impl Future<Output = Option<Result<String, infer::Error>>> + Send {
        Self::write(self, system, question, ANSWER, LONG_PATIENCE)
    }
}

/// Has what is new put into better words. The evidence stays, and so does every text whose rewording
/// loses or invents something.
pub(super) async fn reword(
    author: &(impl Author + Sync),
    reviewed: &mut [Reviewed],
    notices: &mut Vec<String>,
) {
    let is_new = |it: &&mut Reviewed| {
        let kept = it.kept.as_ref();
        kept.is_some_and(|it| matches!(it.how, KeptHow::Made | KeptHow::Superseded(_)))
    };
    let mut new: Vec<&mut Reviewed> =
        reviewed.iter_mut().filter(is_new).take(promote::MOST_REWORDED).collect();
    let composed = |it: &&mut Reviewed| Composed {
        text: it.kept.as_ref().map(|it| it.memory.content.clone()).unwrap_or_default(),
        evidence: it.prepared.sighting.evidence.told(),
    };
    let composed: Vec<Composed> = new.iter().map(composed).collect();
    if composed.is_empty() {
        return;
    }
    let Some(answer) = author.write(promote::REWORD, promote::reword_question(&composed)).await
    else {
        return;
    };
    let answer = answer.map_err(|it| it.to_string());
    let texts = answer.and_then(|it| promote::reworded(&composed, &it).map_err(str::to_owned));
    match texts {
        Ok(texts) => texts.into_iter().for_each(|(n, text)| put(new[n], &text)),
        Err(why) => notices.push(format!("what was learned is told in our own words: {why}")),
    }
}

/// Puts a text into the memory that is shown and the one that is written.
fn put(reviewed: &mut Reviewed, text: &str) {
    let Ok(text) = admit::content(text, admit::OnSecret::Redact).map(|it| it.text) else { return };
    let Some(kept) = &mut reviewed.kept else { return };
    for change in &mut reviewed.changes {
        if let Change::Insert(memory) = change
            && memory.id == kept.memory.id
        {
            say(memory, &text);
        }
    }
    say(&mut kept.memory, &text);
}

fn say(memory: &mut Memory, text: &str) {
    memory.summary = promote::summary(text, &memory.kind);
    memory.citation = promote::citation(text);
    text.clone_into(&mut memory.content);
}

/// Asks what the statistics of a module mean.
pub(super) async fn interpret(
    author: &(impl Author + Sync),
    facts: &ModuleFacts,
    notices: &mut Vec<String>,
) -> Vec<Insight> {
    let question = promote::synthesis_question(facts);
    let Some(answer) = author.write(promote::SYNTHESISE, question).await else {
        return Vec::new();
    };
    let answer = answer.map_err(|it| it.to_string());
    match answer.and_then(|it| promote::synthesised(facts, &it).map_err(str::to_owned)) {
        Ok(insights) => insights,
        Err(why) => {
            notices.push(format!("nothing more was learned about `{}`: {why}", facts.module));
            Vec::new()
        }
    }
}

/// The week of a moment, counted from the first of them.
pub(super) const fn week(now: Timestamp) -> i64 {
    now.0.div_euclid(7 * model::DAY)
}
