//! Learning from sessions: they are journalled while they run, and learned when they end.
//!
//! Sessions are written as JSON events without the common fields, which [`parse_events`] adds:
//!
//! ```text
//! "event":"session_start", …, "task":"round totals"                      the task of the agent
//! "event":"tool_call","call_id":"a","tool":"edit","args":{…}             it edits a file
//! "event":"tool_result","call_id":"a","tool":"edit","ok":true            with success
//! "event":"reasoning","text":"Actually, `src/total.ts` rounds per line"  it states something
//! "event":"step_complete"                                                 the session ends
//! ```
//!
//! The fixture at the top is shared by the other tests of learning. A *journal* is the file to which
//! the events of a session are appended. A session is *validated* if its tests passed or its edits
//! were committed; only then its statements become memories. *Tainted* statements, which text from
//! outside the project may have influenced, never do without review.

use std::path::{Path, PathBuf};

use model::{EventEnvelope, Phase, Timestamp};
use waylore_engine::{
    Config, ContextRequest, Error, LessonState, MemoryFilter, ModelSet, NotebookScope, Project,
    TranscriptTrust, find_host, transcripts_at_paths,
};

/// Session ids are this prefix and the session's number in two digits.
pub(crate) const SESSION_ID_PREFIX: &str = "019a0000-0000-7000-8000-0000000000";
/// Start of the sessions, in Unix milliseconds: 2026-11-06 21:20 UTC.
pub(crate) const START: i64 = 1_794_000_000_000;
/// The time at which the fixture opens a project: 2026-11-15, eight days after the sessions. By
/// then commits can no longer validate a session.
const NOW: Timestamp = Timestamp(1_794_700_800_000);

/// Parses the events of a session that begins at [`START`].
fn parse_events(session: u8, lines: &[&str]) -> Vec<EventEnvelope> {
    parse_events_at(START, session, lines)
}

/// Parses the events of a session. Each line is the JSON of an event without event id, session id
/// and time; these are added, with one millisecond between events.
pub(crate) fn parse_events_at(start: i64, session: u8, lines: &[&str]) -> Vec<EventEnvelope> {
    let parse = |(nth, line): (usize, &&str)| {
        let head = format!(
            r#"{{"event_id":"{session}-{nth}","session_id":"{SESSION_ID_PREFIX}{session:02}","at":{}"#,
            start + i64::try_from(nth).unwrap()
        );
        EventEnvelope::parse_line(&format!("{head},{line}}}")).unwrap()
    };
    lines.iter().enumerate().map(parse).collect()
}

/// A session with a fact in the agent's reasoning. The passing test at its end validates it.
const VALIDATED_SESSION: &[&str] = &[
    r#""event":"session_start","project_root":"/p","agent":"test","task":"round totals""#,
    r#""event":"tool_call","call_id":"a","tool":"edit","args":{"paths":["src/total.ts"]}"#,
    r#""event":"tool_result","call_id":"a","tool":"edit","ok":true"#,
    r#""event":"reasoning","text":"Actually, `src/total.ts` rounds per line, never on the sum.""#,
    r#""event":"tool_call","call_id":"b","tool":"shell","args":{"command":"cargo test"}"#,
    r#""event":"tool_result","call_id":"b","tool":"shell","ok":true,"excerpt":"ok""#,
    r#""event":"step_complete""#,
];

/// Returns different bytes at each call; their values do not matter.
fn next_entropy() -> [u8; 10] {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut bytes = [0; 10];
    bytes[2..].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    bytes
}

/// Matches everything that was learned, candidates included.
pub(crate) fn learned_filter(limit: u32) -> MemoryFilter {
    let mut filter = MemoryFilter::active(limit);
    filter.statuses.push(model::MemoryStatus::Candidate);
    filter
}

/// A temporary folder with an empty project in `project` and the data folder in `data`.
pub(crate) struct LearningFixture {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) runtime: tokio::runtime::Runtime,
}

/// The outcome of learning all journals.
pub(crate) struct LearnedJournals {
    /// The state of the lesson of each journal.
    pub(crate) states: Vec<LessonState>,
    /// The texts of all active memories afterwards.
    pub(crate) texts: Vec<String>,
}

