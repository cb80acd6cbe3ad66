//! The history of HEAD as a stream of commits, each with the files it changed and what they were called before.
//!
//! Two processes for all commits together: `rev-list` names them, `diff-tree` reads the names from it and says what each
//! changed. Both are plumbing: unlike `git log` they start no program that a repository's configuration could name.

use std::io::{ErrorKind, Read};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use crate::place::Place;
use crate::{fingerprint, git};

/// A commit and the files it changed. Merges are left out: what they bring was changed elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    pub id: String,
    /// When it was committed, in seconds.
    pub at: i64,
    pub subject: String,
    pub files: Vec<CommitFile>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitFile {
    pub path: String,
    /// What it was called before this commit, when that was something else.
    pub before: Option<String>,
    /// It was not there before.
    pub is_new: bool,
}

/// How a file that moved is known again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renames {
    /// By what most of it says.
    Similar,
    /// By being the same: for repositories that do not have what their files said.
    Exact,
}

/// How long git may be silent.
const SILENCE: Duration = Duration::from_secs(30);
/// How many bytes are handed over at once, and how many times that may wait: more is not kept in memory.
const PIECE: usize = 1 << 16;
const WAITING: usize = 16;
/// From so many new and gone files on, a commit is only searched for files that moved unchanged.
const MANY: &str = "-l200";
/// Longer names of files are not ours to keep; a message's first line may be cut.
const LONGEST: usize = 4096;

/// Tells the commits of HEAD, oldest first: those after `since`, at most the `limit` newest. Ends early when `each`
/// returns false. Returns whether the history was told to its end; `None` where there is none.
pub fn log(
    place: &Place,
    since: Option<&str>,
    limit: usize,
    renames: Renames,
    each: &mut dyn FnMut(Commit) -> bool,
) -> Option<bool> {
    let git_dir = place.git_dir.as_deref()?;
    if since.is_some_and(|it| !fingerprint::is_object_id(it)) {
        return None;
    }
    let limit = limit.to_string();
    let range = since.map_or_else(|| "HEAD".to_owned(), |it| format!("{it}..HEAD"));
    let mut told = 0;
    let mut count = |it: Commit| {
        told += 1;
        each(it)
    };
    let names = ["rev-list", "--reverse", "--no-merges", "-n", &limit, &range, "--"];
    let mut list = Reading::begin(git::command("git", git_dir, &names), Stdio::null())?;
    let diff = [
        "diff-tree",
        "--stdin",
        "--root",
        "-r",
        "-z",
        match renames {
            Renames::Similar => "-M",
            Renames::Exact => "-M100%",
        },
        MANY,
        "--name-status",
        "--no-ext-diff",
        "--no-textconv",
        "--format=%x01%H %ct %s",
    ];
    let mut diff = Reading::begin(
        git::command("git", git_dir, &diff),
        Stdio::from(list.child.stdout.take()?),
    )?;
    let done = read(&diff.pieces()?, &mut count);
    let is_whole = done && diff.ends_well() && list.ends_well();
    (is_whole || told > 0).then_some(is_whole)
}

/// How many commits HEAD has after `since`; `None` when `since` is not part of its history any more.
pub fn commits_since(place: &Place, since: &str) -> Option<u64> {
    let git_dir = place.git_dir.as_deref()?;
    if !fingerprint::is_object_id(since) {
        return None;
    }
    let count = |range: &str| -> Option<u64> {
        git::ask(git_dir, &["rev-list", "--count", range, "--"])?.trim().parse().ok()
    };
    // Whatever HEAD does not have of it was taken back or rewritten.
    (count(&format!("HEAD..{since}"))? == 0).then_some(())?;
    count(&format!("{since}..HEAD"))
}

/// A running process that is ended when nobody reads on.
struct Reading {
    child: Child,
}

