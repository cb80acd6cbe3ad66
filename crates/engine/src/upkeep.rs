//! Upkeep: forgetting what has faded, backups, space; and the numbers about it all.

use std::collections::HashMap;

use model::{
    Actor, DAY, DECAY_FLOOR_HALF_LIVES, Group, Memory, MemoryId, QuietSpan, RESTORABLE, SessionId,
    Status, age,
};
use promote::{Compared, compare_groups};
use store::{
    Action, Backup, Batch, Change, Contents, Entry, Finding, Key, SessionRow, Size, Store, Tally,
};

use crate::carry::everything;
use crate::change::by_user;
use crate::learn::saved::{Saved, saved};
use crate::recall::read_group;
use crate::{Engine, Error, Notebook, Reach};

/// Up to this size a backup is made in passing: it takes less time than a person notices.
const AT_ONCE: u64 = 8 << 20;

/// The name under which what a restore set aside can be restored.
pub const REPLACED: &str = "replaced";

/// What upkeep did to one notebook.
#[derive(Clone, Debug)]
pub struct Maintained {
    pub reach: Reach,
    /// Unused for so long that they are forgotten, restorable for 30 days.
    pub faded: Vec<Memory>,
    /// Forgotten more than 30 days ago and now gone.
    pub gone: Vec<MemoryId>,
    pub findings: Vec<Finding>,
    pub backup: Option<Backup>,
    pub reclaimed: u64,
}

/// The numbers of one notebook.
#[derive(Clone, Debug)]
pub struct Stats {
    pub reach: Reach,
    pub tally: Vec<Tally>,
    pub size: Size,
    pub backups: Vec<Backup>,
    pub recent: Vec<Entry>,
}

/// What sessions did with the memories of a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Sessions that were learned from, and those of them whose work was validated.
    pub sessions: usize,
    pub validated: usize,
    /// How often a memory was put before an agent, and how often one was followed or cited.
    pub shown: u64,
    pub used: u64,
    /// Memories that were learned, and sightings that did not become one.
    pub learned: usize,
    pub dropped: usize,
    pub saved: Saved,
}

/// What a trial of memory shows so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Sessions of each group that were learned from.
    pub sessions: Vec<(Group, usize)>,
    /// Sessions without memory against those with all of it, by what they took.
    pub steps: Compared,
    pub tokens: Compared,
    pub retries: Compared,
}

impl Engine {
    /// Daily upkeep of the project's notebook and the user's.
    pub async fn maintain(
        &self,
        backup_every_days: u32,
        compact: bool,
        dry_run: bool,
    ) -> Result<Vec<Maintained>, Error> {
        let mut res = Vec::new();
        for notebook in self.notebooks() {
            res.push(self.maintain_one(&notebook, backup_every_days, compact, dry_run).await?);
        }
        Ok(res)
    }

    async fn maintain_one(
        &self,
        notebook: &Notebook,
        backup_every_days: u32,
        compact: bool,
        dry_run: bool,
    ) -> Result<Maintained, Error> {
        let store = &notebook.store;
        let findings = store.examine().await?;
        let quiet = self.quiet(store).await?;
        let all = everything(store).await?;
        let faded: Vec<Memory> =
            all.iter().filter(|it| self.has_faded(it, &quiet)).cloned().collect();
        let gone: Vec<MemoryId> =
            all.iter().filter(|it| self.is_past(it, &quiet)).map(|it| it.id).collect();
        let mut res =
            Maintained { reach: notebook.reach, faded, gone, findings, backup: None, reclaimed: 0 };
        if dry_run {
            return Ok(res);
        }
        // A damaged store is not tidied: what is missing could be what is needed to mend it.
        if res.findings.is_empty() {
            self.prune(store, &res.faded).await?;
            if !res.gone.is_empty() {
                store.remove(res.gone.clone()).await?;
            }
            if self.backup_is_due(store, backup_every_days) {
                res.backup = Some(store.backup(self.now).await?);
            }
            res.reclaimed = store.compact(compact).await?;
        }
        Ok(res)
    }

