//! The history of HEAD as a stream of commits, each with the files it changed and their earlier
//! names.
//!
//! Two processes serve for all commits: `rev-list` lists them, `diff-tree` reads this list and
//! prints the changes. Both are plumbing: unlike `git log` they start no program that a
//! repository's configuration could name. A thread reads the output in pieces; `CommitParser` turns
//! the pieces into commits while git is still running, so a long history is never in memory.
//!
//! The output consists of fields that end with NUL, written `␀` here. This is a commit that adds
//! `a.rs` and renames `b.rs` to `c.rs`, whose contents are equal to 95 %:
//!
//! ```text
//! \x01 3f78… 1700000000 the subject␀   header: id, time, subject
//! A␀ a.rs␀                              status, path
//! R095␀ b.rs␀ c.rs␀                     status, path before, path
//! ```

use std::io::{ErrorKind, Read};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use crate::project_place::ProjectPlace;
use crate::{git, repository_fingerprint};

/// A commit and the files it changed. Merges are left out, because their changes are in other
/// commits, and so are commits that change no file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedCommit {
    pub id: String,
    /// Commit time in seconds.
    pub at: i64,
    pub subject: String,
    pub files: Vec<CommitFile>,
}

/// A file that a commit changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitFile {
    pub path: String,
    /// Path before this commit, if it was another.
    pub before: Option<String>,
    /// The commit created it.
    pub is_new: bool,
}

/// The way to recognise a renamed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenameDetection {
    /// By similar content.
    Similar,
    /// By identical content, for repositories that lack the contents of older files.
    Exact,
}

/// Longest time without output from git.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(30);
/// Size of the pieces in which output is read.
const PIECE_BYTES: usize = 1 << 16;
/// Most pieces in memory that wait to be parsed.
const MAX_QUEUED_PIECES: usize = 16;
/// Limit on new and deleted files, above which a commit is searched only for unchanged renames.
const RENAME_LIMIT_FLAG: &str = "-l200";
/// Byte before the header of a commit. No status of a file begins with it.
const COMMIT_MARK: u8 = 1;
/// Longest path or subject; the rest is dropped.
const MAX_FIELD_BYTES: usize = 4096;

/// Calls `on_commit` for the commits of HEAD, oldest first: those after `since`, at most the
/// `limit` newest. Ends early if it returns false. Returns true if the history was read to its end,
/// and `None` if there is none.
pub fn read_commits(
    place: &ProjectPlace,
    since: Option<&str>,
    limit: usize,
    renames: RenameDetection,
    on_commit: &mut dyn FnMut(LoggedCommit) -> bool,
) -> Option<bool> {
    let git_dir = place.git_dir.as_deref()?;
    // Git would take other text for an option.
    if since.is_some_and(|it| !repository_fingerprint::is_object_id(it)) {
        return None;
    }
    let limit = limit.to_string();
    let range = since.map_or_else(|| "HEAD".to_owned(), |it| format!("{it}..HEAD"));
    let mut n_commits = 0;
    let mut on_counted_commit = |it: LoggedCommit| {
        n_commits += 1;
        on_commit(it)
    };
    // The first process lists the commits; its output is the input of the second.
    let list_args = ["rev-list", "--reverse", "--no-merges", "-n", &limit, &range, "--"];
    let mut list = GitProcess::spawn(git::git_command("git", git_dir, &list_args), Stdio::null())?;
    let diff_args = [
        "diff-tree",
        "--stdin",
        "--root",
        "-r",
        "-z",
        match renames {
            RenameDetection::Similar => "-M",
            RenameDetection::Exact => "-M100%",
        },
        RENAME_LIMIT_FLAG,
        "--name-status",
        "--no-ext-diff",
        "--no-textconv",
        // `%x01` is `COMMIT_MARK`.
        "--format=%x01%H %ct %s",
    ];
    let mut diff = GitProcess::spawn(
        git::git_command("git", git_dir, &diff_args),
        Stdio::from(list.child.stdout.take()?),
    )?;
    let is_parsed = parse_pieces(&diff.stream_output()?, &mut on_counted_commit);
    // A process that failed may have printed only a part.
    let is_whole = is_parsed && diff.has_succeeded() && list.has_succeeded();
    if !is_whole && n_commits == 0 {
        // A failure before the first commit means that there is no history to read.
        return None;
    }
    Some(is_whole)
}

