//! Labels of a memory: source, scope, visibility, author. Also the grain of a vector, the size of the text
//! that one embedding stands for.

use crate::closed;

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// Origin of a memory.
    pub enum MemorySource : "source" {
        /// The user stated it.
        UserTaught = "user_taught",
        /// The agent recorded it.
        AgentExplicit = "agent_explicit",
        /// A QA step of the host.
        QaAuto = "qa_auto",
        /// The output of a tool.
        ToolAuto = "tool_auto",
        /// A commit.
        CommitAuto = "commit_auto",
        /// Learned from the behaviour of sessions.
        ObserverInferred = "observer_inferred",
    }
}

impl MemorySource {
    /// Factor on the score of a search result, per mille; statements of the user rank highest.
    pub const fn trust(self) -> u16 {
        match self {
            Self::UserTaught => 1400,
            Self::AgentExplicit => 1200,
            Self::QaAuto => 1100,
            Self::ToolAuto | Self::CommitAuto => 1000,
            Self::ObserverInferred => 850,
        }
    }
}

closed! {
    /// The part of the project that a memory applies to.
    pub enum MemoryScope : "scope" {
        Global = "global",
        Module = "module",
        WorkUnit = "work_unit",
        Session = "session",
    }
}

closed! {
    /// Audience of a memory in a team.
    pub enum Visibility : "visibility" {
        Personal = "personal",
        Project = "project",
        Team = "team",
        Organization = "organization",
    }
}

closed! {
    /// The kind of text that a vector embeds.
    pub enum Grain : "grain" {
        /// A memory's text, or a part of it when it is long.
        Part = "part",
        /// One sentence: a query often matches only one of several.
        Sentence = "sentence",
        /// Source code; keywords are less reliable here than for `part`.
        Code = "code",
    }
}

/// Author of a change, as recorded in the audit trail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    User,
    /// The learning from sessions.
    Observer,
    /// An agent, by its name.
    Agent(String),
    /// A background job, such as `maintain`.
    Runner(String),
    /// An import, by the name of its file.
    Import(String),
}

impl Actor {
    /// Parses the stored form: a word such as `user`, or one with a name such as `agent:<name>`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None if text == "user" => Some(Self::User),
            None if text == "observer" => Some(Self::Observer),
            Some(("agent", name)) if !name.is_empty() => Some(Self::Agent(name.to_owned())),
            Some(("runner", name)) if !name.is_empty() => Some(Self::Runner(name.to_owned())),
            Some(("import", name)) if !name.is_empty() => Some(Self::Import(name.to_owned())),
            _ => None,
        }
    }
}

impl std::fmt::Display for Actor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::User => f.write_str("user"),
            Self::Observer => f.write_str("observer"),
            Self::Agent(name) => write!(f, "agent:{name}"),
            Self::Runner(name) => write!(f, "runner:{name}"),
            Self::Import(name) => write!(f, "import:{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_source_is_trusted_more_than_the_user() {
        assert!(MemorySource::ALL.iter().all(|it| it.trust() <= MemorySource::UserTaught.trust()));
    }

    #[test]
    fn actors_are_parsed_from_their_stored_form() {
        for text in ["user", "observer", "agent:coder", "runner:ci", "import:notes.json"] {
            assert_eq!(Actor::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "agent:", "root", "agent"] {
            assert_eq!(Actor::parse(text), None);
        }
    }
}
