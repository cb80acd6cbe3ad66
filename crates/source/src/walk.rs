//! Which files of a project are worth reading: what git would not ignore, and what people wrote.
//!
//! Symbolic links are not followed, so no loop is walked and nothing outside is read. What is passed
//! over is counted with its reason.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ignore::{Walk, WalkBuilder};

use crate::read;

/// Larger files are data, whatever their name says.
pub const LARGEST: u64 = 2 * 1024 * 1024;

/// How a file looked when it was last read: while this stays, so does its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    pub size: u64,
    /// Nanoseconds since the epoch; 0 when it cannot be relied on.
    pub modified: u64,
}

impl Stamp {
    /// Whether a file that looked so and now looks like `now` is certainly the same.
    pub fn is_still(self, now: Self) -> bool {
        self.modified != 0 && self == now
    }
}

/// Why a file was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Passed {
    /// Somebody else's code, kept here.
    Vendored,
    /// Written by a program.
    Generated,
    /// Written by a program for a browser.
    Minified,
    Binary,
    TooLarge,
    /// A pipe, a device, a symbolic link.
    Special,
    Unreadable,
    /// Its name is no text.
    Unnameable,
}

impl Passed {
    pub const ALL: &'static [Self] = &[
        Self::Vendored,
        Self::Generated,
        Self::Minified,
        Self::Binary,
        Self::TooLarge,
        Self::Special,
        Self::Unreadable,
        Self::Unnameable,
    ];

    pub const fn reading(self) -> &'static str {
        match self {
            Self::Vendored => "somebody else's code",
            Self::Generated => "generated",
            Self::Minified => "minified",
            Self::Binary => "binary",
            Self::TooLarge => "larger than 2 MB",
            Self::Special => "not a regular file",
            Self::Unreadable => "unreadable",
            Self::Unnameable => "a name that is no text",
        }
    }
}

/// What a walk found, in the order of the paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// Paths below the root with `/` between their parts.
    pub files: Vec<(String, Stamp)>,
    pub passed: Vec<(String, Passed)>,
}

/// Folders that hold what others wrote, or what a build made.
#[rustfmt::skip]
const VENDORED: &[&str] = &[
    "node_modules", "bower_components", "vendor", "third_party", "third-party", "site-packages", "__pycache__",
    ".venv", "venv", "target", "Pods", "Carthage",
];

/// Files whose names are rules about others.
pub(crate) const RULES: &[&str] = &[".gitignore", ".ignore", OWN_RULES];

const OWN_RULES: &str = ".wayloreignore";