/// Number of commits of HEAD after `since`; `None` if `since` is no longer part of its history.
pub fn count_commits_since(place: &ProjectPlace, since: &str) -> Option<u64> {
    let git_dir = place.git_dir.as_deref()?;
    if !repository_fingerprint::is_object_id(since) {
        return None;
    }
    let count = |range: &str| -> Option<u64> {
        git::run_git(git_dir, &["rev-list", "--count", range, "--"])?.trim().parse().ok()
    };
    // `HEAD..since` is what HEAD lacks of the history of `since`: at least `since` itself, if a
    // reset or a rebase has removed it.
    let n_removed = count(&format!("HEAD..{since}"))?;
    if n_removed > 0 {
        return None;
    }
    count(&format!("{since}..HEAD"))
}

/// A running git process, which is killed when it is dropped.
struct GitProcess {
    child: Child,
}

impl GitProcess {
    fn spawn(mut command: std::process::Command, input: Stdio) -> Option<Self> {
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::null());
        Some(Self { child: command.spawn().ok()? })
    }

    /// The output, read by a thread so that waiting for it can time out.
    fn stream_output(&mut self) -> Option<Receiver<Vec<u8>>> {
        let mut stdout = self.child.stdout.take()?;
        let (sender, receiver) = mpsc::sync_channel(MAX_QUEUED_PIECES);
        let read = move || {
            loop {
                let mut piece = vec![0; PIECE_BYTES];
                match stdout.read(&mut piece) {
                    Ok(0) => return,
                    Ok(n) => piece.truncate(n),
                    Err(it) if it.kind() == ErrorKind::Interrupted => continue,
                    Err(_) => return,
                }
                if sender.send(piece).is_err() {
                    // The reader wants no more.
                    return;
                }
            }
        };
        thread::Builder::new().name("git history".to_owned()).spawn(read).ok()?;
        Some(receiver)
    }

    /// True if it printed its whole output.
    fn has_succeeded(&mut self) -> bool {
        self.child.wait().is_ok_and(|it| it.success())
    }
}

impl Drop for GitProcess {
    fn drop(&mut self) {
        // It may have ended by itself. In either case `wait` reaps the process.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Parses the output; true if it was parsed to its end, false if the caller wants no more commits
/// or git printed nothing for too long.
fn parse_pieces(
    pieces: &Receiver<Vec<u8>>,
    on_commit: &mut dyn FnMut(LoggedCommit) -> bool,
) -> bool {
    let mut parser = CommitParser::default();
    loop {
        match pieces.recv_timeout(OUTPUT_TIMEOUT) {
            Ok(piece) => {
                if !parser.feed(&piece, on_commit) {
                    return false;
                }
            }
            // The thread that reads the output has ended, and with it the output.
            Err(mpsc::RecvTimeoutError::Disconnected) => return parser.finish(on_commit),
            Err(mpsc::RecvTimeoutError::Timeout) => return false,
        }
    }
}

/// The meaning of the next field. `is_new` is already known from the status: the commit creates
/// the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ExpectedField {
    /// The header of a commit, or the status of a file.
    #[default]
    StatusOrCommit,
    /// The path of a file.
    Path { is_new: bool },
    /// The path that a renamed or copied file comes from.
    PathBefore { is_new: bool },
}

/// Parses the output of `diff-tree`, whose format is in the header of this file.
#[derive(Debug, Default)]
struct CommitParser {
    /// The field so far; a piece may end in the middle of one.
    field: Vec<u8>,
    next: ExpectedField,
    /// Earlier path of the file whose path comes next.
    before: Option<String>,
    /// The commit whose files are being read.
    commit: Option<LoggedCommit>,
}

impl CommitParser {
    /// Parses the next piece; false if the caller wants no more.
    fn feed(&mut self, bytes: &[u8], on_commit: &mut dyn FnMut(LoggedCommit) -> bool) -> bool {
        for part in bytes.split_inclusive(|it| *it == 0) {
            // A part without NUL is the beginning of a field that the next piece continues.
            let (text, is_complete) = match part.split_last() {
                Some((0, text)) => (text, true),
                _ => (part, false),
            };
            let free_bytes = MAX_FIELD_BYTES.saturating_sub(self.field.len());
            self.field.extend_from_slice(&text[..text.len().min(free_bytes)]);
            if is_complete && !self.end_field(on_commit) {
                return false;
            }
        }
        true
    }

