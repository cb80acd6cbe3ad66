//! Walks the files of a project that are worth reading: not ignored by git, and written by people.
//!
//! The walk decides by names and metadata; `read_source` looks at the content later and may still
//! skip a file. Symbolic links are not followed, so there are no loops and nothing outside is read.
//! Files in ignored folders, in those of third-party code and of kinds that the caller does not want
//! are passed over in silence. A file that is wanted and skipped nevertheless is reported with a
//! reason. For example, for a caller that wants `.rs` and `.js`:
//!
//! | File                 | Result                                     |
//! |----------------------|--------------------------------------------|
//! | `src/a.rs`           | collected, with its stamp                  |
//! | `src/notes.txt`      | passed over: not wanted                    |
//! | `node_modules/c.js`  | passed over: third-party code              |
//! | `x.min.js`           | skipped: minified, by its name             |
//! | `api.rs`, generated  | collected; `read_code` marks it             |

use std::collections::BTreeSet;
use std::fs::{FileType, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ignore::{Walk, WalkBuilder};
use model::VENDORED_FOLDERS;

use crate::read;

/// Largest source file; larger ones are data, whatever their name.
pub const MAX_SOURCE_BYTES: u64 = 2 * 1024 * 1024;

/// Size and modification time of a file when it was read. While the stamp is unchanged, so is the
/// content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileStamp {
    pub size: u64,
    /// Nanoseconds since the epoch; 0 if it is not reliable.
    pub modified: u64,
}

impl FileStamp {
    /// True if a file with this stamp, which now has the stamp `now`, is certainly unchanged.
    pub fn is_unchanged(self, now: Self) -> bool {
        self.modified != 0 && self == now
    }
}

/// A reason to skip a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileSkipReason {
    /// Third-party code in the project.
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
    /// Its name is not valid UTF-8.
    NotUtf8Name,
}

impl FileSkipReason {
    pub const ALL: &'static [Self] = &[
        Self::Vendored,
        Self::Generated,
        Self::Minified,
        Self::Binary,
        Self::TooLarge,
        Self::Special,
        Self::Unreadable,
        Self::NotUtf8Name,
    ];

    /// Explanation for the user.
    pub const fn reading(self) -> &'static str {
        match self {
            Self::Vendored => "third-party code",
            Self::Generated => "generated",
            Self::Minified => "minified",
            Self::Binary => "binary",
            Self::TooLarge => "larger than 2 MB",
            Self::Special => "not a regular file",
            Self::Unreadable => "unreadable",
            Self::NotUtf8Name => "a name that is not UTF-8",
        }
    }
}

/// The result of a walk, sorted by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalkedFiles {
    /// Paths relative to the root, with `/`.
    pub files: Vec<(String, FileStamp)>,
    pub skipped: Vec<(String, FileSkipReason)>,
}

/// Folders of build output. They are passed over like those of third-party code.
const OUTPUT_FOLDERS: &[&str] = &["__pycache__", "target"];

/// Names of the files that contain ignore rules.
pub(crate) const IGNORE_FILES: &[&str] = &[".gitignore", ".ignore", OWN_IGNORE_FILE];

/// Ignore rules for this program alone.
const OWN_IGNORE_FILE: &str = ".wayloreignore";

/// Walks a project and collects the files whose paths are wanted. Never fails: unreadable files are
/// skipped.
pub fn walk_files(root: &Path, is_wanted: &dyn Fn(&str) -> bool) -> WalkedFiles {
    let mut walked = WalkedFiles::default();
    collect_entries(&mut walked, root, walk_builder(root).build(), is_wanted);
    walked.files.sort();
    walked.skipped.sort();
    walked
}

/// The part of a walk that concerns some files, given by their paths relative to the root. Only
/// their folders are read, which must be folders that a walk enters.
pub fn walk_some_files(
    root: &Path,
    paths: &BTreeSet<String>,
    is_wanted: &dyn Fn(&str) -> bool,
) -> WalkedFiles {
    // The folder of `src/a.rs` is `src`, that of `a.rs` the root, written as an empty name.
    let mut folders: BTreeSet<&str> = BTreeSet::new();
    for path in paths {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        folders.insert(folder);
    }
    let mut walked = WalkedFiles::default();
    for folder in folders {
        // Joining an empty name would add a slash, with which the found paths do not begin.
        let folder = if folder.is_empty() { root.to_owned() } else { root.join(folder) };
        let walk = walk_builder(&folder).max_depth(Some(1)).build();
        collect_entries(&mut walked, root, walk, &|it| paths.contains(it) && is_wanted(it));
    }
    walked.files.sort();
    walked.skipped.sort();
    walked
}

