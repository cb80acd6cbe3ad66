//! Finds the transcripts that hosts keep of a project, and reads them in pieces.
//!
//! Each host stores sessions in its own place and layout; `HOST_STORAGES` has one row per host.
//! Files are found by name only. The `agents` crate parses them and shows whether they belong to
//! the project.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::Error;

/// A file that may be a transcript, or one session of a database.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Transcript {
    pub path: PathBuf,
    /// Name of the subagent whose work it contains.
    pub subagent: Option<String>,
    /// The session, if the file is a database. `None` here: the caller opens the database and makes
    /// one transcript of each session in it.
    pub session: Option<String>,
    pub trust: TranscriptTrust,
}

/// The trust in a transcript as a record of this user's sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TranscriptTrust {
    /// A host of this user wrote it, or the user vouches for it.
    Own,
    /// It came with a repository or from another machine: its author is unknown.
    Foreign,
}

impl Transcript {
    /// A file with one session that is not a subagent's: a journal, or the transcript of a host.
    pub const fn of_file(path: PathBuf) -> Self {
        Self { path, subagent: None, session: None, trust: TranscriptTrust::Own }
    }
}

/// Size of the pieces in which a file is read.
const PIECE_BYTES: usize = 256 << 10;
/// Most levels of folders that are searched.
const MAX_DEPTH: usize = 6;
/// Most files that are returned.
const MAX_FILES_FOUND: usize = 20_000;

/// Extensions of files that may be transcripts.
const TRANSCRIPT_EXTENSIONS: &[&str] =
    &["jsonl", "json", "traj", "md", "ndjson", DATABASE_EXTENSION];
/// Extension of a database of sessions.
pub const DATABASE_EXTENSION: &str = "db";

/// The location of a host's sessions.
struct HostStorage {
    /// Environment variable that moves them, and the folder below its value.
    variable: (&'static str, &'static str),
    /// Folder in the home directory if the variable is not set.
    default: &'static str,
    /// Folder of the sessions in either of them.
    sessions: &'static str,
    layout: StorageLayout,
}

