//! Keys in the system's keychain, through the tool each system ships for it.
//!
//! A secret travels through pipes, never through arguments, which other users could see.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const SERVICE: &str = "waylore";

/// What a keychain keeps for us.
pub(crate) enum Entry<'a> {
    /// The key of the data in this folder.
    Data(&'a Path),
    /// What a provider knows us by. Kept for one address: another server is never sent it.
    Provider { role: &'a str, url: &'a str },
}

impl Entry<'_> {
    fn account(&self) -> Option<String> {
        match self {
            Self::Data(data) => data.to_str().map(str::to_owned),
            Self::Provider { role, url } => Some(format!("{role} {url}")),
        }
    }

    const fn label(&self) -> &'static str {
        match self {
            Self::Data(_) => "Waylore data key",
            Self::Provider { .. } => "Waylore provider key",
        }
    }
}

/// The secret of an entry; `None` when the keychain has none or cannot be asked.
pub(crate) fn read(entry: &Entry<'_>) -> Option<String> {
    let account = entry.account()?;
    let answer = run(tool()?.read(&account), "").ok().filter(|it| it.status.success())?;
    let secret = String::from_utf8(answer.stdout).ok()?;
    Some(secret.trim_end().to_owned()).filter(|it| !it.is_empty())
}

/// Keeps a secret and reads it back: a keychain that is locked or absent is found out now.
pub(crate) fn write(entry: &Entry<'_>, secret: &str) -> bool {
    let (Some(tool), Some(account)) = (tool(), entry.account()) else {
        return false;
    };
    let (command, input) = tool.write(&account, entry.label(), secret);
    run(command, &input).is_ok_and(|it| it.status.success())
        && read(entry).as_deref() == Some(secret)
}

/// Takes a secret out; says whether it is out.
pub(crate) fn remove(entry: &Entry<'_>) -> bool {
    let (Some(tool), Some(account)) = (tool(), entry.account()) else {
        return false;
    };
    run(tool.remove(&account), "").is_ok() && read(entry).is_none()
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

    fn write(self, account: &str, label: &str, secret: &str) -> (Command, String) {
        match self {
            Self::SecretTool => {
                let label = format!("--label={label}");
                let args = ["store", &label, "service", SERVICE, "account", account];
                (command("secret-tool", &args), secret.to_owned())
            }
            // `-i` reads commands from standard input.
            Self::Security => {
                let quoted = |it: &str| it.replace('\\', "\\\\").replace('"', "\\\"");
                let (account, secret) = (quoted(account), quoted(secret));
                let line = format!(
                    "add-generic-password -U -s {SERVICE} -a \"{account}\" -w \"{secret}\"\n"
                );
                (command("security", &["-i"]), line)
            }
        }
    }

    fn remove(self, account: &str) -> Command {
        match self {
            Self::SecretTool => {
                command("secret-tool", &["clear", "service", SERVICE, "account", account])
            }
            Self::Security => {
                command("security", &["delete-generic-password", "-s", SERVICE, "-a", account])
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
