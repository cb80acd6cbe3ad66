//! Doctor: checks all stored data, repairs what it can, and returns each problem with its remedy.
//! The command `waylore doctor` prints the checks.
//!
//! A database that is encrypted and whose key is missing is *locked*: its content cannot be
//! checked, and checks that depend on it are skipped. The registry, the list of all known projects, is
//! in the user's database.

use std::path::Path;

use model::{Deprecation, Memory, MemoryId, MemoryStatus, ProjectId};
use source::SkipReason;
use store::{MemoryFilter, Store, StoreReader};

use crate::backups::list_backups;
use crate::code_index::queries::load_query_graph;
use crate::code_index::{IndexState, read_index_state};
use crate::export::NO_LIMIT;
use crate::learn::failed_sessions;
use crate::memory_texts::{find_secrets_in_memory, list_memories_with_secrets};
use crate::project_identity::register_from_settings;
use crate::{Error, Notebook, NotebookScope, Project, ProjectReader, is_about_key};

/// Severity of the result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HealthLevel {
    Good,
    /// Works, but needs attention.
    Warning,
    Bad,
}

/// The result of one check.
#[derive(Clone, Debug)]
pub struct HealthCheck {
    pub name: String,
    pub health: HealthLevel,
    pub detail: String,
    /// The remedy, if there is a problem.
    pub fix: Option<String>,
}

/// Mode of the doctor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoctorMode {
    /// Examine small databases in full, and a sample of large ones.
    Examine,
    /// Examine everything.
    ExamineFully,
    /// Repair first, then examine everything.
    Repair,
}

/// Part of a notebook that is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CheckDepth {
    Sample,
    Everything,
}

/// Size up to which a database is always examined in full, which takes less than a second.
const MAX_FULL_CHECK_BYTES: u64 = 16 << 20;
/// Newest memories that are searched for secrets if only a sample is examined.
const SECRET_SAMPLE: u32 = 500;

/// Runs all checks. Returns their results, and a description of each repair.
pub(crate) async fn run_doctor(
    project: &Project,
    mode: DoctorMode,
) -> Result<(Vec<HealthCheck>, Vec<String>), Error> {
    let mut repairs = Vec::new();
    let mut checks = Vec::new();

    // The registry identifies the project. If it is locked, every project would look new.
    if !is_locked(&project.user_store_reader()).await {
        checks.push(check_project(project));
    }

    // Repositories that were passed over while the project's root was searched.
    for skipped in &project.place.skipped {
        let why = skip_reason(skipped.why);
        let detail = format!("`{}` was skipped: {why}", skipped.path.display());
        let fix = "check that this is the repository you mean to work in";
        checks.push(problem("repository", HealthLevel::Warning, detail, fix));
    }
    checks.extend(check_git(project));
    checks.push(check_folder(&project.config.data));
    checks.extend(check_writing(&project.config.data));
    let mut locked = Vec::new();
    for notebook in project.notebooks() {
        let store = project.notebook_writer(&notebook);
        // Without the key, neither the content nor the backups can be checked; the store reports
        // that.
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
        // After the repair, so that the checks show the remaining problems.
        let depth = check_depth(mode, &store);
        checks.push(check_store_to_depth(notebook.scope, &store, depth).await);
        checks.push(check_backups(project, &notebook, depth));
        checks.extend(check_secrets(&notebook.store, scope_name(notebook.scope), depth).await);
        checks.extend(check_retired_statistics(&notebook).await);
    }

    // If the registry is locked, every project would look unregistered.
    if !locked.contains(&NotebookScope::User) {
        if mode == DoctorMode::Repair {
            repairs.extend(register_unregistered(project).await?);
        }
        checks.extend(unregistered_projects(project).await.iter().map(unregistered_check));
    }
    if locked.is_empty() {
        checks.push(check_encryption(project));
    }
    checks.push(check_index(project).await);
    checks.extend(failed_sessions(project).iter().map(failed_session_check));
    Ok((checks, repairs))
}

