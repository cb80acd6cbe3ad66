//! Where agent hosts keep what they did: finding transcripts, and reading them piece by piece.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::Error;

/// A file that may be a transcript.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Transcript {
    pub path: PathBuf,
    /// The name of the subagent whose work it holds.
    pub subagent: Option<String>,
    /// Which session, of a database that holds many.
    pub session: Option<String>,
}

/// Bytes read at once.
const PIECE: usize = 256 << 10;
/// Folders below the start that are looked into.
const DEPTH: usize = 6;
/// Files found at most; more are no transcripts.
const MOST: usize = 20_000;

const ENDINGS: &[&str] = &["jsonl", "json", "traj", "md", "ndjson", DATABASE];
/// How the name of a database of sessions ends.
pub const DATABASE: &str = "db";

/// Where a host keeps its sessions.
struct Keeper {
    /// The variable with which a person moves them, and the folder below what it names.
    moved: (&'static str, &'static str),
    /// The folder below the home directory where they are otherwise.
    usual: &'static str,
    /// The folder of sessions in either.
    sessions: &'static str,
    how: How,
}

/// How a host tells the sessions of a project apart.
enum How {
    /// By folders that are named like the path of the project, without its punctuation.
    Dashed,
    /// By folders in which this file holds the path of the project, and this folder the sessions. Without
    /// such a file they are named like the project.
    Marked(&'static str, &'static str),
    /// Not by where they lie.
    Mixed,
    /// In databases of this name.
    Rows(&'static str),
}

#[rustfmt::skip]
const KEEPERS: &[Keeper] = &[
    keeper(("CLAUDE_CONFIG_DIR", ""),       ".claude",               "projects",      How::Dashed),
    keeper(("CODEX_HOME", ""),              ".codex",                "sessions",      How::Mixed),
    keeper(("COPILOT_HOME", ""),            ".copilot",              "session-state", How::Mixed),
    keeper(("GEMINI_CLI_HOME", ".gemini"),  ".gemini",               "tmp",           How::Marked(".project_root", "chats")),
    keeper(("XDG_DATA_HOME", "opencode"),   ".local/share/opencode", "",              How::Rows("opencode")),
];

const fn keeper(
    moved: (&'static str, &'static str),
    usual: &'static str,
    sessions: &'static str,
    how: How,
) -> Keeper {
    Keeper { moved, usual, sessions, how }
}

/// The files that hosts keep for a project, by where each of them puts its sessions; `variable` looks
/// into the environment. Whether a session is really of the project, its first records say.
pub fn transcripts(
    home: &Path,
    variable: &dyn Fn(&str) -> Option<PathBuf>,
    root: &Path,
) -> Vec<Transcript> {
    let mut acc = Vec::new();
    for it in KEEPERS {
        let (name, below) = it.moved;
        let folder = variable(name).map_or_else(|| home.join(it.usual), |it| it.join(below));
        kept(&mut acc, &folder.join(it.sessions), &it.how, root);
    }
    acc.sort();
    acc
}

fn kept(acc: &mut Vec<Transcript>, folder: &Path, how: &How, root: &Path) {
    let text = |it: Option<&std::ffi::OsStr>| {
        it.map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
    };
    match how {
        How::Mixed => walk(acc, folder, 0),
        How::Marked(mark, inside) => {
            for folder in folders(folder) {
                let is_it = match fs::read_to_string(folder.join(mark)) {
                    Ok(path) => Path::new(path.trim()).starts_with(root),
                    Err(_) => folder.file_name() == root.file_name(),
                };
                if is_it {
                    walk(acc, &folder.join(inside), 0);
                }
            }
        }
        How::Dashed => {
            let dash = |it: char| if it.is_ascii_alphanumeric() { it } else { '-' };
            let dashed: String = root.to_string_lossy().chars().map(dash).collect();
            // A host started in a folder of the project has a folder of its own, with a longer name.
            for folder in folders(folder) {
                let name = text(folder.file_name());
                if name == dashed || name.starts_with(&format!("{dashed}-")) {
                    walk(acc, &folder, 0);
                }
            }
        }
        How::Rows(named_so) => {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let is_one = |it: &PathBuf| {
                text(it.file_stem()).starts_with(named_so)
                    && it.extension().is_some_and(|it| it == DATABASE)
                    && it.is_file()
            };
            acc.extend(entries.map(|it| it.path()).filter(is_one).map(named));
        }
    }
}

/// Transcripts at a path that was given: the file itself, or what lies below the folder.
pub fn transcripts_at(path: &Path) -> Result<Vec<Transcript>, Error> {
    let kind = fs::metadata(path).map_err(|it| Error::reading(path, it))?;
    let mut acc = Vec::new();
    if kind.is_dir() {
        walk(&mut acc, path, 0);
    } else {
        acc.push(named(path.to_owned()));
    }
    acc.sort();
    Ok(acc)
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|it| it.path()).filter(|it| it.is_dir()).collect()
}

