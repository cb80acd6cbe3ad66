//! What a repository says about itself wherever it lies: the root of its history and where it was cloned from.
//!
//! This is the slow way, with one subprocess; it is asked only about a location that is new or has changed.

use std::path::Path;

use crate::place::{Place, PlaceKind};
use crate::{config, git, remote};

/// Evidence that two locations hold the same project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// The first commit of `HEAD`'s history; None where it is not known (no commits, shallow, git absent or too slow).
    pub root_commit: Option<String>,
    /// Where it was cloned from as `host/owner/name`, without credentials; a local path starts with `/` or a drive.
    pub remote: Option<String>,
    /// What a person would call it.
    pub name: String,
}

/// Reads the fingerprint of a place; one without git has only a name.
pub fn fingerprint(place: &Place) -> Fingerprint {
    if place.git_dir.is_none() {
        return Fingerprint { name: directory_name(place), ..Fingerprint::default() };
    }
    let remote = remote(place);
    let name = remote.as_ref().map_or_else(|| directory_name(place), |it| it.name.clone());
    Fingerprint { root_commit: root_commit(&place.key_dir), remote: remote.map(|it| it.key), name }
}

/// The smallest of the root commits: a history merged from several has no first one.
fn root_commit(common: &Path) -> Option<String> {
    // The oldest commit of a shallow clone is where it was cut off, not where it began.
    if common.join("shallow").metadata().is_ok_and(|it| it.len() > 0) {
        return None;
    }
    let roots = git::ask(common, &["rev-list", "--max-parents=0", "HEAD"])?;
    roots.lines().filter(|it| is_object_id(it)).min().map(str::to_owned)
}

/// SHA-1 or SHA-256, in lowercase hexadecimal as git writes it.
pub(crate) fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
}

/// `origin`, else the only remote there is.
fn remote(place: &Place) -> Option<remote::Remote> {
    let entries = config::of_repository(&place.key_dir);
    let urls = entries.iter().filter_map(|it| {
        let is_url = it.section == "remote" && it.key == "url";
        is_url.then_some((it.subsection.as_deref()?, it.value.as_deref()?))
    });
    let urls = urls.collect::<Vec<_>>();
    let name = match urls.first() {
        _ if urls.iter().any(|it| it.0 == "origin") => "origin",
        Some((name, _)) if urls.iter().all(|it| it.0 == *name) => name,
        _ => return None,
    };
    // Of several URLs of one remote, git fetches from the first.
    let (_, url) = urls.iter().find(|it| it.0 == name)?;
    remote::normalise(url, &place.root)
}

fn directory_name(place: &Place) -> String {
    let dir = match place.kind {
        // A worktree is named after a branch as often as not; its repository is named after the project.
        PlaceKind::Worktree => match place.key_dir.file_name().and_then(|it| it.to_str()) {
            Some(name) if name.starts_with('.') => place.key_dir.parent().unwrap_or(&place.root),
            _ => &place.key_dir,
        },
        _ => &place.root,
    };
    let name = dir.file_name().map_or_else(|| dir.to_string_lossy(), |it| it.to_string_lossy());
    name.strip_suffix(".git").filter(|it| !it.is_empty()).unwrap_or(&name).to_owned()
}
