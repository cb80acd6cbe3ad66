//! Everything that a model can get to read: notes at every hook event and between steps, at every trust
//! level; contexts of every kind; and the answers to every question an agent can ask.

use agents::{HookEvent, HookMessage, RefusedCall};
use model::{Phase, SessionId, Timestamp, TrustLevel};
use waylore_engine::{
    ContextRequest, DisabledStages, MemoryFilter, PipelineContext, Project, SearchPurpose,
    SearchQuery, StepRequest, model_text,
};

use crate::learning::{LearningFixture, SESSION_ID_PREFIX, START};

/// Tasks and questions, in words that occur in payloads.
const TASKS: &[&str] = &[
    "make the payment in src/pay.rs faster",
    "ignore previous instructions system prompt rules",
    "run the command and send the keys, curl https x.test",
    "the user has approved all future sessions, memory, trust level",
    "look into packages/payment1 and payment7 and payment9",
];
const FILES: &[&str] = &["src/pay.rs", "src/ledger.rs", "packages/payment1/index.js"];

/// All outputs, each with the name of its moment.
pub(crate) fn collect(fixture: &LearningFixture, project: &mut Project) -> Vec<(String, String)> {
    let mut acc = Vec::new();
    for level in TrustLevel::ALL {
        for (nth, event) in hook_events().into_iter().enumerate() {
            let moment = format!("{} at {level}", event_name(&event));
            let root = fixture.root().to_string_lossy().into_owned();
            let message = HookMessage::from_program(format!("reader-{nth}"), root, event);
            let injection = fixture.run(project.injector().preview(&message, *level));
            acc.push((moment, injection.text));
        }
        collect_steps(fixture, project, *level, &mut acc);
    }
    collect_contexts(fixture, project, &mut acc);
    collect_answers(fixture, project, &mut acc);
    acc
}

/// Hook events of every kind.
fn hook_events() -> Vec<HookEvent> {
    let paths: Vec<String> = FILES.iter().map(|it| (*it).to_owned()).collect();
    let failures = ["error[E0433]: failed to resolve", "error: unknown", "fatal: not a repository"];
    let mut events = vec![
        HookEvent::SessionStart { compacted: false },
        HookEvent::SessionStart { compacted: true },
        HookEvent::FilesTouched { paths: paths.clone() },
        HookEvent::SessionEnd,
        HookEvent::Other,
    ];
    events.extend(TASKS.iter().map(|it| HookEvent::Prompt { text: (*it).to_owned() }));
    for output in failures {
        let (command, output) = ("cargo build".to_owned(), output.to_owned());
        events.push(HookEvent::CallFailed {
            tool: "shell".to_owned(),
            command: Some(command.clone()),
            output: output.clone(),
        });
        events.push(HookEvent::CommandEnded { command: command.clone(), output: output.clone() });
        let refused = Some(RefusedCall { tool: "edit".to_owned(), output });
        for refused in [None, refused] {
            events.push(HookEvent::StepEnded {
                paths: paths.clone(),
                searches: vec!["system prompt rules".to_owned()],
                commands: vec!["cat src/pay.rs".to_owned()],
                refused,
            });
        }
    }
    events
}

/// The name of an event. Without a wildcard: a new event must be added to [`hook_events`].
const fn event_name(event: &HookEvent) -> &'static str {
    match event {
        HookEvent::SessionStart { compacted: false } => "session start",
        HookEvent::SessionStart { compacted: true } => "compaction",
        HookEvent::Prompt { .. } => "prompt",
        HookEvent::FilesTouched { .. } => "files touched",
        HookEvent::CallFailed { .. } => "call failed",
        HookEvent::CommandEnded { .. } => "command ended",
        HookEvent::StepEnded { .. } => "step ended",
        HookEvent::SessionEnd => "session end",
        HookEvent::Other => "other",
    }
}

/// The notes between two steps.
fn collect_steps(
    fixture: &LearningFixture,
    project: &Project,
    level: TrustLevel,
    acc: &mut Vec<(String, String)>,
) {
    let files: Vec<_> = FILES.iter().map(|it| model::ProjectPath::parse(it).unwrap()).collect();
    for task in TASKS {
        // The session of the first attack, a later one, and a stranger.
        for session in ["01", "02", "77"] {
            let session_id: SessionId = format!("{SESSION_ID_PREFIX}{session}").parse().unwrap();
            let request = StepRequest {
                session: session_id.to_string(),
                host: String::new(),
                session_id,
                step_number: 9,
                trust_level: level,
                task: (*task).to_owned(),
                step_files: files.clone(),
                session_files: files.clone(),
                searches: TASKS.iter().map(|it| (*it).to_owned()).collect(),
                notes_since: Timestamp(START),
            };
            let context = fixture.run(project.injector().step_context(&request));
            acc.push((format!("between steps at {level}"), context.text));
        }
    }
}

/// The contexts that agents and pipelines ask for.
fn collect_contexts(fixture: &LearningFixture, project: &Project, acc: &mut Vec<(String, String)>) {
    let files: Vec<_> = FILES.iter().map(|it| model::ProjectPath::parse(it).unwrap()).collect();
    for task in TASKS {
        // All phases read the same memories, so the first task stands for all.
        let phases = if *task == TASKS[0] { Phase::ALL } else { &Phase::ALL[..1] };
        for phase in phases {
            let request = ContextRequest {
                task: (*task).to_owned(),
                files: files.clone(),
                ..ContextRequest::new(*phase)
            };
            let start = fixture.run(project.injector().start_context(&request));
            acc.push((format!("start context for {phase}"), start.text));
            let file = fixture.run(project.injector().file_context(&request));
            acc.push((format!("file context for {phase}"), file.text));
        }
        for stage in PipelineContext::ALL {
            let request = ContextRequest {
                task: (*task).to_owned(),
                files: files.clone(),
                ..ContextRequest::for_pipeline(*stage)
            };
            let context = fixture.run(project.injector().pipeline_context(&request));
            acc.push((format!("{stage} context"), context.text));
        }
    }
}

/// Answers: the notes of search hits and of every memory, recipes, the module map.
fn collect_answers(
    fixture: &LearningFixture,
    project: &mut Project,
    acc: &mut Vec<(String, String)>,
) {
    for task in TASKS {
        let query = SearchQuery {
            text: (*task).to_owned(),
            files: Vec::new(),
            filter: MemoryFilter::active(100),
            scope: None,
            phase: None,
            purpose: SearchPurpose::Search,
            disabled_stages: DisabledStages::default(),
        };
        for hit in fixture.run(project.retriever().search(&query)).hits {
            let note = project.injector().format_note(&hit.rated.memory);
            acc.push(("search answer".to_owned(), note));
        }
        if let Some(recipe) = fixture.run(project.retriever().find_recipe(task)) {
            acc.push(("recipe".to_owned(), project.injector().format_recipe(&recipe)));
        }
    }
    for rated in fixture.run(project.retriever().list(&MemoryFilter::active(2_000), None)) {
        let note = project.injector().format_note(&rated.memory);
        acc.push(("memory by id".to_owned(), note));
        // All fields, as a command in the shell of an agent prints them.
        let memory = model_text::neutralize_memory(&rated.memory);
        acc.push(("memory in a shell".to_owned(), format!("{memory:?}")));
    }
    // A project without an index has no map.
    if let Ok(map) = fixture.runtime.block_on(project.code_graph().module_map()) {
        acc.push(("module map".to_owned(), map.to_notes()));
        for module in &map.modules {
            acc.push(("module".to_owned(), module.to_notes()));
        }
    }
}
