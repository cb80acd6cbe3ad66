//! The channels through which text from outside the project comes in: a fetched page, the output of a
//! command, a file of a dependency, an imported memory.
//!
//! `observe` names the channel at which a session becomes tainted; tests enumerate [`ContentChannel::ALL`]
//! and check that no channel is open. A new channel is a new variant: its row states how its text is kept
//! from posing as the project's own knowledge, and the tests demand an attack through it.

use crate::closed;

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// A channel of text that neither the user nor the agent wrote about this project.
    pub enum ContentChannel : "channel" {
        WebPage = "web_page",
        WebSearch = "web_search",
        /// A program that fetches (`curl`, `gh pr view`, `npm view`). Unlike `interpreter`, the program
        /// itself is known to reach out.
        Shell = "shell",
        /// Code on the command line that reaches the network: `python -c 'import urllib…'`.
        Interpreter = "interpreter",
        /// The report of a subagent that read text of another channel.
        Subagent = "subagent",
        McpTool = "mcp_tool",
        /// A file of a dependency inside the project: `node_modules`, `vendor`, `site-packages`.
        VendoredFile = "vendored_file",
        CommitMessage = "commit_message",
        /// The description in a package manifest or the leading comment of a file.
        Manifest = "manifest",
        RuleFile = "rule_file",
        /// A record of a session that came with the repository or from another machine: a file outside
        /// the folders of the hosts that the user learns from without vouching for it.
        Transcript = "transcript",
        ImportedMemory = "imported_memory",
        /// A field of a hook message that the host fills.
        HookField = "hook_field",
    }
}

closed! {
    /// The protection against the text of a channel.
    pub enum ChannelGuard : "guard" {
        /// Everything that the agent states later in the session is tainted.
        TaintsSession = "taints_session",
        /// Every memory made of it is tainted or waits for review.
        QuarantinesMemory = "quarantines_memory",
        /// It becomes no memory by itself. Where it is shown, it is framed as data, and text that looks
        /// like an instruction is left out.
        FiltersInstructions = "filters_instructions",
    }
}

/// Properties of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentChannelRow {
    pub guard: ChannelGuard,
    pub description: &'static str,
}

impl ContentChannel {
    #[rustfmt::skip]
    pub const fn row(self) -> ContentChannelRow {
        use ChannelGuard::{FiltersInstructions, QuarantinesMemory, TaintsSession};
        match self {
            Self::WebPage        => row(TaintsSession,       "a fetched page"),
            Self::WebSearch      => row(TaintsSession,       "the results of a web search"),
            Self::Shell          => row(TaintsSession,       "the output of a command that fetches"),
            Self::Interpreter    => row(TaintsSession,       "the output of inline code that reaches the network"),
            Self::Subagent       => row(TaintsSession,       "the report of a subagent that read outside text"),
            Self::McpTool        => row(TaintsSession,       "the result of an MCP tool whose server is not trusted"),
            Self::VendoredFile   => row(TaintsSession,       "a file of a dependency"),
            Self::CommitMessage  => row(FiltersInstructions, "the message of a commit"),
            Self::Manifest       => row(FiltersInstructions, "the description in a manifest or a file's leading comment"),
            Self::RuleFile       => row(QuarantinesMemory,   "a rule file that came with the repository"),
            Self::Transcript     => row(QuarantinesMemory,   "a session record that came with the repository"),
            Self::ImportedMemory => row(QuarantinesMemory,   "a memory imported from a file"),
            Self::HookField      => row(FiltersInstructions, "a field of a hook message"),
        }
    }
}

const fn row(guard: ChannelGuard, description: &'static str) -> ContentChannelRow {
    ContentChannelRow { guard, description }
}
