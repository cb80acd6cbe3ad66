//! Text generation by the agent program that the user works with anyway, run once without a terminal: no
//! tools, no hooks, one turn.
//!
//! The prompt goes to standard input. The program runs in a folder of its own that belongs to no project,
//! with [`ASK_MARKER`] in its environment, by which our hooks recognise it and stay silent. It gets a time
//! limit; then its whole process group is ended. An answer counts only if the program exits with 0 and
//! its output has the text: several programs exit with 0 without an answer.

mod command_line;
mod output;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use model::closed;

use crate::error::{Error, ResponseFlaw};
use crate::generate::{TextGenerator, TextPrompt};
use command_line::build_command;
use output::parse_output;

/// Environment variable of the programs that we run to ask a question. Hooks that see it do nothing.
pub const ASK_MARKER: &str = "WAYLORE_DISTILL";
/// Time to end after the first signal; then the group is killed.
const GRACE_PERIOD: Duration = Duration::from_secs(2);
/// Characters of a program's message that an error shows.
const MAX_MESSAGE_CHARS: usize = 200;

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// An agent program. The slug is the name of its executable.
    pub enum AgentProgram: "agent program" {
        Claude = "claude",
        Codex = "codex",
        Gemini = "gemini",
        Copilot = "copilot",
        OpenCode = "opencode",
    }
}

/// An agent program that answers single questions.
#[derive(Clone, Debug)]
pub struct AgentCli {
    pub program: AgentProgram,
    /// The executable.
    pub path: PathBuf,
    /// A private folder outside of any project, in which the program runs.
    pub folder: PathBuf,
    /// The model; `None` for a small one where the program lets us choose.
    pub model: Option<String>,
}

/// An answer with what it cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelAnswer {
    pub text: String,
    /// Input and output tokens; `None` if they are not reported.
    pub usage: Option<(u64, u64)>,
}

/// A model that answers single questions: a provider, or an agent program.
#[derive(Clone, Debug)]
pub enum QuestionModel {
    Provider(TextGenerator),
    AgentCli(AgentCli),
}

impl QuestionModel {
    /// Waits for the answer, so async callers move it off their runtime.
    pub fn answer(&self, prompt: &TextPrompt<'_>, limit: Duration) -> Result<ModelAnswer, Error> {
        match self {
            Self::Provider(generator) => {
                let text = generator.complete(prompt, limit)?;
                Ok(ModelAnswer { text, usage: None })
            }
            Self::AgentCli(cli) => cli.answer(prompt, limit),
        }
    }
}

impl AgentCli {
    /// Runs the program once with a prompt.
    pub fn answer(&self, prompt: &TextPrompt<'_>, limit: Duration) -> Result<ModelAnswer, Error> {
        let mut command =
            build_command(self, prompt).map_err(|it| self.failure(&it.to_string()))?;
        let child = start_group(&mut command).map_err(|it| self.failure(&it.to_string()))?;
        let input = match self.program {
            // It has no option for a system prompt.
            AgentProgram::Copilot => format!("{}\n\n{}", prompt.system, prompt.user),
            _ => prompt.user.to_owned(),
        };
        let output =
            wait_within(child, input, limit).map_err(|it| self.failure(&it.to_string()))?;
        let Some(output) = output else {
            return Err(Error::Slow { host: self.program.slug().to_owned(), within: limit });
        };
        let stdout = String::from_utf8_lossy(&output.stdout);
        let parsed = parse_output(self.program, &stdout);
        match parsed.text.filter(|it| !it.trim().is_empty()) {
            Some(text) if output.status.success() => {
                Ok(ModelAnswer { text: text.trim().to_owned(), usage: parsed.usage })
            }
            _ => {
                let stderr = String::from_utf8_lossy(&output.stderr);
                let last = stderr.lines().rev().find(|it| !it.trim().is_empty());
                match parsed.error.as_deref().or(last) {
                    Some(message) => Err(self.failure(message)),
                    None => Err(Error::UnusableResponse {
                        host: self.program.slug().to_owned(),
                        flaw: ResponseFlaw::Empty,
                    }),
                }
            }
        }
    }

    fn failure(&self, why: &str) -> Error {
        let why: String = why.trim().chars().take(MAX_MESSAGE_CHARS).collect();
        Error::Unreachable { host: self.program.slug().to_owned(), why }
    }
}

/// Starts the program in a process group of its own, so that its children can be ended with it.
fn start_group(command: &mut Command) -> std::io::Result<Child> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command.spawn()
}

/// Sends the prompt and collects the output; `None` if the limit is reached, after the group was ended.
fn wait_within(
    mut child: Child,
    prompt: String,
    limit: Duration,
) -> std::io::Result<Option<Output>> {
    let pid = child.id();
    let stdin = child.stdin.take();
    std::thread::spawn(move || {
        if let Some(mut stdin) = stdin {
            // A program that does not read its input fails by its own message.
            let _ = stdin.write_all(prompt.as_bytes());
        }
    });
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    match receiver.recv_timeout(limit) {
        Ok(output) => output.map(Some),
        Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => {
            end_group(pid, "TERM");
            // The receiver also waits for children that hold the output open.
            if receiver.recv_timeout(GRACE_PERIOD).is_err() {
                end_group(pid, "KILL");
            }
            Ok(None)
        }
    }
}

/// Signals a process group. By the program `kill`, which needs no unsafe code.
#[cfg(unix)]
fn end_group(pid: u32, signal: &str) {
    let group = format!("-{pid}");
    // The group may have ended by itself.
    let _ = Command::new("kill").args(["-s", signal, "--", &group]).stderr(Stdio::null()).status();
}

/// Ends a process and its children.
#[cfg(not(unix))]
fn end_group(pid: u32, _signal: &str) {
    let _ = Command::new("taskkill").args(["/T", "/F", "/PID", &pid.to_string()]).status();
}
