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

/// The files a host keeps for a project, by where each of them puts its sessions. Whether a session
/// is really of the project, its first records say.
pub fn transcripts(home: &Path, root: &Path) -> Vec<Transcript> {
    let root_text = root.to_string_lossy();
    let dashed: String =
        root_text.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' }).collect();
    let name = root.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let mut acc = Vec::new();
    // A host started in a folder of the project has a folder of its own, with a longer name.
    for folder in folders(&home.join(".claude/projects")) {
        let its_name =
            folder.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        if its_name == dashed || its_name.starts_with(&format!("{dashed}-")) {
            walk(&mut acc, &folder, 0);
        }
    }
    walk(&mut acc, &home.join(".codex/sessions"), 0);
    walk(&mut acc, &home.join(".copilot/session-state"), 0);
    walk(&mut acc, &home.join(".gemini/tmp").join(&name).join("chats"), 0);
    let database = home.join(".local/share/opencode/opencode.db");
    if database.is_file() {
        acc.push(named(database));
    }
    acc.sort();
    acc
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
        put(".local/share/opencode/opencode.db");
        let found = transcripts(home.path(), Path::new("/home/user/shop"));
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
                ".local/share/opencode/opencode.db –",
            ]
        );
    }

    #[test]
    fn a_missing_path_is_said() {
        assert!(matches!(transcripts_at(Path::new("/no/such/thing")), Err(Error::Missing { .. })));
    }
}
