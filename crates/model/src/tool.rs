//! The tools of agents under one set of names, whatever the host (the program that runs the agent) calls them:
//! `Bash` of Claude Code is `shell`.
//!
//! `agents` maps the tools of hosts to these kinds. The table has the properties of every call of a kind:
//! its effect on files, and whether it brings in external text. For shell commands `observe` decides that by
//! the command line.

use std::borrow::Cow;
use std::fmt;

use crate::{ContentChannel, MAX_LABEL, UnknownWord, clean_label, closed};

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// The kind of a tool.
    pub enum ToolKind : "tool" {
        Read = "read",
        /// Changes part of a file; unlike `write`, the rest of it is kept.
        Edit = "edit",
        Write = "write",
        /// Looks into files (grep).
        Search = "search",
        /// Looks at names of files (glob); unlike `search`, it opens none.
        List = "list",
        Shell = "shell",
        WebFetch = "web_fetch",
        WebSearch = "web_search",
        Mcp = "mcp",
        /// Starts a subagent, which has a session of its own.
        Task = "task",
        Other = "other",
    }
}

/// One tool; for an MCP tool, with its server and its name there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tool {
    Read,
    Edit,
    Write,
    Search,
    List,
    Shell,
    WebFetch,
    WebSearch,
    /// Build it with [`Tool::mcp_tool`], which keeps the two names apart.
    Mcp {
        server: String,
        tool: String,
    },
    Task,
    Other,
}

/// Names under which hosts list Waylore's MCP server: as `waylore connect` registers it, and as Claude
/// Code names the server of its plugin.
const OWN_SERVER_NAMES: &[&str] = &["waylore", "plugin_waylore_waylore"];

/// The tools of Waylore's MCP server. A test in crate `mcp` compares them with the tools it serves.
pub const OWN_SERVER_TOOLS: &[&str] = &[
    "search_memory",
    "record_memory",
    "get_workflow_recipe",
    "get_context",
    "analyze_impact",
    "get_dependencies",
    "get_module_map",
    "update_module_map",
    "relate",
    "flag_memory",
];

closed! {
    /// Effect of a call on files of the project.
    pub enum FileTouch : "touch" {
        Nothing = "nothing",
        /// Lists the names of files.
        Names = "names",
        Reads = "reads",
        Writes = "writes",
        /// Depends on the call: commands and unknown tools may do anything.
        Unknown = "unknown",
    }
}

closed! {
    /// Condition under which a call brings external text into the session.
    pub enum ExternalContent : "external" {
        Never = "never",
        Always = "always",
        /// Unless the user marked the server as trusted.
        UnlessTrusted = "unless_trusted",
        /// Only some commands fetch.
        ByCommand = "by_command",
        /// Only of files that belong to dependencies.
        ByPath = "by_path",
        /// Unless the subagent is known to have read nothing external.
        BySubagent = "by_subagent",
        /// Only if the call names an address.
        ByAddress = "by_address",
    }
}

/// Properties shared by every call of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolRow {
    pub touch: FileTouch,
    pub external: ExternalContent,
    /// A call that only explores the project. With a good memory the agent needs fewer of them.
    pub discovery: bool,
    pub description: &'static str,
}

impl ToolKind {
    #[rustfmt::skip]
    pub const fn row(self) -> ToolRow {
        match self {
            //                                                                        discovery
            //                     touch               external                       |      description
            Self::Read      => row(FileTouch::Reads,   ExternalContent::ByPath,        true,  "reads a file"),
            Self::Edit      => row(FileTouch::Writes,  ExternalContent::Never,         false, "changes part of a file"),
            Self::Write     => row(FileTouch::Writes,  ExternalContent::Never,         false, "writes a whole file"),
            Self::Search    => row(FileTouch::Reads,   ExternalContent::ByPath,        true,  "searches in files"),
            Self::List      => row(FileTouch::Names,   ExternalContent::Never,         true,  "lists files by name"),
            Self::Shell     => row(FileTouch::Unknown, ExternalContent::ByCommand,     false, "runs a command"),
            Self::WebFetch  => row(FileTouch::Nothing, ExternalContent::Always,        false, "fetches a page"),
            Self::WebSearch => row(FileTouch::Nothing, ExternalContent::Always,        false, "searches the web"),
            Self::Mcp       => row(FileTouch::Unknown, ExternalContent::UnlessTrusted, false, "calls a tool of an MCP server"),
            Self::Task      => row(FileTouch::Nothing, ExternalContent::BySubagent,    false, "starts a subagent"),
            Self::Other     => row(FileTouch::Unknown, ExternalContent::ByAddress,     false, "anything else"),
        }
    }

    /// The channel of the external text that a call of this kind can bring in. A shell command may have
    /// another one, see `observe`.
    pub const fn channel(self) -> Option<ContentChannel> {
        match self {
            Self::Read | Self::Search => Some(ContentChannel::VendoredFile),
            Self::Shell => Some(ContentChannel::Shell),
            Self::WebFetch | Self::Other => Some(ContentChannel::WebPage),
            Self::WebSearch => Some(ContentChannel::WebSearch),
            Self::Mcp => Some(ContentChannel::McpTool),
            Self::Task => Some(ContentChannel::Subagent),
            Self::Edit | Self::Write | Self::List => None,
        }
    }
}

