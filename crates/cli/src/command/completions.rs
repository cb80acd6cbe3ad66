//! `waylore completions`.

use clap_complete::{Shell, generate};

/// Print a completion script for your shell
///
/// For bash: waylore completions bash > ~/.local/share/bash-completion/completions/waylore
#[derive(clap::Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    generate(args.shell, &mut crate::tree(), "waylore", &mut script);
    std::io::Write::write_all(&mut std::io::stdout(), &script)?;
    Ok(0)
}
