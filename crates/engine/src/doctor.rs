//! Doctor: examines everything that is stored, and names each problem with its remedy.

use std::path::Path;

use model::{MemoryId, ProjectId};
use source::SkipReason;
use store::{Store, StoreReader};

use crate::backups::list_backups;
use crate::memory_texts::list_memories_with_secrets;
use crate::project_identity::register_from_settings;
use crate::{Error, Notebook, NotebookScope, Project, ProjectReader, is_about_key};

/// Result level of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HealthLevel {
    Good,
    /// Works, but needs attention.
    Warning,
    Bad,
}

/// One check of the doctor.
#[derive(Clone, Debug)]
pub struct HealthCheck {
    pub name: String,
    pub health: HealthLevel,
    pub detail: String,
    /// The remedy.
    pub fix: Option<String>,
}

/// Mode of the doctor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoctorMode {
    Examine,
    /// Repair first, then examine.
    Repair,
}

/// Examines everything. Returns the checks and the repairs.
pub(crate) async fn run_doctor(
    project: &Project,
    mode: DoctorMode,
) -> Result<(Vec<HealthCheck>, Vec<String>), Error> {
    let mut repairs = Vec::new();
    let mut checks = Vec::new();
    // The registry knows which project this is. Locked, it would look like a new project.
    if !is_locked(&project.user_store()).await {
        checks.push(check_project(project));
    }
    for skipped in &project.place.skipped {
        let why = skip_reason(skipped.why);
        let detail = format!("`{}` was skipped: {why}", skipped.path.display());
        let fix = "check that this is the repository you mean to work in";
        checks.push(problem("repository", HealthLevel::Warning, detail, fix));
    }
    checks.push(check_folder(&project.config.data));
    let mut locked = Vec::new();
    for notebook in project.notebooks() {
        let store = project.writer(&notebook);
        // Without its key neither the content of a file nor its backups can be checked.
        if is_locked(&notebook.store).await {
            locked.push(notebook.scope);
            checks.push(check_store(notebook.scope, &store).await);
            continue;
        }
        if mode == DoctorMode::Repair {
            match store.repair(project.now).await {
                Ok(done) => repairs.extend(done),
                Err(error) => checks.push(failed_repair(notebook.scope, &error)),
            }
        }
        // After the repair, so that the check shows what is left.
        checks.push(check_store(notebook.scope, &store).await);
        checks.push(check_backups(project, &notebook));
        checks.extend(check_secrets(&notebook.store, scope_name(notebook.scope)).await);
    }
    // With a locked registry every project would look unregistered.
    if !locked.contains(&NotebookScope::User) {
        if mode == DoctorMode::Repair {
            repairs.extend(register_unregistered(project).await?);
        }
        checks.extend(unregistered_projects(project).await.iter().map(unregistered_check));
    }
    if locked.is_empty() {
        checks.push(check_encryption(project));
    }
    Ok((checks, repairs))
}

/// Describes damage found so far, for messages beside an answer.
pub(crate) fn damage_messages(reader: &ProjectReader, notebooks: &[Notebook]) -> Vec<String> {
    let mut messages: Vec<String> =
        reader.findings(notebooks).iter().map(|it| it.1.to_string()).collect();
    if !reader.stored_projects().is_empty() && !reader.user_store().exists() {
        messages.push("the registry of projects is gone, so none is recognised; `waylore doctor --fix` rebuilds it".to_owned());
    }
    if reader.has_unregistered_data {
        messages.push("this project is not recognised, and the data folder holds projects that the registry does not list; `waylore doctor --fix` registers them again".to_owned());
    }
    messages
}

/// Projects that have a folder but no entry in the registry: the registry was lost or restored.
pub(crate) async fn unregistered_projects(reader: &ProjectReader) -> Vec<ProjectId> {
    // The folders are listed before the registry is read: a project is registered before it gets a
    // folder, so a project that starts at this moment cannot look unregistered.
    let stored = reader.stored_projects();
    let user = reader.user_store();
    if !user.exists() {
        return stored;
    }
    let locations = user.registry().list_locations().await.unwrap_or_default();
    stored.into_iter().filter(|id| locations.iter().all(|it| it.project != *id)).collect()
}

async fn register_unregistered(project: &Project) -> Result<Vec<String>, Error> {
    let mut repairs = Vec::new();
    for id in unregistered_projects(project).await {
        let store = project.store_of(id);
        let user = project.user_writer();
        if store.exists() && register_from_settings(&user, &store, id, project.now).await? {
            repairs.push(format!("registered project {id} again, from its own copy of the entry"));
        }
    }
    Ok(repairs)
}

fn check_project(reader: &ProjectReader) -> HealthCheck {
    let (name, root) = (reader.state.name(), reader.place.root.display());
    let detail = match reader.state.id() {
        Some(id) => format!("`{name}` at `{root}`, id {id}"),
        None => format!("`{name}` at `{root}` has no memories yet"),
    };
    good("project", detail)
}