/// Describes the damage found so far, for warnings beside the output of a command.
pub(crate) fn damage_messages(reader: &ProjectReader, notebooks: &[Notebook]) -> Vec<String> {
    let mut messages: Vec<String> =
        reader.findings(notebooks).iter().map(|(_, finding)| finding.to_string()).collect();
    if !reader.stored_projects().is_empty() && !reader.user_store_reader().exists() {
        messages.push("the registry of projects is gone, so none is recognised; `waylore doctor --fix` rebuilds it".to_owned());
    }
    if reader.has_unregistered_data {
        messages.push("this project is not recognised, and the data folder holds projects that the registry does not list; `waylore doctor --fix` registers them again".to_owned());
    }
    messages
}

/// Lists the projects that have a folder but no entry in the registry, because the registry was
/// lost or restored from an old backup.
pub(crate) async fn unregistered_projects(reader: &ProjectReader) -> Vec<ProjectId> {
    // The folders are listed before the registry is read. A project is registered before it gets a
    // folder, so a project that another process creates meanwhile cannot look unregistered.
    let stored = reader.stored_projects();
    let user = reader.user_store_reader();
    if !user.exists() {
        return stored;
    }
    let locations = user.registry().list_locations().await.unwrap_or_default();
    stored.into_iter().filter(|id| locations.iter().all(|it| it.project != *id)).collect()
}

pub(crate) const fn scope_name(scope: NotebookScope) -> &'static str {
    match scope {
        NotebookScope::Project => "project",
        NotebookScope::User => "user",
    }
}

/// Returns whether a store cannot be read because its key is missing or wrong.
async fn is_locked(store: &StoreReader) -> bool {
    store.is_encrypted().await.is_err_and(|it| is_about_key(&it))
}

fn check_project(reader: &ProjectReader) -> HealthCheck {
    let (name, root) = (reader.state.name(), reader.place.root.display());
    let detail = match reader.state.id() {
        Some(id) => format!("`{name}` at `{root}`, id {id}"),
        None => format!("`{name}` at `{root}` has no memories yet"),
    };
    good("project", detail)
}

const fn skip_reason(why: SkipReason) -> &'static str {
    match why {
        SkipReason::AtHome => "it lies in the home folder or above it",
        SkipReason::Broken => "it is no repository",
        SkipReason::Unreadable => "it cannot be opened",
        SkipReason::Unproven => "it points to a repository that does not point back",
    }
}

fn problem(name: &str, health: HealthLevel, detail: String, fix: &str) -> HealthCheck {
    HealthCheck { name: name.to_owned(), health, detail, fix: Some(fix.to_owned()) }
}

