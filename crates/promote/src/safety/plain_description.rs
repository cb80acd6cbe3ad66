//! The test for descriptions of packages and modules. They come from manifests and comments of the
//! repository, no user has confirmed them, and they are told unasked. A description says what something
//! is; it does not speak to its reader. So this test may be strict where the test for notes must not be:
//! a description that fails it is left out, which costs little.

use super::detect_instruction;
use crate::phrase_table;

/// Longest description, in characters.
const MAX_DESCRIPTION_CHARS: usize = 400;
/// Longest word; encoded text has longer ones.
const MAX_WORD_CHARS: usize = 48;
/// Words that speak to the reader, name what an agent must not touch, or are commands.
const REFUSED_WORDS: &[&str] = &[
    "you",
    "your",
    "you're",
    "yourself",
    "please",
    "must",
    "should",
    "shall",
    "immediately",
    "ignore",
    "disregard",
    "forget",
    "instructions",
    "instruction",
    "reader",
    "readers",
    "claude",
    "chatgpt",
    "gpt",
    "copilot",
    "gemini",
    "assistant",
    "assistants",
    "llm",
    "llms",
    "agent",
    "agents",
    "ai",
    "model",
    "models",
    "chatbot",
    "curl",
    "wget",
    "sudo",
    "bash",
    "sh",
    "rm",
    "nc",
    "chmod",
    "eval",
    "npx",
    "pip",
    "scp",
    "password",
    "passwords",
    "credentials",
    "exfiltrate",
    "id_rsa",
    ".env",
    "printenv",
    "run",
    "execute",
    "send",
    "upload",
    "reveal",
    "forward",
    "paste",
    "remember",
    "memory",
    "waylore",
    "confirmed",
    "approved",
    "verified",
    "trusted",
    "@url",
    "@email",
    "@pipe",
    "system",
    "admin",
    "override",
    "user",
    "user's",
    "user’s",
    "important",
    "attention",
    "notice",
    "urgent",
    "never",
    "always",
    "before",
    "first",
];

/// True for a text that only describes something.
pub fn is_plain_description(text: &str) -> bool {
    if text.chars().count() > MAX_DESCRIPTION_CHARS
        || text
            .chars()
            .any(|it| (it.is_control() && !it.is_whitespace()) || model::is_invisible(it))
        || text.split_whitespace().any(|it| it.chars().count() > MAX_WORD_CHARS)
        || detect_instruction(text).is_some()
    {
        return false;
    }
    // Letters of the Latin script only: the words of other scripts are not in the table.
    if text.chars().any(|it| it.is_alphabetic() && u32::from(it) > 0x024f) {
        return false;
    }
    let plain = text.replace(|it: char| !it.is_alphanumeric() && !"'’.@:/|_-".contains(it), " ");
    let words = phrase_table::split_words(&plain);
    !words.iter().any(|it| REFUSED_WORDS.contains(&it.text.as_str()))
}
