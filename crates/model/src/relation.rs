//! Relations: typed edges from a memory to another memory or to a file. They are stored in the memory that
//! they start from.

use serde::{Deserialize, Serialize};

use crate::{MemoryId, PerMille, ProjectPath, closed};

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// Meaning of a relation, seen from the memory that holds it.
    pub enum RelationKind : "relation" {
        /// Both must be known together.
        RequiredWith = "required_with",
        ConflictsWith = "conflicts_with",
        /// This memory confirms the target.
        Validates = "validates",
        /// The target is replaced by this memory; unlike `derived_from`, it is no longer shown.
        Supersedes = "supersedes",
        /// This memory is derived from the target, which stays valid.
        DerivedFrom = "derived_from",
    }
}

impl RelationKind {
    /// True if search results include the target beside the memory.
    pub const fn expands_results(self) -> bool {
        match self {
            Self::RequiredWith | Self::ConflictsWith | Self::Validates => true,
            // A replaced memory is wrong now, and an origin adds nothing to what was derived from it.
            Self::Supersedes | Self::DerivedFrom => false,
        }
    }
}

/// Target of a relation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RelationTarget {
    Memory(MemoryId),
    File(ProjectPath),
}

/// One edge from a memory to a memory or file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relation {
    pub kind: RelationKind,
    pub target: RelationTarget,
    pub confidence: PerMille,
    /// Inferred by the engine, not stated by a user or an agent.
    pub auto: bool,
}
