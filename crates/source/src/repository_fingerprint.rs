//! Identity of a repository independent of its path: the root of its history and its remote.
//!
//! This costs a subprocess, so it is read only for a location that is new or has changed.

use std::path::Path;

use crate::project_place::{PlaceKind, ProjectPlace};
use crate::{git, git_config, remote_url};

/// Evidence that two locations hold the same project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepositoryFingerprint {
    /// First commit of `HEAD`'s history; `None` if it is unknown (no commits, shallow clone, git
    /// missing or too slow).
    pub root_commit: Option<String>,
    /// Remote as `host/owner/name`, without credentials; a local path starts with `/` or a drive.
    pub remote: Option<String>,
    /// Display name.
    pub name: String,
}

/// Reads the fingerprint of a place; without git it has only a name.
pub fn read_fingerprint(place: &ProjectPlace) -> RepositoryFingerprint {
    if place.git_dir.is_none() {
        return RepositoryFingerprint {
            name: directory_name(place),
            ..RepositoryFingerprint::default()
        };
    }
    let remote = find_remote(place);
    let name = remote.as_ref().map_or_else(|| directory_name(place), |it| it.name.clone());
    RepositoryFingerprint {
        root_commit: root_commit(&place.key_dir),
        remote: remote.map(|it| it.key),
        name,
    }
}

/// The smallest of the root commits: a history merged from several has more than one.
fn root_commit(common: &Path) -> Option<String> {
    // The oldest commit of a shallow clone is not the first one of the history.
    if common.join("shallow").metadata().is_ok_and(|it| it.len() > 0) {
        return None;
    }
    let roots = git::run_git(common, &["rev-list", "--max-parents=0", "HEAD"])?;
    roots.lines().filter(|it| is_object_id(it)).min().map(str::to_owned)
}

/// True for a SHA-1 or SHA-256 id in lowercase hexadecimal, as git writes it.
pub(crate) fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
}

/// `origin`, otherwise the only remote.
fn find_remote(place: &ProjectPlace) -> Option<remote_url::RemoteUrl> {
    let entries = git_config::read_entries(&place.key_dir);
    let urls = entries.iter().filter_map(|it| {
        let is_url = it.section == "remote" && it.key == "url";
        is_url.then_some((it.subsection.as_deref()?, it.value.as_deref()?))
    });
    let urls = urls.collect::<Vec<_>>();
    // With several remotes and no `origin` it is unclear which one identifies the repository.
    let has_origin = urls.iter().any(|(remote, _)| *remote == "origin");
    let name = if has_origin { "origin" } else { urls.first()?.0 };
    if !has_origin && urls.iter().any(|(remote, _)| *remote != name) {
        return None;
    }
    // Of several URLs of one remote, git fetches from the first.
    let (_, url) = urls.iter().find(|it| it.0 == name)?;
    remote_url::normalize_url(url, &place.root)
}

/// The name of a project without a remote: that of its directory, without `.git`.
fn directory_name(place: &ProjectPlace) -> String {
    let dir = match place.kind {
        // A worktree is often named after a branch; its repository is named after the project.
        PlaceKind::Worktree => match place.key_dir.file_name().and_then(|it| it.to_str()) {
            // `project/.git`; a bare repository is the project itself.
            Some(name) if name.starts_with('.') => place.key_dir.parent().unwrap_or(&place.root),
            _ => &place.key_dir,
        },
        _ => &place.root,
    };
    let name = dir.file_name().map_or_else(|| dir.to_string_lossy(), |it| it.to_string_lossy());
    name.strip_suffix(".git").filter(|it| !it.is_empty()).unwrap_or(&name).to_owned()
}
