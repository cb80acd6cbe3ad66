//! The handle's other half: what is done to the file as a whole.

use std::path::PathBuf;
use std::sync::Arc;

use model::{MemoryId, ProjectId, Timestamp};

use super::{Size, Store};
use crate::backup::{self, Backup, Contents};
use crate::check::{self, Finding};
use crate::key::Key;
use crate::lock::Turnstile;
use crate::site::Site;
use crate::{Error, apply, convert, erase, maintain, projects, proof, restore, scrub};

impl Store {
    /// Erases memories for good, everywhere under this home.
    pub async fn erase(&self, ids: Vec<MemoryId>, now: Timestamp) -> Result<(), Error> {
        let site = Arc::clone(&self.inner.site);
        self.alone(move |db| {
            erase::intend(&site.home, &ids)?;
            erase::carry_out(&site, db, now)
        })
        .await
    }

    /// Whether this memory was erased for good, and so must not come back.
    pub async fn is_erased(&self, id: MemoryId) -> Result<bool, Error> {
        self.read(move |db| apply::is_erased(db, id)).await
    }

    /// Which of these memories were erased for good.
    pub async fn erased(&self, ids: Vec<MemoryId>) -> Result<Vec<MemoryId>, Error> {
        self.read(move |db| {
            let mut res = Vec::new();
            for id in ids {
                if apply::is_erased(db, id)? {
                    res.push(id);
                }
            }
            Ok(res)
        })
        .await
    }

    /// Whether anything of these memories is left in the database, a backup or what a restore set
    /// aside: the proof of an erasure, which for encrypted files no look at the bytes can give.
    /// A copy that cannot be opened proves nothing and is an error.
    pub async fn holds(&self, ids: Vec<MemoryId>) -> Result<bool, Error> {
        let site = Arc::clone(&self.inner.site);
        self.alone(move |db| proof::holds(&site, db, &ids)).await
    }

    /// Copies that had to be deleted since this handle was made: they could not be opened or were
    /// damaged, so nothing could be taken out of them.
    pub fn dropped(&self) -> Vec<PathBuf> {
        self.inner.site.dropped()
    }

    /// Cleans every stored text with `clean` (which returns `None` to leave it); for secrets found late.
    pub async fn scrub(
        &self,
        clean: impl Fn(&str) -> Option<String> + Send + 'static,
    ) -> Result<Vec<MemoryId>, Error> {
        let site = Arc::clone(&self.inner.site);
        self.alone(move |db| scrub::scrub(&site, db, &clean)).await
    }

    /// Takes a project out of the registry and of every copy of it.
    pub async fn erase_project(&self, project: ProjectId) -> Result<(), Error> {
        self.drop_project(project).await?;
        let site = Arc::clone(&self.inner.site);
        self.alone(move |db| {
            restore::empty_log(db)?;
            erase::clean_copies(&site, |copy| projects::take_out(copy, project))
        })
        .await
    }

    /// Removes memories that were forgotten long ago.
    pub async fn remove(&self, ids: Vec<MemoryId>) -> Result<(), Error> {
        self.write(move |db| erase::remove(db, &ids)).await
    }

    pub async fn backup(&self, now: Timestamp) -> Result<Backup, Error> {
        let site = Arc::clone(&self.inner.site);
        self.alone(move |db| backup::make(&site, db, now)).await
    }

    /// Newest first; those made before a migration come last.
    pub fn backups(&self) -> Vec<Backup> {
        backup::list(&self.inner.site.home)
    }

    /// What the last restore set aside; it can be restored like a backup.
    pub fn replaced(&self) -> Vec<Backup> {
        backup::replaced(&self.inner.site.home).into_iter().collect()
    }

    /// Opens a backup and checks every row of it.
    pub fn verify_backup(&self, backup: &Backup) -> Result<Contents, Error> {
        backup::verify(&self.inner.site, &backup.path)
    }

    /// Puts a backup in the place of the database. Works when the database cannot be opened at all,
    /// so it goes past the writer. Other handles notice, and go on with what was restored.
    pub fn restore(self, backup: &Backup, now: Timestamp) -> Result<Contents, Error> {
        self.replace(|site| {
            let contents = restore::stage(site, &backup.path, now)?;
            restore::finish(&site.home)?;
            Ok(contents)
        })
    }

    /// Encrypts the database and its backups with another key, or decrypts them; nothing is left in
    /// the old form. Handles with the old key are of no use afterwards. Returns the copies that were
    /// dropped: those no known key opens, and what an earlier restore had set aside.
    pub fn convert(self, to: Option<Key>) -> Result<Vec<PathBuf>, Error> {
        if !self.exists() {
            return Ok(Vec::new());
        }
        self.replace(|site| convert::convert(site, to).map(|()| site.dropped()))
    }

    fn replace<T>(self, body: impl FnOnce(&Site) -> Result<T, Error>) -> Result<T, Error> {
        let site = Arc::clone(&self.inner.site);
        drop(self);
        site.home.prepare()?;
        let turnstile = Turnstile::open(&site.home)?;
        let _turn = turnstile.enter()?;
        body(&site)
    }

    /// The complete examination. The search index can only be asked by who may write.
    pub async fn examine(&self) -> Result<Vec<Finding>, Error> {
        let site = Arc::clone(&self.inner.site);
        let mut res = self
            .read(move |db| {
                let mut res = check::against_mark(db, &site.home)?;
                res.extend(check::examine(db, site.schema)?);
                Ok(res)
            })
            .await?;
        match self.alone(|db| Ok(check::search_index(db))).await {
            Ok(finding) => res.extend(finding),
            Err(Error::ReadOnly { .. } | Error::Denied { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(res)
    }

    /// Mends what can be mended: rebuilds indexes, brings back damaged rows from backups that hold
    /// exactly what was saved, and takes note of losses. Returns what was done, in sentences.
    pub async fn mend(&self, now: Timestamp) -> Result<Vec<String>, Error> {
        let site = Arc::clone(&self.inner.site);
        self.alone(move |db| maintain::mend(&site, db, now)).await
    }

    /// Gives back free space when it is worth it; says how many bytes that gained.
    pub async fn compact(&self, always: bool) -> Result<u64, Error> {
        self.alone(move |db| maintain::compact(db, always)).await
    }

    pub async fn size(&self) -> Result<Size, Error> {
        let home = self.inner.site.home.clone();
        self.read(move |db| maintain::size(db, &home)).await
    }
}