/// The arrangement of the sessions of different projects.
enum StorageLayout {
    /// A folder per project, named like its path with `-` for all punctuation.
    Dashed,
    /// A folder per project. In it, the file `path_file` contains the path of the project, and the
    /// folder `chats` the sessions. Without such a file the folder is named like the project.
    Marked { path_file: &'static str, chats: &'static str },
    /// All projects together.
    Mixed,
    /// Databases of all projects, whose names begin so.
    Databases(&'static str),
}

/// Session folders of the known hosts.
#[rustfmt::skip]
const HOST_STORAGES: &[HostStorage] = &[
    //           variable and folder below it     default folder           sessions         layout
    host_storage(("CLAUDE_CONFIG_DIR", ""),       ".claude",               "projects",      StorageLayout::Dashed),
    host_storage(("CODEX_HOME", ""),              ".codex",                "sessions",      StorageLayout::Mixed),
    host_storage(("COPILOT_HOME", ""),            ".copilot",              "session-state", StorageLayout::Mixed),
    host_storage(("GEMINI_CLI_HOME", ".gemini"),  ".gemini",               "tmp",           StorageLayout::Marked { path_file: ".project_root", chats: "chats" }),
    host_storage(("XDG_DATA_HOME", "opencode"),   ".local/share/opencode", "",              StorageLayout::Databases("opencode")),
];

impl HostStorage {
    /// The folder of the sessions.
    fn folder(&self, home: &Path, variable: &dyn Fn(&str) -> Option<PathBuf>) -> PathBuf {
        let (name, subfolder) = self.variable;
        let moved_to = variable(name).map(|it| it.join(subfolder));
        moved_to.unwrap_or_else(|| home.join(self.default)).join(self.sessions)
    }
}

const fn host_storage(
    variable: (&'static str, &'static str),
    default: &'static str,
    sessions: &'static str,
    layout: StorageLayout,
) -> HostStorage {
    HostStorage { variable, default, sessions, layout }
}

/// Files that hosts keep of a project, by the location of their sessions. `variable` reads the
/// environment. Only the first records of a session show if it really belongs to the project.
pub fn find_transcripts(
    home: &Path,
    variable: &dyn Fn(&str) -> Option<PathBuf>,
    root: &Path,
) -> Vec<Transcript> {
    let mut acc = Vec::new();
    for storage in HOST_STORAGES {
        collect_sessions(&mut acc, &storage.folder(home, variable), &storage.layout, root);
    }
    acc.sort();
    acc
}

/// The trust in a file that the user named: a record in the folders of a host is the user's own. A folder
/// inside the project is no host's, whatever the environment says, because it may come with the
/// repository.
pub fn transcript_trust(
    home: Option<&Path>,
    variable: &dyn Fn(&str) -> Option<PathBuf>,
    root: &Path,
    path: &Path,
) -> TranscriptTrust {
    // Links are resolved on both sides: what counts is where the file really is.
    let resolve = |it: &Path| fs::canonicalize(it).unwrap_or_else(|_| it.to_owned());
    let path = resolve(path);
    let mut folders = HOST_STORAGES.iter().filter_map(|it| Some(it.folder(home?, variable)));
    let is_hosts = folders.any(|it| path.starts_with(resolve(&it)));
    if is_hosts && !path.starts_with(resolve(root)) {
        TranscriptTrust::Own
    } else {
        TranscriptTrust::Foreign
    }
}

/// Adds the transcripts of the project at `root` in a folder of this layout.
fn collect_sessions(acc: &mut Vec<Transcript>, folder: &Path, layout: &StorageLayout, root: &Path) {
    let text = |it: Option<&std::ffi::OsStr>| {
        it.map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
    };
    match layout {
        StorageLayout::Mixed => collect_files(acc, folder, 0),
        StorageLayout::Marked { path_file, chats } => {
            for folder in list_subfolders(folder) {
                let is_of_project = match fs::read_to_string(folder.join(path_file)) {
                    Ok(path) => Path::new(path.trim()).starts_with(root),
                    Err(_) => folder.file_name() == root.file_name(),
                };
                if is_of_project {
                    collect_files(acc, &folder.join(chats), 0);
                }
            }
        }
        StorageLayout::Dashed => {
            let to_dash = |it: char| if it.is_ascii_alphanumeric() { it } else { '-' };
            let dashed: String = root.to_string_lossy().chars().map(to_dash).collect();
            // A session that started in a subfolder of the project has a folder with a longer name.
            for folder in list_subfolders(folder) {
                let name = text(folder.file_name());
                if name == dashed || name.starts_with(&format!("{dashed}-")) {
                    collect_files(acc, &folder, 0);
                }
            }
        }
        StorageLayout::Databases(prefix) => {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let is_database = |it: &PathBuf| {
                text(it.file_stem()).starts_with(prefix)
                    && it.extension().is_some_and(|it| it == DATABASE_EXTENSION)
                    && it.is_file()
            };
            acc.extend(entries.map(|it| it.path()).filter(is_database).map(transcript_at));
        }
    }
}

/// Transcripts at a path: the file itself, or the files below the folder. They count as the user's own;
/// [`transcript_trust`] decides about a path that the user named.
pub fn transcripts_at(path: &Path) -> Result<Vec<Transcript>, Error> {
    let kind = fs::metadata(path).map_err(|it| Error::from_io(path, it))?;
    let mut acc = Vec::new();
    if kind.is_dir() {
        collect_files(&mut acc, path, 0);
    } else {
        acc.push(transcript_at(path.to_owned()));
    }
    acc.sort();
    Ok(acc)
}

fn list_subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|it| it.path()).filter(|it| it.is_dir()).collect()
}

