//! Explanations for `waylore explain`: the evidence behind a memory or a finding, or what a session showed
//! and what became of it. Reads the sightings and sessions that lessons stored. A *sighting* is one
//! occurrence of a pattern in one session; its *signal* is the kind of pattern. A *finding* is the fix of an
//! error that is no memory yet. A memory's *provenance* lists the sessions it comes from.

use model::{DropReason, Memory, MemoryId, MemoryStatus, SessionId, SignalKind};
use observe::{ClaimEvidence, Evidence, ModuleLookup};
use store::{SessionRow, SightingRow, StoreReader};

use super::candidates::parse_evidence;
use super::{SessionFile, SessionSummary, load_module_lookup};
use crate::finding::find_finding;
use crate::lookup::{MIN_PREFIX_CHARS, find_by_id};
use crate::{Error, Finding, LocatedMemory, ProjectReader};

/// The evidence of a memory or a finding, or everything that a session showed.
#[derive(Clone, Debug)]
pub enum Explanation {
    Memory {
        memory: Box<Memory>,
        sightings: Vec<ExplainedSighting>,
        /// Sessions without a sighting of their own, for a memory that only many sessions together
        /// show.
        sessions: Vec<ContributingSession>,
    },
    Session(Box<SessionExplanation>),
    /// The fix of an error that is no memory yet.
    Finding(Box<Finding>),
}

/// A pattern seen in a session, and its outcome.
#[derive(Clone, Debug)]
pub struct ExplainedSighting {
    pub signal: SignalKind,
    /// The stored form of its pattern key.
    pub key: String,
    /// Number of times that the session showed it.
    pub times: u32,
    /// Text from outside the project may have influenced it.
    pub tainted: bool,
    pub evidence: Evidence,
    /// The memory that it supports.
    pub memory: Option<MemoryId>,
    /// Status and text of that memory; `None` without one, or if it was erased.
    pub memory_now: Option<(MemoryStatus, String)>,
    /// The reason why it became no memory, and the details.
    pub dropped: Option<(DropReason, String)>,
    pub session_id: SessionId,
    /// `None` where a session is explained, because it is the same for all sightings.
    pub session: Option<SessionSummary>,
}

impl ExplainedSighting {
    pub(crate) fn from_row(
        row: SightingRow,
        memory: Option<&Memory>,
        session: Option<SessionRow>,
    ) -> Self {
        Self {
            memory_now: memory.map(|it| (it.status(), it.content.clone())),
            evidence: parse_evidence(&row),
            signal: row.signal,
            key: row.key,
            times: row.times,
            tainted: row.tainted,
            memory: row.memory,
            dropped: row.dropped,
            session_id: row.session,
            session: session.map(Into::into),
        }
    }
}

/// A session that supports a memory by the files it touched.
#[derive(Clone, Debug)]
pub struct ContributingSession {
    pub session: SessionSummary,
    /// Touched files that the memory names, or that are in its modules.
    pub files: Vec<SessionFile>,
}

/// A session with everything that was seen in it.
#[derive(Clone, Debug)]
pub struct SessionExplanation {
    pub session: SessionSummary,
    pub files: Vec<SessionFile>,
    pub sightings: Vec<ExplainedSighting>,
}

/// Explains a memory, a finding or a session, given its id or a prefix of its short id; the first that
/// matches, in this order.
pub(crate) async fn explain(reader: &ProjectReader, id: &str) -> Result<Explanation, Error> {
    match find_by_id(reader, id).await {
        Ok(LocatedMemory { notebook, memory }) => {
            let store = &notebook.store;
            let mut sightings = Vec::new();
            for row in store.learning().sightings_for_memory(memory.id).await? {
                let session = store.learning().get_session(row.session).await?;
                sightings.push(ExplainedSighting::from_row(row, Some(&memory), session));
            }
            let modules = load_module_lookup(reader).await?;
            let sessions = contributing_sessions(store, &memory, &sightings, &modules).await?;
            Ok(Explanation::Memory { memory: Box::new(memory), sightings, sessions })
        }
        Err(Error::NotFound { .. }) => match find_finding(reader, id).await? {
            Some(finding) => Ok(Explanation::Finding(Box::new(finding))),
            None => explain_session(reader, id).await,
        },
        // Refused as the id of a memory. The id that a host gives a session may have any form, so it may
        // still be one.
        Err(refused @ Error::Refused { .. }) => match explain_session(reader, id).await {
            Err(Error::NotFound { .. }) => Err(refused),
            explained => explained,
        },
        Err(error) => Err(error),
    }
}

