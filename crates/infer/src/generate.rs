//! Text generation by a provider's language model: one prompt, one completion, without a conversation
//! and without tools.

mod probe;
mod wire;

use std::time::Duration;

use model::closed;

use crate::error::{Error, ResponseFlaw};
use crate::http::{
    AuthScheme, CallDeadline, CallKind, ProviderClient, ProviderEndpoint, flawed_response,
};
use crate::text;

pub use probe::TextProbe;

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// API of a text provider.
    pub enum TextApi: "text provider" {
        Ollama = "ollama",
        /// OpenAI itself. Not `Compatible`: its models want another name for the limit of tokens.
        OpenAi = "openai",
        /// llama.cpp, vLLM, LM Studio and others with the API of OpenAI.
        Compatible = "compatible",
        Anthropic = "anthropic",
    }
}

/// A configured text provider.
#[derive(Clone, Debug)]
pub struct TextConfig {
    pub api: TextApi,
    pub endpoint: ProviderEndpoint,
    pub model: String,
}

/// A prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPrompt<'a> {
    /// May be empty.
    pub system: &'a str,
    pub user: &'a str,
    /// Length at which the answer is cut.
    pub max_tokens: u32,
}

/// A language model. Clones are cheap and share connections. Calls wait for a server, so async callers
/// move them off their runtime.
#[derive(Clone, Debug)]
pub struct TextGenerator {
    client: ProviderClient,
    api: TextApi,
    model: String,
}

impl TextGenerator {
    /// Sends nothing yet.
    pub fn new(config: &TextConfig) -> Result<Self, Error> {
        text::check_model(&config.model)?;
        let auth = match config.api {
            TextApi::Anthropic => AuthScheme::Anthropic,
            TextApi::Ollama | TextApi::OpenAi | TextApi::Compatible => AuthScheme::Bearer,
        };
        let client = ProviderClient::new(&config.endpoint, auth)?;
        Ok(Self { client, api: config.api, model: config.model.clone() })
    }

    /// The completion without reasoning and surrounding whitespace; never empty.
    pub fn complete(&self, prompt: &TextPrompt<'_>, time_limit: Duration) -> Result<String, Error> {
        let text = self.request_text(prompt, &CallKind::Generate.deadline_within(time_limit))?;
        match strip_thoughts(&text).trim() {
            "" => Err(flawed_response(&self.client, ResponseFlaw::Empty)),
            it => Ok(it.to_owned()),
        }
    }

    /// A live test of reachability and latency.
    pub fn probe(&self) -> Result<TextProbe, Error> {
        probe::probe_text(self)
    }

    /// Requests a completion; may be empty.
    fn request_text(
        &self,
        prompt: &TextPrompt<'_>,
        deadline: &CallDeadline,
    ) -> Result<String, Error> {
        let (call, path) = (CallKind::Generate, wire::request_path(self.api));
        let body = wire::request_body(self.api, &self.model, prompt);
        match self.api {
            TextApi::Ollama => {
                let answer: wire::OllamaChatReply =
                    self.client.post(call, path, &body, deadline)?;
                Ok(answer.message.content.unwrap_or_default())
            }
            TextApi::OpenAi | TextApi::Compatible => {
                let answer: wire::OpenAiChatReply =
                    self.client.post(call, path, &body, deadline)?;
                let first = answer.choices.into_iter().next();
                Ok(first.and_then(|it| it.message.content).unwrap_or_default())
            }
            TextApi::Anthropic => {
                let answer: wire::AnthropicReply = self.client.post(call, path, &body, deadline)?;
                Ok(answer.content.into_iter().map(|it| it.text).collect())
            }
        }
    }
}

/// Removes a `<think>` block that some servers leave in the text; an unclosed block is everything.
fn strip_thoughts(text: &str) -> &str {
    match text.trim_start().strip_prefix("<think>") {
        Some(thoughts) => thoughts.split_once("</think>").map_or("", |(_, answer)| answer),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_think_block_at_the_beginning_is_removed() {
        assert_eq!(strip_thoughts("\n<think>hm</think> yes"), " yes");
        assert_eq!(strip_thoughts("<think>hm, and then"), "");
        assert_eq!(strip_thoughts("a <think> in the text"), "a <think> in the text");
    }
}
