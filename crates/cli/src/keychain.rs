//! The key in the system's keychain, through the tool each system ships for it.
//!
//! The secret travels through pipes, never through arguments, which other users could see.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const SERVICE: &str = "waylore";

/// The key kept for this data folder; `None` when the keychain has none or cannot be asked.
pub(crate) fn read(data: &Path) -> Option<String> {
    let account = data.to_str()?;
    let answer = run(tool()?.read(account), "").ok().filter(|it| it.status.success())?;
    let secret = String::from_utf8(answer.stdout).ok()?;
    Some(secret.trim_end().to_owned()).filter(|it| !it.is_empty())
}

/// Keeps the key and reads it back: a keychain that is locked or absent is found out now.
pub(crate) fn write(data: &Path, secret: &str) -> bool {
    let (Some(tool), Some(account)) = (tool(), data.to_str()) else {
        return false;
    };
    let (command, input) = tool.write(account, secret);
    run(command, &input).is_ok_and(|it| it.status.success())
        && read(data).as_deref() == Some(secret)
}

#[derive(Clone, Copy)]
enum Tool {
    /// libsecret's command, for the keyrings of Linux desktops.
    SecretTool,
    /// The command of the macOS keychain.
    Security,
}

fn tool() -> Option<Tool> {
    match std::env::consts::OS {
        "macos" => Some(Tool::Security),
        "linux" => Some(Tool::SecretTool),
        _ => None,
    }
}

impl Tool {
    fn read(self, account: &str) -> Command {
        match self {
            Self::SecretTool => {
                command("secret-tool", &["lookup", "service", SERVICE, "account", account])
            }
            Self::Security => {
                command("security", &["find-generic-password", "-s", SERVICE, "-a", account, "-w"])
            }
        }
    }

    fn write(self, account: &str, secret: &str) -> (Command, String) {
        match self {
            Self::SecretTool => {
                let args =
                    ["store", "--label=Waylore data key", "service", SERVICE, "account", account];
                (command("secret-tool", &args), secret.to_owned())
            }
            // `-i` reads commands from standard input; keys are hexadecimal, paths are quoted.
            Self::Security => {
                let account = account.replace('"', "\\\"");
                let line =
                    format!("add-generic-password -U -s {SERVICE} -a \"{account}\" -w {secret}\n");
                (command("security", &["-i"]), line)
            }
        }
    }
}

fn command(program: &str, args: &[&str]) -> Command {
    let mut res = Command::new(program);
    res.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    res
}

fn run(mut command: Command, input: &str) -> std::io::Result<Output> {
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    child.wait_with_output()
}
