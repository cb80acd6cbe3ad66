//! Findings: fixes of errors that sessions found and that are no memory yet.
//!
//! `injection/error_fix.rs` tells such a fix at once, marked "seen once". Its note carries the id of the
//! finding, so that a user or an agent can look it up and reject it like a memory. The id is the beginning
//! of the error's *fingerprint* (the key of its pattern): it names the error, not a session, because one
//! session may have found the fixes of several errors.
//!
//! A *dismissed* finding is not told again. The dismissal is a setting of the project's notebook; `undo`
//! reverts it. It rejects the wording from few sessions, not the error: if more sessions find the same fix,
//! learning may still make a memory of it, which is then judged as a memory.

use model::{Actor, SignalKind};
use store::{AuditAction, StoreChange, StoreReader, WriteBatch};

use crate::editing::{clean_reason, user_batch};
use crate::learn::ExplainedSighting;
use crate::{Error, NotebookScope, Project, ProjectReader};

/// Prefix of the project setting that dismisses a finding; the key of its pattern follows.
pub(crate) const DISMISSAL_PREFIX: &str = "dismissed_finding.";
/// Characters of a finding's id.
const ID_CHARS: usize = 8;
/// Characters of the shortest beginning that is looked up, as for memories.
const MIN_ID_CHARS: usize = 4;

/// An error and its fix, as sessions found it.
#[derive(Clone, Debug)]
pub struct Finding {
    pub id: String,
    /// The key of the pattern: the fingerprint of the error.
    pub key: String,
    /// At least one, in the order of learning.
    pub sightings: Vec<ExplainedSighting>,
    /// The user or an agent rejected it, so it is not told.
    pub is_dismissed: bool,
}

/// The id in the note of a finding.
pub(crate) fn finding_id(fingerprint: &str) -> String {
    fingerprint.chars().take(ID_CHARS).collect()
}

/// Finds the finding that an id names; `None` if there is none, or if its sightings became a memory, which
/// then has an id of its own.
pub(crate) async fn find_finding(
    reader: &ProjectReader,
    id: &str,
) -> Result<Option<Finding>, Error> {
    let wanted = id.trim().trim_start_matches('#').to_ascii_lowercase();
    let is_id = wanted.len() >= MIN_ID_CHARS && wanted.bytes().all(|it| it.is_ascii_hexdigit());
    let store = reader.project_store_reader().filter(StoreReader::exists);
    let (true, Some(store)) = (is_id, store) else { return Ok(None) };
    let rows =
        store.learning().sightings_by_key_beginning(SignalKind::ErrorRetry, wanted.clone()).await?;
    let mut keys: Vec<&str> = rows.iter().map(|it| it.key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    let key = match keys[..] {
        [] => return Ok(None),
        [key] => key.to_owned(),
        _ => {
            let matches = keys.iter().map(|it| finding_id(it)).collect();
            return Err(Error::Ambiguous { id: id.to_owned(), matches });
        }
    };
    if rows.iter().any(|it| it.memory.is_some()) {
        return Ok(None);
    }
    let is_dismissed = is_dismissed(&store, &key).await?;
    let mut sightings = Vec::new();
    for row in rows {
        let session = store.learning().get_session(row.session).await?;
        sightings.push(ExplainedSighting::from_row(row, None, session));
    }
    Ok(Some(Finding { id: finding_id(&key), key, sightings, is_dismissed }))
}

/// Returns whether a user or an agent rejected the finding with this pattern key.
pub(crate) async fn is_dismissed(store: &StoreReader, key: &str) -> Result<bool, Error> {
    let is_of_key = |name: &str| name.strip_prefix(DISMISSAL_PREFIX) == Some(key);
    Ok(store.settings().await?.iter().any(|(name, _)| is_of_key(name)))
}

/// Dismisses the finding that an id names.
pub(crate) async fn dismiss_finding(
    project: &Project,
    id: &str,
    actor: Actor,
    reason: &str,
) -> Result<Finding, Error> {
    let not_found = || Error::NotFound { id: id.to_owned() };
    let finding = find_finding(project, id).await?.ok_or_else(not_found)?;
    if reason.trim().is_empty() {
        return Err(Error::refuse("the reason is empty", "say what is wrong with it"));
    }
    if finding.is_dismissed {
        return Err(Error::refuse(
            format!("#{} is dismissed already", finding.id),
            "it is not told any more",
        ));
    }
    // The detail of the audit entry names the setting; `undo` reads it there.
    let key = format!("{DISMISSAL_PREFIX}{}", finding.key);
    let change = StoreChange::Setting { key: key.clone(), value: Some(clean_reason(reason)) };
    let batch = user_batch(AuditAction::Flag, project.now, vec![change]);
    let batch = WriteBatch { actor, detail: Some(key), ..batch };
    project.write(NotebookScope::Project, batch).await?;
    Ok(Finding { is_dismissed: true, ..finding })
}
