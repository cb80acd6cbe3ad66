//! Statistics of all sessions: loads the sightings of a pattern and has `observe` count them. They answer
//! questions and are told at their moment; nothing of them is stored as a memory.
//!
//! A *sighting* is one occurrence of a pattern in one session. Only counted sessions are evidence: those
//! that did not fail and were validated (`session_index`). Used by the file prediction, the stop limit of
//! a pipeline, and the notes at an edit (`injection/edit_notes.rs`).

use std::collections::BTreeMap;

use model::ProjectPath;
use observe::{ModuleLookup, PatternKey, SessionSighting, StepCalibration, UsualChecks};
use store::StoreReader;

use super::candidates::counted_sightings;
use super::load_module_lookup;
use super::session_index::SessionIndex;
use crate::{Error, ProjectReader};

/// The checks that sessions usually run before a commit.
pub(crate) async fn usual_checks(reader: &ProjectReader) -> Result<Option<UsualChecks>, Error> {
    let seen = load_counted(reader, vec![PatternKey::finished_change()]).await?;
    Ok(observe::usual_checks(&seen))
}

/// Actual steps per planned step in a module; `None` if nothing is known, or work goes as planned.
pub(crate) async fn step_calibration(
    reader: &ProjectReader,
    module: &str,
) -> Result<Option<StepCalibration>, Error> {
    let modules = load_module_lookup(reader).await?;
    let seen = load_counted(reader, keys_of(PatternKey::step_overrun(module), &modules)).await?;
    Ok(observe::step_calibration(&seen))
}

/// The files that sessions in a module usually open first.
pub(super) async fn first_files(
    reader: &ProjectReader,
    module: &str,
    modules: &ModuleLookup,
) -> Result<Vec<ProjectPath>, Error> {
    let seen = load_counted(reader, keys_of(PatternKey::file_access(module), modules)).await?;
    Ok(observe::first_files(&seen))
}

/// Maps each of `files` that is known as expensive to read to its average tokens.
pub(crate) async fn read_costs(
    reader: &ProjectReader,
    files: &[String],
) -> Result<BTreeMap<String, u64>, Error> {
    let mut acc = BTreeMap::new();
    for file in files {
        let Ok(path) = ProjectPath::parse(file) else { continue };
        let seen = load_counted(reader, vec![PatternKey::context_token_spike(&path)]).await?;
        acc.extend(observe::average_read_cost(&seen).map(|it| (file.clone(), it)));
    }
    Ok(acc)
}

/// The key of a pattern of a module, and those it had before the project had a module map.
fn keys_of(key: PatternKey, modules: &ModuleLookup) -> Vec<PatternKey> {
    let mut keys = modules.earlier_keys(&key);
    keys.push(key);
    keys
}

/// Loads the sightings of patterns in counted sessions, oldest session first.
async fn load_counted(
    reader: &ProjectReader,
    keys: Vec<PatternKey>,
) -> Result<Vec<SessionSighting>, Error> {
    let Some(store) = reader.project_store_reader().filter(StoreReader::exists) else {
        return Ok(Vec::new());
    };
    let patterns = keys.into_iter().map(PatternKey::into_stored).collect();
    let rows = store.learning().sightings_of_patterns(patterns).await?;
    // Most patterns were never seen, and then the sessions need not be read.
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let sessions = SessionIndex::new(store.learning().list_sessions().await?);
    let mut seen = counted_sightings(&rows, &sessions);
    seen.sort_by_key(|it| (it.at, it.session));
    Ok(seen)
}
