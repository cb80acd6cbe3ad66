//! What hooks left while nobody was there to take it: kept without knowing the project, taken in later.

use std::path::{Path, PathBuf};

use agents::Host;
use model::{DAY, DEFERRED_DAYS, Envelope, Event, SessionId, Timestamp};
use store::{DataDir, Inbox};

use super::journal::masked_line;
use crate::{Engine, Error, Reach};

/// A session that left something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub session: SessionId,
    /// The folder it was started in.
    pub root: PathBuf,
}

/// Keeps what a host's message says, secrets masked, for whoever comes to take it. Nothing else is
/// opened; `home` is above which no project is looked for.
pub fn keep_for_later(
    data: &Path,
    home: Option<&Path>,
    (host, message): (&Host, &[u8]),
    now: Timestamp,
) -> Result<(), Error> {
    let Some(heard) = host.hear(message) else { return Ok(()) };
    let place = source::locate(Path::new(&heard.cwd), home).ok();
    let root = place.map(|it| it.root.to_string_lossy().into_owned());
    let events = host.events(message, root.as_deref(), now);
    let Some((first, rest)) = events.split_first() else { return Ok(()) };
    let lines: String = rest.iter().map(masked_line).collect();
    Inbox::of(&DataDir::new(data)).add(first.session, &masked_line(first), &lines)?;
    Ok(())
}

/// The sessions that left something and where they belong. What does not say where is removed, and what
/// nobody could take in for days: it is of no use to anybody.
pub fn waiting(data: &Path, now: Timestamp) -> Vec<Waiting> {
    let inbox = Inbox::of(&DataDir::new(data));
    inbox.forget(Timestamp(now.0 - i64::from(DEFERRED_DAYS) * DAY));
    let mut acc = Vec::new();
    for session in inbox.waiting() {
        match inbox.read(session).ok().and_then(|it| root_of(&it)) {
            Some(root) => acc.push(Waiting { session, root }),
            // One that cannot be removed is met again the next time.
            None => _ = inbox.remove(session),
        }
    }
    acc
}

impl Engine {
    /// Takes what a session of this project left into its journal.
    pub async fn take_in(&mut self, waiting: &Waiting) -> Result<(), Error> {
        if self.closed {
            return Ok(Inbox::of(&self.data()).remove(waiting.session)?);
        }
        let store = self.notebook(Reach::Project).await?.store;
        let session = waiting.session;
        Inbox::of(&self.data()).take(session, |text| -> Result<(), Error> {
            // Half a line is what a full disk leaves; it is of no use.
            let whole = text.rfind('\n').map_or("", |it| &text[..=it]);
            Ok(store.journal(session, whole, true)?)
        })
    }

    /// Removes what sessions of this project left.
    pub(crate) fn drop_waiting(&self) -> Result<(), Error> {
        let inbox = Inbox::of(&self.data());
        for it in waiting(&self.config.data, self.now) {
            if it.root.starts_with(&self.place.root) {
                inbox.remove(it.session)?;
            }
        }
        Ok(())
    }
}

fn root_of(text: &str) -> Option<PathBuf> {
    let event = text.lines().find_map(|it| Envelope::read(it).ok())?.event;
    match event {
        Event::SessionStart(it) => Some(PathBuf::from(it.project_root)),
        _ => None,
    }
}
