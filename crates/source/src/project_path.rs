//! Normalizes paths from users and agents to project paths, and refuses those that leave the
//! project.
//!
//! A project path is relative to the root, with `/`. Symlinks are resolved, so a file has one path
//! however it is reached, and a link out of the project is detected. The file need not exist. A
//! caller that opens a path later must check again, because a link can be swapped in between.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::{Error, read};

/// Longest path; the limit of Linux.
const MAX_PATH_BYTES: usize = 4096;
/// Longest path in a message.
const MAX_PRINTED_CHARS: usize = 200;
/// Most files listed of a folder of rules or settings.
const MAX_FOLDER_FILES: usize = 200;
/// Largest text that is read.
const MAX_TEXT_BYTES: u64 = 1 << 20;

/// The project path of `given` (relative, with `/`), which may be absolute or relative to `cwd`.
///
/// The file need not exist, because it may have been deleted. The root itself is `.`. A backslash
/// is a separator on every system, so that a path of a Windows host has the same meaning
/// everywhere.
pub fn relative_path(root: &Path, given: &Path, cwd: &Path) -> Result<String, Error> {
    let root = fs::canonicalize(root).map_err(|it| Error::from_io(root, it))?;
    let ResolvedPath { real, missing } = resolve_links(&to_absolute(&root, given, cwd)?, given)?;
    let Ok(inside) = real.strip_prefix(&root) else {
        return Err(Error::Outside { path: given.to_owned(), root });
    };
    let names = inside.iter().chain(missing.iter().map(OsString::as_os_str));
    let names = names.map(OsStr::to_str).collect::<Option<Vec<_>>>();
    let path = names.ok_or_else(|| Error::NotUtf8 { path: printable_path(given) })?.join("/");
    if path.is_empty() {
        return Ok(".".to_owned());
    }
    // The target of a link has a name that was not checked yet.
    check_text(&path, given)?;
    Ok(path)
}

/// True if `rel` is a regular file or a directory inside the project and no link on the way leaves
/// it.
pub fn exists_in_project(root: &Path, rel: &str) -> bool {
    let is_inner = |it: Component| matches!(it, Component::Normal(_) | Component::CurDir);
    if !Path::new(rel).components().all(is_inner) {
        return false;
    }
    let Ok(root) = fs::canonicalize(root) else { return false };
    let Ok(ResolvedPath { real, missing }) = resolve_links(&root.join(rel), Path::new(rel)) else {
        return false;
    };
    let is_inside = missing.is_empty() && real.starts_with(&root);
    is_inside && fs::symlink_metadata(&real).is_ok_and(|it| it.is_file() || it.is_dir())
}

/// The files directly in a folder of the project, as sorted project paths. Unlike
/// [`list_files`](crate::list_files) this includes links to files inside the project. Empty if the
/// folder is missing or outside.
pub fn list_folder(root: &Path, folder: &str) -> Vec<String> {
    if !exists_in_project(root, folder) {
        return Vec::new();
    }
    let found = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
    let names = found.filter_map(|it| it.file_name().into_string().ok());
    let mut paths: Vec<String> = names
        .map(|it| format!("{folder}/{it}"))
        .filter(|it| exists_in_project(root, it) && root.join(it).is_file())
        .collect();
    paths.sort();
    paths.truncate(MAX_FOLDER_FILES);
    paths
}

/// The text of a file of the project; `None` if it is missing, outside or too large.
pub fn read_text(root: &Path, rel: &str) -> Option<String> {
    if !exists_in_project(root, rel) {
        return None;
    }
    read::read_lossy_text(&root.join(rel), MAX_TEXT_BYTES).ok()
}

/// A path without links and dots, split where it stops existing.
struct ResolvedPath {
    /// The existing part, canonical.
    real: PathBuf,
    /// The names after it.
    missing: Vec<OsString>,
}

/// Resolves a path as the operating system would; beyond the existing part by its text.
fn resolve_links(path: &Path, given: &Path) -> Result<ResolvedPath, Error> {
    let mut real = PathBuf::new();
    let mut missing: Vec<OsString> = Vec::new();
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => real.push(component),
            Component::CurDir => {}
            // `..` removes the last name, whether it exists or not.
            Component::ParentDir => {
                if missing.pop().is_none() {
                    real.pop();
                }
            }
            // Below a missing folder nothing exists.
            Component::Normal(name) if !missing.is_empty() => missing.push(name.to_owned()),
            Component::Normal(name) => {
                let next = real.join(name);
                match fs::symlink_metadata(&next) {
                    Ok(it) if it.is_symlink() => real = resolve_link(&next, given)?,
                    Ok(_) => real = next,
                    Err(error) if is_beyond(&error) => missing.push(name.to_owned()),
                    Err(error) => return Err(refusal(given, error)),
                }
            }
        }
    }
    // Filesystems that ignore case return the stored spelling.
    let real = fs::canonicalize(&real).map_err(|it| refusal(given, it))?;
    Ok(ResolvedPath { real, missing })
}