    /// Passes on the last commit, which no further header completes; false if the caller wants no
    /// more. Without any commit there is nothing to do.
    fn finish(&mut self, on_commit: &mut dyn FnMut(LoggedCommit) -> bool) -> bool {
        self.commit.take().is_none_or(on_commit)
    }

    /// Interprets a complete field; false if the caller wants no more.
    fn end_field(&mut self, on_commit: &mut dyn FnMut(LoggedCommit) -> bool) -> bool {
        let field = std::mem::take(&mut self.field);
        match self.next {
            ExpectedField::StatusOrCommit => return self.read_status(&field, on_commit),
            ExpectedField::PathBefore { is_new } => {
                self.before = String::from_utf8(field).ok();
                self.next = ExpectedField::Path { is_new };
            }
            ExpectedField::Path { is_new } => {
                let before = self.before.take();
                self.next = ExpectedField::StatusOrCommit;
                // A name that is no UTF-8 cannot be a project path.
                if let (Some(commit), Ok(path)) = (&mut self.commit, String::from_utf8(field)) {
                    commit.files.push(CommitFile { path, before, is_new });
                }
            }
        }
        true
    }

    /// Interprets the header of a commit or the status of a file.
    fn read_status(
        &mut self,
        field: &[u8],
        on_commit: &mut dyn FnMut(LoggedCommit) -> bool,
    ) -> bool {
        // After a header git prints a line break, which begins the next field.
        let field = field.trim_ascii_start();
        match field.split_first() {
            // The byte that the format puts before a header.
            Some((&COMMIT_MARK, header)) => {
                let header = String::from_utf8_lossy(header);
                // At most three words: the subject may contain blanks.
                let mut words = header.splitn(3, ' ');
                let mut next_word = || words.next().unwrap_or_default().to_owned();
                let id = next_word();
                let at = next_word().parse().unwrap_or(0);
                let subject = next_word();
                // The header of a commit completes the one before, if there was one.
                let commit = LoggedCommit { id, at, subject, files: Vec::new() };
                match self.commit.replace(commit) {
                    Some(complete) => on_commit(complete),
                    None => true,
                }
            }
            // A copy is a new file; its source stays.
            Some((b'C', _)) => {
                self.next = ExpectedField::PathBefore { is_new: true };
                true
            }
            Some((b'R', _)) => {
                self.next = ExpectedField::PathBefore { is_new: false };
                true
            }
            // Added, modified, deleted, or a change of type.
            Some((status, _)) => {
                self.next = ExpectedField::Path { is_new: *status == b'A' };
                true
            }
            // Nothing but a line break.
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All commits in an output that arrives in pieces of this size.
    fn parse(bytes: &[u8], piece_size: usize) -> Vec<LoggedCommit> {
        let (mut parser, mut acc) = (CommitParser::default(), Vec::new());
        let mut collect = |it| {
            acc.push(it);
            true
        };
        for piece in bytes.chunks(piece_size) {
            assert!(parser.feed(piece, &mut collect));
        }
        parser.finish(&mut collect);
        acc
    }

    #[test]
    fn parsing_is_independent_of_the_piece_size() {
        // A file with a name that is no UTF-8 (left out), a subject that begins like a header, a
        // rename, and a file named like a status.
        let text = b"\x01aa 7 first one\0\nA\0a b.rs\0A\0\xff\0\x01bb 9 \x01second\0\nR100\0a b.rs\0c.rs\0M\0d.rs\0D\0M\0";
        let file = |path: &str, before: Option<&str>, is_new| CommitFile {
            path: path.to_owned(),
            before: before.map(str::to_owned),
            is_new,
        };
        let commit = |id: &str, at, subject: &str, files| LoggedCommit {
            id: id.to_owned(),
            at,
            subject: subject.to_owned(),
            files,
        };
        let expected = vec![
            commit("aa", 7, "first one", vec![file("a b.rs", None, true)]),
            commit(
                "bb",
                9,
                "\u{1}second",
                vec![
                    file("c.rs", Some("a b.rs"), false),
                    file("d.rs", None, false),
                    file("M", None, false),
                ],
            ),
        ];
        for piece in [1, 3, 1000] {
            assert_eq!(parse(text, piece), expected, "pieces of {piece}");
        }
        assert_eq!(parse(b"", 1), []);
        assert_eq!(parse(b"M\0x", 2), [], "a file without a commit");
    }
}
