//! Runs the `git` program for the two questions that cannot be answered by reading small files.
//!
//! The repository may belong to a stranger and its configuration is theirs. So git is given the directory we validated
//! (`--git-dir`, which also makes its ownership check unnecessary: we need no `safe.directory`, whose `*` would vouch for
//! more than we looked at), only read-only plumbing is asked, and what configuration could start is switched off.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::os;

/// How long an answer may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// More output than this is not an answer to anything we ask.
const MAX_OUTPUT: u64 = 1024 * 1024;

/// Configuration that outranks the repository's.
const OVERRIDES: &[&str] = &[
    // Programs that git may start for a repository.
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    // A missing object of a partial clone would be fetched, by a program the repository names.
    "protocol.allow=never",
];

/// What git is told through its environment.
const SET: &[(&str, &str)] = &[
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    // History as it was made, not as replace refs and grafts retell it.
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("GIT_PAGER", "cat"),
    ("LC_ALL", "C"),
];

/// What a surrounding git command or shell may have left behind, and what would then answer for another repository.
const UNSET: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ASKPASS",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_SYSTEM",
    "GIT_DIR",
    "GIT_EXEC_PATH",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_PROXY_COMMAND",
    "GIT_QUARANTINE_PATH",
    "GIT_REDIRECT_STDERR",
    "GIT_REDIRECT_STDIN",
    "GIT_REDIRECT_STDOUT",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_TRACE",
    "GIT_TRACE2",
    "GIT_TRACE2_EVENT",
    "GIT_TRACE2_PERF",
    "GIT_TRACE_SETUP",
    "GIT_WORK_TREE",
];

/// The output of a git command that succeeded in time; None for every other reason, as they all mean "not known".
pub(crate) fn ask(git_dir: &Path, args: &[&str]) -> Option<String> {
    run(command("git", git_dir, args), PATIENCE)
}

pub(crate) fn command(program: &str, git_dir: &Path, args: &[&str]) -> Command {
    let git_dir = os::argument(git_dir);
    let mut command = Command::new(program);
    command.arg("--git-dir").arg(git_dir).arg("--no-pager");
    for it in OVERRIDES {
        command.args(["-c", it]);
    }
    for it in UNSET {
        command.env_remove(it);
    }
    // Not in the repository: with `.` in the search path, its `git` would be the one that runs.
    let top = git_dir.ancestors().last().unwrap_or(git_dir);
    command.args(args).envs(SET.iter().copied()).current_dir(top);
    command
}

fn run(mut command: Command, patience: Duration) -> Option<String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let output = output(&mut child, patience);
    if output.is_none() {
        // It may have ended by itself meanwhile; either way it is waited for below and leaves nothing behind.
        _ = child.kill();
    }
    let status = child.wait().ok()?;
    output.filter(|_| status.success())
}

/// Everything the child prints, read by a thread of its own so that waiting for it can end.
fn output(child: &mut Child, patience: Duration) -> Option<String> {
    let stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    let read = move || {
        let mut acc = String::new();
        let res = stdout.take(MAX_OUTPUT + 1).read_to_string(&mut acc);
        let fits = res.is_ok_and(|it| it as u64 <= MAX_OUTPUT);
        // The receiver is gone once patience has ended, and nobody misses the answer.
        _ = sender.send(fits.then_some(acc));
    };
    thread::Builder::new().name("git output".to_owned()).spawn(read).ok()?;
    receiver.recv_timeout(patience).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_no_answer() {
        let command = command("no-such-program-as-this", Path::new("/"), &["version"]);
        assert_eq!(run(command, PATIENCE), None);
    }

    #[test]
    fn a_failing_command_is_no_answer() {
        assert_eq!(ask(Path::new("/no/such/repository"), &["rev-parse", "HEAD"]), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_command_that_hangs_is_ended() {
        use std::fs;

        let dir = tempfile::tempdir().unwrap();
        for it in ["objects", "refs"] {
            fs::create_dir(dir.path().join(it)).unwrap();
        }
        fs::write(dir.path().join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let made = Command::new("mkfifo").arg(dir.path().join("packed-refs")).status().unwrap();
        assert!(made.success());
        let command = command("git", dir.path(), &["rev-list", "--max-parents=0", "HEAD"]);
        assert_eq!(run(command, Duration::from_millis(200)), None);
    }

    #[test]
    fn nothing_is_both_set_and_unset() {
        for (name, _) in SET {
            assert!(!UNSET.contains(name), "{name}");
        }
        assert!(UNSET.is_sorted());
    }
}