/// The folders that a walk enters, including the root.
pub(crate) fn walk_folders(root: &Path) -> Vec<PathBuf> {
    let entries = walk_builder(root).build().flatten();
    let folders = entries.filter(|it| it.file_type().is_some_and(|it| it.is_dir()));
    folders.map(ignore::DirEntry::into_path).collect()
}

/// A walk with the rules of this module, from a folder downwards.
fn walk_builder(folder: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(folder);
    builder
        .follow_links(false)
        // `.gitignore` counts even if the project is no repository.
        .require_git(false)
        // The user's own ignore file is in the home directory, which this crate does not read.
        .git_global(false)
        .add_custom_ignore_filename(OWN_IGNORE_FILE)
        .filter_entry(|it| it.depth() == 0 || !is_vendored(it));
    builder
}

fn collect_entries(
    acc: &mut WalkedFiles,
    root: &Path,
    walk: Walk,
    is_wanted: &dyn Fn(&str) -> bool,
) {
    for entry in walk {
        match entry {
            Ok(entry) => collect_entry(acc, root, &entry, is_wanted),
            Err(error) => acc.skipped.push((error_path(root, &error), FileSkipReason::Unreadable)),
        }
    }
}

fn is_vendored(entry: &ignore::DirEntry) -> bool {
    let is_dir = entry.file_type().is_some_and(|it| it.is_dir());
    let is_skipped_name = |it: &str| VENDORED_FOLDERS.contains(&it) || OUTPUT_FOLDERS.contains(&it);
    is_dir && entry.file_name().to_str().is_some_and(is_skipped_name)
}

/// Adds an entry of the walk to the files or to the skipped ones.
fn collect_entry(
    acc: &mut WalkedFiles,
    root: &Path,
    entry: &ignore::DirEntry,
    is_wanted: &dyn Fn(&str) -> bool,
) {
    // Only standard input has no type, which a walk never meets.
    let Some(file_type) = entry.file_type() else { return };
    // Folders are walked, not collected.
    if file_type.is_dir() {
        return;
    }
    let rel = entry.path().strip_prefix(root).unwrap_or(entry.path());
    let parts: Option<Vec<&str>> = rel.components().map(|it| it.as_os_str().to_str()).collect();
    let Some(path) = parts.map(|it| it.join("/")) else {
        acc.skipped.push((rel.to_string_lossy().into_owned(), FileSkipReason::NotUtf8Name));
        return;
    };
    if !is_wanted(&path) {
        return;
    }
    match check_metadata(entry, file_type, &path) {
        Ok(stamp) => acc.files.push((path, stamp)),
        Err(reason) => acc.skipped.push((path, reason)),
    }
}

/// The stamp of a file that is worth reading, judged by its name and metadata.
fn check_metadata(
    entry: &ignore::DirEntry,
    file_type: FileType,
    path: &str,
) -> Result<FileStamp, FileSkipReason> {
    if !file_type.is_file() {
        return Err(FileSkipReason::Special);
    }
    let metadata = entry.metadata().map_err(|_| FileSkipReason::Unreadable)?;
    if metadata.len() > MAX_SOURCE_BYTES {
        return Err(FileSkipReason::TooLarge);
    }
    if is_minified_name(path) {
        return Err(FileSkipReason::Minified);
    }
    Ok(stamp_of(&metadata))
}

/// True for names such as `jquery.min.js` and `app.bundle.js`.
fn is_minified_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.contains(".min.") || name.contains(".bundle.")
}

/// The stamp of a file, if it exists. Of a link, the stamp is that of the link itself.
pub fn file_stamp(root: &Path, path: &str) -> Option<FileStamp> {
    std::fs::symlink_metadata(root.join(path)).ok().as_ref().map(stamp_of)
}

/// The stamp of a file or of the target of a link.
pub fn target_stamp(path: &Path) -> Option<FileStamp> {
    std::fs::metadata(path).ok().as_ref().map(stamp_of)
}

/// Least age of a reliable modification time. A file that was just written may be written again
/// within the same tick of the filesystem's clock, and its stamp would not change.
const MIN_STAMP_AGE: Duration = Duration::from_millis(50);