const fn row(
    touch: FileTouch,
    external: ExternalContent,
    discovery: bool,
    description: &'static str,
) -> ToolRow {
    assert!(
        !discovery || matches!(touch, FileTouch::Reads | FileTouch::Names),
        "discovery looks at the project"
    );
    ToolRow { touch, external, discovery, description }
}

// Evaluates every row at compile time, so a bad row never reaches a user.
const _: () = {
    let mut nth = 0;
    while nth < ToolKind::ALL.len() {
        let kind = ToolKind::ALL[nth];
        let is_external = !matches!(kind.row().external, ExternalContent::Never);
        assert!(is_external == kind.channel().is_some(), "external text has a channel");
        nth += 1;
    }
};

impl Tool {
    /// An MCP tool. A `/` in the server's name becomes `_`, because the stored word separates the names by
    /// `/`. Without one of the names the tool is `other`.
    pub fn mcp_tool(server: &str, tool: &str) -> Self {
        // Both names come from a third party, so that they are cleaned like any label.
        let server = clean_label(server, MAX_LABEL).replace('/', "_");
        let tool = clean_label(tool, MAX_LABEL);
        if server.is_empty() || tool.is_empty() {
            return Self::Other;
        }
        Self::Mcp { server, tool }
    }

    /// Returns whether this is a tool of Waylore's own MCP server. Its answers are the project's own
    /// memories, not external text. Both names must fit, because another server may take the name.
    pub fn is_own_server(&self) -> bool {
        match self {
            Self::Mcp { server, tool } => {
                OWN_SERVER_NAMES.contains(&server.as_str())
                    && OWN_SERVER_TOOLS.contains(&tool.as_str())
            }
            _ => false,
        }
    }

    pub const fn kind(&self) -> ToolKind {
        match self {
            Self::Read => ToolKind::Read,
            Self::Edit => ToolKind::Edit,
            Self::Write => ToolKind::Write,
            Self::Search => ToolKind::Search,
            Self::List => ToolKind::List,
            Self::Shell => ToolKind::Shell,
            Self::WebFetch => ToolKind::WebFetch,
            Self::WebSearch => ToolKind::WebSearch,
            Self::Mcp { .. } => ToolKind::Mcp,
            Self::Task => ToolKind::Task,
            Self::Other => ToolKind::Other,
        }
    }

    /// The stored word: the slug of the kind, or `mcp:<server>/<tool>`.
    pub fn slug(&self) -> Cow<'static, str> {
        match self {
            Self::Mcp { server, tool } => Cow::Owned(format!("mcp:{server}/{tool}")),
            plain => Cow::Borrowed(plain.kind().slug()),
        }
    }

    /// Parses a stored word; names used by hosts are mapped in `agents`.
    pub fn parse(word: &str) -> Result<Self, UnknownWord> {
        let mcp_names = word.strip_prefix("mcp:").and_then(|it| it.split_once('/'));
        if let Some((server, tool)) = mcp_names {
            return Ok(Self::mcp_tool(server, tool));
        }
        Ok(match ToolKind::parse(word)? {
            ToolKind::Read => Self::Read,
            ToolKind::Edit => Self::Edit,
            ToolKind::Write => Self::Write,
            ToolKind::Search => Self::Search,
            ToolKind::List => Self::List,
            ToolKind::Shell => Self::Shell,
            ToolKind::WebFetch => Self::WebFetch,
            ToolKind::WebSearch => Self::WebSearch,
            ToolKind::Task => Self::Task,
            // A bare `mcp` names neither server nor tool.
            ToolKind::Mcp | ToolKind::Other => Self::Other,
        })
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.slug())
    }
}

impl serde::Serialize for Tool {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.slug())
    }
}

impl<'de> serde::Deserialize<'de> for Tool {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let word = <Cow<'de, str>>::deserialize(from)?;
        Self::parse(&word).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    /// Checks the kind and the slug of a parsed word.
    fn check(word: &str, expect: Expect) {
        let shown = match Tool::parse(word) {
            Ok(tool) => format!("{:?} {tool}", tool.kind()),
            Err(error) => format!("error: {error}"),
        };
        expect.assert_eq(&shown);
    }

    #[test]
    fn only_stored_words_are_parsed() {
        check("web_fetch", expect!["WebFetch web_fetch"]);
        check("mcp:github/get_issue", expect!["Mcp mcp:github/get_issue"]);
        check("mcp:a/b/c", expect!["Mcp mcp:a/b/c"]);
        check("mcp:/x", expect!["Other other"]);
        check("mcp", expect!["Other other"]);
        check("serch", expect!["error: unknown tool `serch` (did you mean `search`?)"]);
        check(
            "Bash",
            expect![
                "error: unknown tool `Bash` (one of: read, edit, write, search, list, shell, web_fetch, web_search, mcp, task, other)"
            ],
        );
    }

    #[test]
    fn every_plain_kind_is_parsed_from_its_slug() {
        for kind in ToolKind::ALL.iter().filter(|it| **it != ToolKind::Mcp) {
            assert_eq!(Tool::parse(kind.slug()).unwrap().kind(), *kind);
        }
    }

    proptest! {
        #[test]
        fn an_mcp_tool_with_any_names_is_parsed_from_its_slug(server in ".*", tool in ".*") {
            let tool = Tool::mcp_tool(&server, &tool);
            prop_assert_eq!(Tool::parse(&tool.slug()).unwrap(), tool);
        }
    }
}
