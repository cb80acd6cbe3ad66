//! Reasons for injecting nothing.

use model::closed;

closed! {
    /// The reason why a hook event injects nothing.
    pub enum SilenceReason : "silence" {
        /// No relevant memory.
        Nothing = "nothing",
        /// The trust level of the project does not allow injection at this event.
        Level = "level",
        /// The session is in a trial group with reduced injection.
        Trial = "trial",
        /// The prompt is too short to search with.
        Short = "short",
        /// This event never injects notes.
        Moment = "moment",
    }
}

impl SilenceReason {
    #[rustfmt::skip]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Nothing => "no memory is relevant enough",
            Self::Level   => "the trust level does not allow notes at this event",
            Self::Trial   => "a trial is running and the group of this session gets fewer notes",
            Self::Short   => "the prompt is too short to search with",
            Self::Moment  => "this event never injects notes",
        }
    }
}
