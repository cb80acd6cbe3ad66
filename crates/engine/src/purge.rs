//! Purge: erases data for good (memories, secrets, a project, or everything) and proves it.
//!
//! Each function collects pieces of the text before it erases it, and afterwards searches all files
//! of the data folder for these pieces (`proof.rs`). Unlike `forget`, a purge cannot be undone.

mod proof;

use std::collections::HashSet;
use std::path::PathBuf;

use model::{Memory, MemoryId};
use store::{AuditAction, Store, StoreChange, erase_text_from_shown_logs};

use crate::correction::EXCLUSION_PREFIX;
use crate::editing::user_batch;
use crate::export::list_all_memories;
use crate::injection::injection_log::store_injections;
use crate::learn::{clear_project_inbox, open_inbox};
use crate::lookup::{find_by_id, user_excluded_memories};
use crate::memory_texts::{find_secrets_in_memory, list_all_versions, memory_texts};
use crate::{Error, LocatedMemory, NotebookScope, Project, ProjectReader};
pub use proof::ErasureProof;
use proof::{drop_surviving_pieces, is_encrypted, search_files, text_pieces};

/// The erased memories, and the proof.
#[derive(Clone, Debug)]
pub struct PurgeReport {
    pub memories: Vec<MemoryId>,
    pub proof: ErasureProof,
}

/// Shortest secret that is erased. Shorter ones would match innocent text.
const MIN_SECRET_BYTES: usize = 6;

/// Erases memories with all their versions and copies.
pub(crate) async fn purge_memories(
    project: &Project,
    ids: &[String],
) -> Result<PurgeReport, Error> {
    let mut doomed: Vec<LocatedMemory> = Vec::new();
    for id in ids {
        let located = find_by_id(project, id).await?;
        if !doomed.iter().any(|it| it.memory.id == located.memory.id) {
            doomed.push(located);
        }
    }

    // The proof searches for these pieces, so they are collected before the erasure.
    let mut pieces = HashSet::new();
    for LocatedMemory { notebook, memory } in &doomed {
        pieces.extend(text_pieces(memory));
        let versions = notebook.store.history().list_versions(memory.id).await?;
        pieces.extend(versions.iter().flat_map(text_pieces));
    }

    // Notes about them that hooks have just logged are erased with the others.
    store_injections(project).await?;

    // Erase, and query each database for remains.
    let mut memories = Vec::new();
    let (mut is_any_encrypted, mut found_in_database) = (false, false);
    for notebook in project.notebooks() {
        let in_notebook = |it: &&LocatedMemory| it.notebook.scope == notebook.scope;
        let ids: Vec<MemoryId> = doomed.iter().filter(in_notebook).map(|it| it.memory.id).collect();
        if !ids.is_empty() {
            let store = project.notebook_writer(&notebook);
            store.erase(ids.clone(), project.now).await?;
            found_in_database |= store.has_traces_of(ids.clone()).await?;
            is_any_encrypted |= is_encrypted(&notebook.store).await;
            memories.extend(ids);
        }
        // A piece that another memory also contains would be found, although the erasure worked.
        drop_surviving_pieces(&mut pieces, &notebook.store).await?;
    }
    drop_exclusions(project, &memories).await?;
    let proof = search_files(&project.config.data, &other_project_dirs(project), &pieces)?;
    let proof = ErasureProof { is_encrypted: is_any_encrypted, found_in_database, ..proof };
    Ok(PurgeReport { memories, proof })
}

/// Erases a secret from every memory, version and backup of all projects and the user.
pub(crate) async fn purge_secret(project: &Project, secret: &str) -> Result<PurgeReport, Error> {
    let secret = secret.trim().to_owned();
    if secret.len() < MIN_SECRET_BYTES {
        return Err(Error::refuse(
            "the secret is shorter than 6 characters",
            "give the whole secret",
        ));
    }
    let erased = secret.clone();
    let clean = move |text: &str| {
        text.contains(&erased).then(|| text.replace(&erased, "[REDACTED: purged]"))
    };
    erase_text(project, HashSet::from([secret]), clean).await
}

/// Erases everything that the current rules recognise as a secret, wherever it is stored.
pub(crate) async fn purge_secrets_found(project: &Project) -> Result<PurgeReport, Error> {
    let mut found = HashSet::new();
    for store in all_stores(project) {
        // A store that cannot be read fails again in `erase_text`, which returns the error.
        let versions = list_all_versions(&store).await.unwrap_or_default();
        found.extend(versions.iter().flat_map(find_secrets_in_memory));
    }
    let clean = |text: &str| {
        let redacted = secrets::redact(text);
        (!redacted.findings.is_empty()).then_some(redacted.text)
    };
    erase_text(project, found, clean).await
}

/// Erases everything stored for this project, including its entry in the registry.
pub(crate) async fn purge_project(project: &mut Project) -> Result<PurgeReport, Error> {
    let Some(id) = project.state.id() else {
        return Err(Error::nothing_to_do("nothing is stored for this project"));
    };
    let store = project.open_store_writer(id);
    let (memories, mut pieces) = read_contents(&store).await;
    let is_encrypted = is_encrypted(&store).await;
    let database = store.path();
    // An open handle would keep a removed file on disk.
    drop(store);
    project.close_project();
    clear_project_inbox(project)?;
    project.data_dir().remove_project(id)?;
    let user = project.user_store_writer();
    user.erase_project(id).await?;
    drop_surviving_pieces(&mut pieces, &user).await?;
    // Listed before the project loses its id, which distinguishes its folder from the others.
    let others = other_project_dirs(project);
    project.unregister();
    let proof = search_files(&project.config.data, &others, &pieces)?;
    // The whole database was removed, so there must be nothing left to query.
    let found_in_database = database.exists();
    Ok(PurgeReport { memories, proof: ErasureProof { is_encrypted, found_in_database, ..proof } })
}

