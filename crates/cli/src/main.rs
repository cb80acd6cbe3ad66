//! The binary `waylore`: arguments, configuration, clock and output. The work is done by the crate `engine`.
//!
//! `main` parses the arguments and starts the command. Three commands run without the usual set-up: `hook`
//! (started at every event by a *host*, the program that runs an agent), `serve` (the daemon that keeps
//! projects open between two hooks) and `mcp` (a server for agents). All others go through `command::run`,
//! which opens the project of the current folder first.
#![expect(
    clippy::doc_markdown,
    reason = "doc comments of arguments are help texts, printed as they are"
)]
#![expect(clippy::struct_excessive_bools, reason = "flags are what a command line is made of")]

mod caller;
mod command;
mod config;
mod environment;
mod failure;
mod interrupt;
mod keychain;
mod layout;
mod models;
mod output;
mod project;
mod reader;
mod ticker;
mod wire;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};

use crate::command::handover::Handover;
use crate::command::{CliCommand, with_grouped_help};
use crate::failure::FailureKind;
use crate::output::Output;

/// The memory of AI coding agents
///
/// Waylore learns from the sessions of coding agents and gives the next session what it needs, when it needs it.
/// Everything stays on this machine, in files only you can read.
#[derive(Parser, Debug)]
#[command(name = "waylore", version)]
struct CliArgs {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: CliCommand,
}

/// Options of every command.
#[derive(clap::Args, Debug, Clone)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct GlobalArgs {
    /// Print JSON with a versioned schema instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Work in the project of this folder instead of the current one
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    pub(crate) project: Option<std::path::PathBuf>,
    /// Print only warnings and errors on standard error
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

fn main() -> ExitCode {
    // A write beyond the file-size limit then fails like on a full disk, instead of killing the process.
    engine::ignore_file_size_signal();
    let parsed = command_tree().try_get_matches().and_then(|it| CliArgs::from_arg_matches(&it));
    let cli = match parsed {
        // Before everything else: a host waits for a hook.
        Ok(CliArgs { command: CliCommand::Hook(args), .. }) => {
            command::hook::run(args);
            return ExitCode::SUCCESS;
        }
        // The daemon builds a runtime of its own, with threads.
        Ok(CliArgs { command: CliCommand::Serve(args), global }) => {
            let output = Output::new(&global);
            return match command::serve::run(args, &output) {
                Ok(code) => output.finish(code),
                Err(error) => output.finish(failure::report_error(&error, &output)),
            };
        }
        Ok(cli) => cli,
        Err(error) => return finish_unparsed(&error),
    };
    let output = Output::new(&cli.global);
    if let CliCommand::Mcp(args) = &cli.command {
        let served = command::mcp::run(args, &cli.global, &output);
        return match served {
            Ok(code) => output.finish(code),
            Err(error) => output.finish(failure::report_error(&error, &output)),
        };
    }
    let daemon_state = match command::handover::run_in_daemon(&cli.command, &output) {
        Handover::Finished(code) => return output.finish(code),
        Handover::Alone(daemon_state) => daemon_state,
    };
    let mut runtime_builder = tokio::runtime::Builder::new_current_thread();
    // Only stoppable commands install a handler for Ctrl-C. It needs the I/O driver of the runtime, whose
    // start can fail, so the other commands do without.
    if cli.command.is_stoppable() {
        runtime_builder.enable_io();
    }
    let result = match runtime_builder.build() {
        Ok(runtime) => runtime.block_on(command::run(cli.command, &cli.global, &output)),
        Err(error) => Err(anyhow::Error::from(error)),
    };
    let code = match result {
        Ok(code) => code,
        Err(error) => failure::report_error(&error, &output),
    };
    command::handover::start_daemon_for_next(&daemon_state);
    output.finish(code)
}

/// Prints the reason why clap returned no command: `--help`, `--version`, or wrong arguments.
fn finish_unparsed(error: &clap::Error) -> ExitCode {
    // clap writes help and version to stdout, usage errors to stderr.
    let is_usage_error = error.use_stderr();
    // Some hosts stop the agent on exit code 2, so `hook` never returns a usage error.
    if is_usage_error && is_hook() {
        return ExitCode::SUCCESS;
    }
    if is_usage_error && wants_json() {
        return failure::report_usage_error(error);
    }
    let output = Output::with_modes(false, false);
    output.keep_write_error(error.print());
    output.finish(if is_usage_error { FailureKind::Usage as u8 } else { 0 })
}

/// True if the arguments are those of `hook`, although they did not parse.
fn is_hook() -> bool {
    std::env::args_os().nth(1).is_some_and(|it| it == "hook")
}

/// True if the arguments contain `--json`, although they did not parse. After `--` it is a text.
fn wants_json() -> bool {
    std::env::args_os().take_while(|it| it != "--").any(|it| it == "--json")
}

/// The whole command tree, for completions and the reference.
pub(crate) fn command_tree() -> clap::Command {
    with_grouped_help(CliArgs::command())
}
