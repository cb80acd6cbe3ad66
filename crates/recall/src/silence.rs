//! Why nothing is said: silence is an answer, too, and has its reasons.

use model::closed;

closed! {
    /// Why nothing is said at a moment.
    pub enum Silence : "silence" {
        /// There is nothing to say, or nothing that is worth it.
        Nothing = "nothing",
        /// The project's trust level keeps memory silent at such moments.
        Level = "level",
        /// The session is in a group of a trial that is told less.
        Trial = "trial",
        /// The prompt has too few words to tell what it is about.
        Short = "short",
        /// Nothing is ever said at such a moment.
        Moment = "moment",
    }
}

impl Silence {
    #[rustfmt::skip]
    pub const fn reading(self) -> &'static str {
        match self {
            Self::Nothing => "nothing is known that is worth saying",
            Self::Level   => "the trust level keeps memory silent at this moment",
            Self::Trial   => "memory is on trial, and this session is told less",
            Self::Short   => "the prompt does not tell what it is about",
            Self::Moment  => "nothing is ever said at this moment",
        }
    }
}
