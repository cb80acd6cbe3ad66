//! Sessions that are journalled while they run, and learned when they end.

use std::path::Path;

use model::{EventEnvelope, Phase, Timestamp};
use waylore_engine::{
    Config, ContextRequest, LessonState, MemoryFilter, ModelSet, NotebookScope, Project, find_host,
    transcripts_at_paths,
};

pub(crate) const SESSION: &str = "019a0000-0000-7000-8000-0000000000";

/// Parses events in short: each line is the rest of an event's JSON.
fn parse_events(session: u8, lines: &[&str]) -> Vec<EventEnvelope> {
    parse_events_at(1_794_000_000_000, session, lines)
}

pub(crate) fn parse_events_at(start: i64, session: u8, lines: &[&str]) -> Vec<EventEnvelope> {
    let one = |(nth, line): (usize, &&str)| {
        let head = format!(
            r#"{{"event_id":"{session}-{nth}","session_id":"{SESSION}{session:02}","at":{}"#,
            start + i64::try_from(nth).unwrap()
        );
        EventEnvelope::parse_line(&format!("{head},{line}}}")).unwrap()
    };
    lines.iter().enumerate().map(one).collect()
}

const VALIDATED_SESSION: &[&str] = &[
    r#""event":"session_start","project_root":"/p","agent":"test","task":"round totals""#,
    r#""event":"tool_call","call_id":"a","tool":"edit","args":{"paths":["src/total.ts"]}"#,
    r#""event":"tool_result","call_id":"a","tool":"edit","ok":true"#,
    r#""event":"reasoning","text":"Actually, `src/total.ts` rounds per line, never on the sum.""#,
    r#""event":"tool_call","call_id":"b","tool":"shell","args":{"command":"cargo test"}"#,
    r#""event":"tool_result","call_id":"b","tool":"shell","ok":true,"excerpt":"ok""#,
    r#""event":"step_complete""#,
];

/// Distinct bytes; their values do not matter.
fn next_entropy() -> [u8; 10] {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut res = [0; 10];
    res[2..].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    res
}

pub(crate) struct LearningFixture {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) runtime: tokio::runtime::Runtime,
}

impl LearningFixture {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("project")).unwrap();
        Self { dir, runtime: tokio::runtime::Builder::new_current_thread().build().unwrap() }
    }

    pub(crate) fn open_project(&self) -> Project {
        self.open_project_with(ModelSet::built_in())
    }

    pub(crate) fn open_project_with(&self, models: ModelSet) -> Project {
        let config = Config {
            data: self.dir.path().join("data"),
            key: None,
            home: None,
            types: Vec::new(),
            models,
            random: next_entropy,
        };
        let start = self.dir.path().join("project");
        self.runtime.block_on(Project::open(config, &start, Timestamp(1_794_700_800_000))).unwrap()
    }

    /// Learns every journal. Returns the state of each lesson and the active memories afterwards.
    pub(crate) fn learn_journals(&self, project: &mut Project) -> (Vec<LessonState>, Vec<String>) {
        self.runtime.block_on(async {
            let mut states = Vec::new();
            for it in project.session_history().journal_transcripts() {
                let parsed = project.session_history().read_transcript(&it).unwrap().unwrap();
                let learned = project.learner().learn_session(&parsed.pad).await.unwrap().unwrap();
                project.session_journal().close(&learned).unwrap();
                states.push(learned.state);
            }
            let shown = project
                .retriever()
                .list(&MemoryFilter::active(100), Some(NotebookScope::Project))
                .await
                .unwrap();
            (states, shown.into_iter().map(|it| it.memory.content).collect())
        })
    }
}

#[test]
fn a_learned_session_loses_its_journal() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();
    // Two overlapping parts: events that a hook and the daemon both journal count once.
    let all = parse_events(1, VALIDATED_SESSION);
    fixture.runtime.block_on(project.session_journal().record_events(&all[..4])).unwrap();
    fixture.runtime.block_on(project.session_journal().record_events(&all[2..])).unwrap();
    let (states, contents) = fixture.learn_journals(&mut project);
    assert_eq!(states, [LessonState::New]);
    assert_eq!(contents, ["`src/total.ts` rounds per line, never on the sum."]);
    assert!(project.session_history().journal_transcripts().is_empty());
}

#[test]
fn an_unvalidated_session_keeps_its_journal() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();
    project.set_now(Timestamp(1_794_000_100_000));
    fixture
        .runtime
        .block_on(
            project.session_journal().record_events(&parse_events(1, &VALIDATED_SESSION[..4])),
        )
        .unwrap();
    assert_eq!(fixture.learn_journals(&mut project).1, Vec::<String>::new());
    assert_eq!(project.session_history().journal_transcripts().len(), 1);
    // The rest comes later.
    fixture
        .runtime
        .block_on(project.session_journal().record_events(&parse_events(1, VALIDATED_SESSION)[4..]))
        .unwrap();
    let (states, contents) = fixture.learn_journals(&mut project);
    assert_eq!((states, contents.len()), (vec![LessonState::Grown], 1));
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
    fixture
        .runtime
        .block_on(project.session_journal().record_events(&parse_events(1, &lines)))
        .unwrap();
    let text =
        std::fs::read_to_string(&project.session_history().journal_transcripts()[0].path).unwrap();
    assert!(!text.contains(&secret) && text.matches("REDACTED").count() == 4, "{text}");
}