/// Erases all files of Waylore in the data folder, and the folder itself if nothing else is in it.
pub(crate) async fn purge_everything(project: Project) -> Result<PurgeReport, Error> {
    let (mut memories, mut pieces, mut is_any_encrypted) = (Vec::new(), HashSet::new(), false);
    let mut databases = Vec::new();
    for store in all_stores(&project) {
        let (ids, store_pieces) = read_contents(&store).await;
        memories.extend(ids);
        pieces.extend(store_pieces);
        is_any_encrypted |= is_encrypted(&store).await;
        databases.push(store.path());
    }
    let data = project.data_dir();
    drop(project);
    data.remove_everything()?;
    let found_in_database = databases.iter().any(|it| it.exists());
    let proof = search_files(&data.root, &[], &pieces)?;
    let proof = ErasureProof { is_encrypted: is_any_encrypted, found_in_database, ..proof };
    Ok(PurgeReport { memories, proof })
}

/// Removes the settings that exclude erased memories from this project.
async fn drop_exclusions(project: &Project, erased: &[MemoryId]) -> Result<(), Error> {
    let excluded = user_excluded_memories(project).await?;
    let unset = |id: &MemoryId| StoreChange::Setting {
        key: format!("{EXCLUSION_PREFIX}{id}"),
        value: None,
    };
    let changes: Vec<StoreChange> =
        erased.iter().filter(|it| excluded.contains(it)).map(unset).collect();
    if !changes.is_empty() {
        let batch = user_batch(AuditAction::Settings, project.now, changes);
        project.write(NotebookScope::Project, batch).await?;
    }
    Ok(())
}

/// Lists the folders of other projects. They never held the erased memories; if one contains the
/// same text, that is another memory.
fn other_project_dirs(reader: &ProjectReader) -> Vec<PathBuf> {
    let projects = reader.data_dir().list_projects().into_iter();
    let others = projects.filter(|it| Some(*it) != reader.state.id());
    others.map(|it| reader.data_dir().project_paths(it).dir).collect()
}

/// Erases `erased_texts` from every store and the inbox, then searches for them. `clean` returns a
/// text without them, or `None` if it has none. A store that fails does not stop the others; the
/// first error is returned at the end.
async fn erase_text(
    project: &Project,
    erased_texts: HashSet<String>,
    clean: impl Fn(&str) -> Option<String> + Clone + Send + 'static,
) -> Result<PurgeReport, Error> {
    let (mut memories, mut first_error) = (Vec::new(), None);
    open_inbox(project).erase_text(&clean)?;
    erase_text_from_shown_logs(&project.data_dir(), project.config.key.as_ref(), &clean)?;
    for store in all_stores(project) {
        match store.erase_text(clean.clone()).await {
            Ok(cleaned) => memories.extend(cleaned),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    if let Some(error) = first_error {
        return Err(error.into());
    }
    let (mut is_any_encrypted, mut found_in_database) = (false, false);
    for store in all_stores(project) {
        is_any_encrypted |= is_encrypted(&store).await;
        let versions = list_all_versions(&store).await?;
        found_in_database |= versions.iter().any(|it| contains_any(it, &erased_texts));
    }
    let pieces = erased_texts.into_iter().map(String::into_bytes).collect();
    let proof = search_files(&project.config.data, &[], &pieces)?;
    let proof = ErasureProof { is_encrypted: is_any_encrypted, found_in_database, ..proof };
    Ok(PurgeReport { memories, proof })
}

/// Opens the stores of the user and of all projects that exist.
fn all_stores(project: &Project) -> Vec<Store> {
    let mut stores = vec![project.user_store_writer()];
    for id in project.data_dir().list_projects() {
        stores.push(match project.project_store_writer() {
            // A process may have only one writer per database, so the open one is used.
            Some(own) if project.state.id() == Some(id) => own,
            Some(_) | None => project.open_store_writer(id),
        });
    }
    stores.retain(|it| it.exists());
    stores
}

/// Reads the ids and text pieces of all memories in a store. Skips what cannot be read, because a
/// purge must work on damaged files too.
async fn read_contents(store: &Store) -> (Vec<MemoryId>, HashSet<Vec<u8>>) {
    if !store.exists() {
        return (Vec::new(), HashSet::new());
    }
    let memories = list_all_memories(store).await.unwrap_or_default();
    let versions = store.history().list_all_versions().await.unwrap_or_default();
    let pieces = memories.iter().chain(&versions).flat_map(text_pieces).collect();
    (memories.iter().map(|it| it.id).collect(), pieces)
}

fn contains_any(memory: &Memory, texts: &HashSet<String>) -> bool {
    memory_texts(memory).iter().any(|(_, text)| texts.iter().any(|it| text.contains(it.as_str())))
}