/// Walks a project for files that `is_wanted` by their path. Never fails: what cannot be read is
/// passed over.
pub fn files(root: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Walked {
    let mut res = Walked::default();
    gather(&mut res, root, rules(root).build(), is_wanted);
    res.files.sort();
    res.passed.sort();
    res
}

/// What a walk would find of some files, given by their paths below the root. Lists their folders,
/// which must be ones that a walk enters.
pub fn files_among(
    root: &Path,
    paths: &BTreeSet<String>,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Walked {
    let folder = |it: &String| it.rsplit_once('/').map_or("", |it| it.0).to_owned();
    let folders: BTreeSet<String> = paths.iter().map(folder).collect();
    let mut res = Walked::default();
    for folder in folders {
        // Without a trailing slash, which paths found below it would not begin with.
        let at = if folder.is_empty() { root.to_owned() } else { root.join(folder) };
        let walk = rules(&at).max_depth(Some(1)).build();
        gather(&mut res, root, walk, &|it| paths.contains(it) && is_wanted(it));
    }
    res.files.sort();
    res.passed.sort();
    res
}

/// The folders that a walk enters, the root among them.
pub(crate) fn folders(root: &Path) -> Vec<PathBuf> {
    let entries = rules(root).build().flatten();
    let folders = entries.filter(|it| it.file_type().is_some_and(|it| it.is_dir()));
    folders.map(ignore::DirEntry::into_path).collect()
}

fn rules(from: &Path) -> WalkBuilder {
    let mut res = WalkBuilder::new(from);
    res.follow_links(false)
        .require_git(false)
        // The person's own ignore file is in the home directory, which is not ours to look for.
        .git_global(false)
        .add_custom_ignore_filename(OWN_RULES)
        .filter_entry(|it| it.depth() == 0 || !is_vendored(it));
    res
}

fn gather(acc: &mut Walked, root: &Path, walk: Walk, is_wanted: &dyn Fn(&str) -> bool) {
    for entry in walk {
        match entry {
            Ok(entry) => look_at(acc, root, &entry, is_wanted),
            Err(error) => acc.passed.push((place_of(root, &error), Passed::Unreadable)),
        }
    }
}

fn is_vendored(entry: &ignore::DirEntry) -> bool {
    let is_dir = entry.file_type().is_some_and(|it| it.is_dir());
    is_dir && entry.file_name().to_str().is_some_and(|it| VENDORED.contains(&it))
}

fn look_at(
    acc: &mut Walked,
    root: &Path,
    entry: &ignore::DirEntry,
    is_wanted: &dyn Fn(&str) -> bool,
) {
    let Some(kind) = entry.file_type().filter(|it| !it.is_dir()) else { return };
    let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
    let parts: Option<Vec<&str>> = below.components().map(|it| it.as_os_str().to_str()).collect();
    let Some(path) = parts.map(|it| it.join("/")) else {
        acc.passed.push((below.to_string_lossy().into_owned(), Passed::Unnameable));
        return;
    };
    if !is_wanted(&path) {
        return;
    }
    let passed = match entry.metadata() {
        _ if !kind.is_file() => Passed::Special,
        Err(_) => Passed::Unreadable,
        Ok(it) if it.len() > LARGEST => Passed::TooLarge,
        Ok(_) if is_minified_name(&path) => Passed::Minified,
        Ok(it) => {
            acc.files.push((path, stamp_of(&it)));
            return;
        }
    };
    acc.passed.push((path, passed));
}

fn is_minified_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.contains(".min.") || name.contains(".bundle.")
}

/// How a file looks now, if it is there.
pub fn stamp(root: &Path, path: &str) -> Option<Stamp> {
    std::fs::symlink_metadata(root.join(path)).ok().as_ref().map(stamp_of)
}

/// As `stamp`, of what a link leads to.
pub fn stamp_behind(path: &Path) -> Option<Stamp> {
    std::fs::metadata(path).ok().as_ref().map(stamp_of)
}

/// A file that was written a moment ago may be written again within the same tick of the file
/// system's clock, and its stamp would stay: such a stamp is not to be relied on.
const TOO_FRESH: Duration = Duration::from_millis(50);

fn stamp_of(metadata: &Metadata) -> Stamp {
    let modified = metadata.modified().ok();
    let since_epoch = modified.and_then(|it| it.duration_since(UNIX_EPOCH).ok());
    let nanos = since_epoch.and_then(|it| u64::try_from(it.as_nanos()).ok());
    let is_settled = modified.is_some_and(is_settled);
    Stamp { size: metadata.len(), modified: nanos.filter(|_| is_settled).unwrap_or_default() }
}

#[expect(clippy::disallowed_methods, reason = "compared with the clock that made the stamp")]
fn is_settled(modified: SystemTime) -> bool {
    // One from the future says nothing about when it was written.
    SystemTime::now().duration_since(modified).is_ok_and(|it| it > TOO_FRESH)
}

/// The file an error of the walk was about, as far as it says.
fn place_of(root: &Path, error: &ignore::Error) -> String {
    match error {
        ignore::Error::WithPath { path, .. } => {
            path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
        }
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            place_of(root, err)
        }
        _ => String::new(),
    }
}

/// How many bytes are looked at to tell what a file is.
const HEAD: usize = 4096;

/// What generators write at the top of their files.
const MARKS: &[&str] = &[
    "@generated",
    "Code generated by",
    "DO NOT EDIT",
    "do not edit",
    "autogenerated",
    "auto-generated",
];

/// Reads a file that a walk found, unless it turns out not to be written by a person.
pub fn contents(root: &Path, path: &str) -> Result<Vec<u8>, Passed> {
    let bytes = read::bytes(&root.join(path), LARGEST).map_err(|it| match it.kind() {
        std::io::ErrorKind::FileTooLarge => Passed::TooLarge,
        std::io::ErrorKind::InvalidInput => Passed::Special,
        _ => Passed::Unreadable,
    })?;
    let head = &bytes[..bytes.len().min(HEAD)];
    if head.contains(&0) {
        return Err(Passed::Binary);
    }
    let lines = head.split(|it| *it == b'\n').take(12);
    if lines.map(String::from_utf8_lossy).any(|line| is_mark(&line)) {
        return Err(Passed::Generated);
    }
    let n_breaks = || bytes.iter().map(|it| usize::from(*it == b'\n')).sum::<usize>();
    if bytes.len() > 20_000 && bytes.len() / (n_breaks() + 1) > 500 {
        return Err(Passed::Minified);
    }
    Ok(bytes)
}

