//! Table of the names that hosts give to their tools, and the [`Tool`] behind each.
//!
//! One table for all hosts: they copy names from each other, and no name means two different things.
//! `Read`, `read_file` and `readFile` are all [`Tool::Read`]; a name that is not in the table is
//! [`Tool::Other`].

use model::{OWN_SERVER_TOOLS, Tool};

/// Names in lower case without `_` and `-` → tool.
#[rustfmt::skip]
const TOOL_NAMES: &[(&str, Tool)] = &[
    ("agent",               Tool::Task),
    ("applydiff",           Tool::Edit),
    ("applypatch",          Tool::Edit),
    ("appendfile",          Tool::Edit),
    ("bash",                Tool::Shell),
    ("cat",                 Tool::Read),
    ("codebaseinvestigator", Tool::Task),
    ("codebasesearch",      Tool::Search),
    ("create",              Tool::Write),
    ("createfile",          Tool::Write),
    ("delegatetask",        Tool::Task),
    ("delegatetoagent",     Tool::Task),
    ("edit",                Tool::Edit),
    ("editfile",            Tool::Edit),
    ("exec",                Tool::Shell),
    ("execcommand",         Tool::Shell),
    ("execute",             Tool::Shell),
    ("executecommand",      Tool::Shell),
    ("fetch",               Tool::WebFetch),
    ("fetchurl",            Tool::WebFetch),
    ("filesearch",          Tool::List),
    ("findfile",            Tool::List),
    ("findfiles",           Tool::List),
    ("generalist",          Tool::Task),
    ("glob",                Tool::List),
    ("googlewebsearch",     Tool::WebSearch),
    ("grep",                Tool::Search),
    ("grepsearch",          Tool::Search),
    ("list",                Tool::List),
    ("listdir",             Tool::List),
    ("listdirectory",       Tool::List),
    ("listfiles",           Tool::List),
    ("localshell",          Tool::Shell),
    ("localshellcall",      Tool::Shell),
    ("ls",                  Tool::List),
    ("multiedit",           Tool::Edit),
    ("notebookedit",        Tool::Edit),
    ("notebookread",        Tool::Read),
    ("open",                Tool::Read),
    ("openfile",            Tool::Read),
    ("patch",               Tool::Edit),
    ("powershell",          Tool::Shell),
    ("read",                Tool::Read),
    ("readfile",            Tool::Read),
    ("readmanyfiles",       Tool::Read),
    ("replace",             Tool::Edit),
    ("rg",                  Tool::Search),
    ("ripgrep",             Tool::Search),
    ("runcommand",          Tool::Shell),
    ("runinterminal",       Tool::Shell),
    ("runshellcommand",     Tool::Shell),
    ("runterminalcmd",      Tool::Shell),
    ("search",              Tool::Search),
    ("searchfilecontent",   Tool::Search),
    ("searchfiles",         Tool::Search),
    ("searchtext",          Tool::Search),
    ("shell",               Tool::Shell),
    ("spawnagent",          Tool::Task),
    ("strreplace",          Tool::Edit),
    ("strreplaceeditor",    Tool::Edit),
    ("subagent",            Tool::Task),
    ("task",                Tool::Task),
    ("terminal",            Tool::Shell),
    ("view",                Tool::Read),
    ("viewfile",            Tool::Read),
    ("webfetch",            Tool::WebFetch),
    ("websearch",           Tool::WebSearch),
    ("websearchcall",       Tool::WebSearch),
    ("write",               Tool::Write),
    ("writefile",           Tool::Write),
];

/// Hosts that write the name of an MCP tool as `server_tool`, `server-tool` or `mcp_server_tool`.
const HOSTS_WITH_JOINED_NAMES: &[&str] = &["opencode", "gemini", "gemini_cli", "copilot"];

