//! Types of memory: sixteen built-in kinds with their defaults, and custom types.
//!
//! A custom type has the slug `custom:<plugin>.<name>`, for example `custom:acme.ritual`, and is declared in
//! the configuration of a methodology (a way of working with agents, such as test-driven development). Code
//! that depends on the kind uses [`MemoryType::core_kind`].

use std::fmt;

use crate::{UnknownWord, closed};

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// The subject of a memory. Closed: a typo is an error, not a seventeenth kind.
    pub enum MemoryKind : "type" {
        Gotcha = "gotcha",
        Decision = "decision",
        Preference = "preference",
        Pattern = "pattern",
        Requirement = "requirement",
        ErrorPattern = "error_pattern",
        ModuleInsight = "module_insight",
        PrefetchPattern = "prefetch_pattern",
        WorkState = "work_state",
        CausalDependency = "causal_dependency",
        TaskCalibration = "task_calibration",
        E2eObservation = "e2e_observation",
        DeadEnd = "dead_end",
        WorkUnitOutcome = "work_unit_outcome",
        WorkflowRecipe = "workflow_recipe",
        ContextCost = "context_cost",
    }
}

/// Defaults shared by every memory of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryKindRow {
    /// The label in capitals at the start of an injected note.
    pub label: &'static str,
    /// Days after which an unused memory counts half; `None` never decays.
    pub half_life_days: Option<u32>,
    /// The content of such a memory, for the reference.
    pub holds: &'static str,
}

impl MemoryKind {
    #[rustfmt::skip]
    pub const fn row(self) -> MemoryKindRow {
        match self {
            //                            label          half-life  holds
            Self::Gotcha           => row("GOTCHA",      Some(60),  "an unexpected trap or constraint"),
            Self::Decision         => row("DECISION",    None,      "an architectural decision with its reason"),
            Self::Preference       => row("PREFERENCE",  Some(180), "a preference or convention of the user or the project"),
            Self::Pattern          => row("PATTERN",     Some(120), "an implementation pattern to reuse"),
            Self::Requirement      => row("REQUIREMENT", None,      "a functional or non-functional requirement"),
            Self::ErrorPattern     => row("ERROR",       Some(60),  "a recurring error and its fix"),
            Self::ModuleInsight    => row("INSIGHT",     Some(90),  "what a module is for and how it behaves"),
            Self::PrefetchPattern  => row("FILES",       Some(120), "files that are nearly always read together"),
            Self::WorkState        => row("STATE",       Some(7),   "partial work, for resuming"),
            Self::CausalDependency => row("COUPLING",    Some(120), "a change to one place requires a change to another"),
            Self::TaskCalibration  => row("CALIBRATION", Some(180), "actual against planned steps of a module"),
            Self::E2eObservation   => row("UI",          Some(30),  "a fact about the user interface, seen through a tool"),
            Self::DeadEnd          => row("DEAD END",    Some(90),  "an approach that was tried and abandoned"),
            Self::WorkUnitOutcome  => row("OUTCOME",     Some(120), "the result of one unit of work"),
            Self::WorkflowRecipe   => row("RECIPE",      Some(120), "the steps of a class of task"),
            Self::ContextCost      => row("COST",        Some(180), "the token cost of a module"),
        }
    }
}

const fn row(
    label: &'static str,
    half_life_days: Option<u32>,
    holds: &'static str,
) -> MemoryKindRow {
    MemoryKindRow { label, half_life_days, holds }
}

/// The type of a memory: one of the built-in kinds, or one that a methodology declares.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryType {
    Core(MemoryKind),
    /// `custom:<plugin>.<name>`, described by a [`CustomType`].
    Custom(String),
}

/// A memory type declared by a methodology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomType {
    /// The whole slug, `custom:<plugin>.<name>`.
    pub slug: String,
    pub label: String,
    pub half_life_days: Option<u32>,
}

