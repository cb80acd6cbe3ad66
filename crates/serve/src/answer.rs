//! Requests: each reads what it needs from its line, asks the engine, and answers in the words of the wire.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use engine::{Engine, Filter, Heard, Moment, Occasion, Purpose, Question, Without};
use model::{
    Envelope, Event, Phase, ProjectPath, RecordedNote, SessionEnd, Validation, fingerprint,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::daemon::Daemon;
use crate::project::{Look, Project, lock};
use crate::sitting::Sitting;
use crate::version::is_newer;
use crate::wire::{
    self, About, Code, ContextAsk, Failure, FinishAsk, HookAsk, PROTOCOL, RecordAsk, RequestKind,
    SearchAsk, StepAsk, StopAsk, ValidateAsk,
};

/// Hits when nobody says how many, and at most.
const HITS: u32 = 10;
const MOST_HITS: u32 = 100;
/// How far an answer about code goes when nobody says.
const DEPTH: u32 = 3;
/// The most files one request may name.
const MOST_FILES: usize = 1_000;

type Answer = Result<Value, Failure>;

#[derive(Deserialize)]
struct CodeAsk {
    target: String,
    #[serde(default)]
    depth: Option<u32>,
}

impl Daemon {
    /// Answers one request.
    pub(crate) async fn answer(self: &Arc<Self>, kind: RequestKind, line: &str) -> Answer {
        self.counts.requests.fetch_add(1, Ordering::Relaxed);
        match kind {
            RequestKind::Hello => Ok(self.hello()),
            RequestKind::Ping => Ok(json!({})),
            RequestKind::Status => Ok(json!(self.status())),
            RequestKind::Stop => self.step_down(&read(line)?),
            RequestKind::Hook => self.hook(&read(line)?).await,
            RequestKind::Search => self.search(line).await,
            RequestKind::SessionContext => self.session_context(line).await,
            RequestKind::FileContext => self.file_context(line).await,
            RequestKind::StepContext => self.step_context(&read(line)?).await,
            RequestKind::Impact => self.impact(line).await,
            RequestKind::Dependencies => self.dependencies(line).await,
            RequestKind::Record => self.record(line).await,
            RequestKind::Validate => self.validate(&read(line)?).await,
            RequestKind::Finish => self.finish(&read(line)?).await,
            RequestKind::PlanContext
            | RequestKind::QaContext
            | RequestKind::RecoveryContext
            | RequestKind::SpecContext
            | RequestKind::Recipe
            | RequestKind::Prefetch
            | RequestKind::StopLimit
            | RequestKind::ModuleMap => {
                let what = format!("`{kind}` is not there yet in version {}", self.config.version);
                Err(Failure::new(Code::NotAvailable, what))
            }
        }
    }

    fn hello(&self) -> Value {
        json!({ "version": self.config.version, "protocol": PROTOCOL, "pid": std::process::id() })
    }

    fn step_down(&self, ask: &StopAsk) -> Answer {
        if let Some(version) = &ask.for_version
            && !is_newer(version, &self.config.version)
        {
            let what = format!("`{version}` is not newer than `{}`", self.config.version);
            return Err(Failure::new(Code::Refused, what));
        }
        self.stop.ask();
        Ok(self.hello())
    }

    /// What a host said: journalled, then answered, then its own log is followed.
    async fn hook(self: &Arc<Self>, ask: &HookAsk<'_>) -> Answer {
        let message = ask.message.get().as_bytes();
        let silent = || Ok(json!({ "text": null, "version": self.config.version }));
        let Some(heard) = engine::hear(message).filter(|_| ask.host == "claude-code") else {
            return Err(Failure::new(Code::Malformed, "it is no message of a host that is known"));
        };
        let project = self.project(Path::new(&heard.cwd)).await?;
        let engine = project.for_writing(&self.config).await?;
        if project.handle(&self.config, Look::Now).await.closed {
            return silent();
        }
        let root = project.root.to_string_lossy();
        let events = engine::hook_events(message, Some(&root), (self.config.now)());
        let Some(first) = events.first() else { return silent() };
        let (sitting, _) = self.sittings.begin(first.session, &project);
        let is_subagent = matches!(&first.event, Event::SessionStart(it) if it.parent.is_some());
        self.keep(&sitting, &engine, events)?;
        let text = self.said(&engine, &heard).await?;
        if !is_subagent {
            self.follow(&sitting, &engine, &heard);
        }
        Ok(json!({ "text": text, "version": self.config.version }))
    }

    async fn said(&self, engine: &Engine, heard: &Heard) -> Result<Option<String>, Failure> {
        match heard.moment {
            Moment::End | Moment::Other => return Ok(None),
            Moment::Prompt { .. } | Moment::Start { .. } => {
                // The first question of the session finds it ready.
                self.config.models.warm();
                *lock(&self.counts.asked) = Some(Instant::now());
            }
            Moment::Touched { .. } | Moment::Failed { .. } => {}
        }
        Ok(engine.attend(heard).await?)
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

    async fn search(&self, line: &str) -> Answer {
        let ask: SearchAsk = read(line)?;
        let engine = self.open(line).await?;
        let limit = ask.limit.unwrap_or(HITS).clamp(1, MOST_HITS);
        let question = Question {
            text: ask.query,
            filter: Filter::standing(limit),
            reach: None,
            phase: ask.phase.as_deref().map(phase).transpose()?,
            purpose: Purpose::Search,
            without: Without::default(),
        };
        *lock(&self.counts.asked) = Some(Instant::now());
        Ok(wire::hits(&engine.recall(&question).await?.hits))
    }

    async fn session_context(&self, line: &str) -> Answer {
        let engine = self.open(line).await?;
        let occasion = occasion(&engine, read(line)?)?;
        *lock(&self.counts.asked) = Some(Instant::now());
        Ok(wire::context(&engine.context_start(&occasion).await?))
    }

    async fn file_context(&self, line: &str) -> Answer {
        let engine = self.open(line).await?;
        let occasion = occasion(&engine, read(line)?)?;
        Ok(wire::context(&engine.context_file(&occasion).await?))
    }

    /// What a hook would say at this step of a session: each memory once.
    async fn step_context(&self, ask: &StepAsk) -> Answer {
        let sitting = self.sitting(ask.session_id).await?;
        let engine = sitting.project.handle(&self.config, Look::Now).await;
        let moment = if let Some(error) = &ask.error {
            Moment::Failed {
                tool: ask.tool.clone().unwrap_or_else(|| "other".to_owned()),
                command: ask.command.clone(),
                answer: error.clone(),
            }
        } else {
            let paths = files(&engine, &ask.files)?;
            Moment::Touched { paths: paths.iter().map(|it| it.as_str().to_owned()).collect() }
        };
        let heard = Heard {
            event: String::new(),
            session: ask.session_id.to_string(),
            cwd: engine.place.root.to_string_lossy().into_owned(),
            transcript: None,
            moment,
        };
        let said = if engine.closed { None } else { engine.attend_to(&heard).await? };
        let (text, memories) = said.unwrap_or_default();
        Ok(json!({ "text": text, "memories": memories }))
    }

    async fn impact(&self, line: &str) -> Answer {
        let ask: CodeAsk = read(line)?;
        let engine = self.open(line).await?;
        Ok(wire::impact(&engine.impact(&ask.target, ask.depth.unwrap_or(DEPTH)).await?))
    }

    async fn dependencies(&self, line: &str) -> Answer {
        let ask: CodeAsk = read(line)?;
        let engine = self.open(line).await?;
        Ok(wire::dependencies(&engine.dependencies(&ask.target, ask.depth.unwrap_or(DEPTH)).await?))
    }

    /// A note goes to the scratchpad, and becomes a memory only with its session.
    async fn record(&self, line: &str) -> Answer {
        let (ask, note): (RecordAsk, RecordedNote) = (read(line)?, read(line)?);
        let id = format!("record {}", fingerprint(&note.content));
        let sitting = self.sitting(ask.session_id).await?;
        let event = Event::Record(note);
        self.add(&sitting, ask.event_id.unwrap_or(id), event).await?;
        Ok(json!({ "kept": "scratchpad" }))
    }

    async fn validate(&self, ask: &ValidateAsk) -> Answer {
        let sitting = self.sitting(ask.session_id).await?;
        let now = (self.config.now)();
        let event = Event::Validation(Validation { kind: ask.kind, ok: ask.ok, work_unit: None });
        self.add(&sitting, format!("validate {} {} {}", ask.kind, ask.ok, now.0), event).await?;
        Ok(json!({}))
    }

    async fn finish(&self, ask: &FinishAsk) -> Answer {
        let sitting = self.sitting(ask.session_id).await?;
        let event = Event::SessionEnd(SessionEnd { outcome: ask.outcome, steps: ask.steps });
        self.add(&sitting, "end".to_owned(), event).await?;
        if !ask.wait {
            self.end(&sitting);
            return Ok(json!({ "learned": null }));
        }
        self.sittings.forget(sitting.session);
        let done = self.background.learn_now(sitting.session, &sitting.project);
        let stopping = |_| Failure::new(Code::Stopping, "the daemon is about to end");
        Ok(json!({ "learned": done.await.map_err(stopping)?? }))
    }

    async fn add(&self, sitting: &Sitting, id: String, event: Event) -> Result<(), Failure> {
        let engine = sitting.project.for_writing(&self.config).await?;
        let (session, at) = (sitting.session, (self.config.now)());
        self.keep(sitting, &engine, vec![Envelope { id, session, at, event }])
    }

    /// The engine of the project that a request is about.
    async fn open(&self, line: &str) -> Result<Engine, Failure> {
        let about: About = read(line)?;
        let project: Arc<Project> = match (&about.project, about.session_id) {
            (Some(folder), _) => self.project(Path::new(folder)).await?,
            (None, Some(session)) => Arc::clone(&self.sitting(session).await?.project),
            (None, None) => {
                let what = "say which project is meant: `project`, a folder, or `session_id`";
                return Err(Failure::new(Code::NoProject, what));
            }
        };
        Ok(project.handle(&self.config, Look::Now).await)
    }
}

fn occasion(engine: &Engine, ask: ContextAsk) -> Result<Occasion, Failure> {
    let phase = ask.phase.as_deref().map(phase).transpose()?.unwrap_or(Phase::Implement);
    let files = files(engine, &ask.files)?;
    let (task, budget, already_shown) = (ask.task, ask.budget, HashSet::new());
    Ok(Occasion { task, files, budget, already_shown, ..Occasion::of(phase) })
}

/// Files as a program names them, as those of the project; one outside of it is refused.
fn files(engine: &Engine, given: &[String]) -> Result<Vec<ProjectPath>, Failure> {
    if given.len() > MOST_FILES {
        let what = format!("a request names at most {MOST_FILES} files");
        return Err(Failure::new(Code::Refused, what));
    }
    let root = engine.place.root.clone();
    given.iter().map(|it| Ok(engine.path(Path::new(it), &root)?)).collect()
}

fn phase(word: &str) -> Result<Phase, Failure> {
    Phase::parse(word).map_err(|it| Failure::new(Code::Refused, it.to_string()))
}

fn read<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T, Failure> {
    serde_json::from_str(line).map_err(|it| Failure::new(Code::Malformed, it.to_string()))
}