/// The stamp in a file's metadata. The time is 0 as long as it is not reliable.
fn stamp_of(metadata: &Metadata) -> FileStamp {
    let modified = match metadata.modified() {
        Ok(time) if is_settled(time) => nanos_since_epoch(time),
        // Just written, or the filesystem has no times.
        Ok(_) | Err(_) => 0,
    };
    FileStamp { size: metadata.len(), modified }
}

/// 0 for a time before 1970 or after 2554, which no real file has.
fn nanos_since_epoch(time: SystemTime) -> u64 {
    let Ok(since_epoch) = time.duration_since(UNIX_EPOCH) else { return 0 };
    u64::try_from(since_epoch.as_nanos()).unwrap_or(0)
}

/// True if the file was not written just now, see `MIN_STAMP_AGE`.
#[expect(clippy::disallowed_methods, reason = "compared with a stamp of the same clock")]
fn is_settled(modified: SystemTime) -> bool {
    // A time in the future is an error here: it is not reliable.
    SystemTime::now().duration_since(modified).is_ok_and(|it| it > MIN_STAMP_AGE)
}

/// The path of an error of the walk, as far as it is known.
fn error_path(root: &Path, error: &ignore::Error) -> String {
    match error {
        ignore::Error::WithPath { path, .. } => {
            path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
        }
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            error_path(root, err)
        }
        _ => String::new(),
    }
}

/// Lines at the beginning of a file that are searched for a mark of a generator.
const MAX_MARK_LINES: usize = 12;
/// Smallest file that can be minified code.
const MIN_MINIFIED_BYTES: usize = 20_000;
/// Longest line on average in code that people wrote.
const MAX_MEAN_LINE_BYTES: usize = 500;
/// Bytes at the beginning of a file that are searched for signs of its origin.
const HEAD_BYTES: usize = 4096;

/// Marks that generators write at the top of their files.
const GENERATED_MARKS: &[&str] = &[
    "@generated",
    "Code generated by",
    "DO NOT EDIT",
    "do not edit",
    "autogenerated",
    "auto-generated",
];

/// Ends of the names that generators give their files.
#[rustfmt::skip]
const GENERATED_NAME_ENDS: &[&str] = &[
    ".pb.go", ".pb.cc", ".pb.h", "_pb2.py", "_pb2_grpc.py", "_pb.js", "_pb.ts", "_pb.rb", ".g.cs", ".g.i.cs", ".Designer.cs",
    ".designer.cs", ".generated.ts", ".generated.js", ".generated.go", ".generated.cs", "_generated.rs", "_generated.go",
];

/// The content of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceCode {
    pub bytes: Vec<u8>,
    /// Written by a program, as its name or a mark at its beginning says.
    pub is_generated: bool,
}

/// Reads a file from a walk, unless its content shows that no person wrote it.
pub fn read_source(root: &Path, path: &str) -> Result<Vec<u8>, FileSkipReason> {
    match read_code(root, path)? {
        SourceCode { is_generated: true, .. } => Err(FileSkipReason::Generated),
        SourceCode { bytes, .. } => Ok(bytes),
    }
}

/// Reads a file from a walk that contains code: people call the functions of a generated file, but
/// not those of a minified one.
pub fn read_code(root: &Path, path: &str) -> Result<SourceCode, FileSkipReason> {
    let bytes =
        read::read_bytes(&root.join(path), MAX_SOURCE_BYTES).map_err(|it| match it.kind() {
            std::io::ErrorKind::FileTooLarge => FileSkipReason::TooLarge,
            std::io::ErrorKind::InvalidInput => FileSkipReason::Special,
            _ => FileSkipReason::Unreadable,
        })?;
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    // No text file contains a NUL.
    if head.contains(&0) {
        return Err(FileSkipReason::Binary);
    }
    // Small files are not worth the count.
    if bytes.len() > MIN_MINIFIED_BYTES {
        let n_lines = bytes.split(|it| *it == b'\n').count();
        if bytes.len() / n_lines > MAX_MEAN_LINE_BYTES {
            return Err(FileSkipReason::Minified);
        }
    }
    let mut lines = head.split(|it| *it == b'\n').take(MAX_MARK_LINES).map(String::from_utf8_lossy);
    let is_generated = GENERATED_NAME_ENDS.iter().any(|it| path.ends_with(it))
        || lines.any(|line| is_generated_mark(&line));
    Ok(SourceCode { bytes, is_generated })
}

