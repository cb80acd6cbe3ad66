//! Hosts that run no hook that its owner does not trust: asking which there are, and writing the trust down.
//!
//! Trust is the owner's alone to give: `--yes` to a change of settings is none.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use engine::{Host, OurHook, Trust, change_host, trust_plan};

use super::shown;
use crate::command::shared::agreed;
use crate::environment::{self, Environment};
use crate::output::Output;

/// How long a host may take to say which hooks it has.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whether a host will run our hooks; `None` for one that runs what it finds, or does not say.
pub(super) fn see_to(
    host: &Host,
    is_given: bool,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<Option<bool>> {
    let folder = host.folder(environment.home.as_deref(), environment::folder);
    let (Some(trust), Some((_, folder))) = (&host.trust, folder) else { return Ok(None) };
    let by_hand = trust.by_hand;
    let hooks = match listed(trust, &environment.cwd) {
        Ok(hooks) if !hooks.is_empty() => hooks,
        Ok(_) => {
            output.hint(&format!("{} does not see the hooks; {by_hand}", host.title));
            return Ok(None);
        }
        Err(why) => {
            let title = host.title;
            output
                .hint(&format!("whether {title} trusts the hooks is not known: {why}; {by_hand}"));
            return Ok(None);
        }
    };
    if hooks.iter().all(|it| it.is_trusted) {
        return Ok(Some(true));
    }
    let path = folder.join(trust.file);
    let plan = trust_plan(trust, &path, &hooks)?;
    output.say(&format!("{} runs only hooks that you trust; this would trust ours:", host.title));
    shown::whole(std::slice::from_ref(&plan), output);
    if !agreed(is_given, "Trust these hooks?")? {
        output
            .hint(&format!("`waylore connect {} --trust` says so later; or {by_hand}", host.name));
        return Ok(Some(false));
    }
    let file = host.files_of(false).find(|it| it.is_in_folder(trust.file));
    let kept = file.map(|it| environment.data.join("connected").join(it.kept));
    change_host(&plan, kept.as_deref())?;
    Ok(Some(true))
}

/// Our hooks, as the host itself sees them.
fn listed(trust: &Trust, folder: &Path) -> Result<Vec<OurHook>, String> {
    let (name, args) = trust.program.split_first().ok_or("nobody can be asked")?;
    let mut command = Command::new(name);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|it| format!("`{name}` cannot be run: {it}"))?;
    let res = ask(trust, &mut child, folder);
    // It has said what it had to say, or never will.
    let _ = child.kill();
    let _ = child.wait();
    res
}

fn ask(trust: &Trust, child: &mut Child, folder: &Path) -> Result<Vec<OurHook>, String> {
    let silent = || format!("`{}` does not answer", trust.program.join(" "));
    let stdout = child.stdout.take().ok_or_else(silent)?;
    let (answer, answered) = mpsc::channel();
    let heard = trust.heard;
    std::thread::spawn(move || {
        let lines = BufReader::new(stdout).lines().map_while(Result::ok);
        // Nobody waits any more when sending fails, and that is fine.
        let _ = lines.filter_map(|it| heard(&it)).try_for_each(|it| answer.send(it));
    });
    let stdin = child.stdin.as_mut().ok_or_else(silent)?;
    for line in (trust.asked)(&folder.to_string_lossy()) {
        writeln!(stdin, "{line}").map_err(|_| silent())?;
    }
    answered.recv_timeout(PATIENCE).map_err(|_| silent())
}
