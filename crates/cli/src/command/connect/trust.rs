//! Hosts that run only trusted hooks (Codex): asks the host which of our hooks it knows and trusts, and
//! records the trust of the user in its settings.
//!
//! Only the user can grant trust: by answering the question here or by `--trust`. `--yes`, the consent to a
//! change of settings, does not. The host is asked by running its program ([`HookTrust::program`]), which reads
//! requests and writes replies, one line of JSON each.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use engine::{HookTrust, Host, InstalledHook, SettingsScope, apply_host_change, plan_trust};
use serde_json::Value;

use super::change_display;
use crate::command::shared::ask_yes_no;
use crate::environment::{self, Environment};
use crate::output::Output;

/// Time that a host has to list its hooks.
const HOST_TIMEOUT: Duration = Duration::from_secs(30);
/// The same for `doctor`, which has more to check than this host.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);

/// The trust of a host in our hooks after [`ensure_trusted`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrustOutcome {
    /// The host will run our hooks.
    Trusted,
    /// The user declined; the host will not run our hooks.
    Declined,
    /// The host has no notion of trust, does not answer, or was not asked.
    Unknown,
}

impl TrustOutcome {
    /// True, false or null.
    pub(super) fn to_json(self) -> Value {
        match self {
            Self::Trusted => Value::Bool(true),
            Self::Declined => Value::Bool(false),
            Self::Unknown => Value::Null,
        }
    }
}

/// Offers to trust our hooks if they are not trusted yet; `is_granted` skips the question.
pub(super) fn ensure_trusted(
    host: &Host,
    is_granted: bool,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<TrustOutcome> {
    let folder = host.settings_folder(environment.home.as_deref(), environment::folder_variable);
    let (Some(trust), Some((_, folder))) = (&host.hook_trust, folder) else {
        return Ok(TrustOutcome::Unknown);
    };
    // How the user can trust the hooks in the host itself.
    let manual_hint = trust.manual_hint;
    let hooks = match list_hooks(trust, &environment.cwd, HOST_TIMEOUT) {
        Ok(hooks) if !hooks.is_empty() => hooks,
        Ok(_) => {
            output.hint(&format!("{} does not see the hooks; {manual_hint}", host.title));
            return Ok(TrustOutcome::Unknown);
        }
        Err(why) => {
            let title = host.title;
            output.hint(&format!(
                "cannot tell whether {title} trusts the hooks: {why}; {manual_hint}"
            ));
            return Ok(TrustOutcome::Unknown);
        }
    };
    if hooks.iter().all(|it| it.is_trusted) {
        return Ok(TrustOutcome::Trusted);
    }
    let path = folder.join(trust.file);
    let plan = plan_trust(trust, &path, &hooks)?;
    output.say(&format!("{} runs only hooks that you trust; this would trust ours:", host.title));
    change_display::print_full_diff(std::slice::from_ref(&plan), output);
    if !ask_yes_no(is_granted, "Trust these hooks?")? {
        output.hint(&format!(
            "`waylore connect {} --trust` does it later; or {manual_hint}",
            host.name
        ));
        return Ok(TrustOutcome::Declined);
    }
    // If the file of the trust also has our entries, its backup must follow this change: `disconnect`
    // restores the original only if the file is as we last wrote it.
    let shared_file = host.files_in(SettingsScope::User).find(|it| it.is_in_folder(trust.file));
    let backup = shared_file.map(|it| environment.data.join("connected").join(it.backup_name));
    apply_host_change(&plan, backup.as_deref())?;
    Ok(TrustOutcome::Trusted)
}

/// Returns whether the host sees our hooks and does not trust all of them, so that it skips them in
/// silence. False if it cannot be asked.
pub(super) fn has_untrusted_hooks(host: &Host, environment: &Environment) -> bool {
    let Some(trust) = &host.hook_trust else { return false };
    let hooks = list_hooks(trust, &environment.cwd, CHECK_TIMEOUT).unwrap_or_default();
    hooks.iter().any(|it| !it.is_trusted)
}

/// Our hooks as listed by the host.
fn list_hooks(
    trust: &HookTrust,
    folder: &Path,
    timeout: Duration,
) -> Result<Vec<InstalledHook>, String> {
    let (name, args) = trust.program.split_first().ok_or("it has no command that lists them")?;
    let mut command = Command::new(name);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|it| format!("`{name}` cannot be run: {it}"))?;
    let res = request_hook_list(trust, &mut child, folder, timeout);
    // The host answered, or never will.
    let _ = child.kill();
    let _ = child.wait();
    res
}

/// Writes the requests to the host and returns the first answer that is a list of hooks.
fn request_hook_list(
    trust: &HookTrust,
    child: &mut Child,
    folder: &Path,
    timeout: Duration,
) -> Result<Vec<InstalledHook>, String> {
    let no_answer = || format!("`{}` does not answer", trust.program.join(" "));
    let stdout = child.stdout.take().ok_or_else(no_answer)?;
    // A read may block forever, so it happens on a thread.
    let (sender, receiver) = mpsc::channel();
    let parse = trust.parse_hook_list;
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            // Other lines are replies to the requests before, or messages.
            let Some(hooks) = parse(&line) else { continue };
            // Fails only after the timeout, when the answer is no longer wanted.
            if sender.send(hooks).is_err() {
                return;
            }
        }
    });
    let stdin = child.stdin.as_mut().ok_or_else(no_answer)?;
    for line in (trust.list_requests)(&folder.to_string_lossy()) {
        writeln!(stdin, "{line}").map_err(|_| no_answer())?;
    }
    receiver.recv_timeout(timeout).map_err(|_| no_answer())
}
