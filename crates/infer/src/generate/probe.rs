//! A live test of a language model, with a question of our own.

use std::time::Duration;

use super::{Generator, Prompt};
use crate::error::Error;
use crate::http::now;

/// What a live test found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextProbe {
    pub model: String,
    pub latency: Duration,
    /// The beginning of the answer, without control characters.
    pub said: String,
}

/// Enough for a model that thinks before it speaks.
const TOKENS: u32 = 256;
const SHOWN: usize = 200;

pub(super) fn probe(generator: &Generator) -> Result<TextProbe, Error> {
    let system = "You answer in one short sentence.";
    let prompt = Prompt { system, user: "What is a unit test?", max_tokens: TOKENS };
    let began = now();
    let text = generator.complete(&prompt, Duration::MAX)?;
    let latency = began.elapsed();
    let said = text.chars().map(|it| if it.is_control() { ' ' } else { it }).take(SHOWN).collect();
    Ok(TextProbe { model: generator.model.clone(), latency, said })
}
