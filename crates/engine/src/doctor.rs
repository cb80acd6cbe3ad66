//! Health: every problem by name, each with what mends it.

use std::path::Path;

use model::{MemoryId, ProjectId};
use source::SkipReason;
use store::Store;

use crate::texts::holding_secrets;
use crate::{Engine, Error, Notebook, Reach, project};

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    Good,
    /// Works, but should be looked at.
    Doubtful,
    Bad,
}

/// One check.
#[derive(Clone, Debug)]
pub struct Check {
    pub name: String,
    pub health: Health,
    pub detail: String,
    /// What to do about it.
    pub fix: Option<String>,
}

impl Engine {
    /// Examines everything; with `fix`, mends what can be mended first.
    pub async fn doctor(&self, fix: bool) -> Result<(Vec<Check>, Vec<String>), Error> {
        let mut done = Vec::new();
        let mut res = Vec::new();
        // Which project this is stands in the registry.
        if !is_locked(&self.user).await {
            res.push(self.project_check());
        }
        for skipped in &self.place.skipped {
            let why = passed_over(skipped.why);
            let detail = format!("`{}` was passed over: {why}", skipped.path.display());
            let fix = Some("check that this is the repository you mean to work in".to_owned());
            res.push(Check {
                name: "repository".to_owned(),
                health: Health::Doubtful,
                detail,
                fix,
            });
        }
        res.push(folder_check(&self.config.data));
        let mut locked = Vec::new();
        for notebook in self.notebooks() {
            // Without its key nothing can be said about what a file holds, nor about its backups.
            if is_locked(&notebook.store).await {
                locked.push(notebook.reach);
                res.push(store_check(&notebook).await);
                continue;
            }
            if fix {
                match notebook.store.mend(self.now).await {
                    Ok(mended) => done.extend(mended),
                    Err(error) => res.push(cannot_mend(notebook.reach, &error)),
                }
            }
            res.push(store_check(&notebook).await);
            res.push(self.backup_check(&notebook));
            res.extend(secret_check(&notebook.store, name_of(notebook.reach)).await);
        }
        // A registry that cannot be opened knows its projects all the same.
        if !locked.contains(&Reach::User) {
            if fix {
                done.extend(self.adopt_orphans().await?);
            }
            res.extend(self.orphans().await.iter().map(orphan_check));
        }
        if locked.is_empty() {
            res.push(self.encryption_check());
        }
        Ok((res, done))
    }

    fn project_check(&self) -> Check {
        let (name, root) = (self.project.name(), self.place.root.display());
        let detail = match self.project.id() {
            Some(id) => format!("`{name}` at `{root}`, id {id}"),
            None => format!("`{name}` at `{root}` has no memories yet"),
        };
        good("project", detail)
    }

    fn backup_check(&self, notebook: &Notebook) -> Check {
        let name = format!("{} backups", name_of(notebook.reach));
        let backups = self.backups(notebook.reach);
        if let Some((backup, Err(error))) = backups.iter().find(|it| it.1.is_err()) {
            let detail = format!("`{}` cannot be restored: {error}", backup.name);
            let fix = Some("`waylore backup` makes a new one".to_owned());
            return Check { name, health: Health::Bad, detail, fix };
        }
        let Some((newest, _)) = backups.first() else {
            let fix =
                Some("`waylore backup` makes one; `waylore maintain` does so daily".to_owned());
            return Check {
                name,
                health: Health::Doubtful,
                detail: "there are none".to_owned(),
                fix,
            };
        };
        let detail =
            format!("{}, the newest `{}`, all opened and checked", backups.len(), newest.name);
        good(&name, detail)
    }

    /// Folders of projects the registry does not know: the registry was lost or restored. The folders
    /// are looked at first: a project is registered before it has one, so none that just began counts.
    pub(crate) async fn orphans(&self) -> Vec<ProjectId> {
        let kept = self.kept_projects();
        let known: Vec<ProjectId> = if self.user.exists() {
            self.user.places().await.unwrap_or_default().into_iter().map(|it| it.project).collect()
        } else {
            Vec::new()
        };
        kept.into_iter().filter(|it| !known.contains(it)).collect()
    }

    async fn adopt_orphans(&self) -> Result<Vec<String>, Error> {
        let mut res = Vec::new();
        for id in self.orphans().await {
            let own = self.store_of(id);
            if own.exists() && project::adopt(&self.user, &own, id, self.now).await? {
                res.push(format!(
                    "put project {id} back into the registry, by what it says of itself"
                ));
            }
        }
        Ok(res)
    }

    fn encryption_check(&self) -> Check {
        let detail = match (&self.config.key, store::ENCRYPTION_AVAILABLE) {
            (Some(_), _) => "on",
            (None, true) => "off (`waylore config encryption on` turns it on)",
            (None, false) => "off, and this build cannot encrypt",
        };
        good("encryption", detail.to_owned())
    }
}

