//! Identifiers: UUIDv7 (RFC 9562), which sort by creation time and need no central counter. The macro
//! `id!` declares one type per kind of thing, so that a session id is never taken for a memory id.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use crate::Timestamp;

/// Declares a newtype of a UUID that is displayed, parsed and stored in the hyphenated form. `id! { MemoryId }`
/// gives `struct MemoryId(pub Uuid)` with `new()`, `from_bytes()` and `short()`.
macro_rules! id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A UUIDv7 from the time and randomness of the caller.
            pub fn new(now: Timestamp, random: [u8; 10]) -> Self {
                // A UUIDv7 cannot contain a time before 1970.
                let millis = u64::try_from(now.0).unwrap_or(0);
                Self(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
            }

            pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
                Uuid::from_slice(bytes).ok().map(Self)
            }

            /// The eight characters that users see and type. Taken from the random end:
            /// the first characters of a UUIDv7 are the same for everything made in one minute.
            pub fn short(self) -> String {
                let hex = self.0.simple().to_string();
                hex[hex.len() - 8..].to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0.hyphenated(), f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::try_parse(text).map(Self)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                // Borrowed, if the input contains no escapes.
                let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

id! {
    /// Identifies a memory across edits, moves and sync.
    MemoryId
}
id! {
    /// Identifies a project, as recognised by `source`.
    ProjectId
}
id! {
    /// Identifies an agent session.
    SessionId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_creation_time_and_are_parsed_again() {
        let older = MemoryId::new(Timestamp(1_000), [7; 10]);
        let newer = MemoryId::new(Timestamp(2_000), [0; 10]);
        assert!(older < newer);
        assert_eq!(older.to_string().parse::<MemoryId>().unwrap(), older);
        assert_eq!(older.short(), "07070707");
    }

    #[test]
    fn a_clock_before_the_epoch_still_gives_an_id() {
        assert_eq!(MemoryId::new(Timestamp(-5), [1; 10]).0.get_version_num(), 7);
    }
}