/// Tools of those hosts that are no MCP tools and have no kind of their own. Names in lower case without
/// `_` and `-`. Their results are texts of the host or of earlier calls.
#[rustfmt::skip]
const HOST_TOOLS: &[&str] = &[
    "activateskill", "askuser", "batch", "completetask", "enterplanmode", "exitplanmode", "fetchcopilotclidocumentation", "getinternaldocs",
    "invalid", "killshell", "listagents", "listbash", "lsp", "lspdiagnostics", "lsphover", "planenter", "planexit", "question", "readagent",
    "readbash", "reportintent", "savememory", "showfile", "skill", "sql", "stopbash", "storememory", "taskcomplete", "todoread", "todowrite",
    "updatetodo", "updatetopic", "writebash", "writeagent", "writetodos",
];

/// The tool behind the name that a host gives it. In some hosts, a name that is not theirs is that of an MCP
/// tool with its server before it.
pub(crate) fn find_host_tool(host: &str, name: &str) -> Tool {
    let tool = find_tool(name);
    if tool != Tool::Other || !HOSTS_WITH_JOINED_NAMES.contains(&host) {
        return tool;
    }
    if HOST_TOOLS.contains(&plain_name(name).as_str()) {
        return tool;
    }
    let joined = name.strip_prefix("mcp_").unwrap_or(name);
    // The own server first: its tools have the separator in their names, as a server may have it in its.
    for own_tool in OWN_SERVER_TOOLS {
        if let Some(server) = joined.strip_suffix(own_tool) {
            return Tool::mcp_tool(server.trim_end_matches(['_', '-']), own_tool);
        }
    }
    joined.split_once(['_', '-']).map_or(Tool::Other, |(server, tool)| Tool::mcp_tool(server, tool))
}

/// The tool behind a host's name for it. `mcp__server__tool` names an MCP server.
pub(crate) fn find_tool(name: &str) -> Tool {
    if let Some(rest) = name.strip_prefix("mcp__")
        && let Some((server, tool)) = rest.split_once("__")
    {
        return Tool::mcp_tool(server, tool);
    }
    // Hosts write the same name as `read_file`, `readFile` or `read-file`.
    let plain = plain_name(name);
    let row = TOOL_NAMES.iter().find(|(known, _)| *known == plain);
    row.map_or(Tool::Other, |(_, tool)| tool.clone())
}

fn plain_name(name: &str) -> String {
    let letters = name.chars().filter(|it| !matches!(it, '_' | '-'));
    letters.map(|it| it.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn names_of_all_hosts_are_known() {
        let names = "Read MultiEdit str_replace search_file_content run_shell_command exec_command \
             mcp__github__get_issue TodoWrite google_web_search view local-shell Agent";
        let tools: Vec<String> =
            names.split_whitespace().map(|it| find_tool(it).to_string()).collect();
        expect!["read edit edit search shell shell mcp:github/get_issue other web_search read shell task"]
            .assert_eq(&tools.join(" "));
    }

    #[test]
    fn mcp_tools_are_recognised_in_every_host() {
        for (host, name, tool) in [
            ("opencode", "waylore_search_memory", "mcp:waylore/search_memory"),
            ("opencode", "github_get_issue", "mcp:github/get_issue"),
            ("opencode", "todowrite", "other"),
            ("opencode", "webfetch", "web_fetch"),
            ("gemini", "mcp_waylore_record_memory", "mcp:waylore/record_memory"),
            ("gemini", "mcp_docs_search", "mcp:docs/search"),
            ("gemini", "write_todos", "other"),
            ("copilot", "waylore-record_memory", "mcp:waylore/record_memory"),
            ("copilot", "github-mcp-server-get_issue", "mcp:github/mcp-server-get_issue"),
            ("copilot", "report_intent", "other"),
            ("claude_code", "mcp__waylore__search_memory", "mcp:waylore/search_memory"),
            ("claude_code", "exit_plan_mode", "other"),
            ("swe_agent", "find_class", "other"),
        ] {
            assert_eq!(find_host_tool(host, name).to_string(), tool, "{host} {name}");
        }
    }

    #[test]
    fn names_are_unique() {
        for (i, (name, _)) in TOOL_NAMES.iter().enumerate() {
            assert!(TOOL_NAMES[..i].iter().all(|(earlier, _)| earlier != name), "{name}");
        }
    }
}
