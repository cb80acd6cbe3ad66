//! Requests: each reads what it needs from its line, asks the engine, and answers in the words of the wire.

mod hook;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use engine::{
    Engine, Filter, Heard, Moment, Occasion, Pipeline, Purpose, Question, StepAsked, Without,
};
use model::{
    Envelope, Event, MemoryId, Phase, ProjectPath, RecordedNote, SessionEnd, Tier, Timestamp,
    Validation, fingerprint,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::background::Task;
use crate::daemon::Daemon;
use crate::project::{Look, Project, lock};
use crate::sitting::Sitting;
use crate::version::is_newer;
use crate::wire::{
    self, About, Code, CodeAsk, ContextAsk, Failure, FinishAsk, LimitAsk, MapAsk, PROTOCOL,
    PrefetchAsk, RecipeAsk, RecordAsk, RequestKind, SearchAsk, StepAsk, StopAsk, ValidateAsk,
};

/// Hits when nobody says how many, and at most.
const HITS: u32 = 10;
const MOST_HITS: u32 = 100;
/// How far an answer about code goes when nobody says.
const DEPTH: u32 = 3;
/// Files named when nobody says how many.
const PREFETCHED: usize = 12;
/// Notes recorded in the last so many milliseconds count as recorded in this step.
const RECENT: i64 = 60_000;
/// The most files one request may name.
const MOST_FILES: usize = 1_000;

type Answer = Result<Value, Failure>;

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
            RequestKind::PlanContext => self.pipeline(line, Pipeline::Plan).await,
            RequestKind::QaContext => self.pipeline(line, Pipeline::Qa).await,
            RequestKind::RecoveryContext => self.pipeline(line, Pipeline::Recovery).await,
            RequestKind::SpecContext => self.pipeline(line, Pipeline::Spec).await,
            RequestKind::Recipe => self.recipe(line).await,
            RequestKind::Prefetch => self.prefetch(line).await,
            RequestKind::StopLimit => self.stop_limit(line).await,
            RequestKind::ModuleMap => self.module_map(line).await,
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

    async fn search(&self, line: &str) -> Answer {
        let ask: SearchAsk = read(line)?;
        let engine = self.open(line).await?;
        let limit = ask.limit.unwrap_or(HITS).clamp(1, MOST_HITS);
        let mut at_hand = files(&engine, &ask.files)?;
        if let Some(session) = read::<About>(line)?.session_id
            && let Ok(sitting) = self.sitting(session).await
        {
            at_hand.extend(sitting.at_hand());
        }
        let question = Question {
            text: ask.query,
            files: at_hand,
            filter: Filter::standing(limit),
            reach: None,
            phase: ask.phase.as_deref().map(phase).transpose()?,
            purpose: Purpose::Search,
            without: Without::default(),
        };
        *lock(&self.counts.asked) = Some(Instant::now());
        Ok(wire::hits(&engine.recall(&question).await?.hits))
    }

    /// Of a session: what it has not heard yet.
    async fn session_context(&self, line: &str) -> Answer {
        let engine = self.open(line).await?;
        let occasion = occasion(&engine, read(line)?, None)?;
        *lock(&self.counts.asked) = Some(Instant::now());
        Ok(wire::context(&match session(line)? {
            Some(session) => engine.tell_start(&session, occasion).await?,
            None => engine.context_start(&occasion).await?,
        }))
    }

    async fn file_context(&self, line: &str) -> Answer {
        let engine = self.open(line).await?;
        let occasion = occasion(&engine, read(line)?, None)?;
        Ok(wire::context(&match session(line)? {
            Some(session) => engine.tell_file(&session, occasion).await?,
            None => engine.context_file(&occasion).await?,
        }))
    }

    /// Whole, for it was asked for; and noted, so that nobody says it again unasked.
    async fn pipeline(&self, line: &str, stage: Pipeline) -> Answer {
        let engine = self.open(line).await?;
        let occasion = occasion(&engine, read(line)?, Some(stage))?;
        *lock(&self.counts.asked) = Some(Instant::now());
        let context = engine.context_pipeline(&occasion).await?;
        if let Some(session) = session(line)? {
            engine.note_context(&session, &context)?;
        }
        Ok(wire::context(&context))
    }

    async fn module_map(&self, line: &str) -> Answer {
        let ask: MapAsk = read(line)?;
        let map = self.open(line).await?.module_map().await?;
        let Some(word) = ask.module else {
            return Ok(wire::module_map(&map, map.named(), map.told()));
        };
        let Some(found) = map.find(&word) else {
            let what = format!("no module is called `{word}`");
            return Err(Failure::new(Code::Refused, what));
        };
        Ok(wire::module_map(&map, std::iter::once(found), found.told()))
    }

    async fn recipe(&self, line: &str) -> Answer {
        let ask: RecipeAsk = read(line)?;
        let engine = self.open(line).await?;
        *lock(&self.counts.asked) = Some(Instant::now());
        Ok(wire::recipe(engine.recipe(&ask.task).await?.as_ref()))
    }

    async fn prefetch(&self, line: &str) -> Answer {
        let ask: PrefetchAsk = read(line)?;
        let engine = self.open(line).await?;
        let first = files(&engine, ask.file.as_slice())?.into_iter().next();
        let limit = ask.limit.unwrap_or(PREFETCHED).min(MOST_FILES);
        let first = first.as_ref().map(ProjectPath::as_str);
        let found = engine.files_for(&ask.task, first, limit).await?;
        let costs = engine.read_costs(&found).await?;
        Ok(json!({ "files": found, "costs": costs, "memories": [] }))
    }

    async fn stop_limit(&self, line: &str) -> Answer {
        let ask: LimitAsk = read(line)?;
        let engine = self.open(line).await?;
        Ok(wire::stop_limit(&engine.stop_limit(ask.base, &ask.module).await?))
    }

    /// What is worth saying at this step of a session: each memory once.
    async fn step_context(&self, ask: &StepAsk) -> Answer {
        let sitting = self.sitting(ask.session_id).await?;
        let engine = sitting.project.handle(&self.config, Look::Now).await;
        if let (Some(number), None) = (ask.step, &ask.error) {
            return self.decided(ask, number, &engine).await;
        }
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
            host: None,
            event: String::new(),
            session: ask.session_id.to_string(),
            cwd: engine.place.root.to_string_lossy().into_owned(),
            transcript: None,
            moment,
        };
        if engine.closed {
            return Ok(json!({ "text": "", "memories": [] }));
        }
        let telling = engine.attend_to(&heard).await?;
        self.look_into(&engine, &telling);
        Ok(json!({ "text": telling.text, "memories": telling.memories() }))
    }

    /// The one note between two steps, if any.
    async fn decided(&self, ask: &StepAsk, number: u32, engine: &Engine) -> Answer {
        let step_files = files(engine, &ask.files)?;
        let mut touched = files(engine, &ask.touched)?;
        touched.extend(step_files.iter().cloned());
        let asked = StepAsked {
            session: ask.session_id.to_string(),
            number,
            level: engine.manners.level,
            task: ask.task.clone(),
            files: step_files,
            touched,
            searches: ask.searches.clone(),
            since: Timestamp((self.config.now)().0 - RECENT),
        };
        if engine.closed || !may_be_said(&asked) {
            return Ok(json!({ "text": "", "memories": [] }));
        }
        let context = engine.context_step(&asked).await?;
        engine.said_at_step(&asked, &context)?;
        let ids = context.said.iter().filter_map(|it| it.word.parse::<MemoryId>().ok());
        Ok(json!({ "text": context.text, "memories": ids.collect::<Vec<_>>() }))
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
        let id = format!("validate {} {} {}", ask.kind, ask.ok, now.0);
        self.add(&sitting, ask.event_id.clone().unwrap_or(id), event).await?;
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
        // As long as it is in mind, nobody else learns from it.
        let done = self.background.learn_now(sitting.session, &sitting.project).await;
        self.sittings.forget(sitting.session);
        self.background.add(Task::Index, Some(&sitting.project));
        let stopping = |_| Failure::new(Code::Stopping, "the daemon is about to end");
        Ok(json!({ "learned": done.map_err(stopping)?? }))
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

fn occasion(
    engine: &Engine,
    ask: ContextAsk,
    stage: Option<Pipeline>,
) -> Result<Occasion, Failure> {
    let phase = ask.phase.as_deref().map(phase).transpose()?;
    let files = files(engine, &ask.files)?;
    let base = match stage {
        Some(stage) => Occasion::for_pipeline(stage),
        None => Occasion::of(phase.unwrap_or(Phase::Implement)),
    };
    let ContextAsk { task, budget, modules, report, .. } = ask;
    Ok(Occasion { task, files, budget, modules, report, ..base })
}

/// Whether anything is ever said at such a step; where not, nothing is looked for.
fn may_be_said(asked: &StepAsked) -> bool {
    let is_late_enough = asked.number >= engine::FIRST_STEP;
    is_late_enough && asked.level.row().proactive.contains(&Tier::Step)
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

/// The session a request is about, as what it heard is kept under.
fn session(line: &str) -> Result<Option<String>, Failure> {
    Ok(read::<About>(line)?.session_id.map(|it| it.to_string()))
}

fn phase(word: &str) -> Result<Phase, Failure> {
    Phase::parse(word).map_err(|it| Failure::new(Code::Refused, it.to_string()))
}

fn read<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T, Failure> {
    serde_json::from_str(line).map_err(|it| Failure::new(Code::Malformed, it.to_string()))
}
