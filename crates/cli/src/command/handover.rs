//! Hands a command over to the running daemon, which has its project open and its index loaded, and prints the
//! result. If the daemon does not take it, the command runs in this process: there is no difference but time.
//!
//! The daemon takes a command only if it has the same version, settings, keys and folders (see `caller.rs`),
//! and starts it only once this process has seen that it is ready. If the connection breaks after that, a
//! command that only reads is run here; one that writes is reported, so that it is never done twice.

use std::time::Duration;

use serve::client::{CommandOutcome, HandoverError};
use serve::wire::{CallerFields, CommandRequest};
use serve::{DaemonAddress, client};

use super::CliCommand;
use super::serve::{CommandResult, start_daemon_if_wanted};
use crate::caller::CallerEnvironment;
use crate::environment::{self, Environment};
use crate::failure::{self, CliFailure, FailureKind};
use crate::output::Output;
use crate::reader;

/// Time that the daemon has to say that it is ready. Its answer needs no project.
const READY_PATIENCE: Duration = Duration::from_millis(250);

/// The outcome of a handover.
pub(crate) enum Handover {
    /// The command has run, with this exit code.
    Finished(u8),
    /// It runs in this process.
    Alone(DaemonState),
}

/// The state of the daemon, as far as this command found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DaemonState {
    /// None runs, or one of an older version: the next command would be glad of one.
    Wanted,
    /// Nothing can or should be done about it.
    Untouched,
}

/// Runs a command in the daemon, if it can.
pub(crate) fn run_in_daemon(subcommand: &CliCommand, output: &Output) -> Handover {
    let alone = Handover::Alone(DaemonState::Untouched);
    if !subcommand.runs_in_daemon() || environment::is_daemon_off() {
        return alone;
    }
    // Without an environment, or with arguments that are not UTF-8, this process reports what is wrong.
    let (Ok(environment), Some(args)) = (Environment::read(), environment::utf8_arguments()) else {
        return alone;
    };
    let Some(caller) = caller_fields(&environment) else { return alone };
    let address = DaemonAddress::for_data_dir(&environment.data);
    let request =
        CommandRequest { caller, args, now: environment.now.0, reader: reader::current_reader() };
    match client::run_command(&address, &request, patience()) {
        CommandOutcome::Done(result) => match serde_json::from_value::<CommandResult>(result) {
            Ok(result) => {
                result.output.iter().for_each(|it| output.print_piece(it));
                Handover::Finished(result.code)
            }
            Err(_) => after_interruption(subcommand, output),
        },
        CommandOutcome::NotStarted(error) => Handover::Alone(daemon_state(&address, &error)),
        CommandOutcome::Interrupted => after_interruption(subcommand, output),
    }
}

/// Starts a daemon for the next command, if a hook would. Does not wait for it. Where nothing is stored, none is
/// started: reading creates no files.
pub(crate) fn start_daemon_for_next(state: &DaemonState) {
    if *state == DaemonState::Wanted
        && !environment::started_by_waylore()
        && let Ok(environment) = Environment::read()
        && environment.data.is_dir()
    {
        start_daemon_if_wanted(&environment);
    }
}

/// The facts about this process that the daemon compares; `None` for a folder that is not UTF-8.
pub(crate) fn caller_fields(environment: &Environment) -> Option<CallerFields> {
    Some(CallerFields {
        version: environment::own_version(),
        environment: CallerEnvironment::read(environment).to_json(),
        folder: environment.cwd.to_str()?.to_owned(),
        folder_identity: client::folder_identity(&environment.cwd),
    })
}

/// The time limit, which the user can raise for slow machines.
pub(crate) fn patience() -> Duration {
    environment::hook_timeout().unwrap_or(READY_PATIENCE)
}

/// Finds out whether another daemon would help.
pub(crate) fn daemon_state(address: &DaemonAddress, error: &HandoverError) -> DaemonState {
    match error {
        HandoverError::NotRunning => DaemonState::Wanted,
        HandoverError::Hanging => DaemonState::Untouched,
        HandoverError::Refused(_) => match client::daemon_version(address) {
            // It exits for a newer version.
            Some(version) if serve::is_newer(&environment::own_version(), &version) => {
                DaemonState::Wanted
            }
            _ => DaemonState::Untouched,
        },
    }
}

/// The daemon disappeared during a command. Reading again does no harm.
fn after_interruption(subcommand: &CliCommand, output: &Output) -> Handover {
    if subcommand.is_repeatable() {
        return Handover::Alone(DaemonState::Wanted);
    }
    let error = CliFailure {
        kind: FailureKind::Environment,
        message: "the daemon ended during this command; the change was made completely or not at all"
            .to_owned(),
        hint: Some("`waylore list --all` and `waylore history` show it; repeat the command if it is missing".to_owned()),
    };
    Handover::Finished(failure::report_error(&error.into(), output))
}