/// True for a mark in a comment such as `// Code generated by protoc. DO NOT EDIT.` In code, such
/// as `let mark = "DO NOT EDIT";`, it may be data of the generator itself.
fn is_generated_mark(line: &str) -> bool {
    let is_comment =
        ["//", "/*", "#", "*", "<!--", "--"].iter().any(|it| line.trim_start().starts_with(it));
    is_comment && GENERATED_MARKS.iter().any(|it| line.contains(it))
}

#[cfg(test)]
#[expect(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "the names are the test's own"
)]
mod tests {
    use std::fs;

    use super::*;

    /// A folder with these files and their texts.
    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    fn paths(walked: &WalkedFiles) -> Vec<&str> {
        walked.files.iter().map(|it| it.0.as_str()).collect()
    }

    #[test]
    fn ignored_and_third_party_files_are_not_walked() {
        let dir = tree(&[
            (".gitignore", "ignored/\n*.log\n"),
            (".wayloreignore", "secret.rs\n"),
            ("src/a.rs", "fn a() {}"),
            ("src/secret.rs", ""),
            ("ignored/b.rs", ""),
            ("node_modules/c.js", ""),
            ("x.min.js", ""),
        ]);
        let walked = walk_files(dir.path(), &|it| it.ends_with(".rs") || it.ends_with(".js"));
        assert_eq!(paths(&walked), ["src/a.rs"]);
        assert_eq!(walked.skipped, [("x.min.js".to_owned(), FileSkipReason::Minified)]);
    }

    #[cfg(unix)]
    #[test]
    fn loops_pipes_and_locked_folders_are_skipped() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tree(&[("a/b.rs", ""), ("locked/c.rs", "")]);
        symlink(dir.path(), dir.path().join("a/loop")).unwrap();
        symlink(dir.path().join("a/b.rs"), dir.path().join("link.rs")).unwrap();
        let pipe = dir.path().join("pipe.rs");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        fs::set_permissions(dir.path().join("locked"), fs::Permissions::from_mode(0o000)).unwrap();
        let walked = walk_files(dir.path(), &|it| it.ends_with(".rs"));
        fs::set_permissions(dir.path().join("locked"), fs::Permissions::from_mode(0o700)).unwrap();
        assert!(paths(&walked).contains(&"a/b.rs"));
        let special: Vec<&str> = walked
            .skipped
            .iter()
            .filter(|it| it.1 == FileSkipReason::Special)
            .map(|it| it.0.as_str())
            .collect();
        assert_eq!(special, ["link.rs", "pipe.rs"]);
        assert_eq!(read_source(dir.path(), "pipe.rs"), Err(FileSkipReason::Special));
    }

    #[test]
    fn generated_content_is_recognised() {
        // 40,000 bytes in one line.
        let long = format!("var a={};", "1+".repeat(20_000));
        let dir = tree(&[
            ("bin.c", "a\0b"),
            ("gen.go", "// Code generated by protoc. DO NOT EDIT.\npackage a\n"),
            ("api.pb.go", "package a\n"),
            ("flat.js", &long),
            ("flat.pb.go", &long),
            ("own.go", "package a\nvar mark = \"DO NOT EDIT\"\n"),
        ]);
        assert_eq!(read_source(dir.path(), "bin.c"), Err(FileSkipReason::Binary));
        assert_eq!(read_source(dir.path(), "gen.go"), Err(FileSkipReason::Generated));
        for (path, is_generated) in [("gen.go", true), ("api.pb.go", true), ("own.go", false)] {
            assert_eq!(read_code(dir.path(), path).unwrap().is_generated, is_generated, "{path}");
        }
        assert_eq!(read_source(dir.path(), "flat.js"), Err(FileSkipReason::Minified));
        assert_eq!(read_code(dir.path(), "flat.pb.go"), Err(FileSkipReason::Minified));
        assert_eq!(read_source(dir.path(), "gone.js"), Err(FileSkipReason::Unreadable));
        assert!(read_source(dir.path(), "own.go").is_ok());
    }

    #[test]
    fn a_huge_file_is_not_read() {
        let dir = tree(&[]);
        fs::File::create(dir.path().join("huge.py"))
            .unwrap()
            .set_len(MAX_SOURCE_BYTES + 1)
            .unwrap();
        let walked = walk_files(dir.path(), &|_| true);
        assert_eq!(walked.skipped, [("huge.py".to_owned(), FileSkipReason::TooLarge)]);
        assert_eq!(read_source(dir.path(), "huge.py"), Err(FileSkipReason::TooLarge));
    }
}
