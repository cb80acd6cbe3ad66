//! Vocabulary of the injection log: the moment at which a note was given to an agent, and its subject.
//!
//! The engine records both with every note (`engine/injection/shown_notes.rs`); the store keeps them as
//! words; `waylore injections` prints them.

use crate::closed;

closed! {
    /// Occasion on which a note was given to an agent. The injection tier is coarser: it groups the
    /// moments that a trust level allows or forbids together.
    pub enum InjectionMoment : "moment" {
        /// A session started, was resumed or compacted.
        Start = "start",
        /// The user sent a prompt.
        Prompt = "prompt",
        /// A tool or a command touched files.
        File = "file",
        /// A call failed with a known error.
        Failure = "failure",
        /// Between two steps.
        Step = "step",
        /// The agent asked, over MCP or the protocol. No tier: a request is not an injection.
        Request = "request",
    }
}

closed! {
    /// Subject of a note that was given to an agent.
    pub enum NoteSubject : "subject" {
        Memory = "memory",
        /// One step of a recipe, which is a memory.
        RecipeStep = "recipe_step",
        /// A note that a session has recorded and that is not a memory yet.
        RecordedNote = "recorded_note",
        /// The fix of an error that only one session has found so far.
        FixSeenOnce = "fix_seen_once",
        ExpectedErrors = "expected_errors",
        PredictedFiles = "predicted_files",
        /// A file that usually changes with an edited one, by the git history.
        ChangePartner = "change_partner",
        /// The checks that usually run before a commit.
        UsualChecks = "usual_checks",
        ProjectCommands = "commands",
        ModuleList = "modules",
        Module = "module",
    }
}
