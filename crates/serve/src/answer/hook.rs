//! A hook of a host: what it said is journalled, it is told what there is to tell, and its own log is
//! followed afterwards.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::{Engine, Heard, Moment, StepAsked, Telling};
use model::{Event, Timestamp};
use serde_json::json;
use tokio::time::Instant;

use super::{Answer, RECENT, may_be_said};
use crate::daemon::Daemon;
use crate::project::{Look, lock};
use crate::sitting::{Sitting, Steps};
use crate::wire::{Code, Failure, HookAsk};

impl Daemon {
    /// What a host said: journalled, then answered, then its own log is followed.
    pub(super) async fn hook(self: &Arc<Self>, ask: &HookAsk<'_>) -> Answer {
        let message = ask.message.get().as_bytes();
        let silent = || Ok(json!({ "text": null, "version": self.config.version }));
        let host = engine::host(&ask.host);
        let Some((host, heard)) = host.and_then(|it| Some((it, it.hear(message)?))) else {
            return Err(Failure::new(Code::Malformed, "it is no message of a host that is known"));
        };
        let project = self.project(Path::new(&heard.cwd)).await?;
        let engine = project.for_writing(&self.config).await?;
        if project.handle(&self.config, Look::Now).await.closed {
            return silent();
        }
        let root = project.root.to_string_lossy();
        let events = host.events(message, Some(&root), (self.config.now)());
        let Some(first) = events.first() else { return silent() };
        let (sitting, _) = self.sittings.begin(first.session, &project);
        let is_subagent = matches!(&first.event, Event::SessionStart(it) if it.parent.is_some());
        let again = sitting.hears_again(ask.message.get());
        self.keep(&sitting, &engine, events)?;
        if again {
            return silent();
        }
        let text = self.said(&engine, &heard, &sitting).await?;
        if !is_subagent {
            self.follow(&sitting, &engine, &heard);
        }
        Ok(json!({ "text": text, "version": self.config.version }))
    }

    async fn said(
        &self,
        engine: &Engine,
        heard: &Heard,
        sitting: &Sitting,
    ) -> Result<Option<String>, Failure> {
        if let Moment::Prompt { text } = &heard.moment {
            sitting.about(text);
        }
        match heard.moment {
            Moment::End | Moment::Other => return Ok(None),
            Moment::Prompt { .. } | Moment::Start { .. } => {
                // The first question of the session finds it ready.
                self.config.models.warm();
                *lock(&self.counts.asked) = Some(Instant::now());
            }
            Moment::Touched { .. }
            | Moment::Failed { .. }
            | Moment::Ran { .. }
            | Moment::Step { .. } => {}
        }
        let telling = engine.attend_to(heard).await?;
        self.look_into(engine, &telling);
        let step = self.step_of(engine, heard, sitting);
        if !telling.text.is_empty() {
            return Ok(Some(telling.text));
        }
        let Some(asked) = step.filter(may_be_said) else { return Ok(None) };
        let context = engine.context_step(&asked).await?;
        engine.said_at_step(&asked, &context)?;
        Ok((!context.text.is_empty()).then_some(context.text))
    }

    /// The end of a step, as the decider wants to know it.
    fn step_of(&self, engine: &Engine, heard: &Heard, sitting: &Sitting) -> Option<StepAsked> {
        let Moment::Step { paths, searches, commands, .. } = &heard.moment else { return None };
        let (by_shell, searched) = engine::by_shell(commands);
        let paths = [paths.as_slice(), &by_shell].concat();
        let files = engine.files_named(&paths, &heard.cwd);
        let Steps { number, task, touched } = sitting.step(&files);
        Some(StepAsked {
            session: heard.session.clone(),
            number,
            level: engine.manners.level,
            task,
            files,
            touched,
            searches: [searches.as_slice(), &searched].concat(),
            since: Timestamp((self.config.now)().0 - RECENT),
        })
    }

    /// After the answer: what would have been said, if what it speaks of were not gone, is put up for
    /// review.
    pub(super) fn look_into(&self, engine: &Engine, telling: &Telling) {
        let withheld = telling.withheld();
        if withheld.is_empty() {
            return;
        }
        let (engine, background) = (engine.clone(), Arc::clone(&self.background));
        tokio::spawn(async move {
            if let Err(error) = engine.put_up(&withheld).await {
                background.note(format!("a memory of something that is gone stays: {error}"));
            }
        });
    }

    /// Reads on in the host's log, after the answer; when the session has ended, to its end, and then
    /// it is learned from.
    fn follow(self: &Arc<Self>, sitting: &Arc<Sitting>, engine: &Engine, heard: &Heard) {
        let has_ended = heard.moment == Moment::End;
        let transcript = heard.transcript.as_ref().map(PathBuf::from);
        let (daemon, sitting, engine) = (Arc::clone(self), Arc::clone(sitting), engine.clone());
        tokio::task::spawn_blocking(move || {
            let followed = transcript.map(|it| sitting.follow(&engine, &it, has_ended));
            match followed {
                Some(Ok(true)) => daemon.sync_soon(sitting.session, &engine),
                Some(Err(why)) => daemon.background.note(why.message),
                Some(Ok(false)) | None => {}
            }
            if has_ended {
                daemon.end(&sitting);
            }
        });
    }
}
