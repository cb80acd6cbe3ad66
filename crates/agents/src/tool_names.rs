//! Table of the names that hosts give to their tools, and the [`Tool`] behind each.
//!
//! One table for all hosts: they copy names from each other, and no name means two different things.
//! `Read`, `read_file` and `readFile` are all [`Tool::Read`]; a name that is not in the table is
//! [`Tool::Other`].

use model::Tool;

/// Names in lower case without `_` and `-` → tool.
#[rustfmt::skip]
const TOOL_NAMES: &[(&str, Tool)] = &[
    ("agent",               Tool::Task),
    ("applydiff",           Tool::Edit),
    ("applypatch",          Tool::Edit),
    ("appendfile",          Tool::Edit),
    ("bash",                Tool::Shell),
    ("cat",                 Tool::Read),
    ("codebasesearch",      Tool::Search),
    ("create",              Tool::Write),
    ("createfile",          Tool::Write),
    ("delegatetask",        Tool::Task),
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

/// The tool behind a host's name for it. `mcp__server__tool` names an MCP server.
pub(crate) fn find_tool(name: &str) -> Tool {
    if let Some(rest) = name.strip_prefix("mcp__")
        && let Some((server, tool)) = rest.split_once("__")
    {
        return Tool::mcp_tool(server, tool);
    }
    // Hosts write the same name as `read_file`, `readFile` or `read-file`.
    let plain: String = name
        .chars()
        .filter(|it| !matches!(it, '_' | '-'))
        .map(|it| it.to_ascii_lowercase())
        .collect();
    let row = TOOL_NAMES.iter().find(|(known, _)| *known == plain);
    row.map_or(Tool::Other, |(_, tool)| tool.clone())
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
    fn names_are_unique() {
        for (i, (name, _)) in TOOL_NAMES.iter().enumerate() {
            assert!(TOOL_NAMES[..i].iter().all(|(earlier, _)| earlier != name), "{name}");
        }
    }
}
