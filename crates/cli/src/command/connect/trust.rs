//! Hosts that run only trusted hooks (Codex): asks the host which of our hooks it knows and trusts, and
//! records the trust of the user in its settings.
//!
//! Only the user can grant trust: `--yes` to a change of settings does not.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use engine::{HookTrust, Host, InstalledHook, SettingsScope, apply_host_change, plan_trust};

use super::change_display;
use crate::command::shared::ask_yes_no;
use crate::environment::{self, Environment};
use crate::output::Output;

/// Time that a host has to list its hooks.
const HOST_TIMEOUT: Duration = Duration::from_secs(30);

/// Offers to trust our hooks if they are not trusted yet; `is_granted` skips the question. Returns true
/// if the host will run our hooks; `None` for a host without trust, or if the host does not answer.
pub(super) fn ensure_trusted(
    host: &Host,
    is_granted: bool,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<Option<bool>> {
    let folder = host.settings_folder(environment.home.as_deref(), environment::folder_variable);
    let (Some(trust), Some((_, folder))) = (&host.hook_trust, folder) else { return Ok(None) };
    let manual_hint = trust.manual_hint;
    let hooks = match list_hooks(trust, &environment.cwd) {
        Ok(hooks) if !hooks.is_empty() => hooks,
        Ok(_) => {
            output.hint(&format!("{} does not see the hooks; {manual_hint}", host.title));
            return Ok(None);
        }
        Err(why) => {
            let title = host.title;
            output.hint(&format!(
                "cannot tell whether {title} trusts the hooks: {why}; {manual_hint}"
            ));
            return Ok(None);
        }
    };
    if hooks.iter().all(|it| it.is_trusted) {
        return Ok(Some(true));
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
        return Ok(Some(false));
    }
    // The trust may be in a file that also has our entries; then both share a backup.
    let file = host.files_in(SettingsScope::User).find(|it| it.is_in_folder(trust.file));
    let backup = file.map(|it| environment.data.join("connected").join(it.backup_name));
    apply_host_change(&plan, backup.as_deref())?;
    Ok(Some(true))
}

/// Our hooks as listed by the host.
fn list_hooks(trust: &HookTrust, folder: &Path) -> Result<Vec<InstalledHook>, String> {
    let (name, args) = trust.program.split_first().ok_or("there is no terminal to ask on")?;
    let mut command = Command::new(name);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|it| format!("`{name}` cannot be run: {it}"))?;
    let res = request_hook_list(trust, &mut child, folder);
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
) -> Result<Vec<InstalledHook>, String> {
    let no_answer = || format!("`{}` does not answer", trust.program.join(" "));
    let stdout = child.stdout.take().ok_or_else(no_answer)?;
    // A read may block forever, so it happens on a thread.
    let (sender, receiver) = mpsc::channel();
    let parse = trust.parse_hook_list;
    std::thread::spawn(move || {
        let lines = BufReader::new(stdout).lines().map_while(Result::ok);
        // Fails only after the timeout, when the answer is no longer wanted.
        let _ = lines.filter_map(|it| parse(&it)).try_for_each(|it| sender.send(it));
    });
    let stdin = child.stdin.as_mut().ok_or_else(no_answer)?;
    for line in (trust.list_requests)(&folder.to_string_lossy()) {
        writeln!(stdin, "{line}").map_err(|_| no_answer())?;
    }
    receiver.recv_timeout(HOST_TIMEOUT).map_err(|_| no_answer())
}
