//! Turns paths that people and agents write into the one spelling a project uses, and refuses those that leave it.
//!
//! Symlinks are resolved, so one file has one path however it was reached, and a link out of the project is seen for what it is.
//! It opens no file; whoever reads one later must check again, as a link can be swapped in between.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::{Error, read};

/// Linux's own limit, and far beyond any path in a project.
const MAX_PATH: usize = 4096;

/// The project-relative, `/`-separated path of `given`, which may be absolute or relative to `cwd`.
///
/// The file need not exist: it may have been deleted. The root itself is `.`.
/// A backslash separates on every system, so a host's Windows spelling means the same everywhere.
pub fn relative(root: &Path, given: &Path, cwd: &Path) -> Result<String, Error> {
    let root = fs::canonicalize(root).map_err(|it| Error::reading(root, it))?;
    let Resolved { real, missing } = resolve(&absolute(&root, given, cwd)?, given)?;
    let Ok(inside) = real.strip_prefix(&root) else {
        return Err(Error::Outside { path: given.to_owned(), root });
    };
    let names = inside.iter().chain(missing.iter().map(OsString::as_os_str));
    let names = names.map(OsStr::to_str).collect::<Option<Vec<_>>>();
    let path = names.ok_or_else(|| Error::NotUtf8 { path: shown(given) })?.join("/");
    if path.is_empty() {
        return Ok(".".to_owned());
    }
    // A link may lead to a name that was not in the text we were given.
    check_text(&path, given)?;
    Ok(path)
}

/// Says whether `rel` is a regular file or a directory inside the project, by way of no link that leads out of it.
pub fn exists(root: &Path, rel: &str) -> bool {
    let is_inner = |it: Component| matches!(it, Component::Normal(_) | Component::CurDir);
    if !Path::new(rel).components().all(is_inner) {
        return false;
    }
    let Ok(root) = fs::canonicalize(root) else { return false };
    let Ok(Resolved { real, missing }) = resolve(&root.join(rel), Path::new(rel)) else {
        return false;
    };
    let is_inside = missing.is_empty() && real.starts_with(&root);
    is_inside && fs::symlink_metadata(&real).is_ok_and(|it| it.is_file() || it.is_dir())
}

/// No folder of rules or settings has more files.
const ENTRIES: usize = 200;

/// The files right in a folder of the project, by name, from the root; a folder that is not there, or
/// elsewhere, has none.
pub fn entries(root: &Path, folder: &str) -> Vec<String> {
    if !exists(root, folder) {
        return Vec::new();
    }
    let found = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
    let names = found.filter_map(|it| it.file_name().into_string().ok());
    let mut res: Vec<String> = names
        .map(|it| format!("{folder}/{it}"))
        .filter(|it| exists(root, it) && root.join(it).is_file())
        .collect();
    res.sort();
    res.truncate(ENTRIES);
    res
}

/// The largest text people write for others to read.
const PROSE: u64 = 1 << 20;

/// What people wrote in a file of the project; nothing for one that is not there, lies elsewhere or
/// is larger than any text.
pub fn prose(root: &Path, rel: &str) -> Option<String> {
    let text = exists(root, rel).then(|| read::text(&root.join(rel), PROSE))?;
    text.ok()
}

/// A path without links and dots.
struct Resolved {
    /// As far as it exists, canonical.
    real: PathBuf,
    /// The names beyond.
    missing: Vec<OsString>,
}

/// Walks a path as the operating system would, and goes on by the text where there is nothing to walk on.
fn resolve(path: &Path, given: &Path) -> Result<Resolved, Error> {
    let mut real = PathBuf::new();
    let mut missing: Vec<OsString> = Vec::new();
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => real.push(component),
            Component::CurDir => {}
            Component::ParentDir => {
                if missing.pop().is_none() {
                    real.pop();
                }
            }
            Component::Normal(name) if !missing.is_empty() => missing.push(name.to_owned()),
            Component::Normal(name) => {
                let next = real.join(name);
                match fs::symlink_metadata(&next) {
                    Ok(it) if it.is_symlink() => real = target(&next, given)?,
                    Ok(_) => real = next,
                    Err(error) if is_beyond(&error) => missing.push(name.to_owned()),
                    Err(error) => return Err(refused(given, error)),
                }
            }
        }
    }
    // Filesystems that ignore case return the spelling they keep.
    let real = fs::canonicalize(&real).map_err(|it| refused(given, it))?;
    Ok(Resolved { real, missing })
}