/// The longest slug of a custom type, in bytes.
const MAX_SLUG_BYTES: usize = 80;

/// Reasons why a word is not a memory type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CustomTypeError {
    /// Neither a built-in kind nor a custom type.
    Unknown(UnknownWord),
    /// Starts with `custom:` but is not `custom:<plugin>.<name>`.
    Shape(String),
    /// Well formed, but no methodology declares it.
    Undeclared(String),
}

impl MemoryType {
    pub const fn core_kind(&self) -> Option<MemoryKind> {
        match self {
            Self::Core(kind) => Some(*kind),
            Self::Custom(_) => None,
        }
    }

    pub fn slug(&self) -> &str {
        match self {
            Self::Core(kind) => kind.slug(),
            Self::Custom(slug) => slug,
        }
    }

    /// Parses a stored slug. Well-formed custom types pass, because their methodology may be gone.
    pub fn from_slug(slug: &str) -> Result<Self, CustomTypeError> {
        // Without the prefix, only the built-in kinds are known.
        let Some(name) = slug.strip_prefix("custom:") else {
            return MemoryKind::parse(slug).map(Self::Core).map_err(CustomTypeError::Unknown);
        };
        let is_lowercase_word = |part: &str| {
            let is_allowed = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_';
            !part.is_empty() && part.bytes().all(is_allowed)
        };
        let is_well_formed = match name.split_once('.') {
            Some((plugin, name)) => is_lowercase_word(plugin) && is_lowercase_word(name),
            None => false,
        };
        if is_well_formed && slug.len() <= MAX_SLUG_BYTES {
            Ok(Self::Custom(slug.to_owned()))
        } else {
            Err(CustomTypeError::Shape(slug.to_owned()))
        }
    }

    /// Parses input of a user or a peer: a custom type must be among those `declared`.
    pub fn parse(word: &str, declared: &[CustomType]) -> Result<Self, CustomTypeError> {
        let parsed = Self::from_slug(word)?;
        match &parsed {
            Self::Custom(slug) if !declared.iter().any(|it| it.slug == *slug) => {
                Err(CustomTypeError::Undeclared(slug.clone()))
            }
            Self::Core(_) | Self::Custom(_) => Ok(parsed),
        }
    }

    /// The half-life of the type; a custom type that is no longer declared does not decay.
    pub fn half_life_days(&self, declared: &[CustomType]) -> Option<u32> {
        match self {
            Self::Core(kind) => kind.row().half_life_days,
            Self::Custom(slug) => declared.iter().find(|it| it.slug == *slug)?.half_life_days,
        }
    }
}

impl fmt::Display for MemoryType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.slug())
    }
}

impl fmt::Display for CustomTypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(word) => word.fmt(f),
            Self::Shape(slug) => {
                write!(f, "`{slug}` is not of the form `custom:<plugin>.<name>` in lower case")
            }
            Self::Undeclared(slug) => write!(
                f,
                "no methodology declares the type `{slug}`; declare it under `[types.\"{slug}\"]` in the configuration"
            ),
        }
    }
}

impl std::error::Error for CustomTypeError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_unique() {
        let mut labels: Vec<_> = MemoryKind::ALL.iter().map(|it| it.row().label).collect();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), MemoryKind::ALL.len());
    }

    #[test]
    fn only_declared_custom_types_are_accepted_as_input() {
        let declared = [CustomType {
            slug: "custom:acme.ritual".into(),
            label: "RITUAL".into(),
            half_life_days: Some(10),
        }];
        let parsed = |word: &str| match MemoryType::parse(word, &declared) {
            Ok(it) => it.to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(parsed("gotcha"), "gotcha");
        assert_eq!(parsed("custom:acme.ritual"), "custom:acme.ritual");
        assert!(parsed("gotchas").contains("did you mean `gotcha`?"));
        assert!(parsed("custom:acme.other").starts_with("no methodology declares"));
        assert!(parsed("custom:Acme").contains("is not of the form"));
    }
}
