//! Purging: erases data for good and proves it by searching for what was erased.

mod proof;

use std::collections::HashSet;
use std::path::PathBuf;

use model::{Memory, MemoryId};
use store::{AuditAction, Inbox, Store, StoreChange};

use crate::correction::EXCLUSION_PREFIX;
use crate::editing::user_batch;
use crate::export::list_all_memories;
use crate::learn::clear_project_inbox;
use crate::lookup::{excluded_memories, find_by_id};
use crate::memory_texts::{find_secrets, list_all_versions, memory_texts};
use crate::{Error, LocatedMemory, NotebookScope, Project, ProjectReader};
pub use proof::ErasureProof;
use proof::{drop_surviving_pieces, is_encrypted, search_files, text_pieces};

/// The erased memories, and the proof.
#[derive(Clone, Debug)]
pub struct PurgeReport {
    pub memories: Vec<MemoryId>,
    pub proof: ErasureProof,
}

/// Shorter secrets would match innocent text.
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
    // The proof searches for these pieces, so they are taken before the erasure.
    let mut pieces = HashSet::new();
    for LocatedMemory { notebook, memory } in &doomed {
        pieces.extend(text_pieces(memory));
        let versions = notebook.store.history().list_versions(memory.id).await?;
        pieces.extend(versions.iter().flat_map(text_pieces));
    }
    let mut memories = Vec::new();
    let (mut is_any_encrypted, mut found_in_database) = (false, false);
    for notebook in project.notebooks() {
        let in_notebook = |it: &&LocatedMemory| it.notebook.scope == notebook.scope;
        let ids: Vec<MemoryId> = doomed.iter().filter(in_notebook).map(|it| it.memory.id).collect();
        if !ids.is_empty() {
            let store = project.writer(&notebook);
            store.erase(ids.clone(), project.now).await?;
            found_in_database |= store.has_traces_of(ids.clone()).await?;
            is_any_encrypted |= is_encrypted(&notebook.store).await;
            memories.extend(ids);
        }
        drop_surviving_pieces(&mut pieces, &notebook.store).await?;
    }
    drop_exclusions(project, &memories).await?;
    let proof = search_files(&project.config.data, &other_project_dirs(project), &pieces)?;
    let proof = ErasureProof { is_encrypted: is_any_encrypted, found_in_database, ..proof };
    Ok(PurgeReport { memories, proof })
}

/// Removes the exclusions of erased memories.
async fn drop_exclusions(project: &Project, erased: &[MemoryId]) -> Result<(), Error> {
    let excluded = excluded_memories(project).await?;
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

/// Erases a secret from every memory, version and backup of all projects and the user.
pub(crate) async fn purge_secret(project: &Project, secret: &str) -> Result<PurgeReport, Error> {
    let secret = secret.trim().to_owned();
    if secret.len() < MIN_SECRET_BYTES {
        return Err(Error::refuse(
            "the secret is shorter than 6 characters",
            "give the whole secret",
        ));
    }
    let wanted = secret.clone();
    let clean = move |text: &str| {
        text.contains(&wanted).then(|| text.replace(&wanted, "[REDACTED: purged]"))
    };
    erase_text(project, HashSet::from([secret]), clean).await
}

/// Erases everything that the current rules take for a secret, wherever it is stored.
pub(crate) async fn purge_secrets_found(project: &Project) -> Result<PurgeReport, Error> {
    let mut found = HashSet::new();
    for store in all_stores(project) {
        // A store that cannot be read fails again in `erase_text`, which reports it.
        let versions = list_all_versions(&store).await.unwrap_or_default();
        found.extend(versions.iter().flat_map(find_secrets));
    }
    let clean = |text: &str| {
        let redacted = secrets::redact(text);
        (!redacted.findings.is_empty()).then_some(redacted.text)
    };
    erase_text(project, found, clean).await
}

/// Erases everything stored for this project, its entry in the registry included.
pub(crate) async fn purge_project(project: &mut Project) -> Result<PurgeReport, Error> {
    let Some(id) = project.state.id() else {
        return Err(Error::nothing_to_do("nothing is stored for this project"));
    };
    let store = project.store_of(id);
    let (memories, mut pieces) = read_contents(&store).await;
    let is_encrypted = is_encrypted(&store).await;
    let database = store.path();
    // Open handles would keep the files alive.
    drop(store);
    project.close_project();
    clear_project_inbox(project)?;
    project.data_dir().remove_project(id)?;
    let user = project.user_writer();
    user.erase_project(id).await?;
    drop_surviving_pieces(&mut pieces, &user).await?;
    // Taken before the project loses its id, which tells its folder from the others.
    let others = other_project_dirs(project);
    project.unregister();
    let proof = search_files(&project.config.data, &others, &pieces)?;
    let found_in_database = database.exists();
    Ok(PurgeReport { memories, proof: ErasureProof { is_encrypted, found_in_database, ..proof } })
}

/// Erases everything of ours in the data folder, and the folder itself if nothing else is in it.
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

/// Applies `clean` to every text of every store, then searches for `wanted`. A store that fails
/// does not stop the others.
async fn erase_text(
    project: &Project,
    wanted: HashSet<String>,
    clean: impl Fn(&str) -> Option<String> + Clone + Send + 'static,
) -> Result<PurgeReport, Error> {
    let (mut memories, mut first_error) = (Vec::new(), None);
    Inbox::in_data_dir(&project.data_dir()).erase_text(&clean)?;
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
        found_in_database |= versions.iter().any(|it| contains_any(it, &wanted));
    }
    let pieces = wanted.into_iter().map(String::into_bytes).collect();
    let proof = search_files(&project.config.data, &[], &pieces)?;
    let proof = ErasureProof { is_encrypted: is_any_encrypted, found_in_database, ..proof };
    Ok(PurgeReport { memories, proof })
}

/// The stores of the user and of all projects that exist.
fn all_stores(project: &Project) -> Vec<Store> {
    let open = |id| match project.project_writer() {
        // One writer per database within a process.
        Some(own) if project.state.id() == Some(id) => own,
        _ => project.store_of(id),
    };
    let projects = project.data_dir().list_projects().into_iter().map(open);
    std::iter::once(project.user_writer()).chain(projects).filter(|it| it.exists()).collect()
}

/// The folders of other projects. They never held the erased memories: if one contains the same
/// text, that is a memory of its own.
fn other_project_dirs(reader: &ProjectReader) -> Vec<PathBuf> {
    let projects = reader.data_dir().list_projects().into_iter();
    let others = projects.filter(|it| Some(*it) != reader.state.id());
    others.map(|it| reader.data_dir().project_paths(it).dir).collect()
}

fn contains_any(memory: &Memory, wanted: &HashSet<String>) -> bool {
    memory_texts(memory).iter().any(|(_, text)| wanted.iter().any(|it| text.contains(it.as_str())))
}

/// The ids and text pieces of everything in a store that can still be read. Purging must work on
/// damaged files, too.
async fn read_contents(store: &Store) -> (Vec<MemoryId>, HashSet<Vec<u8>>) {
    if !store.exists() {
        return (Vec::new(), HashSet::new());
    }
    let memories = list_all_memories(store).await.unwrap_or_default();
    let versions = store.history().list_all_versions().await.unwrap_or_default();
    let pieces = memories.iter().chain(&versions).flat_map(text_pieces).collect();
    (memories.iter().map(|it| it.id).collect(), pieces)
}
