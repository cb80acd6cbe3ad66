//! Requests for text and their answers, as each interface spells them.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{TextApi, TextPrompt};

/// Ollama's default context. Another value reloads the model, so it is sent only for longer prompts.
const DEFAULT_CONTEXT_TOKENS: usize = 4096;

/// Beyond this the machine runs out of memory before the model runs out of context.
const MAX_CONTEXT: usize = 32_768;

/// Fewer than in any text people write, so that the estimate is too high rather than too low.
const BYTES_PER_TOKEN: usize = 3;

pub(super) const fn path(api: TextApi) -> &'static str {
    match api {
        TextApi::Ollama => "/api/chat",
        TextApi::OpenAi | TextApi::Compatible => "/v1/chat/completions",
        TextApi::Anthropic => "/v1/messages",
    }
}

pub(super) fn body(api: TextApi, model: &str, prompt: &TextPrompt<'_>) -> Value {
    let limit = prompt.max_tokens;
    match api {
        TextApi::Ollama => json!({
            "model": model, "messages": chat_messages(prompt), "stream": false, "think": false,
            "options": ollama_options(prompt),
        }),
        // Its newer models refuse `max_tokens`, and any temperature.
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
    let rows = [("system", prompt.system), ("user", prompt.user)];
    let said = rows.iter().filter(|(role, it)| *role == "user" || !it.is_empty());
    said.map(|(role, it)| json!({ "role": role, "content": it })).collect()
}

fn ollama_options(prompt: &TextPrompt<'_>) -> Value {
    let limit = usize::try_from(prompt.max_tokens).unwrap_or(MAX_CONTEXT);
    let n_tokens = (prompt.system.len() + prompt.user.len()) / BYTES_PER_TOKEN + limit;
    let mut options = json!({ "num_predict": limit, "temperature": 0 });
    if n_tokens > DEFAULT_CONTEXT_TOKENS {
        options["num_ctx"] = json!(n_tokens.next_power_of_two().min(MAX_CONTEXT));
    }
    options
}

#[derive(Deserialize)]
pub(super) struct OllamaAnswer {
    pub(super) message: ChatMessage,
}

#[derive(Deserialize)]
pub(super) struct OpenAiAnswer {
    pub(super) choices: Vec<ChatChoice>,
}

#[derive(Deserialize)]
pub(super) struct ChatChoice {
    pub(super) message: ChatMessage,
}

#[derive(Deserialize)]
pub(super) struct ChatMessage {
    /// Nothing when the model refused, or used up its tokens on thoughts.
    pub(super) content: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct AnthropicAnswer {
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
    fn ollama_is_told_to_read_more_only_when_it_has_to() {
        let check = |length: usize, wanted: Value| {
            let prompt = TextPrompt { system: "", user: &"x".repeat(length), max_tokens: 100 };
            assert_eq!(ollama_options(&prompt)["num_ctx"], wanted);
        };
        check(100, Value::Null);
        check(15_000, json!(8192));
        check(1_000_000, json!(32_768));
    }
}
