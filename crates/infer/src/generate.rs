//! Text from a language model somewhere else: one question, one answer, no conversation.
//!
//! It knows nothing of what the text is for, keeps nothing, and offers the model no tools.

mod probe;
mod wire;

use std::time::Duration;

use model::closed;

use crate::error::{Error, Flaw};
use crate::http::{Auth, Call, Client, Deadline, Endpoint};
use crate::text;

pub use probe::TextProbe;

closed! {
    /// Whose interface a text provider speaks.
    pub enum TextApi: "text provider" {
        Ollama = "ollama",
        /// OpenAI itself. Not `Compatible`: its models want another name for the limit of tokens.
        OpenAi = "openai",
        /// llama.cpp, vLLM, LM Studio and others that speak as OpenAI does.
        Compatible = "compatible",
        Anthropic = "anthropic",
    }
}

#[derive(Clone, Debug)]
pub struct TextConfig {
    pub api: TextApi,
    pub endpoint: Endpoint,
    pub model: String,
}

/// What a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prompt<'a> {
    /// May be empty.
    pub system: &'a str,
    pub user: &'a str,
    /// The answer is cut there.
    pub max_tokens: u32,
}

/// Clones are cheap and share connections. Calls wait for a server, so async callers move them off
/// their runtime.
#[derive(Clone, Debug)]
pub struct Generator {
    client: Client,
    api: TextApi,
    model: String,
}

impl Generator {
    /// Sends nothing yet.
    pub fn new(config: &TextConfig) -> Result<Self, Error> {
        text::check_model(&config.model)?;
        let auth = match config.api {
            TextApi::Anthropic => Auth::Anthropic,
            TextApi::Ollama | TextApi::OpenAi | TextApi::Compatible => Auth::Bearer,
        };
        let client = Client::new(&config.endpoint, auth)?;
        Ok(Self { client, api: config.api, model: config.model.clone() })
    }

    /// The answer without what the model thought before it and without blanks around it; never empty.
    pub fn complete(&self, prompt: &Prompt<'_>, deadline: Duration) -> Result<String, Error> {
        let text = self.ask(prompt, &Call::Generate.within(deadline))?;
        match after_thoughts(&text).trim() {
            "" => Err(self.client.flaw(Flaw::Empty)),
            it => Ok(it.to_owned()),
        }
    }

    /// A live test: is it there, is it quick, does it answer?
    pub fn probe(&self) -> Result<TextProbe, Error> {
        probe::probe(self)
    }

    /// Empty where the model said nothing.
    fn ask(&self, prompt: &Prompt<'_>, deadline: &Deadline) -> Result<String, Error> {
        let (call, path) = (Call::Generate, self.api.path());
        let body = self.api.body(&self.model, prompt);
        match self.api {
            TextApi::Ollama => {
                let answer: wire::OllamaAnswer = self.client.post(call, path, &body, deadline)?;
                Ok(answer.message.content.unwrap_or_default())
            }
            TextApi::OpenAi | TextApi::Compatible => {
                let answer: wire::OpenAiAnswer = self.client.post(call, path, &body, deadline)?;
                let first = answer.choices.into_iter().next();
                Ok(first.and_then(|it| it.message.content).unwrap_or_default())
            }
            TextApi::Anthropic => {
                let answer: wire::AnthropicAnswer =
                    self.client.post(call, path, &body, deadline)?;
                Ok(answer.content.into_iter().map(|it| it.text).collect())
            }
        }
    }
}

/// Some servers leave the thoughts of a model in the text. Thoughts without an end are all there is.
fn after_thoughts(text: &str) -> &str {
    match text.trim_start().strip_prefix("<think>") {
        Some(thoughts) => thoughts.split_once("</think>").map_or("", |(_, answer)| answer),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_no_answer() {
        assert_eq!(after_thoughts("\n<think>hm</think> yes"), " yes");
        assert_eq!(after_thoughts("<think>hm, and then"), "");
        assert_eq!(after_thoughts("a <think> in the text"), "a <think> in the text");
    }
}