fn failed_session_check(failed: &store::FailedSession) -> HealthCheck {
    let detail = format!(
        "session {} could not be learned by version {}: {}",
        failed.session.short(),
        failed.program_version,
        failed.reason
    );
    let fix =
        "`waylore learn` tries it again, and so does the next version; please report the reason";
    problem("learning", HealthLevel::Warning, detail, fix)
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

/// Counts the memories that were retired because they only stated numbers. `None` if there are none.
async fn check_retired_statistics(notebook: &Notebook) -> Option<HealthCheck> {
    let statuses = vec![MemoryStatus::Deprecated];
    let filter = MemoryFilter { statuses, ..MemoryFilter::active(NO_LIMIT) };
    // A store that cannot be read is reported by its own check.
    let deprecated = notebook.store.memories().list(filter).await.ok()?;
    let is_statistic = |it: &&Memory| it.states.deprecation() == Some(Deprecation::Statistic);
    let n_retired = deprecated.iter().filter(is_statistic).count();
    (n_retired > 0).then(|| {
        let detail = format!(
            "retired memories that only stated how often something happened: {n_retired}; such numbers are told at their moment now"
        );
        good("statistics", detail)
    })
}

/// Writes a scratch file into the data folder. `None` if that works.
fn check_writing(data: &Path) -> Option<HealthCheck> {
    let error = store::probe_writing(data).err()?;
    let (detail, fix) = match &error {
        store::Error::DiskFull => (
            format!("the disk of `{}` is full, so nothing can be stored", data.display()),
            "free some space; everything saved before is safe",
        ),
        store::Error::ForeignOwner { .. } => {
            (error.to_string(), "run as its owner, or set WAYLORE_HOME to a folder of yours")
        }
        _ => (
            format!("`{}` is not writable, so nothing can be stored: {error}", data.display()),
            "make the folder writable, or set WAYLORE_HOME to another one",
        ),
    };
    Some(problem("data folder", HealthLevel::Bad, detail, fix))
}

/// Checks that the program `git` runs. `None` if the project has no repository, or if it does.
fn check_git(project: &Project) -> Option<HealthCheck> {
    if project.place.git_dir.is_none() || source::is_git_available() {
        return None;
    }
    let detail = "the program `git` was not found: commits are not seen, so sessions stay unconfirmed and changed code goes unnoticed";
    let fix = "install git, or put it into PATH";
    Some(problem("git", HealthLevel::Warning, detail.to_owned(), fix))
}

/// Checks that the code is indexed. A read error is a problem of this check alone: the index is derived data.
async fn check_index(project: &Project) -> HealthCheck {
    let name = "code index";
    match read_index_state(project).await {
        Ok(IndexState::Complete) => match load_query_graph(project).await {
            Ok((_, freshness)) => good(name, format_completeness(freshness.n_partly_parsed)),
            Err(error) => {
                let fix = "`waylore index` builds it again";
                problem(name, HealthLevel::Warning, error.to_string(), fix)
            }
        },
        Ok(IndexState::Missing) => {
            let detail = "the code is not indexed: there is no module map, and notes are not checked against symbols".to_owned();
            problem(name, HealthLevel::Warning, detail, "`waylore index` reads it")
        }
        Ok(IndexState::Partial) => {
            let detail = "the last indexing was interrupted, so answers about code miss some files"
                .to_owned();
            problem(name, HealthLevel::Warning, detail, "`waylore index` finishes it")
        }
        Err(error) => problem(
            name,
            HealthLevel::Warning,
            error.to_string(),
            "`waylore index` builds it again",
        ),
    }
}

/// A complete index, with the number of files that the grammar could not parse completely.
fn format_completeness(n_partly_parsed: usize) -> String {
    match n_partly_parsed {
        0 => "complete".to_owned(),
        1 => "complete; 1 file understood in part".to_owned(),
        n => format!("complete; {n} files understood in part"),
    }
}

/// Damage that was met before, and a small database, are reasons to examine everything.
fn check_depth(mode: DoctorMode, store: &Store) -> CheckDepth {
    let is_small = std::fs::metadata(store.path()).is_ok_and(|it| it.len() < MAX_FULL_CHECK_BYTES);
    if mode == DoctorMode::Examine && !is_small && store.findings().is_empty() {
        CheckDepth::Sample
    } else {
        CheckDepth::Everything
    }
}

/// Examines a notebook. If the sample is damaged, everything is examined.
async fn check_store_to_depth(
    scope: NotebookScope,
    store: &Store,
    depth: CheckDepth,
) -> HealthCheck {
    let is_sample_good =
        depth == CheckDepth::Sample && store.check_sample().await.is_ok_and(|it| it.is_empty());
    if !is_sample_good {
        return check_store(scope, store).await;
    }
    let size = store.size().await.map_or(0, |it| it.database);
    let detail = format!(
        "a sample of the rows matches its hash, {} KiB; `waylore doctor --full` and `waylore maintain` check every row",
        size / 1024
    );
    good(&format!("{} notebook", scope_name(scope)), detail)
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
    // The first finding is enough to act on, because a repair handles all of them.
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

fn failed_repair(scope: NotebookScope, error: &store::Error) -> HealthCheck {
    let name = format!("{} repair", scope_name(scope));
    problem(&name, HealthLevel::Bad, error.to_string(), &remedy(error, scope))
}

fn check_backups(project: &Project, notebook: &Notebook, depth: CheckDepth) -> HealthCheck {
    let name = format!("{} backups", scope_name(notebook.scope));
    let listed = notebook.store.backups();
    if let (CheckDepth::Sample, Some(newest)) = (depth, listed.first()) {
        let detail = format!(
            "{}, the newest `{}`; `waylore doctor --full` opens and checks them",
            listed.len(),
            newest.name
        );
        return good(&name, detail);
    }
    let backups = list_backups(project, notebook.scope);
    if let Some((backup, Err(error))) = backups.iter().find(|(_, contents)| contents.is_err()) {
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

/// Searches stored texts for secrets again, because the rules may have improved since they were
/// admitted. `None` if there are none.
async fn check_secrets(store: &StoreReader, scope: &str, depth: CheckDepth) -> Option<HealthCheck> {
    // A store that cannot be read is reported by `check_store`.
    let memories = match depth {
        CheckDepth::Everything => list_memories_with_secrets(store).await.ok()?,
        CheckDepth::Sample => {
            let newest = store.memories().list(MemoryFilter::active(SECRET_SAMPLE)).await.ok()?;
            let has_secret = |it: &&Memory| !find_secrets_in_memory(it).is_empty();
            newest.iter().filter(has_secret).map(|it| it.id).collect()
        }
    };
    if memories.is_empty() {
        return None;
    }
    let ids: Vec<String> = memories.into_iter().map(MemoryId::short).collect();
    let detail = format!("what looks like a secret is stored in #{}", ids.join(", #"));
    let fix = "`waylore purge --secrets` takes it out everywhere";
    Some(problem(&format!("{scope} secrets"), HealthLevel::Bad, detail, fix))
}

/// Registers projects again from the copy of the registry entry in their own databases.
async fn register_unregistered(project: &Project) -> Result<Vec<String>, Error> {
    let mut repairs = Vec::new();
    for id in unregistered_projects(project).await {
        let store = project.open_store_writer(id);
        let user = project.user_store_writer();
        if store.exists() && register_from_settings(&user, &store, id, project.now).await? {
            repairs.push(format!("registered project {id} again, from its own copy of the entry"));
        }
    }
    Ok(repairs)
}

fn unregistered_check(id: &ProjectId) -> HealthCheck {
    let detail = format!("project {id} has memories, but no entry in the registry");
    let fix = "`waylore doctor --fix` registers it again";
    problem("registry", HealthLevel::Bad, detail, fix)
}

fn check_encryption(reader: &ProjectReader) -> HealthCheck {
    if reader.config.key.is_some() {
        let plain = store::list_plain_text_files(&reader.data_dir());
        if let Some(first) = plain.first() {
            let detail =
                format!("{} of the text files are plain: {}", plain.len(), first.display());
            return problem(
                "encryption",
                HealthLevel::Bad,
                detail,
                "`waylore maintain` encrypts them",
            );
        }
    }
    let detail = match (&reader.config.key, store::ENCRYPTION_AVAILABLE) {
        (Some(_), _) => "on",
        (None, true) => "off (`waylore config encryption on` turns it on)",
        (None, false) => "off, and this build cannot encrypt",
    };
    good("encryption", detail.to_owned())
}

fn good(name: &str, detail: String) -> HealthCheck {
    HealthCheck { name: name.to_owned(), health: HealthLevel::Good, detail, fix: None }
}

/// Returns the remedy for a store that cannot be read. If the key is wrong, a backup does not help:
/// it is encrypted with the same key.
fn remedy(error: &store::Error, scope: NotebookScope) -> String {
    if !is_about_key(error) {
        return restore_hint(scope).to_owned();
    }
    let key_hint = "`waylore config get encryption.key` says where the key is looked for: a file, the keychain or WAYLORE_PASSPHRASE";
    match error {
        store::Error::WrongKey { .. } => key_hint.to_owned(),
        // Not a database: encrypted with another key, or damaged.
        _ => format!("{key_hint}; if it was never encrypted, {}", restore_hint(scope)),
    }
}

const fn restore_hint(scope: NotebookScope) -> &'static str {
    match scope {
        NotebookScope::Project => "`waylore restore-backup` lists what can be restored",
        NotebookScope::User => "`waylore restore-backup --user` lists what can be restored",
    }
}
