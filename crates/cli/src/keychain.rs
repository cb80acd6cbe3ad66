//! Secrets in the keychain of the system, through its command line tool (`secret-tool` on Linux,
//! `security` on macOS). Used for the encryption key and for API keys of providers.
//!
//! Secrets are passed through pipes, never as arguments, which other users could see. An entry has a service
//! (always `waylore`), an account (which secret of ours it is) and a label (shown by the keychain's own
//! interface).

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const KEYCHAIN_SERVICE: &str = "waylore";

/// An entry of the keychain.
pub(crate) enum KeychainEntry<'a> {
    /// The encryption key of a data folder.
    Data(&'a Path),
    /// The API key of a provider. Bound to one address; never sent to another server.
    Provider { role: &'a str, url: &'a str },
}

impl KeychainEntry<'_> {
    /// The account of the entry, `/home/ada/.local/share/waylore` or `text https://api.openai.com`;
    /// `None` if the path is not UTF-8.
    fn account_name(&self) -> Option<String> {
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

/// The secret of an entry; `None` if there is none or the keychain is not available.
pub(crate) fn read(entry: &KeychainEntry<'_>) -> Option<String> {
    let account = entry.account_name()?;
    let answer = run(find_tool()?.read(&account), "").ok()?;
    if !answer.status.success() {
        return None;
    }
    let output = String::from_utf8(answer.stdout).ok()?;
    let secret = output.trim_end();
    if secret.is_empty() { None } else { Some(secret.to_owned()) }
}

/// Stores a secret and reads it back, which detects a locked or absent keychain.
pub(crate) fn write(entry: &KeychainEntry<'_>, secret: &str) -> bool {
    let (Some(tool), Some(account)) = (find_tool(), entry.account_name()) else {
        return false;
    };
    let (command, input) = tool.write(&account, entry.label(), secret);
    let is_stored = run(command, &input).is_ok_and(|it| it.status.success());
    is_stored && read(entry).as_deref() == Some(secret)
}

/// Removes a secret; true if it is gone or there was none.
pub(crate) fn remove(entry: &KeychainEntry<'_>) -> bool {
    let (Some(tool), Some(account)) = (find_tool(), entry.account_name()) else {
        return false;
    };
    // The tool fails if there was no secret, so only the result counts.
    run(tool.remove(&account), "").is_ok() && read(entry).is_none()
}

#[derive(Clone, Copy)]
enum KeychainTool {
    /// libsecret's command, for the keyrings of Linux desktops.
    SecretTool,
    /// The command of the macOS keychain.
    Security,
}

fn find_tool() -> Option<KeychainTool> {
    match std::env::consts::OS {
        "macos" => Some(KeychainTool::Security),
        "linux" => Some(KeychainTool::SecretTool),
        _ => None,
    }
}

impl KeychainTool {
    fn read(self, account: &str) -> Command {
        match self {
            Self::SecretTool => {
                command("secret-tool", &["lookup", "service", KEYCHAIN_SERVICE, "account", account])
            }
            Self::Security => command(
                "security",
                &["find-generic-password", "-s", KEYCHAIN_SERVICE, "-a", account, "-w"],
            ),
        }
    }

    /// The command that stores a secret, and its standard input.
    fn write(self, account: &str, label: &str, secret: &str) -> (Command, String) {
        match self {
            Self::SecretTool => {
                let label = format!("--label={label}");
                let args = ["store", &label, "service", KEYCHAIN_SERVICE, "account", account];
                (command("secret-tool", &args), secret.to_owned())
            }
            // `-i` reads commands from standard input, which keeps the secret out of the arguments.
            Self::Security => {
                // Both stand between double quotes in the line.
                let escape = |it: &str| it.replace('\\', "\\\\").replace('"', "\\\"");
                let (account, secret) = (escape(account), escape(secret));
                let line = format!(
                    "add-generic-password -U -s {KEYCHAIN_SERVICE} -a \"{account}\" -w \"{secret}\"\n"
                );
                (command("security", &["-i"]), line)
            }
        }
    }

    fn remove(self, account: &str) -> Command {
        match self {
            Self::SecretTool => {
                command("secret-tool", &["clear", "service", KEYCHAIN_SERVICE, "account", account])
            }
            Self::Security => command(
                "security",
                &["delete-generic-password", "-s", KEYCHAIN_SERVICE, "-a", account],
            ),
        }
    }
}

fn command(program: &str, args: &[&str]) -> Command {
    let mut res = Command::new(program);
    res.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    res
}

/// Runs a command with this standard input.
fn run(mut command: Command, input: &str) -> std::io::Result<Output> {
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    child.wait_with_output()
}
