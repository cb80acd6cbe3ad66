//! How memories stand to one another and to files.

use serde::{Deserialize, Serialize};

use crate::{MemoryId, PerMille, ProjectPath, closed};

closed! {
    /// What the memory that carries the relation says about its target.
    pub enum RelationKind : "relation" {
        RequiredWith = "required_with",
        ConflictsWith = "conflicts_with",
        Validates = "validates",
        /// The target is replaced by this memory; unlike `derived_from`, it is no longer shown.
        Supersedes = "supersedes",
        /// This memory rests on the target, which stays valid.
        DerivedFrom = "derived_from",
    }
}

impl RelationKind {
    /// Whether whoever reads the memory should see the target, too.
    pub const fn pulls(self) -> bool {
        match self {
            Self::RequiredWith | Self::ConflictsWith | Self::Validates => true,
            // What it rests on or replaces stands behind it, not beside it.
            Self::Supersedes | Self::DerivedFrom => false,
        }
    }
}

/// What a relation points at.
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
    /// Found by the engine, not said by anyone.
    pub auto: bool,
}