/// Whether it is the key that keeps a store from being read.
async fn is_locked(store: &Store) -> bool {
    store.is_encrypted().await.is_err_and(|it| crate::is_about_key(&it))
}

const fn passed_over(why: SkipReason) -> &'static str {
    match why {
        SkipReason::AtHome => "it lies in the home folder or above it",
        SkipReason::Broken => "it is no repository",
        SkipReason::Unreadable => "it cannot be opened",
        SkipReason::Unproven => "it points to a repository that does not point back",
    }
}

fn orphan_check(id: &ProjectId) -> Check {
    Check {
        name: "registry".to_owned(),
        health: Health::Bad,
        detail: format!("the memories of project {id} are there, but no place is known for them"),
        fix: Some("`waylore doctor --fix` puts it back into the registry".to_owned()),
    }
}

fn cannot_mend(reach: Reach, error: &store::Error) -> Check {
    let fix = Some(way_out(error, reach));
    let name = format!("{} repair", name_of(reach));
    Check { name, health: Health::Bad, detail: error.to_string(), fix }
}

fn good(name: &str, detail: String) -> Check {
    Check { name: name.to_owned(), health: Health::Good, detail, fix: None }
}

/// A backup only helps when it is not the key that is wrong: it is encrypted with the same one.
fn way_out(error: &store::Error, reach: Reach) -> String {
    if !crate::is_about_key(error) {
        return restore_hint(reach).to_owned();
    }
    let key = "`waylore config get encryption.key` says where the key is looked for: a file, the keychain or WAYLORE_PASSPHRASE";
    match error {
        store::Error::WrongKey { .. } => key.to_owned(),
        _ => format!("{key}; if it was never encrypted, {}", restore_hint(reach)),
    }
}

const fn restore_hint(reach: Reach) -> &'static str {
    match reach {
        Reach::Project => "`waylore restore-backup` lists what can be restored",
        Reach::User => "`waylore restore-backup --user` lists what can be restored",
    }
}

pub(crate) const fn name_of(reach: Reach) -> &'static str {
    match reach {
        Reach::Project => "project",
        Reach::User => "user",
    }
}

fn folder_check(data: &Path) -> Check {
    let name = "data folder";
    if !data.exists() {
        return good(
            name,
            format!("`{}` does not exist yet; the first memory creates it", data.display()),
        );
    }
    match store::open_to_others(data) {
        None => good(name, format!("`{}`, readable only by you", data.display())),
        Some(path) => Check {
            name: name.to_owned(),
            health: Health::Bad,
            detail: format!("`{}` can be read by others", path.display()),
            fix: Some(format!("chmod -R go= {}", data.display())),
        },
    }
}

async fn store_check(notebook: &Notebook) -> Check {
    let name = format!("{} notebook", name_of(notebook.reach));
    let bad = |detail: String, fix: &str| Check {
        name: name.clone(),
        health: Health::Bad,
        detail,
        fix: Some(fix.to_owned()),
    };
    let findings = match notebook.store.examine().await {
        Ok(findings) => findings,
        Err(error) => {
            return bad(error.to_string(), &way_out(&error, notebook.reach));
        }
    };
    match findings.first() {
        None => {
            let size = notebook.store.size().await.map_or(0, |it| it.database);
            good(&name, format!("every row matches its hash, {} KiB", size / 1024))
        }
        Some(first) => {
            let more = if findings.len() > 1 {
                format!(" (and {} more)", findings.len() - 1)
            } else {
                String::new()
            };
            bad(
                format!("{first}{more}"),
                "`waylore doctor --fix` mends what it can; `waylore restore-backup` goes back to a backup",
            )
        }
    }
}

/// Secrets that today's rules find in what was stored before.
async fn secret_check(store: &Store, whose: &str) -> Option<Check> {
    let holding = holding_secrets(store).await.ok()?;
    let holding: Vec<String> = holding.into_iter().map(MemoryId::short).collect();
    (!holding.is_empty()).then(|| Check {
        name: format!("{whose} secrets"),
        health: Health::Bad,
        detail: format!("what looks like a secret is stored in #{}", holding.join(", #")),
        fix: Some("`waylore purge --secrets` takes it out everywhere".to_owned()),
    })
}

impl Engine {
    /// Damage met while answering, in sentences; shown beside every answer it touched.
    pub fn complaints(&self, notebooks: &[Notebook]) -> Vec<String> {
        let mut res: Vec<String> =
            self.findings(notebooks).iter().map(|it| it.1.to_string()).collect();
        if !self.kept_projects().is_empty() && !self.user.exists() {
            res.push("the registry of projects is gone, so none is recognised; `waylore doctor --fix` rebuilds it".to_owned());
        }
        if self.perhaps_known {
            res.push("this project is not recognised, and there are memories of projects that the registry does not know; `waylore doctor --fix` puts them back".to_owned());
        }
        res
    }
}
