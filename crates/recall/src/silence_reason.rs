//! Reasons why a hook event injected nothing, for the explanations that the engine shows to users.

use model::closed;

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// The reason why a hook event injects nothing.
    pub enum SilenceReason : "silence" {
        /// No relevant memory.
        NoRelevantMemory = "nothing",
        /// The trust level of the project does not allow injection at this event.
        TrustLevelTooLow = "level",
        /// The session is in a trial group with reduced injection.
        TrialGroup = "trial",
        /// The prompt is too short to search with.
        PromptTooShort = "short",
        /// This event never injects notes.
        EventWithoutNotes = "moment",
    }
}

impl SilenceReason {
    #[rustfmt::skip]
    pub const fn description(self) -> &'static str {
        match self {
            Self::NoRelevantMemory  => "no memory is relevant enough",
            Self::TrustLevelTooLow  => "the trust level does not allow notes at this event",
            Self::TrialGroup        => "a trial is running and the group of this session gets fewer notes",
            Self::PromptTooShort    => "the prompt is too short to search with",
            Self::EventWithoutNotes => "this event never injects notes",
        }
    }
}
