//! Presets of embedding models by name: prompt prefixes, and whether vectors may be truncated.

/// Properties documented by the makers of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModelPreset {
    /// Lower case; a model belongs to the family when its name contains it.
    name: &'static str,
    /// The first numbers of a vector are a vector too (Matryoshka), once it is brought to length one.
    pub(crate) nested: bool,
    /// Goes before a question.
    pub(crate) query: &'static str,
    /// Goes before a text that is to be found.
    pub(crate) document: &'static str,
}

/// Part of every model id: raised when a prefix below changes, for then old vectors do not compare.
pub(crate) const PREFIX_VERSION: u32 = 1;

/// Our task description in Qwen's template; no space after `Query:`.
const QWEN_QUERY: &str = "Instruct: Given a question about a software project, find the notes and code that answer it\nQuery:";

/// The first matching row counts, so longer names come before their prefixes.
#[rustfmt::skip]
const MODEL_PRESETS: &[ModelPreset] = &[
    //     name                      nested  query                document
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
    nested: bool,
    query: &'static str,
    document: &'static str,
) -> ModelPreset {
    ModelPreset { name, nested, query, document }
}

/// Finds the preset; an unknown model gets no prefixes and no truncation.
pub(crate) fn family_of(model: &str) -> ModelPreset {
    let model = model.to_ascii_lowercase();
    MODEL_PRESETS.iter().find(|it| model.contains(it.name)).copied().unwrap_or(DEFAULT_PRESET)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_reached() {
        for row in MODEL_PRESETS {
            assert_eq!(family_of(row.name), *row);
        }
    }

    #[test]
    fn models_are_known_by_whatever_name_a_server_gives_them() {
        assert!(family_of("qwen3-embedding:0.6b").nested);
        assert!(family_of("Qwen/Qwen3-Embedding-8B").query.ends_with("\nQuery:"));
        assert_eq!(family_of("intfloat/e5-large-v2").document, "passage: ");
        assert_eq!(family_of("granite-embedding:30m"), DEFAULT_PRESET);
        assert_eq!(family_of(""), DEFAULT_PRESET);
    }
}
