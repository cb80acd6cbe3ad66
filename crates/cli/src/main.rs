//! The binary `waylore`: arguments, configuration, clock and printing. Thinks nothing by itself.
#![expect(
    clippy::doc_markdown,
    reason = "doc comments of arguments are help texts, printed as they are"
)]
#![expect(clippy::struct_excessive_bools, reason = "flags are what a command line is made of")]

mod command;
mod config;
mod environment;
mod failure;
mod interrupt;
mod keychain;
mod models;
mod output;
mod ticker;
mod wire;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::command::Command;
use crate::output::Output;

/// The memory of AI coding agents
///
/// Waylore keeps what was learned about a project and gives it back at the right moment. Everything
/// stays on this machine, in files only you can read.
#[derive(Parser, Debug)]
#[command(name = "waylore", version, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// What every command understands.
#[derive(clap::Args, Debug, Clone)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// Print JSON with a versioned schema instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Work in the project of this folder instead of the current one
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    pub(crate) project: Option<std::path::PathBuf>,
    /// Say nothing on standard error but warnings and errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

fn main() -> ExitCode {
    engine::survive_file_size_limit();
    let cli = match Cli::try_parse() {
        Ok(Cli { command: Command::Hook(args), .. }) => {
            command::hook::run(args);
            return ExitCode::SUCCESS;
        }
        Ok(Cli { command: Command::Serve(args), global }) => {
            let output = Output::new(&global);
            return match command::serve::run(args, &output) {
                Ok(code) => ExitCode::from(code),
                Err(error) => failure::report(&error, &output),
            };
        }
        Ok(cli) => cli,
        // To a host, a usage error is an order to stop the agent.
        Err(error) if error.use_stderr() && is_hook() => return ExitCode::SUCCESS,
        // Help and version are answers; everything else is a usage error with clap's own words.
        Err(error) if error.use_stderr() && wants_json() => return failure::misused(&error),
        Err(error) => {
            // A closed pipe is the reader's choice, not a failure of ours.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let output = Output::new(&cli.global);
    if let Command::Mcp(args) = &cli.command {
        let served = command::mcp::run(args, &cli.global, &output);
        return served.map_or_else(|it| failure::report(&it, &output), ExitCode::from);
    }
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    // Who cannot be interrupted in order does not listen for it: a runtime that does is woken by a
    // call of the system, and such a call can fail.
    if cli.command.is_stoppable() {
        runtime.enable_io();
    }
    let runtime = runtime.build();
    let run = async { command::run(cli.command, &cli.global, &output).await };
    let res = match runtime {
        Ok(runtime) => runtime.block_on(run),
        Err(error) => Err(anyhow::Error::from(error)),
    };
    match res {
        Ok(code) => ExitCode::from(code),
        Err(error) => failure::report(&error, &output),
    }
}

/// Whether a host calls, with words that could not be understood.
fn is_hook() -> bool {
    std::env::args_os().nth(1).is_some_and(|it| it == "hook")
}

/// Whether JSON was asked for, in a command line that could not be understood otherwise.
fn wants_json() -> bool {
    std::env::args_os().take_while(|it| it != "--").any(|it| it == "--json")
}

/// The whole command tree, for completions and the reference.
pub(crate) fn tree() -> clap::Command {
    Cli::command()
}