/// Links are not followed: what they point to is found where it lies.
fn walk(acc: &mut Vec<Transcript>, folder: &Path, depth: usize) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        let wanted =
            path.extension().and_then(|it| it.to_str()).is_some_and(|it| ENDINGS.contains(&it));
        if kind.is_dir() && depth < DEPTH {
            walk(acc, &path, depth + 1);
        } else if kind.is_file() && wanted && acc.len() < MOST {
            acc.push(named(path));
        }
    }
}

/// A file in a folder `subagents`, or named `agent-…`, is a subagent's.
fn named(path: PathBuf) -> Transcript {
    let stem = path.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = path.parent().and_then(Path::file_name);
    let is_subagent = folder.is_some_and(|it| it == "subagents") || stem.starts_with("agent-");
    Transcript { path, subagent: is_subagent.then_some(stem), session: None }
}

/// Reads a file piece by piece, so that its size does not matter; `piece` says whether to go on.
pub fn pieces(path: &Path, piece: impl FnMut(&[u8]) -> bool) -> Result<(), Error> {
    pieces_from(path, 0, piece)
}

/// As `pieces`, from a byte on. Only a regular file is opened: another may never answer.
pub fn pieces_from(
    path: &Path,
    from: u64,
    mut piece: impl FnMut(&[u8]) -> bool,
) -> Result<(), Error> {
    let reading = |it| Error::reading(path, it);
    if !fs::metadata(path).map_err(reading)?.is_file() {
        return Err(reading(std::io::Error::other("it is not a regular file")));
    }
    let mut file = File::open(path).map_err(reading)?;
    if from > 0 {
        file.seek(SeekFrom::Start(from)).map_err(reading)?;
    }
    let mut buffer = vec![0; PIECE];
    loop {
        let n = file.read(&mut buffer).map_err(|it| Error::reading(path, it))?;
        if n == 0 || !piece(&buffer[..n]) {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcripts_of_a_project_are_found_where_hosts_keep_them() {
        let home = tempfile::tempdir().unwrap();
        let put = |path: &str| {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        };
        put(".claude/projects/-home-user-shop/s1.jsonl");
        put(".claude/projects/-home-user-shop/s1/subagents/agent-a7.jsonl");
        put(".claude/projects/-home-user-shop-web/s2.jsonl");
        put(".claude/projects/-home-user-other/s3.jsonl");
        put(".codex/sessions/2026/06/18/rollout-x.jsonl");
        put(".gemini/tmp/shop/chats/session-1.json");
        put(".gemini/tmp/other/chats/session-2.json");
        put(".gemini/tmp/shop-1/chats/session-3.json");
        put(".gemini/tmp/web/chats/session-4.json");
        let mark = |folder: &str, path: &str| {
            fs::write(home.path().join(".gemini/tmp").join(folder).join(".project_root"), path)
                .unwrap();
        };
        mark("shop-1", "/srv/shop");
        mark("web", "/home/user/shop/web\n");
        put(".local/share/opencode/opencode.db");
        put(".local/share/opencode/other.db");
        let found = transcripts(home.path(), &|_| None, Path::new("/home/user/shop"));
        let show = |it: &Transcript| {
            let path = it.path.strip_prefix(home.path()).unwrap().display().to_string();
            format!("{path} {}", it.subagent.as_deref().unwrap_or("–"))
        };
        let mut res: Vec<String> = found.iter().map(show).collect();
        res.sort();
        assert_eq!(
            res,
            [
                ".claude/projects/-home-user-shop-web/s2.jsonl –",
                ".claude/projects/-home-user-shop/s1.jsonl –",
                ".claude/projects/-home-user-shop/s1/subagents/agent-a7.jsonl agent-a7",
                ".codex/sessions/2026/06/18/rollout-x.jsonl –",
                ".gemini/tmp/shop/chats/session-1.json –",
                ".gemini/tmp/web/chats/session-4.json –",
                ".local/share/opencode/opencode.db –",
            ]
        );
    }

    #[test]
    fn sessions_that_a_person_moved_are_found_there() {
        let home = tempfile::tempdir().unwrap();
        for (folder, file) in
            [(".local/share/opencode", "opencode.db"), ("data/opencode", "opencode.db")]
        {
            fs::create_dir_all(home.path().join(folder)).unwrap();
            fs::write(home.path().join(folder).join(file), "").unwrap();
        }
        let data = home.path().join("data");
        let moved = |it: &str| (it == "XDG_DATA_HOME").then(|| data.clone());
        let found = transcripts(home.path(), &moved, Path::new("/home/user/shop"));
        let paths: Vec<&Path> = found.iter().map(|it| it.path.as_path()).collect();
        assert_eq!(paths, [data.join("opencode/opencode.db")]);
    }

    #[test]
    fn a_missing_path_is_said() {
        assert!(matches!(transcripts_at(Path::new("/no/such/thing")), Err(Error::Missing { .. })));
    }
}
