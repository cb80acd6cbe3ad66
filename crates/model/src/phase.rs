//! The six universal phases of work. Recall knows nothing else; methodologies bring their own words.

use crate::closed;

closed! {
    /// What an agent is doing right now.
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
    pub const fn reading(self) -> &'static str {
        match self {
            Self::Define    => "deciding what to build and how",
            Self::Implement => "writing the code",
            Self::Validate  => "checking whether it does what was asked",
            // Unlike `implement`, the code exists and something about it is known to be wrong.
            Self::Refine    => "fixing or improving what was checked",
            Self::Explore   => "finding one's way around; also everything nobody named",
            Self::Reflect   => "looking back at what was done",
        }
    }

    /// The phase a word names; a word nobody knows is exploring, never an error.
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
