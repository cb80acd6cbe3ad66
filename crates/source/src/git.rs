//! Runs the `git` program, for what cannot be read from small files.
//!
//! The repository may belong to a stranger, and so may its configuration. So only read-only
//! plumbing is run, and everything that configuration could start is disabled. Git is given the
//! directory that was validated (`--git-dir`), and never searches for one. This also makes its
//! ownership check unnecessary: no `safe.directory` is needed, whose `*` would cover more than was
//! validated. Every failure and every timeout is `None`: the fact is not known.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::os;

/// Time limit for a command.
pub(crate) const GIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Largest output of a command.
const MAX_OUTPUT_BYTES: u64 = 1024 * 1024;

/// Configuration that overrides the repository's.
const CONFIG_OVERRIDES: &[&str] = &[
    // Programs that git may start for a repository.
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    // A missing object of a partial clone would be fetched by a program that the repository names.
    "protocol.allow=never",
];

/// Environment variables that are set.
const ENV_SET: &[(&str, &str)] = &[
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    // The recorded history, without replace refs and grafts.
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("GIT_PAGER", "cat"),
    ("LC_ALL", "C"),
];

/// Environment variables that are removed: a surrounding git command or shell may have set them for
/// another repository.
const ENV_UNSET: &[&str] = &[
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

/// The output of a git command that succeeds in time; `None` otherwise, because every failure means
/// "not known".
pub(crate) fn run_git(git_dir: &Path, args: &[&str]) -> Option<String> {
    run_command(git_command("git", git_dir, args), GIT_TIMEOUT)
}

/// Like [`run_git`], with a time limit of its own.
pub(crate) fn run_git_within(git_dir: &Path, args: &[&str], timeout: Duration) -> Option<String> {
    run_command(git_command("git", git_dir, args), timeout)
}

/// True if the program `git` can be run.
pub fn is_git_available() -> bool {
    let mut command = Command::new("git");
    command.arg("--version").current_dir("/");
    run_command(command, GIT_TIMEOUT).is_some()
}

/// A git command with all protections. `program` is a parameter for tests.
pub(crate) fn git_command(program: &str, git_dir: &Path, args: &[&str]) -> Command {
    let git_dir = os::as_argument(git_dir);
    let mut command = Command::new(program);
    command.arg("--git-dir").arg(git_dir).arg("--no-pager");
    for setting in CONFIG_OVERRIDES {
        command.args(["-c", setting]);
    }
    for variable in ENV_UNSET {
        command.env_remove(variable);
    }
    // Runs outside of the repository: with `.` in the search path, a `git` in it would be executed.
    let filesystem_root = git_dir.ancestors().last().unwrap_or(git_dir);
    command.args(args).envs(ENV_SET.iter().copied()).current_dir(filesystem_root);
    command
}

/// Runs a command, and kills it if it takes too long or prints too much.
fn run_command(mut command: Command, timeout: Duration) -> Option<String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let output = read_output(&mut child, timeout);
    if output.is_none() {
        // It may have ended meanwhile. In either case `wait` below reaps the process.
        _ = child.kill();
    }
    let status = child.wait().ok()?;
    output.filter(|_| status.success())
}

/// The whole output of the child. A thread reads it, so that waiting can time out.
fn read_output(child: &mut Child, timeout: Duration) -> Option<String> {
    let stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    let read_all = move || {
        let mut acc = String::new();
        // One byte more than allowed shows that there is more.
        let read = stdout.take(MAX_OUTPUT_BYTES + 1).read_to_string(&mut acc);
        let fits = read.is_ok_and(|it| it as u64 <= MAX_OUTPUT_BYTES);
        // After a timeout the receiver is gone and the output is not needed.
        _ = sender.send(fits.then_some(acc));
    };
    thread::Builder::new().name("git output".to_owned()).spawn(read_all).ok()?;
    receiver.recv_timeout(timeout).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_gives_no_output() {
        let command = git_command("no-such-program-as-this", Path::new("/"), &["version"]);
        assert_eq!(run_command(command, GIT_TIMEOUT), None);
    }

    #[test]
    fn a_failing_command_gives_no_output() {
        assert_eq!(run_git(Path::new("/no/such/repository"), &["rev-parse", "HEAD"]), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_hanging_command_is_killed() {
        use std::fs;

        // A repository whose packed refs are a FIFO without a writer: git waits for it forever.
        let dir = tempfile::tempdir().unwrap();
        for folder in ["objects", "refs"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let made = Command::new("mkfifo").arg(dir.path().join("packed-refs")).status().unwrap();
        assert!(made.success());
        let command = git_command("git", dir.path(), &["rev-list", "--max-parents=0", "HEAD"]);
        assert_eq!(run_command(command, Duration::from_millis(200)), None);
    }

    #[test]
    fn no_variable_is_both_set_and_removed() {
        for (name, _) in ENV_SET {
            assert!(!ENV_UNSET.contains(name), "{name}");
        }
        assert!(ENV_UNSET.is_sorted());
    }
}
