//! Texts on their way out: names that can be sent, and lengths a server takes.

use crate::error::Error;

/// Longer than any model's name.
const NAME_LIMIT: usize = 200;

pub(crate) fn check_model(name: &str) -> Result<(), Error> {
    let plain = !name.chars().any(|it| it.is_control() || it.is_whitespace());
    if name.is_empty() || name.len() > NAME_LIMIT || !plain {
        return Err(Error::bad_config(
            "the name of the model is empty, too long, or has blanks in it",
        ));
    }
    Ok(())
}

/// As much of a text as fits into so many bytes without breaking a character.
pub(crate) fn truncate_text(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_not_broken() {
        assert_eq!(
            [
                truncate_text("aé", 3),
                truncate_text("aé", 2),
                truncate_text("aé", 9),
                truncate_text("é", 1)
            ],
            ["aé", "a", "aé", ""]
        );
    }

    #[test]
    fn a_name_is_one_word() {
        assert!(check_model("qwen3-embedding:0.6b").is_ok());
        for name in ["", "a b", "a\n", &"x".repeat(201)] {
            assert!(check_model(name).is_err());
        }
    }
}