/// The canonical target of a link.
fn resolve_link(link: &Path, given: &Path) -> Result<PathBuf, Error> {
    // A broken link may lead out of the project as soon as its target is created, so it is refused.
    let why = "goes through a symlink that leads nowhere";
    fs::canonicalize(link).map_err(|_| bad_path(given, why))
}

/// True for errors that end the existing part, in contrast to an invalid path.
fn is_beyond(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | NotADirectory | PermissionDenied)
}

/// The error for a path that the system refuses.
fn refusal(given: &Path, source: io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::InvalidFilename => bad_path(given, "is too long to be a path"),
        _ => Error::Unreadable { path: given.to_owned(), source },
    }
}

/// The absolute path of `given`, after refusing texts that only look like a path on this system.
fn to_absolute(root: &Path, given: &Path, cwd: &Path) -> Result<PathBuf, Error> {
    // The names above the root are valid on this system; only those below are checked and
    // translated.
    let (base, rest) = given.strip_prefix(root).map_or((cwd, given), |it| (root, it));
    let text = rest.to_str().ok_or_else(|| Error::NotUtf8 { path: printable_path(given) })?;
    check_text(text, given)?;
    if text == "~" || text.starts_with("~/") || text.starts_with("~\\") {
        return Err(bad_path(given, "starts with `~`, which only a shell can expand"));
    }
    if text.contains("://") {
        return Err(bad_path(given, "is a URL, not a path"));
    }
    if !cwd.is_absolute() {
        return Err(bad_path(cwd, "is not absolute, so nothing can be relative to it"));
    }
    if cfg!(windows) {
        return Ok(base.join(text));
    }
    if is_windows_absolute(text) {
        return Err(Error::Outside { path: given.to_owned(), root: root.to_owned() });
    }
    Ok(base.join(text.replace('\\', "/")))
}

