//! Health: every problem by name, each with what mends it.

use std::path::Path;

use model::ProjectId;
use store::{Finding, Store};

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
        let mut res = vec![self.project_check()];
        for skipped in &self.place.skipped {
            let detail = format!("`{}` was passed over: {:?}", skipped.path.display(), skipped.why);
            let fix = Some("check that this is the repository you mean to work in".to_owned());
            res.push(Check {
                name: "repository".to_owned(),
                health: Health::Doubtful,
                detail,
                fix,
            });
        }
        res.push(folder_check(&self.config.data));
        for notebook in self.notebooks() {
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
        if fix {
            done.extend(self.adopt_orphans().await?);
        }
        res.extend(self.orphans().await.iter().map(orphan_check));
        res.push(self.encryption_check());
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

    /// Folders of projects the registry does not know: the registry was lost or restored.
    pub(crate) async fn orphans(&self) -> Vec<ProjectId> {
        let known: Vec<ProjectId> = if self.user.exists() {
            self.user.places().await.unwrap_or_default().into_iter().map(|it| it.project).collect()
        } else {
            Vec::new()
        };
        self.data().projects().into_iter().filter(|it| !known.contains(it)).collect()
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

fn orphan_check(id: &ProjectId) -> Check {
    Check {
        name: "registry".to_owned(),
        health: Health::Bad,
        detail: format!("the memories of project {id} are there, but no place is known for them"),
        fix: Some("`waylore doctor --fix` puts it back into the registry".to_owned()),
    }
}

fn cannot_mend(reach: Reach, error: &store::Error) -> Check {
    let fix = Some(restore_hint(reach).to_owned());
    let name = format!("{} repair", name_of(reach));
    Check { name, health: Health::Bad, detail: error.to_string(), fix }
}

fn good(name: &str, detail: String) -> Check {
    Check { name: name.to_owned(), health: Health::Good, detail, fix: None }
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
            return bad(error.to_string(), restore_hint(notebook.reach));
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
                format!("{}{more}", sentence(first)),
                "`waylore doctor --fix` mends what it can; `waylore restore-backup` goes back to a backup",
            )
        }
    }
}

/// Secrets that today's rules find in what was stored before.
async fn secret_check(store: &Store, whose: &str) -> Option<Check> {
    let memories = crate::carry::everything(store).await.ok()?;
    let holding: Vec<String> = memories
        .iter()
        .filter(|it| !secrets::scan(&it.content).is_empty())
        .map(|it| it.id.short())
        .collect();
    (!holding.is_empty()).then(|| Check {
        name: format!("{whose} secrets"),
        health: Health::Bad,
        detail: format!("what looks like a secret is stored in #{}", holding.join(", #")),
        fix: Some("`waylore purge --secrets` takes it out everywhere".to_owned()),
    })
}

/// A finding as a person reads it.
pub fn sentence(finding: &Finding) -> String {
    match finding {
        Finding::Lost { from, to, known } => {
            let ids: Vec<String> = known.iter().map(|it| format!("#{}", it.short())).collect();
            let which =
                if ids.is_empty() { String::new() } else { format!(", of {}", ids.join(", ")) };
            format!("{} saved changes are gone ({from} to {to}{which})", to - from + 1)
        }
        Finding::Row(row) => match row.id {
            Some(id) => format!("memory #{} is damaged and withheld: {}", id.short(), row.what),
            None => format!("a memory is damaged and withheld: {}", row.what),
        },
        Finding::Version(row) => format!("an older version of a memory is damaged: {}", row.what),
        Finding::Count { table, saved, found } => {
            format!("`{table}` has {found} rows, {saved} were saved")
        }
        Finding::Database(what) => format!("the database reports: {what}"),
        Finding::SearchIndex(what) => {
            format!("the search index disagrees with the memories: {what}")
        }
        Finding::MarkUnreadable => {
            "the mark that would show a loss cannot be read; the next write renews it".to_owned()
        }
    }
}

impl Engine {
    /// Damage met while answering, in sentences; shown beside every answer it touched.
    pub fn complaints(&self, notebooks: &[Notebook]) -> Vec<String> {
        let mut res: Vec<String> =
            self.findings(notebooks).iter().map(|it| sentence(&it.1)).collect();
        if !self.user.exists() && !self.data().projects().is_empty() {
            res.push("the registry of projects is gone, so none is recognised; `waylore doctor --fix` rebuilds it".to_owned());
        }
        if self.perhaps_known {
            res.push("this project is not recognised, and there are memories of projects that the registry does not know; `waylore doctor --fix` puts them back".to_owned());
        }
        res
    }
}