/// A mark stands in a comment; in code it may be data of the generator itself.
fn is_mark(line: &str) -> bool {
    let comment =
        ["//", "/*", "#", "*", "<!--", "--"].iter().any(|it| line.trim_start().starts_with(it));
    comment && MARKS.iter().any(|it| line.contains(it))
}

#[cfg(test)]
#[expect(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "the names are the test's own"
)]
mod tests {
    use std::fs;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    fn paths(walked: &Walked) -> Vec<&str> {
        walked.files.iter().map(|it| it.0.as_str()).collect()
    }

    #[test]
    fn what_git_ignores_is_not_walked_and_neither_is_what_others_wrote() {
        let dir = tree(&[
            (".gitignore", "ignored/\n*.log\n"),
            (".wayloreignore", "secret.rs\n"),
            ("src/a.rs", "fn a() {}"),
            ("src/secret.rs", ""),
            ("ignored/b.rs", ""),
            ("node_modules/c.js", ""),
            ("x.min.js", ""),
        ]);
        let walked = files(dir.path(), &|it| it.ends_with(".rs") || it.ends_with(".js"));
        assert_eq!(paths(&walked), ["src/a.rs"]);
        assert_eq!(walked.passed, [("x.min.js".to_owned(), Passed::Minified)]);
    }

    #[cfg(unix)]
    #[test]
    fn loops_pipes_and_locked_folders_are_survived() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tree(&[("a/b.rs", ""), ("locked/c.rs", "")]);
        symlink(dir.path(), dir.path().join("a/loop")).unwrap();
        symlink(dir.path().join("a/b.rs"), dir.path().join("link.rs")).unwrap();
        let pipe = dir.path().join("pipe.rs");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        fs::set_permissions(dir.path().join("locked"), fs::Permissions::from_mode(0o000)).unwrap();
        let walked = files(dir.path(), &|it| it.ends_with(".rs"));
        fs::set_permissions(dir.path().join("locked"), fs::Permissions::from_mode(0o700)).unwrap();
        assert!(paths(&walked).contains(&"a/b.rs"));
        let special: Vec<&str> = walked
            .passed
            .iter()
            .filter(|it| it.1 == Passed::Special)
            .map(|it| it.0.as_str())
            .collect();
        assert_eq!(special, ["link.rs", "pipe.rs"]);
        assert_eq!(contents(dir.path(), "pipe.rs"), Err(Passed::Special));
    }

    #[test]
    fn what_no_person_wrote_is_told_by_its_content() {
        let long = format!("var a={};", "1+".repeat(20_000));
        let dir = tree(&[
            ("bin.c", "a\0b"),
            ("gen.go", "// Code generated by protoc. DO NOT EDIT.\npackage a\n"),
            ("flat.js", &long),
            ("own.go", "package a\nvar mark = \"DO NOT EDIT\"\n"),
        ]);
        assert_eq!(contents(dir.path(), "bin.c"), Err(Passed::Binary));
        assert_eq!(contents(dir.path(), "gen.go"), Err(Passed::Generated));
        assert_eq!(contents(dir.path(), "flat.js"), Err(Passed::Minified));
        assert_eq!(contents(dir.path(), "gone.js"), Err(Passed::Unreadable));
        assert!(contents(dir.path(), "own.go").is_ok());
    }

    #[test]
    fn a_huge_file_is_not_read() {
        let dir = tree(&[]);
        fs::File::create(dir.path().join("huge.py")).unwrap().set_len(LARGEST + 1).unwrap();
        let walked = files(dir.path(), &|_| true);
        assert_eq!(walked.passed, [("huge.py".to_owned(), Passed::TooLarge)]);
        assert_eq!(contents(dir.path(), "huge.py"), Err(Passed::TooLarge));
    }
}