impl LearningFixture {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("project")).unwrap();
        Self { dir, runtime: tokio::runtime::Builder::new_current_thread().build().unwrap() }
    }

    /// The folder of the project.
    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    /// Waits for an operation that must succeed.
    pub(crate) fn run<T>(&self, operation: impl Future<Output = Result<T, Error>>) -> T {
        self.runtime.block_on(operation).unwrap()
    }

    /// Appends events to the journal of their session.
    pub(crate) fn record(&self, project: &mut Project, events: &[EventEnvelope]) {
        self.run(project.session_journal().record_events(events));
    }

    pub(crate) fn open_project(&self) -> Project {
        self.open_project_with(ModelSet::built_in())
    }

    pub(crate) fn open_project_with(&self, models: ModelSet) -> Project {
        self.open_configured_project(models, next_entropy)
    }

    /// Opens the project with a source of random bytes for the ids of memories.
    pub(crate) fn open_configured_project(
        &self,
        models: ModelSet,
        random: fn() -> [u8; 10],
    ) -> Project {
        let config = Config {
            data: self.dir.path().join("data"),
            key: None,
            home: None,
            types: Vec::new(),
            trusted_servers: Vec::new(),
            models,
            random,
        };
        self.run(Project::open(config, &self.root(), NOW))
    }

    /// Learns from every journal.
    pub(crate) fn learn_journals(&self, project: &mut Project) -> LearnedJournals {
        self.runtime.block_on(async {
            let mut states = Vec::new();
            for journal in project.session_history().journal_transcripts() {
                let parsed = project.session_history().read_transcript(&journal).unwrap().unwrap();
                let learned = project.learner().learn_session(&parsed.pad).await.unwrap().unwrap();
                project.session_journal().close(&learned).unwrap();
                states.push(learned.state);
            }
            let memories = project
                .retriever()
                .list(&learned_filter(100), Some(NotebookScope::Project))
                .await
                .unwrap();
            let texts = memories.into_iter().map(|it| it.memory.content).collect();
            LearnedJournals { states, texts }
        })
    }
}

#[test]
fn a_learned_session_loses_its_journal() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();
    // The two parts overlap: a hook and the daemon may both journal an event, which counts once.
    let all = parse_events(1, VALIDATED_SESSION);
    fixture.record(&mut project, &all[..4]);
    fixture.record(&mut project, &all[2..]);
    let learned = fixture.learn_journals(&mut project);
    assert_eq!(learned.states, [LessonState::New]);
    assert_eq!(learned.texts, ["`src/total.ts` rounds per line, never on the sum."]);
    assert!(project.session_history().journal_transcripts().is_empty());
}

#[test]
fn an_unvalidated_session_keeps_its_journal() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();

    // Shortly after the session, when commits could still validate it.
    project.set_now(Timestamp(START + 100_000));
    fixture.record(&mut project, &parse_events(1, &VALIDATED_SESSION[..4]));
    assert_eq!(fixture.learn_journals(&mut project).texts, Vec::<String>::new());
    assert_eq!(project.session_history().journal_transcripts().len(), 1);

    // The rest of the session, with the passing test, arrives later.
    fixture.record(&mut project, &parse_events(1, VALIDATED_SESSION)[4..]);
    let learned = fixture.learn_journals(&mut project);
    assert_eq!((learned.states, learned.texts.len()), (vec![LessonState::Grown], 1));
}

#[test]
fn a_session_that_asks_our_own_server_is_learned_like_any_other() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();

    // The agent searches memory before it states its fact. Its answer is no external text.
    let mut lines = VALIDATED_SESSION.to_vec();
    lines.insert(
        1,
        r#""event":"tool_call","call_id":"m","tool":"mcp:waylore/search_memory","args":{"query":"rounding"}"#,
    );
    fixture.record(&mut project, &parse_events(1, &lines));
    assert_eq!(fixture.learn_journals(&mut project).texts.len(), 1);

    // The same call to a server that is not ours taints the statement after it.
    lines[1] =
        r#""event":"tool_call","call_id":"m","tool":"mcp:web/search","args":{"query":"rounding"}"#;
    let other = LearningFixture::new();
    let mut project = other.open_project();
    other.record(&mut project, &parse_events(2, &lines));
    assert_eq!(other.learn_journals(&mut project).texts.len(), 0);
}

