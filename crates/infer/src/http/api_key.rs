//! A provider's key, in a type that does not show it.

use std::fmt;

use crate::error::Error;

/// Longer than any key; what is longer was pasted by mistake.
const MAX_KEY_CHARS: usize = 4096;

/// Never printed, neither by `Debug` nor in an error.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Refuses what cannot stand in a header: a line break would begin another header.
    pub fn new(text: &str) -> Result<Self, Error> {
        let sendable = text.bytes().all(|it| it.is_ascii_graphic());
        if text.is_empty() || text.len() > MAX_KEY_CHARS || !sendable {
            let what = "the key is empty, too long, or has spaces, line breaks or other characters that no key has";
            return Err(Error::bad_config(what));
        }
        Ok(Self(text.to_owned()))
    }

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
