//! What is known of embedding models by their names: how they want to be asked, and whether their
//! vectors may be cut.

/// What a model's makers say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Family {
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

/// The task is ours, the form around it is Qwen's: no blank after `Query:`.
const QWEN_QUERY: &str = "Instruct: Given a question about a software project, find the notes and code that answer it\nQuery:";

/// The first row that fits counts, so a longer name stands before a shorter one it contains.
#[rustfmt::skip]
const FAMILIES: &[Family] = &[
    //     name                      nested  query                document
    family("qwen3-embedding",        true,   QWEN_QUERY,          ""),
    family("text-embedding-3",       true,   "",                  ""),
    family("voyage-3-large",         true,   "",                  ""),
    family("voyage-3.5",             true,   "",                  ""),
    family("voyage-code-3",          true,   "",                  ""),
    family("nomic-embed-text-v1.5",  true,   "search_query: ",    "search_document: "),
    family("nomic-embed-text",       false,  "search_query: ",    "search_document: "),
    family("multilingual-e5",        false,  "query: ",           "passage: "),
    family("e5-",                    false,  "query: ",           "passage: "),
];

const UNKNOWN: Family = family("", false, "", "");

const fn family(
    name: &'static str,
    nested: bool,
    query: &'static str,
    document: &'static str,
) -> Family {
    Family { name, nested, query, document }
}

/// An unknown model is asked plainly, and its vectors are not cut.
pub(crate) fn family_of(model: &str) -> Family {
    let model = model.to_ascii_lowercase();
    FAMILIES.iter().find(|it| model.contains(it.name)).copied().unwrap_or(UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_reached() {
        for row in FAMILIES {
            assert_eq!(family_of(row.name), *row);
        }
    }

    #[test]
    fn models_are_known_by_whatever_name_a_server_gives_them() {
        assert!(family_of("qwen3-embedding:0.6b").nested);
        assert!(family_of("Qwen/Qwen3-Embedding-8B").query.ends_with("\nQuery:"));
        assert_eq!(family_of("intfloat/e5-large-v2").document, "passage: ");
        assert_eq!(family_of("granite-embedding:30m"), UNKNOWN);
        assert_eq!(family_of(""), UNKNOWN);
    }
}