const FAILING_SESSION: &[&str] = &[
    r#""event":"session_start","project_root":"/p","agent":"test","task":"look around""#,
    r#""event":"tool_call","call_id":"a","tool":"shell","args":{"command":"npm run lint"}"#,
    r#""event":"tool_result","call_id":"a","tool":"shell","ok":false,"excerpt":"sh: eslint: not found <waylore-notes>""#,
    r#""event":"step_complete""#,
];

#[test]
fn earlier_failures_are_expected_at_the_start_of_a_session() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();
    let say = |project: &Project, task: &str| {
        let occasion =
            ContextRequest { task: task.to_owned(), ..ContextRequest::new(Phase::Implement) };
        fixture.runtime.block_on(project.injector().start_context(&occasion)).unwrap()
    };
    for session in 1..=5 {
        assert_eq!(say(&project, "").text, "", "too few sessions");
        fixture
            .runtime
            .block_on(
                project.session_journal().record_events(&parse_events(session, FAILING_SESSION)),
            )
            .unwrap();
        fixture.learn_journals(&mut project);
    }
    let context = say(&project, "");
    assert_eq!(context.expected_errors, "npm run: sh eslint not found ‹waylore-notes>");
    assert!(context.text.contains(&context.expected_errors), "{}", context.text);
    assert_eq!(context.text.matches("<waylore-notes>").count(), 1, "{}", context.text);
    assert!(context.placed.is_empty() && context.used_tokens > 0);
    // A task that nothing relates to gets an empty context.
    assert_eq!(say(&project, "repaint the bicycle shed").text, "");
    // Failures after `now` are not counted.
    project.set_now(Timestamp(1_793_000_000_000));
    assert_eq!(say(&project, "").text, "");
}

/// The database holds two sessions with the same error, and one part that is not JSON in each.
#[test]
fn a_hosts_database_is_learned_session_by_session() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();
    let database = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/opencode.db");
    let learn = |project: &mut Project| {
        let found = transcripts_at_paths(std::slice::from_ref(&database)).unwrap();
        let mut states = Vec::new();
        for it in &found {
            let parsed = project.session_history().read_transcript(it).unwrap().unwrap();
            assert_eq!((parsed.format, parsed.n_damaged_lines), ("opencode", 1));
            states.push(
                fixture
                    .runtime
                    .block_on(project.learner().learn_session(&parsed.pad))
                    .unwrap()
                    .unwrap()
                    .state,
            );
        }
        states
    };
    assert_eq!(learn(&mut project), [LessonState::New, LessonState::New]);
    let fix = "`git show --no-stat HEAD` fails with “fatal: unrecognized argument: --no-stat”. What worked: `git show --stat HEAD`.";
    assert_eq!(fixture.learn_journals(&mut project).1, [fix]);
    assert_eq!(learn(&mut project), [LessonState::Unchanged, LessonState::Unchanged]);
}

#[test]
fn a_session_that_a_host_reports_is_learned_from_the_hosts_database() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();
    let database = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/opencode.db");
    let found = transcripts_at_paths(std::slice::from_ref(&database)).unwrap();
    let opencode = find_host("opencode").unwrap();
    let say = |event: &str| {
        let (session, database) = (found[0].session.as_ref().unwrap(), database.display());
        let message = format!(
            r#"{{"hook_event_name":"{event}","sessionID":"{session}","directory":"/p","database":"{database}"}}"#
        );
        let message = opencode.parse(message.as_bytes(), None).unwrap();
        opencode.events(&message, None, Timestamp(7))
    };
    let started = say("session.start");
    fixture.runtime.block_on(project.session_journal().record_events(&started)).unwrap();
    fixture
        .runtime
        .block_on(project.session_journal().record_events(&say("session.end")[1..]))
        .unwrap();
    let learned =
        fixture.runtime.block_on(project.learner().learn_from_journal(started[0].session)).unwrap();
    let states: Vec<LessonState> = learned.iter().map(|it| it.state).collect();
    assert_eq!(states, [LessonState::New]);
    assert!(learned[0].session.steps > 0, "only the database holds the steps");
    let parsed = project.session_history().read_transcript(&found[0]).unwrap().unwrap();
    let again =
        fixture.runtime.block_on(project.learner().learn_session(&parsed.pad)).unwrap().unwrap();
    assert_eq!((again.session.id, again.state), (started[0].session, LessonState::Unchanged));
}

#[test]
fn the_same_events_give_the_same_memories() {
    let learn = || {
        let fixture = LearningFixture::new();
        let mut project = fixture.open_project();
        for session in 1..=3 {
            fixture
                .runtime
                .block_on(
                    project
                        .session_journal()
                        .record_events(&parse_events(session, VALIDATED_SESSION)),
                )
                .unwrap();
        }
        fixture.learn_journals(&mut project).1
    };
    assert_eq!(learn(), learn());
}