/// A claim behind a memory, and the session in which it was made.
#[derive(Clone, Debug)]
pub struct ClaimSighting {
    pub claim: ClaimEvidence,
    pub session_id: SessionId,
    /// `None` if the session is no longer known.
    pub session: Option<SessionSummary>,
}

/// The claims that a memory comes from, oldest first.
pub(crate) async fn claims_of_memory(
    reader: &ProjectReader,
    memory: MemoryId,
) -> Result<Vec<ClaimSighting>, Error> {
    let Some(store) = reader.project_store_reader().filter(StoreReader::exists) else {
        return Ok(Vec::new());
    };
    let mut acc = Vec::new();
    for row in store.learning().sightings_for_memory(memory).await? {
        let Evidence::Claim(claim) = parse_evidence(&row) else { continue };
        let session = store.learning().get_session(row.session).await?.map(Into::into);
        acc.push(ClaimSighting { claim: *claim, session_id: row.session, session });
    }
    Ok(acc)
}

/// The learned sessions, in the order they ended.
pub(crate) async fn learned_sessions(reader: &ProjectReader) -> Result<Vec<SessionSummary>, Error> {
    let Some(store) = reader.project_store_reader().filter(StoreReader::exists) else {
        return Ok(Vec::new());
    };
    Ok(store.learning().list_sessions().await?.into_iter().map(Into::into).collect())
}

/// The sessions of a memory's provenance that have no sighting of it.
async fn contributing_sessions(
    store: &StoreReader,
    memory: &Memory,
    sightings: &[ExplainedSighting],
    modules: &ModuleLookup,
) -> Result<Vec<ContributingSession>, Error> {
    let is_about = |it: &SessionFile| {
        let module = modules.module_of_file(it.path.as_str());
        memory.files.contains(&it.path) || memory.modules.iter().any(|it| it == module)
    };
    let mut acc = Vec::new();
    for id in &memory.provenance {
        // Listed with its sighting already.
        if sightings.iter().any(|it| it.session_id == *id) {
            continue;
        }
        // The session was erased, or the memory was imported from another project.
        let Some(session) = store.learning().get_session(*id).await? else { continue };
        let files = store.learning().files_of_session(*id).await?;
        let files = files.into_iter().map(SessionFile::from).filter(is_about).collect();
        acc.push(ContributingSession { session: session.into(), files });
    }
    acc.sort_by_key(|it| (it.session.ended, it.session.id));
    Ok(acc)
}

/// Returns whether a word is a beginning or the end of a session's id, with or without hyphens.
fn is_session_named(session: &SessionRow, word: &str) -> bool {
    let id = session.id.to_string().replace('-', "");
    let part = word.replace('-', "");
    let is_part = part.len() >= MIN_PREFIX_CHARS && (id.starts_with(&part) || id.ends_with(&part));
    // The short id is the end of the full one; a beginning of it is enough.
    let is_short = part.len() >= MIN_PREFIX_CHARS && session.id.short().starts_with(&part);
    is_part || is_short
}

/// Explains the session with this id: that of the host, or a part of Waylore's own. Refuses a part that
/// several sessions share.
async fn explain_session(reader: &ProjectReader, id: &str) -> Result<Explanation, Error> {
    let not_found = || Error::NotFound { id: id.to_owned() };
    // Waylore's ids are in lower case. That of the host is hashed as it was given.
    let wanted = id.trim().trim_start_matches('#').to_ascii_lowercase();
    let store = reader.project_store_reader().filter(StoreReader::exists).ok_or_else(not_found)?;
    let mut sessions = store.learning().list_sessions().await?;
    sessions.retain(|it| is_session_named(it, &wanted) || it.id == agents::derive_session_id(id));
    if sessions.len() > 1 {
        let ids: Vec<String> = sessions.iter().map(|it| it.id.to_string()).collect();
        let what = format!("`{wanted}` matches {} sessions: {}", ids.len(), ids.join(", "));
        return Err(Error::refuse(what, "give more characters of the id"));
    }
    let session = sessions.pop().ok_or_else(not_found)?;
    let rows = store.learning().sightings_in_session(session.id).await?;
    let files = store.learning().files_of_session(session.id).await?;
    let memories =
        store.memories().get_many(rows.iter().filter_map(|it| it.memory).collect()).await?;
    let explained = |row: SightingRow| {
        let memory = memories.iter().find(|it| Some(it.id) == row.memory);
        ExplainedSighting::from_row(row, memory, None)
    };
    Ok(Explanation::Session(Box::new(SessionExplanation {
        session: session.into(),
        files: files.into_iter().map(Into::into).collect(),
        sightings: rows.into_iter().map(explained).collect(),
    })))
}
