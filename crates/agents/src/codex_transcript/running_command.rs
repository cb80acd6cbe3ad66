//! Commands of Codex that are still running when their call returns.
//!
//! The host names a *process* in the output and lets the agent wait for it in further calls. Only the last
//! output has the exit code, which belongs to the command that the first call started. All of them become
//! one call with one result:
//!
//! ```text
//! c1  exec_command {"cmd":"make"}           Process running with session ID 7    call `make`
//! c2  write_stdin  {"session_id":7}         Process running with session ID 7
//! c3  write_stdin  {"session_id":7}         Process exited with code 2           failed, with all three outputs
//! ```

use std::collections::HashMap;

use model::elide_middle;
use serde_json::Value;

use crate::event_log::{CallOutcome, EventLog};

/// Words of the host before the number of a process that still runs.
const RUNNING_MARK: &str = "Process running with session ID ";
/// Most processes that are followed at once.
const MAX_PROCESSES: usize = 1_000;
/// Longest output that is collected of one command, in bytes; of a longer one both ends stay.
const MAX_OUTPUT_BYTES: usize = 64 << 10;

/// The commands that are still running.
#[derive(Debug, Default)]
pub(crate) struct RunningCommands {
    /// By the host's number of the process.
    processes: HashMap<u64, RunningCommand>,
    /// The process that a call waits for, by call id.
    waiting_calls: HashMap<String, u64>,
}

#[derive(Debug)]
struct RunningCommand {
    /// The call that started the command.
    call: String,
    output: String,
}

impl RunningCommands {
    /// Takes note of a call that waits for a command; `false` if no such command is running.
    pub(crate) fn continue_call(&mut self, call: &str, input: &Value) -> bool {
        let process = input["session_id"].as_u64().filter(|it| self.processes.contains_key(it));
        if let Some(process) = process {
            self.waiting_calls.insert(call.to_owned(), process);
        }
        process.is_some()
    }

    /// Adds the output of a call as its result, or keeps it while the command runs. `head` is the part of the
    /// output that the host wrote.
    pub(crate) fn push_output(
        &mut self,
        log: &mut EventLog,
        call: &str,
        head: &str,
        outcome: CallOutcome,
        output: &str,
    ) {
        let continued = self.waiting_calls.remove(call).and_then(|it| self.processes.remove(&it));
        let mut command = continued
            .unwrap_or_else(|| RunningCommand { call: call.to_owned(), output: String::new() });
        command.output.push_str(output);
        match find_process(head).filter(|_| self.processes.len() < MAX_PROCESSES) {
            Some(process) => {
                let output = elide_middle(&command.output, MAX_OUTPUT_BYTES, MAX_OUTPUT_BYTES / 2);
                command.output = output.into_owned();
                self.processes.insert(process, command);
            }
            None => log.push_result(&command.call, outcome, &command.output),
        }
    }

    /// Adds the results of the commands that no call waited for to the end, such as a server.
    pub(crate) fn finish(&mut self, log: &mut EventLog) {
        let mut commands: Vec<(u64, RunningCommand)> = self.processes.drain().collect();
        commands.sort_by_key(|(process, _)| *process);
        for (_, command) in commands {
            log.push_result(&command.call, CallOutcome::Ok, &command.output);
        }
    }
}

/// The process that still runs, if the host says so.
fn find_process(head: &str) -> Option<u64> {
    let (_, behind) = head.split_once(RUNNING_MARK)?;
    let n_digits = behind.bytes().take_while(u8::is_ascii_digit).count();
    behind[..n_digits].parse().ok()
}
