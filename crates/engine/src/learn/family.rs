//! What a session cannot know by itself: what its siblings did. Subagents of one parent work at the same
//! time, each with a journal of its own; together they are one session.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::{ProjectPath, RecordedNote, SessionId};
use observe::{Session, Sighting};
use recall::frame;
use store::{SessionRow, SightingRow, Store};

use crate::{Engine, Error};

/// A note that a sibling recorded and that is no memory yet.
#[derive(Clone, Debug, PartialEq)]
pub struct SiblingNote {
    pub session: SessionId,
    pub note: RecordedNote,
}

/// In how many sessions a pattern was seen, and whether several agents of this one saw it.
pub(super) struct Families {
    pub(super) n_sessions: u32,
    pub(super) quorum: bool,
}

impl Families {
    /// Counts the sessions in `rows` that hold, and this one. Siblings are one session.
    pub(super) fn of(
        session: &Session,
        rows: &[SightingRow],
        holding: &HashMap<SessionId, SessionRow>,
    ) -> Self {
        let others: Vec<&SessionRow> =
            rows.iter().filter_map(|it| holding.get(&it.session)).collect();
        let mut families: HashSet<SessionId> =
            others.iter().map(|it| it.parent.unwrap_or(it.id)).collect();
        families.insert(session.parent.unwrap_or(session.id));
        let quorum =
            session.parent.is_some() && others.iter().any(|it| it.parent == session.parent);
        Self { n_sessions: u32::try_from(families.len()).unwrap_or(u32::MAX), quorum }
    }
}

/// Files that a sibling edited as well.
pub(super) async fn conflicts(store: &Store, session: &Session) -> Result<Vec<Sighting>, Error> {
    let Some(parent) = session.parent else { return Ok(Vec::new()) };
    let mut siblings: BTreeMap<SessionId, Vec<ProjectPath>> = BTreeMap::new();
    for (sibling, path) in store.edited_by_children(parent).await? {
        if sibling != session.id {
            siblings.entry(sibling).or_default().push(path);
        }
    }
    let siblings: Vec<Vec<ProjectPath>> = siblings.into_values().collect();
    Ok(observe::parallel_conflicts(session, &siblings))
}

/// Whether a sibling of this session made a memory.
pub(super) async fn by_sibling(
    store: &Store,
    session: &Session,
    maker: Option<SessionId>,
) -> Result<bool, Error> {
    let (Some(parent), Some(maker)) = (session.parent, maker.filter(|it| *it != session.id)) else {
        return Ok(false);
    };
    Ok(store.session(maker).await?.is_some_and(|it| it.parent == Some(parent)))
}

/// The notes as a model may be shown them: as data, each with the session that took it.
pub fn framed_notes(notes: &[SiblingNote]) -> String {
    let line = |it: &SiblingNote| {
        let label = it.note.kind.core().map_or("NOTE", |it| it.row().label);
        let (id, remarks) = (it.session.short(), ["a sibling's, not yet checked".to_owned()]);
        frame::line(&frame::Note { label, text: &it.note.content, id: &id, remarks: &remarks })
    };
    let lines: Vec<String> = notes.iter().map(line).collect();
    format!("{}\n{}\n{}", frame::HEAD, lines.join("\n"), frame::FOOT)
}

impl Engine {
    /// What the siblings of a session that is going on have recorded so far, oldest session first. Only
    /// their journals are read; nothing can be written this way.
    pub fn sibling_notes(&self, session: SessionId) -> Result<Vec<SiblingNote>, Error> {
        let mut pads = Vec::new();
        for it in self.journals() {
            // A journal may be learned and removed while the others are read.
            if let Ok(Some(read)) = self.read_transcript(&it) {
                pads.push(read.pad);
            }
        }
        let Some(own) = pads.iter().find(|it| it.session == Some(session)) else {
            return Err(Error::NotFound { id: session.to_string() });
        };
        let parent = own.parent;
        let is_sibling = |it: &&observe::Scratchpad| {
            parent.is_some() && it.parent == parent && it.session != Some(session)
        };
        let mut siblings: Vec<&observe::Scratchpad> = pads.iter().filter(is_sibling).collect();
        siblings.sort_by_key(|it| (it.started, it.session));
        let mut acc = Vec::new();
        for pad in siblings {
            let Some(session) = pad.session else { continue };
            let notes = pad.notes.iter().map(|it| it.1.clone());
            acc.extend(notes.map(|note| SiblingNote { session, note }));
        }
        Ok(acc)
    }
}
