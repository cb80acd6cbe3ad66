//! Checks of texts that are sent to providers: model names, and the length of a text.

use crate::error::Error;

/// Longest accepted model name; no real one comes near.
const MAX_NAME_BYTES: usize = 200;

/// Rejects a model name that is no single word.
pub(crate) fn check_model(name: &str) -> Result<(), Error> {
    let is_one_word = !name.chars().any(|it| it.is_control() || it.is_whitespace());
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !is_one_word {
        return Err(Error::bad_config(
            "the name of the model is empty, too long, or has blanks in it",
        ));
    }
    Ok(())
}

/// The beginning of a text, at most `max_bytes` long and cut between two characters.
pub(crate) fn truncate_text(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(truncate_text("aé", 3), "aé");
        assert_eq!(truncate_text("aé", 2), "a");
        assert_eq!(truncate_text("aé", 9), "aé");
        assert_eq!(truncate_text("é", 1), "");
    }

    #[test]
    fn a_model_name_is_one_word() {
        assert!(check_model("qwen3-embedding:0.6b").is_ok());
        for name in ["", "a b", "a\n", &"x".repeat(201)] {
            assert!(check_model(name).is_err());
        }
    }
}
