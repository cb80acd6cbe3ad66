//! The API key of a provider, in a type that is never printed.

use std::fmt;

use crate::error::Error;

/// Longest accepted key; a longer text was pasted by mistake.
const MAX_KEY_CHARS: usize = 4096;

/// An API key. Neither `Debug` nor an error shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Rejects characters that are invalid in a header: a line break would begin another header.
    pub fn new(text: &str) -> Result<Self, Error> {
        let is_sendable = text.bytes().all(|it| it.is_ascii_graphic());
        if text.is_empty() || text.len() > MAX_KEY_CHARS || !is_sendable {
            let what = "the key is empty, too long, or has spaces, line breaks or other characters that no key has";
            return Err(Error::bad_config(what));
        }
        Ok(Self(text.to_owned()))
    }

    /// The key itself, for the request header and for masking.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_shown_and_cannot_begin_another_header() {
        let key = ApiKey::new("sk-1234567890").unwrap();
        assert_eq!(format!("{key:?} {:?}", Some(&key)), "*** Some(***)");
        for text in ["", "sk\r\nhost: evil", "sk-1\n", "sk 1", "sk\0", "schlüssel"] {
            let error = ApiKey::new(text).unwrap_err();
            assert!(text.is_empty() || !format!("{error} {error:?}").contains(text));
        }
    }
}