/// Adds the files below a folder. Links are not followed; their targets are found at their own
/// place.
fn collect_files(acc: &mut Vec<Transcript>, folder: &Path, depth: usize) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // Deleted meanwhile.
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        let has_known_extension = path
            .extension()
            .and_then(|it| it.to_str())
            .is_some_and(|it| TRANSCRIPT_EXTENSIONS.contains(&it));
        // The limits keep a folder that is no storage of sessions from being walked for long.
        if kind.is_dir() && depth < MAX_DEPTH {
            collect_files(acc, &path, depth + 1);
        } else if kind.is_file() && has_known_extension && acc.len() < MAX_FILES_FOUND {
            acc.push(transcript_at(path));
        }
    }
}

/// The transcript of a file. In a folder `subagents`, or with a name `agent-…`, it is that of a
/// subagent.
fn transcript_at(path: PathBuf) -> Transcript {
    let stem = path.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = path.parent().and_then(Path::file_name);
    let is_subagent = folder.is_some_and(|it| it == "subagents") || stem.starts_with("agent-");
    let subagent = is_subagent.then_some(stem);
    Transcript { subagent, ..Transcript::of_file(path) }
}

/// Reads a file in pieces, so that its size does not matter. `on_piece` returns false to stop.
pub fn read_pieces(path: &Path, on_piece: impl FnMut(&[u8]) -> bool) -> Result<(), Error> {
    read_pieces_from(path, 0, on_piece)
}

/// Like [`read_pieces`], from a position on. Only a regular file is opened, because others may
/// block.
pub fn read_pieces_from(
    path: &Path,
    from: u64,
    mut on_piece: impl FnMut(&[u8]) -> bool,
) -> Result<(), Error> {
    let to_error = |it| Error::from_io(path, it);
    if !fs::metadata(path).map_err(to_error)?.is_file() {
        return Err(to_error(std::io::Error::other("it is not a regular file")));
    }
    let mut file = File::open(path).map_err(to_error)?;
    if from > 0 {
        file.seek(SeekFrom::Start(from)).map_err(to_error)?;
    }
    let mut buffer = vec![0; PIECE_BYTES];
    loop {
        let n_bytes = file.read(&mut buffer).map_err(to_error)?;
        if n_bytes == 0 || !on_piece(&buffer[..n_bytes]) {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcripts_are_found_in_the_storage_of_every_host() {
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
        let put_project_root = |folder: &str, path: &str| {
            fs::write(home.path().join(".gemini/tmp").join(folder).join(".project_root"), path)
                .unwrap();
        };
        // One folder is marked as another project with the same name, one as part of this project.
        put_project_root("shop-1", "/srv/shop");
        put_project_root("web", "/home/user/shop/web\n");
        put(".local/share/opencode/opencode.db");
        put(".local/share/opencode/other.db");
        let found = find_transcripts(home.path(), &|_| None, Path::new("/home/user/shop"));
        let format_transcript = |it: &Transcript| {
            let path = it.path.strip_prefix(home.path()).unwrap().display().to_string();
            format!("{path} {}", it.subagent.as_deref().unwrap_or("–"))
        };
        let mut lines: Vec<String> = found.iter().map(format_transcript).collect();
        lines.sort();
        assert_eq!(
            lines,
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
    fn a_variable_moves_the_sessions() {
        let home = tempfile::tempdir().unwrap();
        for (folder, file) in
            [(".local/share/opencode", "opencode.db"), ("data/opencode", "opencode.db")]
        {
            fs::create_dir_all(home.path().join(folder)).unwrap();
            fs::write(home.path().join(folder).join(file), "").unwrap();
        }
        let data = home.path().join("data");
        let variable = |it: &str| (it == "XDG_DATA_HOME").then(|| data.clone());
        let found = find_transcripts(home.path(), &variable, Path::new("/home/user/shop"));
        let paths: Vec<&Path> = found.iter().map(|it| it.path.as_path()).collect();
        assert_eq!(paths, [data.join("opencode/opencode.db")]);
    }

    #[test]
    fn a_missing_path_is_an_error() {
        assert!(matches!(transcripts_at(Path::new("/no/such/thing")), Err(Error::Missing { .. })));
    }
}