fn check_backups(project: &Project, notebook: &Notebook) -> HealthCheck {
    let name = format!("{} backups", scope_name(notebook.scope));
    let backups = list_backups(project, notebook.scope);
    if let Some((backup, Err(error))) = backups.iter().find(|it| it.1.is_err()) {
        let detail = format!("`{}` cannot be restored: {error}", backup.name);
        return problem(&name, HealthLevel::Bad, detail, "`waylore backup` makes a new one");
    }
    let Some((newest, _)) = backups.first() else {
        let fix = "`waylore backup` makes one; `waylore maintain` does so daily";
        return problem(&name, HealthLevel::Warning, "there are none".to_owned(), fix);
    };
    let detail = format!("{}, the newest `{}`, all opened and checked", backups.len(), newest.name);
    good(&name, detail)
}

fn check_encryption(reader: &ProjectReader) -> HealthCheck {
    let detail = match (&reader.config.key, store::ENCRYPTION_AVAILABLE) {
        (Some(_), _) => "on",
        (None, true) => "off (`waylore config encryption on` turns it on)",
        (None, false) => "off, and this build cannot encrypt",
    };
    good("encryption", detail.to_owned())
}

fn check_folder(data: &Path) -> HealthCheck {
    let name = "data folder";
    if !data.exists() {
        let detail =
            format!("`{}` does not exist yet; the first memory creates it", data.display());
        return good(name, detail);
    }
    match store::find_readable_by_others(data) {
        None => good(name, format!("`{}`, readable only by you", data.display())),
        Some(path) => {
            let detail = format!("`{}` can be read by others", path.display());
            problem(name, HealthLevel::Bad, detail, &format!("chmod -R go= {}", data.display()))
        }
    }
}

async fn check_store(scope: NotebookScope, store: &Store) -> HealthCheck {
    let name = format!("{} notebook", scope_name(scope));
    let findings = match store.check_database().await {
        Ok(findings) => findings,
        Err(error) => {
            let fix = remedy(&error, scope);
            return problem(&name, HealthLevel::Bad, error.to_string(), &fix);
        }
    };
    // One finding is enough to act on; the repair handles all.
    let Some(first) = findings.first() else {
        let size = store.size().await.map_or(0, |it| it.database);
        return good(&name, format!("every row matches its hash, {} KiB", size / 1024));
    };
    let more = match findings.len() {
        1 => String::new(),
        n => format!(" (and {} more)", n - 1),
    };
    problem(
        &name,
        HealthLevel::Bad,
        format!("{first}{more}"),
        "`waylore doctor --fix` repairs what it can; `waylore restore-backup` goes back to a backup",
    )
}

/// Secrets in stored texts. Rules improve, so texts that were admitted before are searched again.
async fn check_secrets(store: &StoreReader, whose: &str) -> Option<HealthCheck> {
    let memories = list_memories_with_secrets(store).await.ok()?;
    if memories.is_empty() {
        return None;
    }
    let ids: Vec<String> = memories.into_iter().map(MemoryId::short).collect();
    let detail = format!("what looks like a secret is stored in #{}", ids.join(", #"));
    let fix = "`waylore purge --secrets` takes it out everywhere";
    Some(problem(&format!("{whose} secrets"), HealthLevel::Bad, detail, fix))
}

/// Returns whether a store cannot be read for want of its key.
async fn is_locked(store: &StoreReader) -> bool {
    store.is_encrypted().await.is_err_and(|it| is_about_key(&it))
}

const fn skip_reason(why: SkipReason) -> &'static str {
    match why {
        SkipReason::AtHome => "it lies in the home folder or above it",
        SkipReason::Broken => "it is no repository",
        SkipReason::Unreadable => "it cannot be opened",
        SkipReason::Unproven => "it points to a repository that does not point back",
    }
}

fn unregistered_check(id: &ProjectId) -> HealthCheck {
    let detail = format!("project {id} has memories, but no entry in the registry");
    let fix = "`waylore doctor --fix` registers it again";
    problem("registry", HealthLevel::Bad, detail, fix)
}

fn failed_repair(scope: NotebookScope, error: &store::Error) -> HealthCheck {
    let name = format!("{} repair", scope_name(scope));
    problem(&name, HealthLevel::Bad, error.to_string(), &remedy(error, scope))
}

fn good(name: &str, detail: String) -> HealthCheck {
    HealthCheck { name: name.to_owned(), health: HealthLevel::Good, detail, fix: None }
}

fn problem(name: &str, health: HealthLevel, detail: String, fix: &str) -> HealthCheck {
    HealthCheck { name: name.to_owned(), health, detail, fix: Some(fix.to_owned()) }
}

/// The remedy for a store that cannot be read. A backup is encrypted with the same key, so it does
/// not help if the key is wrong.
fn remedy(error: &store::Error, scope: NotebookScope) -> String {
    if !is_about_key(error) {
        return restore_hint(scope).to_owned();
    }
    let key = "`waylore config get encryption.key` says where the key is looked for: a file, the keychain or WAYLORE_PASSPHRASE";
    match error {
        store::Error::WrongKey { .. } => key.to_owned(),
        _ => format!("{key}; if it was never encrypted, {}", restore_hint(scope)),
    }
}

const fn restore_hint(scope: NotebookScope) -> &'static str {
    match scope {
        NotebookScope::Project => "`waylore restore-backup` lists what can be restored",
        NotebookScope::User => "`waylore restore-backup --user` lists what can be restored",
    }
}

pub(crate) const fn scope_name(scope: NotebookScope) -> &'static str {
    match scope {
        NotebookScope::Project => "project",
        NotebookScope::User => "user",
    }
}
