//! Journals of sessions that are going on: written before anything else, folded when the session ends.

use model::{DAY, DEFERRED_DAYS, Envelope, Event, Excerpt};
use source::Transcript;
use store::Store;

use super::Learned;
use crate::{Engine, Error, Reach};

impl Engine {
    /// Keeps events of one session, secrets masked. Those that end a step are on the disk when this returns.
    pub async fn journal(&mut self, events: &[Envelope]) -> Result<(), Error> {
        self.refuse_closed()?;
        let Some(first) = events.first() else { return Ok(()) };
        let (session, mut lines, mut durable) = (first.session, String::new(), false);
        for event in events.iter().filter(|it| it.session == session) {
            durable |= matches!(event.event, Event::StepComplete(_) | Event::SessionEnd(_));
            lines.push_str(&masked(event.clone()).line());
            lines.push('\n');
        }
        let notebook = self.notebook(Reach::Project).await?;
        Ok(notebook.store.journal(session, &lines, durable)?)
    }

    /// The journals of this project, as transcripts to learn from.
    pub fn journals(&self) -> Vec<Transcript> {
        let store = self.project_store().filter(Store::exists);
        let all = store.map(|it| it.journals()).unwrap_or_default();
        all.into_iter().map(|it| Transcript { path: it.1, subagent: None }).collect()
    }

    /// Removes the journal of a session that was learned, unless what was seen in it still waits.
    pub fn close_journal(&self, learned: &Learned) -> Result<(), Error> {
        let Some(store) = self.project_store().filter(Store::exists) else { return Ok(()) };
        let old = self.now.since(learned.session.ended) > i64::from(DEFERRED_DAYS) * DAY;
        if learned.session.validated.is_some() || old {
            store.remove_journal(learned.session.id)?;
        }
        Ok(())
    }
}

/// The event with the secrets in its texts masked.
fn masked(mut envelope: Envelope) -> Envelope {
    let clean = |text: &mut String| {
        if !secrets::scan(text).is_empty() {
            *text = secrets::redact(text).text;
        }
    };
    match &mut envelope.event {
        Event::SessionStart(it) => it.task.iter_mut().for_each(clean),
        Event::UserMessage(it) => clean(&mut it.text),
        Event::Reasoning(it) => clean(&mut it.text),
        Event::Record(it) => clean(&mut it.content),
        Event::ToolCall(it) => {
            let args = &mut it.args;
            [&mut args.command, &mut args.query, &mut args.url]
                .into_iter()
                .flatten()
                .for_each(clean);
        }
        Event::ToolResult(it) => {
            let mut text = it.excerpt.as_str().to_owned();
            clean(&mut text);
            it.excerpt = Excerpt::new(text);
        }
        Event::StepComplete(_)
        | Event::Validation(_)
        | Event::Compaction(_)
        | Event::SessionEnd(_) => {}
    }
    envelope
}
