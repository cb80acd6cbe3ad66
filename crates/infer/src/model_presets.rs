//! Presets of embedding models by name: the prefixes that a model expects before queries and
//! documents, and whether its vectors may be truncated. `embeddings` applies them to providers.

/// Properties documented by the makers of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModelPreset {
    /// Lower case; the preset applies to a model whose name contains it.
    name: &'static str,
    /// True for Matryoshka embeddings: the first numbers of a vector, normalised, are a vector too.
    pub(crate) is_nested: bool,
    /// Goes before a question.
    pub(crate) query_prefix: &'static str,
    /// Goes before a text that is to be found.
    pub(crate) document_prefix: &'static str,
}

/// Part of every model id. Raised when a prefix below changes, because older vectors are then no
/// longer comparable.
pub(crate) const PREFIX_VERSION: u32 = 1;

/// Our task description in Qwen's template; no space after `Query:`.
const QWEN_QUERY: &str = "Instruct: Given a question about a software project, find the notes and code that answer it\nQuery:";

/// The first matching row counts, so longer names come before their prefixes.
#[rustfmt::skip]
const MODEL_PRESETS: &[ModelPreset] = &[
    //         name                      nested  query prefix         document prefix
    preset_row("qwen3-embedding",        true,   QWEN_QUERY,          ""),
    preset_row("text-embedding-3",       true,   "",                  ""),
    preset_row("voyage-3-large",         true,   "",                  ""),
    preset_row("voyage-3.5",             true,   "",                  ""),
    preset_row("voyage-code-3",          true,   "",                  ""),
    preset_row("nomic-embed-text-v1.5",  true,   "search_query: ",    "search_document: "),
    preset_row("nomic-embed-text",       false,  "search_query: ",    "search_document: "),
    preset_row("multilingual-e5",        false,  "query: ",           "passage: "),
    preset_row("e5-",                    false,  "query: ",           "passage: "),
];

const DEFAULT_PRESET: ModelPreset = preset_row("", false, "", "");

const fn preset_row(
    name: &'static str,
    is_nested: bool,
    query_prefix: &'static str,
    document_prefix: &'static str,
) -> ModelPreset {
    ModelPreset { name, is_nested, query_prefix, document_prefix }
}

/// Finds the preset; an unknown model gets no prefixes and no truncation.
pub(crate) fn preset_for(model: &str) -> ModelPreset {
    let model = model.to_ascii_lowercase();
    MODEL_PRESETS.iter().find(|it| model.contains(it.name)).copied().unwrap_or(DEFAULT_PRESET)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_reached() {
        for row in MODEL_PRESETS {
            assert_eq!(preset_for(row.name), *row);
        }
    }

    #[test]
    fn presets_are_found_in_the_names_that_different_servers_use() {
        assert!(preset_for("qwen3-embedding:0.6b").is_nested);
        assert!(preset_for("Qwen/Qwen3-Embedding-8B").query_prefix.ends_with("\nQuery:"));
        assert_eq!(preset_for("intfloat/e5-large-v2").document_prefix, "passage: ");
        assert_eq!(preset_for("granite-embedding:30m"), DEFAULT_PRESET);
        assert_eq!(preset_for(""), DEFAULT_PRESET);
    }
}