    /// The spans nobody lived through, the one that ends now included.
    pub(crate) async fn quiet(&self, store: &Store) -> Result<Vec<QuietSpan>, Error> {
        Ok(store.quiet().await?.until(self.now))
    }

    /// Unused for three half-lives, and nothing holds it.
    fn has_faded(&self, memory: &Memory, quiet: &[QuietSpan]) -> bool {
        let stands = !matches!(memory.status(), Status::Deleted | Status::Deprecated);
        let half_life =
            memory.half_life_days.or_else(|| memory.kind.half_life_days(&self.config.types));
        let Some(days) = half_life.filter(|_| stands && !memory.flags.pinned) else {
            return false;
        };
        age(memory.last_touched(), self.now, quiet) > DECAY_FLOOR_HALF_LIVES * i64::from(days) * DAY
    }

    /// Forgotten for longer than it can be restored; what a person verified stays on record.
    fn is_past(&self, memory: &Memory, quiet: &[QuietSpan]) -> bool {
        let forgotten = memory.states.deleted_at.filter(|_| !memory.flags.user_verified);
        forgotten.is_some_and(|it| age(it, self.now, quiet) > RESTORABLE)
    }

    async fn prune(&self, store: &Store, faded: &[Memory]) -> Result<(), Error> {
        if faded.is_empty() {
            return Ok(());
        }
        let forgotten = |it: &Memory| {
            let mut after = it.clone();
            after.states.deleted_at = Some(self.now);
            Change::Replace(Box::new(after))
        };
        let changes = faded.iter().map(forgotten).collect();
        let actor = Actor::Runner("maintain".to_owned());
        self.write(store, Batch { actor, ..by_user(Action::Prune, self.now, changes) }).await?;
        Ok(())
    }

    /// Whether the newest backup is older than wanted.
    fn backup_is_due(&self, store: &Store, every_days: u32) -> bool {
        let Some(made) = store.backups().into_iter().find_map(|it| it.made) else {
            return true;
        };
        // One from the future was made by a clock that has been set right since.
        made <= self.now.plus(-i64::from(every_days) * DAY) || made > self.now
    }

    pub async fn stats(&self) -> Result<Vec<Stats>, Error> {
        let mut res = Vec::new();
        for Notebook { reach, store, .. } in self.notebooks() {
            let (tally, size) = (store.tally().await?, store.size().await?);
            let recent = store.recent(5).await?;
            res.push(Stats { reach, tally, size, backups: store.backups(), recent });
        }
        Ok(res)
    }

    /// What sessions did with this project's memories, and left behind in them.
    pub async fn activity(&self) -> Result<Activity, Error> {
        let mut res = Activity::default();
        let Some(store) = self.project_store().filter(Store::exists) else { return Ok(res) };
        let sessions = store.sessions().await?;
        res.saved = saved(&store.milestones().await?, &sessions);
        for session in sessions {
            res.sessions += 1;
            res.validated += usize::from(session.validated.is_some());
            let sightings = store.sightings_in(session.id).await?;
            res.dropped += sightings.iter().filter(|it| it.dropped.is_some()).count();
        }
        for memory in everything(&store).await? {
            res.shown += memory.counters.access_count;
            res.used += memory.counters.used_count;
            res.learned += usize::from(memory.created_by == Actor::Observer);
        }
        Ok(res)
    }

    /// What the trial shows; `None` while there was none.
    pub async fn trial(&self) -> Result<Option<Trial>, Error> {
        let Some(store) = self.project_store().filter(Store::exists) else { return Ok(None) };
        let groups: HashMap<SessionId, Group> = store
            .milestones()
            .await?
            .iter()
            .filter_map(read_group)
            .map(|it| (it.1, it.0))
            .collect();
        if groups.is_empty() && !self.manners.on_trial {
            return Ok(None);
        }
        let mut sessions = store.sessions().await?;
        sessions.retain(|it| groups.contains_key(&it.id));
        sessions.sort_by_key(|it| (it.started, it.id));
        let of = |group: Group| -> Vec<&SessionRow> {
            sessions.iter().filter(|it| groups.get(&it.id) == Some(&group)).collect()
        };
        let compared = |number: fn(&SessionRow) -> u64| {
            let numbers = |group| of(group).into_iter().map(number).collect::<Vec<u64>>();
            compare_groups(&numbers(Group::Control), &numbers(Group::Full))
        };
        Ok(Some(Trial {
            sessions: Group::ALL.iter().map(|it| (*it, of(*it).len())).collect(),
            steps: compared(|it| u64::from(it.steps)),
            tokens: compared(|it| it.tokens),
            retries: compared(|it| u64::from(it.retries)),
        }))
    }

