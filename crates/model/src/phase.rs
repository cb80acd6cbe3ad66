//! The six universal phases of work. Methodologies map their own words to them (`methodology.rs`), and
//! retrieval weighs memories by the current phase.

use crate::closed;

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// The current activity of an agent.
    pub enum Phase : "phase" {
        Define = "define",
        Implement = "implement",
        Validate = "validate",
        Refine = "refine",
        Explore = "explore",
        Reflect = "reflect",
    }
}

impl Phase {
    #[rustfmt::skip]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Define    => "deciding what to build and how",
            Self::Implement => "writing the code",
            Self::Validate  => "checking whether it does what was asked",
            // Unlike `implement`, the code exists and something about it is known to be wrong.
            Self::Refine    => "fixing or improving what was checked",
            Self::Explore   => "exploring; also the default for unknown words",
            Self::Reflect   => "looking back at what was done",
        }
    }

    /// The phase that a word names; an unknown word is `Explore`, never an error.
    pub fn or_explore(word: &str) -> Self {
        Self::from_slug(word).unwrap_or(Self::Explore)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_phase_is_exploring() {
        assert_eq!(Phase::or_explore("validate"), Phase::Validate);
        assert_eq!(Phase::or_explore("daydream"), Phase::Explore);
        assert_eq!(Phase::or_explore(""), Phase::Explore);
    }
}
