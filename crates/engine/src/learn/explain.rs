//! Why a memory is there, and what became of everything a session showed.

use model::{Memory, SessionId};
use observe::Evidence;
use store::{SessionRow, SightingRow, Store, TouchedRow};

use crate::{Engine, Error, Found};

/// The evidence chain of a memory, or what a session taught.
#[derive(Clone, Debug)]
pub enum Explained {
    Memory {
        memory: Box<Memory>,
        witnesses: Vec<Witness>,
        /// The sessions that show it only together with the others.
        sessions: Vec<Visited>,
    },
    Session(Box<Told>),
}

/// One session that speaks for a memory.
#[derive(Clone, Debug)]
pub struct Witness {
    pub sighting: SightingRow,
    pub evidence: Evidence,
    pub session: Option<SessionRow>,
}

/// A session that counts for a memory by the files it touched.
#[derive(Clone, Debug)]
pub struct Visited {
    pub session: SessionRow,
    /// Those that the memory is about, or that lie in its modules.
    pub files: Vec<TouchedRow>,
}

/// A session with everything that was seen in it.
#[derive(Clone, Debug)]
pub struct Told {
    pub session: SessionRow,
    pub files: Vec<TouchedRow>,
    pub sightings: Vec<Witness>,
}

impl Engine {
    /// Explains a memory or a session, by id or the beginning of its short form.
    pub async fn explain(&self, id: &str) -> Result<Explained, Error> {
        match self.find(id).await {
            Ok(Found { notebook, memory }) => {
                let rows = notebook.store.sightings_for(memory.id).await?;
                let witnesses = witnesses(&notebook.store, rows).await?;
                let sessions = self.visited(&notebook.store, &memory, &witnesses).await?;
                Ok(Explained::Memory { memory: Box::new(memory), witnesses, sessions })
            }
            Err(Error::NotFound { .. }) => self.explain_session(id).await,
            Err(error) => Err(error),
        }
    }

    /// What the sessions did that a memory rests on without any of them showing it alone.
    async fn visited(
        &self,
        store: &Store,
        memory: &Memory,
        witnesses: &[Witness],
    ) -> Result<Vec<Visited>, Error> {
        let map = self.modules().await?;
        let is_about = |it: &TouchedRow| {
            let module = map.of(it.path.as_str());
            memory.files.contains(&it.path) || memory.modules.iter().any(|it| it == module)
        };
        let mut acc = Vec::new();
        for id in &memory.provenance {
            if witnesses.iter().any(|it| it.sighting.session == *id) {
                continue;
            }
            let Some(session) = store.session(*id).await? else { continue };
            let mut files = store.session_files(*id).await?;
            files.retain(is_about);
            acc.push(Visited { session, files });
        }
        acc.sort_by_key(|it| (it.session.ended, it.session.id));
        Ok(acc)
    }

    /// The sessions that were learned from, in the order they ended.
    pub async fn learned_sessions(&self) -> Result<Vec<SessionRow>, Error> {
        match self.project_store().filter(Store::exists) {
            Some(store) => Ok(store.sessions().await?),
            None => Ok(Vec::new()),
        }
    }

    async fn explain_session(&self, id: &str) -> Result<Explained, Error> {
        let not_found = || Error::NotFound { id: id.to_owned() };
        let asked = id.trim().trim_start_matches('#').to_ascii_lowercase();
        let store = self.project_store().filter(Store::exists).ok_or_else(not_found)?;
        let whole: Option<SessionId> = asked.parse().ok();
        let is_meant = |it: &SessionRow| whole == Some(it.id) || it.id.short().starts_with(&asked);
        let session = store.sessions().await?.into_iter().find(is_meant).ok_or_else(not_found)?;
        let rows = store.sightings_in(session.id).await?;
        let files = store.session_files(session.id).await?;
        let sightings = rows.into_iter().map(|it| Witness {
            evidence: Evidence::read(&it.evidence),
            sighting: it,
            session: None,
        });
        Ok(Explained::Session(Box::new(Told { session, files, sightings: sightings.collect() })))
    }
}

async fn witnesses(store: &Store, rows: Vec<SightingRow>) -> Result<Vec<Witness>, Error> {
    let mut acc = Vec::new();
    for sighting in rows {
        let session = store.session(sighting.session).await?;
        acc.push(Witness { evidence: Evidence::read(&sighting.evidence), sighting, session });
    }
    Ok(acc)
}
