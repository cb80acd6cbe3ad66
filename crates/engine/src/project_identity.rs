//! Project identity: finds a project in the user's registry by its location or its fingerprint.
//!
//! Each project also stores a copy of its registry entry, so that a lost registry can be rebuilt.

use model::{MAX_LABEL, ProjectId, Timestamp};
use source::{KnownLocation, MatchEvidence, ProjectMatch, ProjectPlace, RepositoryFingerprint};
use store::{ProjectLocation, Store, StoreChange, StoreReader};

use crate::Error;
use crate::text_admission::mask_label;

/// Registration state of the project that was opened.
#[derive(Clone, Debug)]
pub enum ProjectState {
    Known {
        id: ProjectId,
        name: String,
        recognition: Option<ProjectRecognition>,
    },
    /// Not registered. It gets an id with its first memory.
    New {
        fingerprint: RepositoryFingerprint,
    },
}

/// Evidence by which a project was recognised at a new location.
#[derive(Clone, Debug)]
pub struct ProjectRecognition {
    pub why: MatchEvidence,
}

impl ProjectState {
    pub fn id(&self) -> Option<ProjectId> {
        match self {
            Self::Known { id, .. } => Some(*id),
            Self::New { .. } => None,
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Self::Known { name, .. } => name,
            Self::New { fingerprint } => &fingerprint.name,
        }
    }
}

/// Finds the project of a place. A known location needs one lookup; git is read only for new ones.
pub(crate) async fn recognise_project(
    user: &Store,
    place: &ProjectPlace,
    now: Timestamp,
) -> Result<ProjectState, Error> {
    if !user.exists() {
        return Ok(ProjectState::New { fingerprint: read_fingerprint(place) });
    }
    let location = user.registry().location_at(location_key(place)).await?;
    let locations = user.registry().list_locations().await?;
    if let Some(location) =
        location.filter(|it| it.dir_key.is_some() && it.dir_key == place.dir_key)
    {
        let (id, name) = (location.project, clean_name(&location.name));
        if has_moved_away(&location, &locations) {
            // The directory moved back. If the registry cannot be written, the next call notices it
            // again, so the error does not matter.
            let last_seen = next_sighting(id, &locations, now);
            let _ = user.put_location(ProjectLocation { last_seen, ..location }).await;
        }
        return Ok(ProjectState::Known { id, name, recognition: None });
    }
    let known: Vec<KnownLocation> =
        locations.iter().filter(|it| !has_moved_away(it, &locations)).map(to_known).collect();
    // Computing a fingerprint starts git. `same_project` asks for it only where it must.
    let mut fingerprint = None;
    let matched = source::match_project(
        &known,
        place,
        || fingerprint.insert(read_fingerprint(place)).clone(),
        std::path::Path::exists,
    );
    let fingerprint = fingerprint.unwrap_or_else(|| read_fingerprint(place));
    let (project, why) = match matched {
        ProjectMatch::NewProject => return Ok(ProjectState::New { fingerprint }),
        // The lookup by location missed it. A damaged index is the only explanation.
        ProjectMatch::SameLocation(project) => (project, None),
        ProjectMatch::SameProject { project, evidence: why } => (project, Some(why)),
    };
    let location = locations.iter().find(|it| it.project.to_string() == project);
    let location = location.expect("a match names one of the locations it was given");
    let (id, name) = (location.project, clean_name(&location.name));
    let Some(why) = why else {
        return Ok(ProjectState::Known { id, name, recognition: None });
    };
    // Storing the new location only saves time: without it the next call recognises the project
    // again.
    let fingerprint = RepositoryFingerprint { name: name.clone(), ..fingerprint };
    let last_seen = next_sighting(id, &locations, now);
    let _ = user.put_location(to_location(place, id, &fingerprint, last_seen)).await;
    Ok(ProjectState::Known { id, name, recognition: Some(ProjectRecognition { why }) })
}

/// Reads the fingerprint of a repository. Its name is cleaned for storage and display.
pub(crate) fn read_fingerprint(place: &ProjectPlace) -> RepositoryFingerprint {
    let fingerprint = source::read_fingerprint(place);
    RepositoryFingerprint { name: clean_name(&fingerprint.name), ..fingerprint }
}

