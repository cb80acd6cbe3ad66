//! JSON of the text APIs: paths, request bodies and responses.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{TextApi, TextPrompt};

/// Ollama's default context. Another value reloads the model, so it is sent only for longer prompts.
const DEFAULT_CONTEXT_TOKENS: usize = 4096;

/// Largest context requested from Ollama; a larger one needs more memory than most machines have.
const MAX_CONTEXT: usize = 32_768;

/// Bytes per token, to estimate the tokens of a prompt. Most texts have more bytes per token, so the
/// estimate is too high rather than too low, and the context is large enough.
const BYTES_PER_TOKEN: usize = 3;

pub(super) const fn request_path(api: TextApi) -> &'static str {
    match api {
        TextApi::Ollama => "/api/chat",
        TextApi::OpenAi | TextApi::Compatible => "/v1/chat/completions",
        TextApi::Anthropic => "/v1/messages",
    }
}

pub(super) fn request_body(api: TextApi, model: &str, prompt: &TextPrompt<'_>) -> Value {
    let limit = prompt.max_tokens;
    match api {
        TextApi::Ollama => json!({
            "model": model, "messages": chat_messages(prompt), "stream": false, "think": false,
            "options": ollama_options(prompt),
        }),
        // Newer models of OpenAI reject `max_tokens`, and any temperature.
        TextApi::OpenAi => json!({
            "model": model, "messages": chat_messages(prompt), "stream": false, "max_completion_tokens": limit,
        }),
        TextApi::Compatible => json!({
            "model": model, "messages": chat_messages(prompt), "stream": false, "max_tokens": limit, "temperature": 0,
        }),
        TextApi::Anthropic => {
            let user = json!([{ "role": "user", "content": prompt.user }]);
            let mut body = json!({ "model": model, "max_tokens": limit, "messages": user });
            if !prompt.system.is_empty() {
                body["system"] = json!(prompt.system);
            }
            body
        }
    }
}

fn chat_messages(prompt: &TextPrompt<'_>) -> Vec<Value> {
    let message = |role: &str, content: &str| json!({ "role": role, "content": content });
    let system = (!prompt.system.is_empty()).then(|| message("system", prompt.system));
    system.into_iter().chain([message("user", prompt.user)]).collect()
}

/// Options of Ollama, with a context that holds the prompt and the answer.
fn ollama_options(prompt: &TextPrompt<'_>) -> Value {
    let max_answer_tokens = usize::try_from(prompt.max_tokens).unwrap_or(MAX_CONTEXT);
    let prompt_tokens = (prompt.system.len() + prompt.user.len()) / BYTES_PER_TOKEN;
    let n_tokens = prompt_tokens + max_answer_tokens;
    let mut options = json!({ "num_predict": max_answer_tokens, "temperature": 0 });
    if n_tokens > DEFAULT_CONTEXT_TOKENS {
        options["num_ctx"] = json!(n_tokens.next_power_of_two().min(MAX_CONTEXT));
    }
    options
}

#[derive(Deserialize)]
pub(super) struct OllamaChatReply {
    pub(super) message: ChatMessage,
}

#[derive(Deserialize)]
pub(super) struct OpenAiChatReply {
    pub(super) choices: Vec<ChatChoice>,
}

#[derive(Deserialize)]
pub(super) struct ChatChoice {
    pub(super) message: ChatMessage,
}

#[derive(Deserialize)]
pub(super) struct ChatMessage {
    /// `None` if the model refused, or spent all tokens on reasoning.
    pub(super) content: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct AnthropicReply {
    pub(super) content: Vec<TextBlock>,
}

#[derive(Deserialize)]
pub(super) struct TextBlock {
    /// Only blocks of text have it.
    #[serde(default)]
    pub(super) text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_context_is_requested_only_for_a_long_prompt() {
        let check = |length: usize, expected: Value| {
            let prompt = TextPrompt { system: "", user: &"x".repeat(length), max_tokens: 100 };
            assert_eq!(ollama_options(&prompt)["num_ctx"], expected);
        };
        check(100, Value::Null);
        check(15_000, json!(8192));
        check(1_000_000, json!(32_768));
    }
}