impl Reading {
    fn begin(mut command: std::process::Command, input: Stdio) -> Option<Self> {
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::null());
        Some(Self { child: command.spawn().ok()? })
    }

    /// What it prints, read by a thread of its own so that waiting for it can end.
    fn pieces(&mut self) -> Option<Receiver<Vec<u8>>> {
        let mut stdout = self.child.stdout.take()?;
        let (sender, receiver) = mpsc::sync_channel(WAITING);
        let read = move || {
            loop {
                let mut piece = vec![0; PIECE];
                match stdout.read(&mut piece) {
                    Ok(0) => return,
                    Ok(n) => piece.truncate(n),
                    Err(it) if it.kind() == ErrorKind::Interrupted => continue,
                    Err(_) => return,
                }
                if sender.send(piece).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("git history".to_owned()).spawn(read).ok()?;
        Some(receiver)
    }

    /// Whether it printed everything it had to say.
    fn ends_well(&mut self) -> bool {
        self.child.wait().is_ok_and(|it| it.success())
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is waited for and leaves nothing behind.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Whether everything was read and wanted.
fn read(pieces: &Receiver<Vec<u8>>, each: &mut dyn FnMut(Commit) -> bool) -> bool {
    let mut reader = Reader::default();
    loop {
        match pieces.recv_timeout(SILENCE) {
            Ok(piece) => {
                if !reader.take(&piece, each) {
                    return false;
                }
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => return reader.end(each),
            Err(mpsc::RecvTimeoutError::Timeout) => return false,
        }
    }
}

/// What comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Next {
    /// A commit or what happened to a file.
    #[default]
    Word,
    Path {
        is_new: bool,
    },
    Before {
        is_new: bool,
    },
}

/// Reads fields that end with NUL: `\x01id time subject`, then for each file its status and its path, two for a rename.
#[derive(Debug, Default)]
struct Reader {
    field: Vec<u8>,
    next: Next,
    before: Option<String>,
    commit: Option<Commit>,
}

impl Reader {
    fn take(&mut self, bytes: &[u8], each: &mut dyn FnMut(Commit) -> bool) -> bool {
        for part in bytes.split_inclusive(|it| *it == 0) {
            let (text, ends) = match part.split_last() {
                Some((0, text)) => (text, true),
                _ => (part, false),
            };
            let room = LONGEST.saturating_sub(self.field.len());
            self.field.extend_from_slice(&text[..text.len().min(room)]);
            if ends && !self.field(each) {
                return false;
            }
        }
        true
    }

    fn end(&mut self, each: &mut dyn FnMut(Commit) -> bool) -> bool {
        self.commit.take().is_none_or(each)
    }

    fn field(&mut self, each: &mut dyn FnMut(Commit) -> bool) -> bool {
        let field = std::mem::take(&mut self.field);
        match self.next {
            Next::Word => return self.word(&field, each),
            Next::Before { is_new } => {
                self.before = String::from_utf8(field).ok();
                self.next = Next::Path { is_new };
            }
            Next::Path { is_new } => {
                let before = self.before.take();
                self.next = Next::Word;
                // A name that is not text cannot be a path of ours.
                if let (Some(commit), Ok(path)) = (&mut self.commit, String::from_utf8(field)) {
                    commit.files.push(CommitFile { path, before, is_new });
                }
            }
        }
        true
    }

    fn word(&mut self, field: &[u8], each: &mut dyn FnMut(Commit) -> bool) -> bool {
        let field = field.trim_ascii_start();
        match field.split_first() {
            Some((1, header)) => {
                let header = String::from_utf8_lossy(header);
                let mut words = header.splitn(3, ' ');
                let mut word = || words.next().unwrap_or_default().to_owned();
                let (id, at, subject) = (word(), word().parse().unwrap_or(0), word());
                let fresh = Commit { id, at, subject, files: Vec::new() };
                self.commit.replace(fresh).is_none_or(each)
            }
            // A copy leaves what it was made from where it was.
            Some((b'C', _)) => {
                self.next = Next::Before { is_new: true };
                true
            }
            Some((b'R', _)) => {
                self.next = Next::Before { is_new: false };
                true
            }
            Some((status, _)) => {
                self.next = Next::Path { is_new: *status == b'A' };
                true
            }
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(bytes: &[u8], piece: usize) -> Vec<Commit> {
        let (mut reader, mut acc) = (Reader::default(), Vec::new());
        let mut each = |it| {
            acc.push(it);
            true
        };
        for it in bytes.chunks(piece) {
            assert!(reader.take(it, &mut each));
        }
        reader.end(&mut each);
        acc
    }

    #[test]
    fn however_it_arrives_it_reads_the_same() {
        let text = b"\x01aa 7 first one\0\nA\0a b.rs\0A\0\xff\0\x01bb 9 \x01second\0\nR100\0a b.rs\0c.rs\0M\0d.rs\0D\0M\0";
        let file = |path: &str, before: Option<&str>, is_new| CommitFile {
            path: path.to_owned(),
            before: before.map(str::to_owned),
            is_new,
        };
        let commit = |id: &str, at, subject: &str, files| Commit {
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
            assert_eq!(told(text, piece), expected, "pieces of {piece}");
        }
        assert_eq!(told(b"", 1), []);
        assert_eq!(told(b"M\0x", 2), [], "a file of no commit");
    }
}
