//! Project identity: finds the project of a folder in the user's registry.
//!
//! The registry (in the user's database) lists the locations where each project was seen: the path
//! (`key_dir`: the git directory, or the root of a project without git) and the `dir_key`, which
//! identifies the directory itself also after a move. If neither is known, the fingerprint of the
//! repository (root commit, remote) may show that the project was moved or cloned. Each project
//! also stores a copy of its registry entry, so that a lost registry can be rebuilt.

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
        /// `None` if the location was known already.
        recognition: Option<ProjectRecognition>,
    },
    /// Not registered yet. The project gets an id with the first thing that is stored for it.
    New { fingerprint: RepositoryFingerprint },
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

/// Prefix of the settings that hold a project's copy of its registry entry.
pub(crate) const IDENTITY_PREFIX: &str = "identity.";

/// Keys of these settings, in the order of the values in [`identity_settings`].
const IDENTITY_KEYS: [&str; 5] = [
    "identity.name",
    "identity.root_commit",
    "identity.remote",
    "identity.key_dir",
    "identity.dir_key",
];

/// Finds the project of a place. Git is read only if the location is not known.
pub(crate) async fn recognise_project(
    user: &Store,
    place: &ProjectPlace,
    now: Timestamp,
) -> Result<ProjectState, Error> {
    if !user.exists() {
        return Ok(ProjectState::New { fingerprint: read_fingerprint(place) });
    }

    // Fast path: the registry has this path, and the directory there is still the same one. It does
    // not matter where the directory was in between.
    let location = user.registry().location_at(location_key(place)).await?;
    let locations = user.registry().list_locations().await?;
    if let Some(location) =
        location.filter(|it| it.dir_key.is_some() && it.dir_key == place.dir_key)
    {
        let (id, name) = (location.project, clean_name(&location.name));
        if was_seen_elsewhere_since(&location, &locations) {
            // The directory was moved away and back: its newest location is this one again. The
            // error does not matter: if the registry cannot be written, the next call comes here
            // again.
            let last_seen = next_last_seen(id, &locations, now);
            let _ = user.put_location(ProjectLocation { last_seen, ..location }).await;
        }
        return Ok(ProjectState::Known { id, name, recognition: None });
    }

    // Slow path: compare the place with all locations, except those that their directory has left.
    let is_current = |it: &&ProjectLocation| !was_seen_elsewhere_since(it, &locations);
    let known: Vec<KnownLocation> = locations.iter().filter(is_current).map(to_known).collect();
    let fingerprint = read_fingerprint(place);

    // If the known location still exists, this place is a copy and not a move. A copy with the same
    // remote belongs to the same project, as a second clone does; any other copy is a new project.
    let still_exists = std::path::Path::exists;
    let matched = source::match_project(&known, place, || fingerprint.clone(), still_exists);
    let (project_id, evidence) = match matched {
        ProjectMatch::NewProject => return Ok(ProjectState::New { fingerprint }),
        // The lookup above should have found it; only a damaged index explains that it did not.
        ProjectMatch::SameLocation(project_id) => (project_id, None),
        ProjectMatch::SameProject { project: project_id, evidence } => (project_id, Some(evidence)),
    };

    // The crate `source` knows ids as text only.
    let known_project = locations
        .iter()
        .find(|it| it.project.to_string() == project_id)
        .expect("a match names one of the locations it was given");
    let (id, name) = (known_project.project, clean_name(&known_project.name));
    let Some(evidence) = evidence else {
        return Ok(ProjectState::Known { id, name, recognition: None });
    };

    // The project is at a new location. Storing it only saves time, so an error does not matter:
    // the next call would recognise the project again.
    let fingerprint = RepositoryFingerprint { name: name.clone(), ..fingerprint };
    let last_seen = next_last_seen(id, &locations, now);
    let _ = user.put_location(to_location(place, id, &fingerprint, last_seen)).await;
    Ok(ProjectState::Known { id, name, recognition: Some(ProjectRecognition { why: evidence }) })
}

/// Reads the fingerprint of a repository, with its name cleaned for storage and display.
pub(crate) fn read_fingerprint(place: &ProjectPlace) -> RepositoryFingerprint {
    let fingerprint = source::read_fingerprint(place);
    RepositoryFingerprint { name: clean_name(&fingerprint.name), ..fingerprint }
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

/// Returns the changes that store a copy of the registry entry in the project's own database.
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

/// Registers a project from the copy of its entry in its own database `own`. Returns whether there
/// is a copy.
pub(crate) async fn register_from_settings(
    user: &Store,
    own: &StoreReader,
    id: ProjectId,
    now: Timestamp,
) -> Result<bool, Error> {
    let settings = own.settings().await?;
    let value = |wanted: &str| {
        let setting = settings.iter().find(|(key, _)| key == wanted);
        setting.map(|(_, value)| value.clone())
    };
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

/// Cleans a project's name, which comes from a folder or a remote and is not trusted.
fn clean_name(name: &str) -> String {
    let name = mask_label(name, MAX_LABEL);
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// Returns whether the directory of a location was seen under another path after it was last seen
/// here. A different directory may be at this path now.
fn was_seen_elsewhere_since(location: &ProjectLocation, locations: &[ProjectLocation]) -> bool {
    let is_later =
        |it: &&ProjectLocation| it.key_dir != location.key_dir && it.last_seen > location.last_seen;
    let is_same_directory =
        |it: &ProjectLocation| it.project == location.project && it.dir_key == location.dir_key;
    location.dir_key.is_some() && locations.iter().filter(is_later).any(is_same_directory)
}

/// Returns the `last_seen` of a location that is seen now: later than that of every other location
/// of the project, even if the clock went back.
fn next_last_seen(id: ProjectId, locations: &[ProjectLocation], now: Timestamp) -> Timestamp {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_secrets_are_removed_from_a_project_name() {
        assert_eq!(clean_name("shop"), "shop");
        assert_eq!(clean_name("sh\u{1b}[31m\u{202e}op\n"), "sh [31m op");
        assert_eq!(clean_name("\u{200b}"), "unnamed");
        let token = testkit::fake_secret("token");
        assert!(!clean_name(&format!("shop-{token}")).contains(&token));
    }
}
