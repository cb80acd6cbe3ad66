//! Which project this is: the registry in the user's file, asked by place and by fingerprint.

use model::{MAX_LABEL, ProjectId, Timestamp};
use source::{Fingerprint, Known, Match, Place, Why};
use store::{Change, PlaceRow, Store};

use crate::{Error, admit};

/// What is known about the project one stands in.
#[derive(Clone, Debug)]
pub enum ProjectState {
    Known {
        id: ProjectId,
        name: String,
        recognised: Option<Recognised>,
    },
    /// Never seen; it gets an identity with its first memory.
    New {
        print: Fingerprint,
    },
}

/// The project was found somewhere else than where it was last.
#[derive(Clone, Debug)]
pub struct Recognised {
    pub why: Why,
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
            Self::New { print } => &print.name,
        }
    }
}

/// Finds the project of a place. The usual case only reads; git is asked only about new places.
pub(crate) async fn recognise(
    user: &Store,
    place: &Place,
    now: Timestamp,
) -> Result<ProjectState, Error> {
    if !user.exists() {
        return Ok(ProjectState::New { print: fingerprint(place) });
    }
    let here = user.place_at(key_of(place)).await?;
    let rows = user.places().await?;
    if let Some(row) = here.filter(|it| it.dir_key.is_some() && it.dir_key == place.dir_key) {
        let (id, name) = (row.project, named(&row.name));
        if has_left(&row, &rows) {
            // It came back. Where the folder cannot be written, it is noticed again next time.
            let _ = user.put_place(PlaceRow { last_seen: seen(id, &rows, now), ..row }).await;
        }
        return Ok(ProjectState::Known { id, name, recognised: None });
    }
    let known: Vec<Known> = rows.iter().filter(|it| !has_left(it, &rows)).map(known).collect();
    let mut print = None;
    let matched = source::same_project(
        &known,
        place,
        || print.insert(fingerprint(place)).clone(),
        std::path::Path::exists,
    );
    let print = print.unwrap_or_else(|| fingerprint(place));
    let (project, why) = match matched {
        Match::New => return Ok(ProjectState::New { print }),
        // The lookup above missed it, which a damaged index explains.
        Match::Here(project) => (project, None),
        Match::Same { project, why } => (project, Some(why)),
    };
    let row = rows.iter().find(|it| it.project.to_string() == project);
    let row = row.expect("a match names one of the rows it was given");
    let (id, name) = (row.project, named(&row.name));
    let Some(why) = why else {
        return Ok(ProjectState::Known { id, name, recognised: None });
    };
    // Remembering the new place only saves time; where the folder cannot be written, it is found again.
    let print = Fingerprint { name: name.clone(), ..print };
    let _ = user.put_place(self::row(place, id, &print, seen(id, &rows, now))).await;
    Ok(ProjectState::Known { id, name, recognised: Some(Recognised { why }) })
}

/// What a repository says about itself, with a name that may be kept and shown.
pub(crate) fn fingerprint(place: &Place) -> Fingerprint {
    let print = source::fingerprint(place);
    Fingerprint { name: named(&print.name), ..print }
}

/// A project's name comes from a folder or a remote, which anybody may have called anything.
fn named(name: &str) -> String {
    let name = admit::masked(name, MAX_LABEL);
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// Registers a project that seems new. Whoever begins at the same moment gets the same project.
pub(crate) async fn begin(
    user: &Store,
    place: &Place,
    id: ProjectId,
    print: &Fingerprint,
    now: Timestamp,
) -> Result<PlaceRow, Error> {
    let row = row(place, id, print, now);
    let project = user.claim_place(row.clone()).await?;
    Ok(PlaceRow { project, ..row })
}

fn row(place: &Place, id: ProjectId, print: &Fingerprint, now: Timestamp) -> PlaceRow {
    PlaceRow {
        project: id,
        name: print.name.clone(),
        root_commit: print.root_commit.clone(),
        remote: print.remote.clone(),
        key_dir: key_of(place),
        dir_key: place.dir_key.clone(),
        last_seen: now,
    }
}

/// The keys under which a project keeps its own entry of the registry.
const IDENTITY: [&str; 5] = [
    "identity.name",
    "identity.root_commit",
    "identity.remote",
    "identity.key_dir",
    "identity.dir_key",
];

/// The entry of the registry as the project itself keeps it.
pub(crate) fn identity(row: &PlaceRow) -> Vec<Change> {
    let values = [
        Some(row.name.clone()),
        row.root_commit.clone(),
        row.remote.clone(),
        Some(row.key_dir.clone()),
        row.dir_key.clone(),
    ];
    let set = |(key, value): (&str, Option<String>)| Change::Setting { key: key.to_owned(), value };
    IDENTITY.into_iter().zip(values).map(set).collect()
}

/// Puts a project that the registry does not know back into it, by what it says of itself.
pub(crate) async fn adopt(
    user: &Store,
    own: &Store,
    id: ProjectId,
    now: Timestamp,
) -> Result<bool, Error> {
    let settings = own.settings().await?;
    let value = |key: &str| settings.iter().find(|it| it.0 == key).map(|it| it.1.clone());
    let (Some(name), Some(key_dir)) = (value(IDENTITY[0]), value(IDENTITY[3])) else {
        return Ok(false);
    };
    let (root_commit, remote, dir_key) =
        (value(IDENTITY[1]), value(IDENTITY[2]), value(IDENTITY[4]));
    let row = PlaceRow { project: id, name, root_commit, remote, key_dir, dir_key, last_seen: now };
    user.put_place(row).await?;
    Ok(true)
}

fn key_of(place: &Place) -> String {
    place.key_dir.to_string_lossy().into_owned()
}

/// Whether the project's directory was seen under another path since: what stands at the old path
/// now is something else.
fn has_left(row: &PlaceRow, rows: &[PlaceRow]) -> bool {
    let since = |it: &&PlaceRow| it.key_dir != row.key_dir && it.last_seen > row.last_seen;
    let same = |it: &PlaceRow| it.project == row.project && it.dir_key == row.dir_key;
    row.dir_key.is_some() && rows.iter().filter(since).any(same)
}

/// The moment a project is seen at: after every earlier one, even when the clock went back.
fn seen(id: ProjectId, rows: &[PlaceRow], now: Timestamp) -> Timestamp {
    let last = rows.iter().filter(|it| it.project == id).map(|it| it.last_seen).max();
    last.map_or(now, |it| now.max(it.plus(1)))
}

fn known(row: &PlaceRow) -> Known {
    Known {
        project: row.project.to_string(),
        key_dir: row.key_dir.clone().into(),
        dir_key: row.dir_key.clone(),
        root_commit: row.root_commit.clone(),
        remote: row.remote.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_be_kept_and_shown_whatever_the_folder_is_called() {
        assert_eq!(named("shop"), "shop");
        assert_eq!(named("sh\u{1b}[31m\u{202e}op\n"), "sh [31m op");
        assert_eq!(named("\u{200b}"), "unnamed");
        let token = testkit::plant("token");
        assert!(!named(&format!("shop-{token}")).contains(&token));
    }
}
