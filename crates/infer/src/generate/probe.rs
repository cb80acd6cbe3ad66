//! A live test of a language model with a built-in question.

use std::time::Duration;

use super::{TextGenerator, TextPrompt};
use crate::error::Error;
use crate::http::instant_now;

/// Result of a live test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextProbe {
    pub model: String,
    pub latency: Duration,
    /// The beginning of the answer, without control characters.
    pub said: String,
}

/// Enough for a model with reasoning.
const PROBE_MAX_TOKENS: u32 = 256;
const MAX_SHOWN_CHARS: usize = 200;

pub(super) fn probe_text(generator: &TextGenerator) -> Result<TextProbe, Error> {
    let system = "You answer in one short sentence.";
    let prompt = TextPrompt { system, user: "What is a unit test?", max_tokens: PROBE_MAX_TOKENS };
    let start = instant_now();
    let text = generator.complete(&prompt, Duration::MAX)?;
    let latency = start.elapsed();
    // Shown to the user, so it is bounded and without control characters.
    let said = text
        .chars()
        .map(|it| if it.is_control() { ' ' } else { it })
        .take(MAX_SHOWN_CHARS)
        .collect();
    Ok(TextProbe { model: generator.model.clone(), latency, said })
}
