//! The list of commands in `waylore --help`, by what a person wants to do. clap prints subcommands as one flat list,
//! so the list is made here and put into the template of the help.

use std::fmt::Write as _;

/// Headings and their commands, in the order of the help. Every visible command is in exactly one group.
const GROUPS: &[(&str, &[&str])] = &[
    ("Start", &["init", "connect", "disconnect", "review"]),
    ("Remember and find", &["remember", "search", "ask", "list", "show", "explain", "context"]),
    (
        "Change and revert",
        &["edit", "pin", "flag", "forget", "restore", "history", "undo", "purge"],
    ),
    (
        "Code",
        &["map", "impact", "deps", "neighbours", "symbols", "path", "chunks", "index", "watch"],
    ),
    (
        "Maintain",
        &[
            "doctor",
            "stats",
            "injections",
            "config",
            "learn",
            "embed",
            "maintain",
            "backup",
            "restore-backup",
            "export",
            "import",
        ],
    ),
    ("Run and tools", &["serve", "mcp", "completions", "licenses", "version", "help"]),
];

/// Help of the command that clap adds itself.
const HELP_ABOUT: &str = "Explain a command: `waylore help search`";

/// Gives the help of the program its groups of commands.
pub(crate) fn with_grouped_help(tree: clap::Command) -> clap::Command {
    let commands = format_groups(&tree);
    tree.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{commands}\n{{options}}\n"
    ))
    // The long about would be printed by `--help` only; both forms show the same screen.
    .after_help("`waylore COMMAND --help` explains a command and its options.")
}

fn format_groups(tree: &clap::Command) -> String {
    let width = GROUPS.iter().flat_map(|it| it.1).map(|it| it.len()).max().unwrap_or_default();
    let mut res = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(res, "\n{heading}:");
        for name in *names {
            let about = tree.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map_or_else(|| HELP_ABOUT.to_owned(), ToString::to_string);
            let _ = writeln!(res, "  {name:<width$}  {about}");
        }
    }
    res
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_visible_command_is_in_one_group() {
        let tree = crate::CliArgs::command();
        let visible = tree.get_subcommands().filter(|it| !it.is_hide_set());
        let mut commands: Vec<&str> = visible.map(clap::Command::get_name).collect();
        // clap adds `help` when the command is built.
        commands.push("help");
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|it| it.1.iter().copied()).collect();
        commands.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(commands, grouped);
    }
}
