//! The settings that decide what memory may do in a project: whether it is on, whether learning may
//! call a language model, and what is injected unasked. `cli` builds a [`ProjectPolicy`] from the
//! settings of the user and the project and sets it on the handle.

use model::TrustLevel;

/// The policy of one project. Its parts are set together, by the function that opens the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectPolicy {
    pub memory: MemoryState,
    pub llm: LlmAccess,
    pub injection: InjectionPolicy,
}

/// State of memory in a project (`memory.enabled`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryState {
    Enabled,
    /// Memories can be read, judged and removed, but no text comes in.
    Disabled,
}

/// Permission of learning to call the text model (`learn.ask_model`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LlmAccess {
    Allowed,
    Denied,
}

/// Limits of injection without a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InjectionPolicy {
    /// Decides at which events notes are injected, and how confident they must be.
    pub level: TrustLevel,
    /// A trial runs: sessions are assigned to groups, and some groups get less injected.
    pub on_trial: bool,
}

impl Default for ProjectPolicy {
    /// The policy of a project whose settings are all at their default.
    fn default() -> Self {
        let injection = InjectionPolicy { level: TrustLevel::Standard, on_trial: false };
        Self { memory: MemoryState::Enabled, llm: LlmAccess::Denied, injection }
    }
}
