//! Converts the text files beside the databases between plain and sealed lines, and lists plain ones.
//!
//! `rekey` does the same for a database. Reading needs no conversion, because plain lines and sealed
//! ones may stand in one file: an interrupted conversion is simply repeated.

use std::fs;
use std::path::PathBuf;

use crate::data_dir::DatabasePaths;
use crate::failed_sessions::FAILED_SESSIONS_EXTENSION;
use crate::inbox::inbox_folder;
use crate::injection_spool::INJECTION_SPOOL_EXTENSION;
use crate::line_file::{list_files, rewrite_file};
use crate::line_seal::{
    LineSeal, TextFileKind, holds_plain_line, holds_sealed_line, mark_sealed, unmark_sealed,
};
use crate::shown_log_file::shown_folder;
use crate::{DataDir, EncryptionKey, Error, journal};

/// Converts every text file of the data folder to the key `to`, or to plain text. Lines that the old
/// key does not open cannot be converted and are dropped. The caller has converted the databases.
pub fn convert_text_files(
    data: &DataDir,
    from: Option<&EncryptionKey>,
    to: Option<&EncryptionKey>,
) -> Result<(), Error> {
    // From now on a process without the key refuses to write.
    if to.is_some() {
        mark_sealed(data)?;
    }
    for (kind, path) in list_text_files(data) {
        // Both keys: an interrupted conversion leaves files of either.
        let (old, new) = (LineSeal::new(from, kind, &path), LineSeal::new(to, kind, &path));
        rewrite_file(&path, |bytes| {
            let opened = new.open_lines(old.open_lines(bytes).as_bytes());
            let lines = opened.lines().filter(|it| !holds_sealed_line(it) && !it.is_empty());
            let lines: String = lines.flat_map(|it| [it, "\n"]).collect();
            new.seal_lines(&lines).map(|it| Some(it.into_bytes()))
        })?;
    }
    if to.is_none() {
        unmark_sealed(data)?;
    }
    Ok(())
}

/// Seals the text files that hold a plain line, such as those of an earlier version. Returns how many
/// there were.
pub fn seal_text_files(data: &DataDir, key: &EncryptionKey) -> Result<usize, Error> {
    mark_sealed(data)?;
    let plain = plain_files(data);
    for (kind, path) in &plain {
        let seal = LineSeal::new(Some(key), *kind, path);
        rewrite_file(path, |bytes| {
            let sealed = seal.seal_lines(&seal.open_lines(bytes))?;
            Ok(Some(sealed.into_bytes()))
        })?;
    }
    Ok(plain.len())
}

/// Lists the text files that hold a plain line.
pub fn list_plain_text_files(data: &DataDir) -> Vec<PathBuf> {
    plain_files(data).into_iter().map(|it| it.1).collect()
}

fn plain_files(data: &DataDir) -> Vec<(TextFileKind, PathBuf)> {
    let mut files = list_text_files(data);
    files.retain(|it| fs::read(&it.1).is_ok_and(|bytes| holds_plain_line(&bytes)));
    files
}

/// Lists the text files of the data folder.
fn list_text_files(data: &DataDir) -> Vec<(TextFileKind, PathBuf)> {
    let of_kind =
        |kind: TextFileKind, files: Vec<PathBuf>| files.into_iter().map(move |it| (kind, it));
    let mut acc: Vec<(TextFileKind, PathBuf)> = Vec::new();
    acc.extend(of_kind(TextFileKind::Inbox, list_files(&inbox_folder(data))));
    acc.extend(of_kind(TextFileKind::ShownLog, list_files(&shown_folder(data))));
    let projects = data.list_projects().into_iter().map(|it| data.project_paths(it));
    for paths in projects.chain([data.user_paths()]) {
        acc.extend(of_kind(TextFileKind::Journal, journals(&paths)));
        let failed = paths.with_extension(FAILED_SESSIONS_EXTENSION);
        acc.extend(failed.exists().then_some((TextFileKind::FailedSessions, failed)));
        let spool = paths.with_extension(INJECTION_SPOOL_EXTENSION);
        acc.extend(spool.exists().then_some((TextFileKind::InjectionSpool, spool)));
    }
    acc
}

fn journals(paths: &DatabasePaths) -> Vec<PathBuf> {
    let mut files = list_files(&journal::journals_folder(paths));
    // The folder also holds an empty marker.
    files.retain(|it| journal::session_of(it).is_some());
    files
}