/// Cleans a project's name. It comes from a folder or a remote and is not trusted.
fn clean_name(name: &str) -> String {
    let name = mask_label(name, MAX_LABEL);
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// Registers a project that seems new. If another process registered it at the same time, its id
/// wins and is returned.
pub(crate) async fn register_project(
    user: &Store,
    place: &ProjectPlace,
    id: ProjectId,
    fingerprint: &RepositoryFingerprint,
    now: Timestamp,
) -> Result<ProjectLocation, Error> {
    let location = to_location(place, id, fingerprint, now);
    let project = user.claim_location(location.clone()).await?;
    Ok(ProjectLocation { project, ..location })
}

fn to_location(
    place: &ProjectPlace,
    id: ProjectId,
    fingerprint: &RepositoryFingerprint,
    now: Timestamp,
) -> ProjectLocation {
    ProjectLocation {
        project: id,
        name: fingerprint.name.clone(),
        root_commit: fingerprint.root_commit.clone(),
        remote: fingerprint.remote.clone(),
        key_dir: location_key(place),
        dir_key: place.dir_key.clone(),
        last_seen: now,
    }
}

/// Prefix of the settings that hold a project's copy of its registry entry.
pub(crate) const IDENTITY_PREFIX: &str = "identity.";

/// Keys of these settings.
const IDENTITY_KEYS: [&str; 5] = [
    "identity.name",
    "identity.root_commit",
    "identity.remote",
    "identity.key_dir",
    "identity.dir_key",
];

/// The changes that store a copy of the registry entry in the project's own database.
pub(crate) fn identity_settings(location: &ProjectLocation) -> Vec<StoreChange> {
    let values = [
        Some(location.name.clone()),
        location.root_commit.clone(),
        location.remote.clone(),
        Some(location.key_dir.clone()),
        location.dir_key.clone(),
    ];
    let set =
        |(key, value): (&str, Option<String>)| StoreChange::Setting { key: key.to_owned(), value };
    IDENTITY_KEYS.into_iter().zip(values).map(set).collect()
}

/// Registers a project from the copy of its entry in its own database. Returns whether there is
/// one.
pub(crate) async fn register_from_settings(
    user: &Store,
    own: &StoreReader,
    id: ProjectId,
    now: Timestamp,
) -> Result<bool, Error> {
    let settings = own.settings().await?;
    let value = |key: &str| settings.iter().find(|it| it.0 == key).map(|it| it.1.clone());
    let [name, root_commit, remote, key_dir, dir_key] = IDENTITY_KEYS.map(value);
    let (Some(name), Some(key_dir)) = (name, key_dir) else { return Ok(false) };
    let location = ProjectLocation {
        project: id,
        name,
        root_commit,
        remote,
        key_dir,
        dir_key,
        last_seen: now,
    };
    user.put_location(location).await?;
    Ok(true)
}

fn location_key(place: &ProjectPlace) -> String {
    place.key_dir.to_string_lossy().into_owned()
}

/// Returns whether the project's directory was seen under another path since. The old path then
/// holds something else.
fn has_moved_away(location: &ProjectLocation, locations: &[ProjectLocation]) -> bool {
    let is_later =
        |it: &&ProjectLocation| it.key_dir != location.key_dir && it.last_seen > location.last_seen;
    let is_same_directory =
        |it: &ProjectLocation| it.project == location.project && it.dir_key == location.dir_key;
    location.dir_key.is_some() && locations.iter().filter(is_later).any(is_same_directory)
}

/// The time at which a project is seen now: later than every earlier sighting, even if the clock
/// went back.
fn next_sighting(id: ProjectId, locations: &[ProjectLocation], now: Timestamp) -> Timestamp {
    let last = locations.iter().filter(|it| it.project == id).map(|it| it.last_seen).max();
    last.map_or(now, |it| now.max(it.plus_millis(1)))
}

fn to_known(location: &ProjectLocation) -> KnownLocation {
    KnownLocation {
        project: location.project.to_string(),
        key_dir: location.key_dir.clone().into(),
        dir_key: location.dir_key.clone(),
        root_commit: location.root_commit.clone(),
        remote: location.remote.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_fit_for_storage_and_display_whatever_the_folder_is_called() {
        assert_eq!(clean_name("shop"), "shop");
        assert_eq!(clean_name("sh\u{1b}[31m\u{202e}op\n"), "sh [31m op");
        assert_eq!(clean_name("\u{200b}"), "unnamed");
        let token = testkit::fake_secret("token");
        assert!(!clean_name(&format!("shop-{token}")).contains(&token));
    }
}
