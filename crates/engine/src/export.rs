//! Export: collects a whole notebook as values, which the command line writes as JSON or Markdown,
//! or copies its database to a file.
//!
//! Exported memories come back through `import`, which trusts them no more than any other file.

use std::collections::HashMap;
use std::path::Path;

use model::{Memory, MemoryId, MemoryStatus};
use store::{BackupContents, InjectionFilter, InjectionRow, MemoryFilter, StoreReader};

use crate::backups::open_database;
use crate::lookup::notebooks_in_scope;
use crate::memory_texts::mask_memory;
use crate::project_identity::IDENTITY_PREFIX;
use crate::{Error, NotebookScope, Project, ProjectReader};

/// A limit on rows that is never reached.
pub(crate) const NO_LIMIT: u32 = i32::MAX.unsigned_abs();

/// The whole content of a notebook.
#[derive(Clone, Debug)]
pub struct NotebookExport {
    /// Name of the project; `None` for the user's notebook.
    pub project: Option<String>,
    pub scope: NotebookScope,
    pub memories: Vec<Memory>,
    /// Earlier versions of the memories that have any, oldest first.
    pub versions: Vec<(MemoryId, Vec<Memory>)>,
    pub settings: Vec<(String, String)>,
    /// The notes of this notebook that agents of this project were given, oldest first.
    pub injections: Vec<InjectionRow>,
    /// Memories with a secret in a text of any version, by the current rules. The export masks it;
    /// the notebook still holds it.
    pub redacted: Vec<MemoryId>,
}

/// Collects everything in a notebook, including forgotten and deprecated memories. Secrets are
/// masked.
pub(crate) async fn export_notebook(
    reader: &ProjectReader,
    scope: NotebookScope,
) -> Result<NotebookExport, Error> {
    let project = match scope {
        NotebookScope::Project => Some(reader.state.name().to_owned()),
        NotebookScope::User => None,
    };
    let mut export = NotebookExport {
        project,
        scope,
        memories: Vec::new(),
        versions: Vec::new(),
        settings: Vec::new(),
        injections: Vec::new(),
        redacted: Vec::new(),
    };

    // A scope has one notebook, or none if nothing is stored in it yet.
    let notebook = notebooks_in_scope(reader, Some(scope)).into_iter().next();
    let Some(notebook) = notebook else { return Ok(export) };
    export.memories = list_all_memories(&notebook.store).await?;
    // Oldest first, so that an import creates them in their original order.
    export.memories.reverse();

    // Each memory with its earlier versions, all of them masked.
    let mut versions_by_id: HashMap<MemoryId, Vec<Memory>> = HashMap::new();
    for version in notebook.store.history().list_all_versions().await? {
        versions_by_id.entry(version.id).or_default().push(version);
    }
    for memory in &mut export.memories {
        let mut versions = versions_by_id.remove(&memory.id).unwrap_or_default();
        versions.sort_by_key(|it| it.version);
        let mut has_secret = mask_in_place(memory);
        for version in &mut versions {
            has_secret |= mask_in_place(version);
        }
        if has_secret {
            export.redacted.push(memory.id);
        }
        // Version 1 has no predecessors.
        if memory.version > 1 {
            export.versions.push((memory.id, versions));
        }
    }

    export.settings = notebook.store.settings().await?;
    // The location of the project on this machine is private.
    export.settings.retain(|(key, _)| !key.starts_with(IDENTITY_PREFIX));
    for (_, value) in &mut export.settings {
        *value = secrets::redact(value).text;
    }
    if let Some(project) = reader.state.id() {
        let project = Some(project);
        let filter = InjectionFilter { project, session: None, memory: None, limit: NO_LIMIT };
        export.injections = notebook.store.injections().list(filter).await?;
        export.injections.reverse();
    }
    Ok(export)
}

/// Writes a checked copy of the whole database, including history and vectors, to `path`.
pub(crate) async fn archive_database(
    project: &Project,
    scope: NotebookScope,
    path: &Path,
) -> Result<BackupContents, Error> {
    let Some(store) = open_database(project, scope).filter(|it| it.exists()) else {
        return Err(Error::nothing_to_do("there is nothing to write yet"));
    };
    let backup = store.backup(project.now).await?;
    let contents = store.verify_backup(&backup)?;
    let io = |it: std::io::Error| store::Error::Io { path: path.to_owned(), why: it.to_string() };
    store::write_private_file(path, &std::fs::read(&backup.path).map_err(io)?)?;
    Ok(contents)
}

/// Lists every memory of a store in every state, newest first.
pub(crate) async fn list_all_memories(store: &StoreReader) -> Result<Vec<Memory>, Error> {
    let statuses = MemoryStatus::ALL.to_vec();
    let filter = MemoryFilter { statuses, ..MemoryFilter::active(NO_LIMIT) };
    Ok(store.memories().list(filter).await?)
}

/// Masks the secrets of a memory. Returns whether it had any.
fn mask_in_place(memory: &mut Memory) -> bool {
    let Some(masked) = mask_memory(memory) else { return false };
    *memory = masked;
    true
}