#[test]
fn secrets_never_reach_a_journal() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();
    let secret = ["ghp_", "x7Kq2Lm9Pz4Rt6Vw8Yb1Nc3Df5Gh0Jk2Ls4A"].concat();
    let lines = [
        format!(r#""event":"user_message","text":"use {secret}""#),
        format!(
            r#""event":"tool_call","call_id":"a","tool":"shell","args":{{"command":"curl -H {secret}"}}"#
        ),
        format!(
            r#""event":"tool_result","call_id":"a","tool":"shell","ok":false,"excerpt":"bad {secret}""#
        ),
        format!(r#""event":"reasoning","text":"it is {secret}""#),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    fixture.record(&mut project, &parse_events(1, &lines));
    let text =
        std::fs::read_to_string(&project.session_history().journal_transcripts()[0].path).unwrap();
    assert!(!text.contains(&secret) && text.matches("REDACTED").count() == 4, "{text}");
}

/// A session with a failed command.
const FAILING_SESSION: &[&str] = &[
    r#""event":"session_start","project_root":"/p","agent":"test","task":"look around""#,
    r#""event":"tool_call","call_id":"a","tool":"shell","args":{"command":"npm run lint"}"#,
    r#""event":"tool_result","call_id":"a","tool":"shell","ok":false,"excerpt":"sh: eslint: not found""#,
    r#""event":"step_complete""#,
];

#[test]
fn earlier_failures_are_expected_at_the_start_of_a_session() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();
    let start_context = |project: &Project, task: &str| {
        let request =
            ContextRequest { task: task.to_owned(), ..ContextRequest::new(Phase::Implement) };
        fixture.run(project.injector().start_context(&request))
    };
    for session in 1..=5 {
        assert_eq!(start_context(&project, "").text, "", "too few sessions");
        fixture.record(&mut project, &parse_events(session, FAILING_SESSION));
        fixture.learn_journals(&mut project);
    }
    let context = start_context(&project, "");
    assert_eq!(context.expected_errors, "`npm run lint`: “eslint: not found”");
    assert!(context.text.contains(&context.expected_errors), "{}", context.text);

    assert!(context.placed.is_empty() && context.used_tokens > 0);

    // A task that nothing relates to gets an empty context.
    assert_eq!(start_context(&project, "repaint the bicycle shed").text, "");

    // Before the sessions: failures in the future are not counted.
    project.set_now(Timestamp(1_793_000_000_000));
    assert_eq!(start_context(&project, "").text, "");
}

/// The database of the fixture holds two sessions with the same error. In each, one part is not
/// JSON.
#[test]
fn a_hosts_database_is_learned_session_by_session() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();
    let database = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/opencode.db");
    let learn = |project: &mut Project| {
        let found =
            transcripts_at_paths(std::slice::from_ref(&database), None, &|_| TranscriptTrust::Own)
                .unwrap();
        let mut states = Vec::new();
        for it in &found {
            let parsed = project.session_history().read_transcript(it).unwrap().unwrap();
            assert_eq!((parsed.format, parsed.n_damaged_lines), ("opencode", 1));
            states.push(fixture.run(project.learner().learn_session(&parsed.pad)).unwrap().state);
        }
        states
    };
    assert_eq!(learn(&mut project), [LessonState::New, LessonState::New]);
    let fix = "Use `git show --stat HEAD` instead of `git show --no-stat HEAD`, which fails here with “unrecognized argument: --no-stat” (2 sessions).";
    assert_eq!(fixture.learn_journals(&mut project).texts, [fix]);
    assert_eq!(learn(&mut project), [LessonState::Unchanged, LessonState::Unchanged]);
}

#[test]
fn a_session_that_a_host_reports_is_learned_from_the_hosts_database() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();
    let database = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/opencode.db");
    let found =
        transcripts_at_paths(std::slice::from_ref(&database), None, &|_| TranscriptTrust::Own)
            .unwrap();
    let opencode = find_host("opencode").unwrap();

    // The events that the hook of a host with a database delivers.
    let hook_events = |event: &str| {
        let (session, database) = (found[0].session.as_ref().unwrap(), database.display());
        let message = format!(
            r#"{{"hook_event_name":"{event}","sessionID":"{session}","directory":"/p","database":"{database}"}}"#
        );
        let message = opencode.parse_message(message.as_bytes(), None).unwrap();
        // The time does not matter: the database has its own.
        opencode.build_journal_events(&message, None, Timestamp(7))
    };
    let started = hook_events("session.start");
    fixture.record(&mut project, &started);

    // Every message begins with the start event; the journal has it already.
    fixture.record(&mut project, &hook_events("session.end")[1..]);
    let learned = fixture.run(project.learner().learn_from_journal(started[0].session));
    let states: Vec<LessonState> = learned.iter().map(|it| it.state).collect();
    assert_eq!(states, [LessonState::New]);
    assert!(learned[0].session.steps > 0, "only the database holds the steps");
    let parsed = project.session_history().read_transcript(&found[0]).unwrap().unwrap();
    let again = fixture.run(project.learner().learn_session(&parsed.pad)).unwrap();
    assert_eq!((again.session.id, again.state), (started[0].session, LessonState::Unchanged));
}

#[test]
fn the_same_events_give_the_same_memories() {
    let learn = || {
        let fixture = LearningFixture::new();
        let mut project = fixture.open_project();
        for session in 1..=3 {
            fixture.record(&mut project, &parse_events(session, VALIDATED_SESSION));
        }
        fixture.learn_journals(&mut project).texts
    };
    assert_eq!(learn(), learn());
}