/// `C:\…`, `C:/…` or `\\server\…`.
fn is_windows_absolute(text: &str) -> bool {
    let has_drive =
        matches!(text.as_bytes(), [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic());
    has_drive || text.starts_with("\\\\")
}

/// Refuses texts that no path of a project can have.
fn check_text(text: &str, given: &Path) -> Result<(), Error> {
    if text.len() > MAX_PATH_BYTES {
        return Err(bad_path(given, "is too long to be a path"));
    }
    if text.chars().any(char::is_control) {
        return Err(bad_path(given, "contains a control character"));
    }
    Ok(())
}

fn bad_path(path: &Path, why: &'static str) -> Error {
    Error::BadPath { path: printable_path(path), why }
}

/// A path for a message: truncated and without control characters, so that the message stays on one
/// line.
fn printable_path(path: &Path) -> PathBuf {
    let clean = |it: char| if it.is_control() { char::REPLACEMENT_CHARACTER } else { it };
    path.to_string_lossy().chars().take(MAX_PRINTED_CHARS).map(clean).collect::<String>().into()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    /// A project with links of every kind, beside an unrelated directory.
    fn project() -> (TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        let root = top.join("project");
        fs::create_dir_all(root.join("src/deep")).unwrap();
        fs::create_dir(top.join("project-two")).unwrap();
        fs::write(root.join("src/main.rs"), "").unwrap();
        fs::write(top.join("secret"), "").unwrap();
        symlink("src", root.join("inner")).unwrap();
        symlink("main.rs", root.join("src/alias.rs")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink(top.join("secret"), root.join("out")).unwrap();
        symlink(top.join("nothing"), root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        symlink("/proc/self", root.join("proc")).unwrap();
        symlink(&root, top.join("checkout")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(root.join("fifo")).status().unwrap();
        assert!(made.success());
        (dir, root)
    }

    /// The path, or the kind of refusal.
    fn check(root: &Path, given: &Path, cwd: &Path) -> String {
        match relative_path(root, given, cwd) {
            Ok(path) => path,
            Err(Error::Missing { .. }) => "!missing".to_owned(),
            Err(Error::Unreadable { .. }) => "!unreadable".to_owned(),
            Err(Error::Outside { .. }) => "!outside".to_owned(),
            Err(Error::BadPath { .. }) => "!bad".to_owned(),
            Err(Error::NotUtf8 { .. }) => "!not utf-8".to_owned(),
        }
    }

    #[test]
    fn a_path_is_normalised_or_refused() {
        let (_dir, root) = project();
        #[rustfmt::skip]
        let cases = [
            // cwd      given                        path
            (".",       "src/main.rs",               "src/main.rs"),
            (".",       "./src//deep/../main.rs",    "src/main.rs"),
            ("src",     "main.rs",                   "src/main.rs"),
            ("src",     "../src/main.rs",            "src/main.rs"),
            ("src",     "..",                        "."),
            (".",       "",                          "."),
            (".",       "src/",                      "src"),
            (".",       "src\\deep\\x.rs",           "src/deep/x.rs"),
            (".",       "gone/with/it.rs",           "gone/with/it.rs"),
            (".",       "gone/../src/main.rs",       "src/main.rs"),
            (".",       "src/main.rs/below",         "src/main.rs/below"),
            (".",       "inner/main.rs",             "src/main.rs"),
            (".",       "inner/gone.rs",             "src/gone.rs"),
            (".",       "src/alias.rs",              "src/main.rs"),
            (".",       "up/project/src",            "src"),
            (".",       "fifo",                      "fifo"),
            (".",       "ünï/cödé",                  "ünï/cödé"),
            (".",       "..hidden/...",              "..hidden/..."),
            (".",       "%2e%2e/x",                  "%2e%2e/x"),
            (".",       "..",                        "!outside"),
            (".",       "../project-two/x",          "!outside"),
            (".",       "..\\project-two\\x",        "!outside"),
            (".",       "src/../../secret",          "!outside"),
            (".",       "gone/../../secret",         "!outside"),
            (".",       "../../../../../../../etc",  "!outside"),
            (".",       "up/secret",                 "!outside"),
            (".",       "up/gone",                   "!outside"),
            (".",       "out",                       "!outside"),
            (".",       "inner/../../secret",        "!outside"),
            (".",       "/etc/passwd",               "!outside"),
            (".",       "\\etc\\passwd",             "!outside"),
            (".",       "/",                         "!outside"),
            (".",       "/proc/self/environ",        "!outside"),
            (".",       "proc/environ",              "!outside"),
            (".",       "proc/root/etc/passwd",      "!outside"),
            (".",       "C:\\Users\\x",              "!outside"),
            (".",       "c:/users/x",                "!outside"),
            (".",       "\\\\server\\share",         "!outside"),
            ("..",      "secret",                    "!outside"),
            (".",       "dangling",                  "!bad"),
            (".",       "dangling/x",                "!bad"),
            (".",       "loop",                      "!bad"),
            (".",       "~/x",                       "!bad"),
            (".",       "file:///etc/passwd",        "!bad"),
            (".",       "a\0b",                      "!bad"),
            (".",       "a\nb",                      "!bad"),
            (".",       "a\u{1b}[31m",               "!bad"),
        ];
        for (cwd, given, expected) in cases {
            assert_eq!(
                check(&root, Path::new(given), &root.join(cwd)),
                expected,
                "{given} in {cwd}"
            );
        }
        assert_eq!(check(&root, Path::new(&"x".repeat(300)), &root), "!bad");
        assert_eq!(check(&root, Path::new(&"x/".repeat(3000)), &root), "!bad");
        assert_eq!(check(&root, Path::new("x"), Path::new("relative")), "!bad");
        assert_eq!(check(&root, Path::new(OsStr::from_bytes(b"\xff.rs")), &root), "!not utf-8");
        assert_eq!(check(&root.join("no"), Path::new("x"), &root), "!missing");
    }

    #[test]
    fn an_absolute_path_is_relative_to_the_root_however_it_is_reached() {
        let (_dir, root) = project();
        assert_eq!(check(&root, &root.join("src/main.rs"), Path::new("/")), "src/main.rs");
        let checkout = root.with_file_name("checkout");
        assert_eq!(check(&root, &checkout.join("src/main.rs"), Path::new("/")), "src/main.rs");
        assert_eq!(check(&checkout, &root.join("src/gone.rs"), Path::new("/")), "src/gone.rs");
        assert_eq!(check(&root, &root.with_file_name("project-two"), &root), "!outside");
    }

    #[test]
    fn a_root_may_have_any_name() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap().join(OsStr::from_bytes(b"odd\\name \xff"));
        fs::create_dir(&root).unwrap();
        assert_eq!(check(&root, &root.join("a\\b"), &root), "a/b");
        assert_eq!(check(&root, Path::new("a/b"), &root), "a/b");
    }

    #[test]
    fn only_files_and_directories_inside_exist() {
        let (_dir, root) = project();
        for rel in ["src/main.rs", "src", ".", "src/alias.rs", "inner/main.rs", "inner/deep"] {
            assert!(exists_in_project(&root, rel), "{rel}");
        }
        for rel in [
            "gone",
            "src/gone",
            "fifo",
            "out",
            "up/secret",
            "up",
            "dangling",
            "loop",
            "proc/environ",
            "/etc",
            "..",
            "src/../src",
            "a\0b",
            "src/main.rs/x",
        ] {
            assert!(!exists_in_project(&root, rel), "{rel}");
        }
        assert!(!exists_in_project(&root, &"x".repeat(10_000)));
        assert!(!exists_in_project(&root.join("no"), "x"));
    }

    #[test]
    fn a_message_names_the_path_and_carries_no_control_character() {
        let (_dir, root) = project();
        let message =
            |given: &str| relative_path(&root, Path::new(given), &root).unwrap_err().to_string();
        assert_eq!(message("a\nb"), "`a\u{fffd}b` contains a control character");
        assert_eq!(message("/etc"), format!("`/etc` is outside the project `{}`", root.display()));
    }
}
