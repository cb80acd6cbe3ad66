//! The conflict between two statements, as a value that can be shown to the user.

use std::fmt;

/// A difference by which two statements cannot both be true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementConflict {
    /// Two amounts, such as `3` and `5`, or `30 seconds` and `5 minutes`.
    Number {
        old: String,
        new: String,
    },
    Version {
        old: String,
        new: String,
    },
    /// One statement negates the other.
    Negation,
    /// Two names, also two commands in backticks.
    Identifier {
        old: String,
        new: String,
    },
    Path {
        old: String,
        new: String,
    },
    /// Words that exclude each other, such as `tabs` and `spaces`.
    Opposite {
        old: String,
        new: String,
    },
}

impl StatementConflict {
    /// The same conflict with old and new exchanged.
    pub(crate) fn swap_sides(self) -> Self {
        match self {
            Self::Number { old, new } => Self::Number { old: new, new: old },
            Self::Version { old, new } => Self::Version { old: new, new: old },
            Self::Negation => Self::Negation,
            Self::Identifier { old, new } => Self::Identifier { old: new, new: old },
            Self::Path { old, new } => Self::Path { old: new, new: old },
            Self::Opposite { old, new } => Self::Opposite { old: new, new: old },
        }
    }
}

impl fmt::Display for StatementConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number { old, new } => write!(f, "the number was `{old}`, now it is `{new}`"),
            Self::Version { old, new } => write!(f, "the version was `{old}`, now it is `{new}`"),
            Self::Negation => write!(f, "one says it is so, the other says it is not"),
            Self::Identifier { old, new } => write!(f, "the name was `{old}`, now it is `{new}`"),
            Self::Path { old, new } => write!(f, "the path was `{old}`, now it is `{new}`"),
            Self::Opposite { old, new } => write!(f, "it was `{old}`, now it is `{new}`"),
        }
    }
}
