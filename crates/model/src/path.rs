//! Paths of files in a project: relative to its root, separated by `/`, normalised. `src\win\..\a.rs` becomes
//! `src/a.rs`.
//!
//! Memories and events contain only such paths, so that they mean the same on every machine and never point
//! outside the project.

/// A path inside a project. Purely textual: `source` resolves symbolic links.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectPath(String);

/// Reasons why a text is not a path inside the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathError {
    Empty,
    TooLong,
    Absolute(String),
    Outside(String),
    ControlCharacter,
}

/// The longest path, in bytes; the limit of most systems is 4096 bytes.
const MAX_PATH: usize = 4096;

impl ProjectPath {
    /// Parses and normalises a path: `\` becomes `/`, `.` and `..` are resolved.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if text.len() > MAX_PATH {
            return Err(PathError::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(PathError::ControlCharacter);
        }
        // Hosts on Windows report paths with backslashes.
        let text = text.trim().replace('\\', "/");
        // `C:/x` on Windows.
        let has_drive =
            text.as_bytes().get(1) == Some(&b':') && text.as_bytes()[0].is_ascii_alphabetic();
        if text.starts_with('/') || text.starts_with("~/") || has_drive {
            return Err(PathError::Absolute(text));
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in text.split('/') {
            match part {
                // `a//b` and `a/./b` are `a/b`.
                "" | "." => {}
                // Above the root there is nothing to remove.
                ".." => {
                    if parts.pop().is_none() {
                        return Err(PathError::Outside(text));
                    }
                }
                other => parts.push(other),
            }
        }
        if parts.is_empty() { Err(PathError::Empty) } else { Ok(Self(parts.join("/"))) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ProjectPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

impl std::fmt::Display for PathError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => write!(f, "a path must name a file or folder below the project root"),
            Self::TooLong => write!(f, "a path has at most {MAX_PATH} bytes"),
            Self::Absolute(path) => {
                write!(f, "`{path}` is absolute; give it relative to the project root")
            }
            Self::Outside(path) => write!(f, "`{path}` leaves the project root"),
            Self::ControlCharacter => write!(f, "a path has no control characters"),
        }
    }
}

impl std::error::Error for PathError {}

impl serde::Serialize for ProjectPath {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for ProjectPath {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expect: Expect) {
        let shown = match ProjectPath::parse(text) {
            Ok(path) => path.0,
            Err(error) => format!("error: {error}"),
        };
        expect.assert_eq(&shown);
    }

    #[test]
    fn paths_are_normalised_and_stay_inside() {
        check("src/./a//b.rs", expect!["src/a/b.rs"]);
        check("src\\win\\b.rs", expect!["src/win/b.rs"]);
        check("src/../lib.rs", expect!["lib.rs"]);
        check("a/../../b", expect!["error: `a/../../b` leaves the project root"]);
        check(
            "/etc/passwd",
            expect!["error: `/etc/passwd` is absolute; give it relative to the project root"],
        );
        check("C:/x", expect!["error: `C:/x` is absolute; give it relative to the project root"]);
        check("./", expect!["error: a path must name a file or folder below the project root"]);
        check("a\0b", expect!["error: a path has no control characters"]);
    }
}
