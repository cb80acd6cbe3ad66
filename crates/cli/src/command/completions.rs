//! `waylore completions`.

use clap_complete::{Shell, generate};
use serde_json::json;

use crate::output::Output;

/// Print a completion script for your shell
///
/// For bash: waylore completions bash > ~/.local/share/bash-completion/completions/waylore
#[derive(clap::Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// Shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, output: &Output) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    generate(args.shell, &mut crate::command_tree(), "waylore", &mut script);
    if output.json {
        let (shell, script) = (args.shell.to_string(), String::from_utf8(script)?);
        output.data_json("completions", json!({ "shell": shell, "script": script }));
        return Ok(0);
    }
    output.print_document(&script)?;
    Ok(0)
}