fn target(link: &Path, given: &Path) -> Result<PathBuf, Error> {
    // Where a broken link leads is decided when somebody creates its target, so it cannot be judged now.
    let why = "goes through a symlink that leads nowhere";
    fs::canonicalize(link).map_err(|_| bad(given, why))
}

/// Errors that mean "we cannot see further", as opposed to "this is no path".
fn is_beyond(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | NotADirectory | PermissionDenied)
}

fn refused(given: &Path, source: io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::InvalidFilename => bad(given, "is too long to be a path"),
        _ => Error::Unreadable { path: given.to_owned(), source },
    }
}

/// Joins what was given to what it is relative to, after refusing what only looks like a path here.
fn absolute(root: &Path, given: &Path, cwd: &Path) -> Result<PathBuf, Error> {
    // The names above the root are the user's business; only what is below is checked and translated.
    let (base, rest) = given.strip_prefix(root).map_or((cwd, given), |it| (root, it));
    let text = rest.to_str().ok_or_else(|| Error::NotUtf8 { path: shown(given) })?;
    check_text(text, given)?;
    if text == "~" || text.starts_with("~/") || text.starts_with("~\\") {
        return Err(bad(given, "starts with `~`, which only a shell can expand"));
    }
    if text.contains("://") {
        return Err(bad(given, "is a URL, not a path"));
    }
    if !cwd.is_absolute() {
        return Err(bad(cwd, "is not absolute, so nothing can be relative to it"));
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

fn check_text(text: &str, given: &Path) -> Result<(), Error> {
    if text.len() > MAX_PATH {
        return Err(bad(given, "is too long to be a path"));
    }
    if text.chars().any(char::is_control) {
        return Err(bad(given, "contains a control character"));
    }
    Ok(())
}

fn bad(path: &Path, why: &'static str) -> Error {
    Error::BadPath { path: shown(path), why }
}

/// A path that may be anything, cut and cleaned: a message must stay one line.
fn shown(path: &Path) -> PathBuf {
    let clean = |it: char| if it.is_control() { char::REPLACEMENT_CHARACTER } else { it };
    path.to_string_lossy().chars().take(200).map(clean).collect::<String>().into()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    /// A project with links of every kind, beside a directory that is none of its business.
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
        match relative(root, given, cwd) {
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
    fn an_absolute_path_counts_from_the_root_however_it_is_reached() {
        let (_dir, root) = project();
        assert_eq!(check(&root, &root.join("src/main.rs"), Path::new("/")), "src/main.rs");
        let checkout = root.with_file_name("checkout");
        assert_eq!(check(&root, &checkout.join("src/main.rs"), Path::new("/")), "src/main.rs");
        assert_eq!(check(&checkout, &root.join("src/gone.rs"), Path::new("/")), "src/gone.rs");
        assert_eq!(check(&root, &root.with_file_name("project-two"), &root), "!outside");
    }

    #[test]
    fn a_root_may_have_an_odd_name() {
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
            assert!(exists(&root, rel), "{rel}");
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
            assert!(!exists(&root, rel), "{rel}");
        }
        assert!(!exists(&root, &"x".repeat(10_000)));
        assert!(!exists(&root.join("no"), "x"));
    }

    #[test]
    fn a_message_names_the_path_and_carries_no_control_character() {
        let (_dir, root) = project();
        let shown = |given: &str| relative(&root, Path::new(given), &root).unwrap_err().to_string();
        assert_eq!(shown("a\nb"), "`a\u{fffd}b` contains a control character");
        assert_eq!(shown("/etc"), format!("`/etc` is outside the project `{}`", root.display()));
    }
}