    /// Makes a backup of every notebook that has something in it.
    pub async fn backup(&self) -> Result<Vec<(Reach, Backup)>, Error> {
        let mut res = Vec::new();
        for Notebook { reach, store, .. } in self.notebooks() {
            res.push((reach, store.backup(self.now).await?));
        }
        Ok(res)
    }

    /// Backs up what has none that is young enough; large files are left to `maintain`.
    pub async fn backup_if_due(&self, every_days: u32) -> Result<(), Error> {
        for Notebook { store, .. } in self.notebooks() {
            let small = std::fs::metadata(store.path()).is_ok_and(|it| it.len() < AT_ONCE);
            if small && self.backup_is_due(&store, every_days) {
                store.backup(self.now).await?;
            }
        }
        Ok(())
    }

    /// The backups of a notebook, newest first, each opened and checked.
    pub fn backups(&self, reach: Reach) -> Vec<(Backup, Result<Contents, store::Error>)> {
        let store = self.store_at(reach);
        let checked = |it: Backup| {
            let contents = store.as_ref().map(|store| store.verify_backup(&it));
            contents.map(|contents| (it, contents))
        };
        store.iter().flat_map(Store::backups).filter_map(checked).collect()
    }

    /// What the last restore set aside, opened and checked; it can be restored as `REPLACED`.
    pub fn replaced(&self, reach: Reach) -> Option<(Backup, Result<Contents, store::Error>)> {
        let store = self.store_at(reach)?;
        let backup = store.replaced().into_iter().next()?;
        let contents = store.verify_backup(&backup);
        Some((backup, contents))
    }

    /// Puts a backup in the place of the database; the one before is kept aside.
    pub fn restore_backup(&mut self, reach: Reach, name: &str) -> Result<Contents, Error> {
        let store = self.store_at(reach).ok_or_else(|| {
            Error::refused(
                "this project is not known here, so it has no backups",
                "`waylore restore-backup --user` brings back the registry that knew it",
            )
        })?;
        let named = |it: &Backup| it.name == name || it.name.trim_end_matches(".db") == name;
        let aside = || store.replaced().into_iter().find(|it| name == REPLACED || named(it));
        let backup = store.backups().into_iter().find(named).or_else(aside);
        let Some(backup) = backup else {
            return Err(Error::refused(
                format!("no backup is called `{name}`"),
                "`waylore restore-backup` lists them",
            ));
        };
        self.close_project();
        Ok(store.restore(&backup, self.now)?)
    }

    /// Encrypts every database with `to`, or decrypts them all; says how many there were.
    pub fn convert(self, to: Option<&Key>) -> Result<usize, Error> {
        let (data, now, key) = (self.data(), self.now, self.config.key.clone());
        // Nothing may hold a file that is about to be replaced.
        drop(self);
        for id in data.projects() {
            // Derived, and quicker made again than converted.
            store::remove_graph(&data.graph(id))?;
        }
        let projects = data
            .projects()
            .into_iter()
            .map(|id| Store::project(data.project(id), key.clone(), now));
        let user = Store::user(data.user(), key.clone(), now);
        let mut converted = 0;
        for store in std::iter::once(user).chain(projects).filter(Store::exists) {
            store.convert(to.cloned())?;
            converted += 1;
        }
        Ok(converted)
    }

    pub(crate) fn store_at(&self, reach: Reach) -> Option<Store> {
        match reach {
            Reach::User => Some(Store::user(self.data().user(), self.config.key.clone(), self.now)),
            Reach::Project => self.project_store(),
        }
    }
}
