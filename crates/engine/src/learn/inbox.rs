//! Inbox: stores events that hooks deliver while no daemon is running.
//!
//! A hook process must be fast, so it appends the events to a file of the inbox without opening the
//! project. The next daemon, or `waylore learn`, moves them into the journals of their projects.

use std::path::{Path, PathBuf};

use agents::{HookMessage, Host};
use model::{DAY_MS, DEFERRED_DAYS, Event, EventEnvelope, SessionId, Timestamp};
use store::{DataDir, EncryptionKey, Inbox, JournalDurability, MaskedEvent};

use super::journal::mask_event;
use crate::{Error, NotebookScope, Project};

/// A session with events in the inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxSession {
    pub session: SessionId,
    /// The folder in which the session was started.
    pub root: PathBuf,
}

/// Stores the events of a hook message in the inbox, with secrets masked, and encrypted if there is a
/// key. Opens no database. The search for the project root does not go above `home`.
pub fn store_in_inbox(
    data: &Path,
    key: Option<&EncryptionKey>,
    home: Option<&Path>,
    (host, message): (&Host, &HookMessage),
    now: Timestamp,
) -> Result<(), Error> {
    let place = source::locate_project(Path::new(&message.cwd), home).ok();
    let root = place.map(|it| it.root.to_string_lossy().into_owned());
    let events = host.build_journal_events(message, root.as_deref(), now);
    // The first event starts the session; the inbox writes it only if the file is new.
    let Some((first, rest)) = events.split_first() else { return Ok(()) };
    let session = first.session;
    let (first, rest) = (mask_event(first.clone())?, rest.iter().cloned().map(mask_event));
    let rest = rest.collect::<Result<Vec<MaskedEvent>, Error>>()?;
    Inbox::in_data_dir(&DataDir::new(data), key).append(session, &first, &rest)?;
    Ok(())
}

/// Lists the sessions in the inbox. Removes entries without a project root, and those that no
/// process has imported for days.
pub fn list_inbox(data: &Path, key: Option<&EncryptionKey>, now: Timestamp) -> Vec<InboxSession> {
    let inbox = Inbox::in_data_dir(&DataDir::new(data), key);
    // After this time commits can no longer validate a session, so its events are of no use.
    inbox.remove_older_than(Timestamp(now.0 - i64::from(DEFERRED_DAYS) * DAY_MS));
    let mut acc = Vec::new();
    for session in inbox.list_sessions() {
        // Without its key a session stays in the inbox.
        let Ok(text) = inbox.read(session) else { continue };
        match find_project_root(&text) {
            Some(root) => acc.push(InboxSession { session, root }),
            // No project can import it. If the removal fails, the next listing tries again.
            None => _ = inbox.remove(session),
        }
    }
    acc
}

/// Moves the events of a session of this project from the inbox into its journal.
pub(crate) async fn import_inbox_session(
    project: &mut Project,
    waiting: &InboxSession,
) -> Result<(), Error> {
    let (inbox, session) = (open_inbox(project), waiting.session);
    // The user turned memory off after the events arrived, so they must not be stored.
    if project.is_memory_disabled() {
        return Ok(inbox.remove(session)?);
    }
    let notebook = project.ensure_notebook(NotebookScope::Project).await?;
    let store = project.notebook_writer(&notebook);
    inbox.take(session, |text| -> Result<(), Error> {
        // A full disk can leave an incomplete last line, which is no event.
        let events = text.lines().filter_map(|it| EventEnvelope::parse_line(it).ok());
        let events = events.map(mask_event).collect::<Result<Vec<MaskedEvent>, Error>>()?;
        Ok(store.journal_writer().append(session, &events, JournalDurability::Synced)?)
    })
}

/// Removes the inbox entries of this project.
pub(crate) fn clear_project_inbox(project: &Project) -> Result<(), Error> {
    let inbox = open_inbox(project);
    let key = project.config.key.as_ref();
    for it in list_inbox(&project.config.data, key, project.now) {
        if it.root.starts_with(&project.place.root) {
            inbox.remove(it.session)?;
        }
    }
    Ok(())
}

/// The inbox of the data folder that a project is in.
pub(crate) fn open_inbox(project: &Project) -> Inbox {
    Inbox::in_data_dir(&project.data_dir(), project.config.key.as_ref())
}

/// Finds the root that the first readable event, a session start, names.
fn find_project_root(text: &str) -> Option<PathBuf> {
    let event = text.lines().find_map(|it| EventEnvelope::parse_line(it).ok())?.event;
    match event {
        Event::SessionStart(it) => Some(PathBuf::from(it.project_root)),
        // The start was lost, and with it the root.
        _ => None,
    }
}
