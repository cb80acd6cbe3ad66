//! Determinism: the same sessions give the same database, learning again changes nothing, and a
//! damaged session is learned as far as it is intact.
//!
//! Sessions are written as JSON events without the common fields (event id, session id, time), which
//! `parse_events_at` and `event_line` add. A *lesson* is the result of learning one session; its state is
//! `New`, `Grown` if the session has events that were not learned yet, or `Unchanged`. *Tainted* means
//! derived from text outside the project.

use std::cell::Cell;
use std::fmt::Write as _;
use std::path::PathBuf;

use model::{DAY_MS, EventEnvelope, Timestamp};
use waylore_engine::{
    Config, Error, Explanation, LessonState, ModelSet, NotebookScope, Project, TranscriptTrust,
    transcripts_at_paths,
};

use crate::learning::{LearningFixture, SESSION_ID_PREFIX, START, parse_events_at};

/// The time at which the tests learn: after all sessions.
const NOW: Timestamp = Timestamp(START + 60 * DAY_MS);

thread_local! {
    /// Each test runs in a thread of its own, so that the tests do not disturb one another.
    static NEXT_ENTROPY: Cell<u64> = const { Cell::new(1) };
}

/// Returns a counter as bytes: every run of a test gets the same "random" bytes in the same order.
fn next_entropy() -> [u8; 10] {
    let count = NEXT_ENTROPY.replace(NEXT_ENTROPY.get() + 1);
    let mut bytes = [0; 10];
    bytes[2..].copy_from_slice(&count.to_be_bytes());
    bytes
}

/// The transcript of a session in the format of our own journal, one JSON event per line, with many
/// kinds of signals: a coupling, an error with its fix, a routine, external text, and a correction in
/// the agent's reasoning. Each session is one day later.
fn transcript_text(session: u8) -> String {
    let mut lines = Vec::new();
    let mut push = |line: String| lines.push(line);
    push(
        r#""event":"session_start","project_root":"/p","agent":"test","task":"change the wire""#
            .to_owned(),
    );

    // A tool call with its result.
    let mut call = |id: &str, tool: &str, args: &str, ok: bool, output: &str| {
        push(format!(r#""event":"tool_call","call_id":"{id}","tool":"{tool}","args":{args}"#));
        push(format!(
            r#""event":"tool_result","call_id":"{id}","tool":"{tool}","ok":{ok},"excerpt":"{output}""#
        ));
    };
    // Files that are read early.
    for nth in 0..8 {
        call(&format!("r{nth}"), "read", &format!(r#"{{"paths":["src/{nth}.rs"]}}"#), true, "");
    }
    // A coupling: two files edited together.
    call("a", "edit", r#"{"paths":["src/api.rs"]}"#, true, "");
    call("b", "edit", r#"{"paths":["web/wire.ts"]}"#, true, "");
    // An error, and the call that fixes it.
    call(
        "c",
        "shell",
        r#"{"command":"git show --no-stat"}"#,
        false,
        "fatal: unrecognized argument: --no-stat",
    );
    call("d", "shell", r#"{"command":"git show --stat"}"#, true, "ok");
    // A routine: test, lint, commit.
    call("e", "shell", r#"{"command":"cargo test"}"#, true, "ok");
    call("f", "shell", r#"{"command":"cargo clippy"}"#, true, "ok");
    call("g", "shell", r#"{"command":"git commit -m x"}"#, true, "ok");
    // External text, which taints what follows.
    call("h", "web_fetch", r#"{"url":"https://example.com"}"#, true, "page");
    lines.push(format!(
        r#""event":"reasoning","text":"Actually, `src/{session}.rs` rounds per line, never on the sum.""#
    ));
    lines.push(r#""event":"step_complete""#.to_owned());
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let events = parse_events_at(START + i64::from(session) * DAY_MS, session, &lines);
    events.iter().map(|it| it.to_line() + "\n").collect()
}

/// A project in a temporary folder, and transcripts to learn from.
struct TranscriptFixture {
    dir: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
    files: Vec<PathBuf>,
}

/// The outcome of learning all transcripts.
struct LearnedTranscripts {
    /// The state of the lesson of each transcript.
    states: Vec<LessonState>,
    notices: Vec<String>,
}

impl TranscriptFixture {
    /// `sessions` are the names and contents of the transcripts.
    fn new(sessions: &[(&str, String)]) -> Self {
        NEXT_ENTROPY.set(1);
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("project")).unwrap();
        let file = |(name, text): &(&str, String)| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let files = sessions.iter().map(file).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Self { dir, runtime, files }
    }

    /// Waits for an operation that must succeed.
    fn run<T>(&self, operation: impl Future<Output = Result<T, Error>>) -> T {
        self.runtime.block_on(operation).unwrap()
    }

    fn open_project(&self) -> Project {
        let config = Config {
            data: self.dir.path().join("data"),
            key: None,
            home: None,
            types: Vec::new(),
            trusted_servers: Vec::new(),
            models: ModelSet::built_in(),
            random: next_entropy,
        };
        let start = self.dir.path().join("project");
        self.run(Project::open(config, &start, NOW))
    }

    /// Learns every file, as `waylore learn --from` does.
    fn learn_transcripts(&self, project: &mut Project) -> LearnedTranscripts {
        let (mut states, mut notices) = (Vec::new(), Vec::new());
        for transcript in
            transcripts_at_paths(&self.files, None, &|_| TranscriptTrust::Own).unwrap()
        {
            let parsed = project.session_history().read_transcript(&transcript);
            let parsed = parsed.expect("the file can be read").expect("it holds a session");
            let learned = self.run(project.learner().learn_session(&parsed.pad)).unwrap();
            states.push(learned.state);
            notices.extend(learned.notices);
        }
        // The weekly part of learning, which compares sessions with one another.
        self.run(project.learner().consolidate_week());
        LearnedTranscripts { states, notices }
    }

    /// Formats everything that is stored: memories, versions, sessions and their sightings.
    fn dump(&self, project: &Project) -> String {
        self.runtime.block_on(async {
            let mut acc = format!(
                "{:#?}",
                project.maintenance().export(NotebookScope::Project).await.unwrap()
            );
            for it in project.session_history().learned_sessions().await.unwrap() {
                let explained =
                    project.session_history().explain(&it.id.to_string()).await.unwrap();
                let _ = write!(acc, "{explained:#?}");
            }
            acc
        })
    }
}

#[test]
fn the_same_sessions_give_the_same_database_and_learning_again_changes_nothing() {
    let names = ["a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl", "e.jsonl", "f.jsonl"];
    let sessions: Vec<(&str, String)> =
        names.iter().zip(1..).map(|(name, n)| (*name, transcript_text(n))).collect();
    let learn_twice = || {
        let fixture = TranscriptFixture::new(&sessions);
        let mut project = fixture.open_project();
        assert_eq!(fixture.learn_transcripts(&mut project).states, [LessonState::New; 6]);
        let dump = fixture.dump(&project);
        assert_eq!(fixture.learn_transcripts(&mut project).states, [LessonState::Unchanged; 6]);
        assert!(dump == fixture.dump(&project), "learning again changes nothing");
        dump
    };
    let first = learn_twice();

    // The sessions do contain external text, a statistic and a memory.
    for part in ["tainted: true", "signal: CoAccess", "Use `git show --stat`"] {
        assert!(first.contains(part), "{part}: {first}");
    }
    assert!(first == learn_twice(), "the same sessions give the same database");
}

/// A line of the first session that follows its transcript, from the fields of an event.
fn event_line(nth: usize, fields: &str) -> String {
    let at = START + DAY_MS + 1_000;
    format!(
        r#"{{"event_id":"more-{nth}","session_id":"{SESSION_ID_PREFIX}01","at":{at},{fields}}}"#
    )
}

/// A session that has grown is learned again. Its verdicts and taints must stay the same.
#[test]
fn a_grown_session_is_judged_like_a_new_one() {
    let note = r#""event":"record","type":"gotcha","content":"`src/api.rs` is generated from the schema.""#;

    // The session with a note at its end, and one more event if `more` is not empty.
    let transcript_with = |more: &str| {
        let text = transcript_text(1);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.push(event_line(1, note));
        if !more.is_empty() {
            lines.push(event_line(2, more));
        }
        lines.join("\n") + "\n"
    };
    let fixture = TranscriptFixture::new(&[("a.jsonl", transcript_with(""))]);
    let mut project = fixture.open_project();

    // The stored memories, and the sightings with their verdicts.
    let state = |project: &Project| {
        fixture.runtime.block_on(async {
            let session = format!("{SESSION_ID_PREFIX}01");
            let all = project
                .retriever()
                .list(&crate::learning::learned_filter(50), Some(NotebookScope::Project))
                .await
                .unwrap();
            let memories = all.iter().map(|it| format!("{:?}", it.memory));
            let Explanation::Session(explained) =
                project.session_history().explain(&session).await.unwrap()
            else {
                panic!("it is a session")
            };
            let sightings = explained.sightings.iter().map(|it| format!("{it:?}"));
            memories.chain(sightings).collect::<Vec<_>>()
        })
    };

    // The session read external text before the note, so the note is tainted.
    assert_eq!(fixture.learn_transcripts(&mut project).states, [LessonState::New]);
    let once = state(&project);
    let is_tainted = |it: &String| it.contains("generated") && it.contains("tainted: true");
    assert!(once.iter().any(is_tainted), "{once:#?}");

    // One more event makes the session grow, but changes nothing that it teaches.
    std::fs::write(
        &fixture.files[0],
        transcript_with(r#""event":"user_message","text":"thank you""#),
    )
    .unwrap();
    assert_eq!(fixture.learn_transcripts(&mut project).states, [LessonState::Grown]);
    assert_eq!(state(&project), once);
}

/// Two files with the same session id: the longer is learned, in either order, with a notice.
#[test]
fn of_two_sessions_with_one_id_the_longer_is_learned() {
    let long = transcript_text(1);
    let short = r#""event":"session_start","project_root":"/p","agent":"test","task":"another""#;
    let mut learned = Vec::new();
    // Transcripts are learned in the order of their starts; the longer one starts after a day.
    for (start, first) in [(START, "short.jsonl"), (START + 20 * DAY_MS, "long.jsonl")] {
        let short = parse_events_at(start, 1, &[short]);
        let short: String = short.iter().map(|it| it.to_line() + "\n").collect();
        let fixture =
            TranscriptFixture::new(&[("long.jsonl", long.clone()), ("short.jsonl", short)]);
        let mut project = fixture.open_project();
        let found = transcripts_at_paths(&fixture.files, None, &|_| TranscriptTrust::Own).unwrap();
        assert!(found[0].path.ends_with(first), "{found:?}");
        // Learned twice. The second time neither file is new: the longer is unchanged, and the shorter
        // is left out, with a notice.
        fixture.learn_transcripts(&mut project);
        let LearnedTranscripts { states, notices } = fixture.learn_transcripts(&mut project);
        assert_eq!(states, [LessonState::Unchanged; 2]);
        assert!(notices.len() == 1 && notices[0].contains("from a longer log"), "{notices:?}");
        learned.push(fixture.run(project.session_history().learned_sessions()));
    }
    assert_eq!((learned[0].len(), learned[0][0].task.as_str()), (1, "change the wire"));
    assert_eq!(learned[0], learned[1]);
}

#[test]
fn a_host_clock_that_is_a_century_ahead_does_not_date_memories_in_the_future() {
    let ahead: String = transcript_text(1)
        .lines()
        .map(|it| {
            let mut event = EventEnvelope::parse_line(it).unwrap();
            event.at = Timestamp(event.at.0 + 36_500 * DAY_MS);
            event.to_line() + "\n"
        })
        .collect();
    let fixture = TranscriptFixture::new(&[("a.jsonl", ahead), ("b.jsonl", transcript_text(2))]);
    let mut project = fixture.open_project();
    assert_eq!(fixture.learn_transcripts(&mut project).states.len(), 2);
    let all = fixture.run(
        project
            .retriever()
            .list(&crate::learning::learned_filter(50), Some(NotebookScope::Project)),
    );
    let latest = all.iter().map(|it| it.memory.created_at.0).max();

    // 60 days until `now`, and 30 days that a clock may be ahead.
    assert!(latest.is_some_and(|it| it <= START + 90 * DAY_MS), "{latest:?}");
}

/// The session has a result before its call, an unknown tool and a missing id; bytes that are no
/// events follow.
#[test]
fn a_damaged_session_is_learned_as_far_as_it_is_intact() {
    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();
    let lines = [
        r#""event":"tool_result","call_id":"z","tool":"edit","ok":true"#,
        r#""event":"session_start","project_root":"/p","agent":"test","task":"round totals""#,
        r#""event":"tool_call","call_id":"","tool":"other","args":{}"#,
        r#""event":"tool_call","call_id":"a","tool":"edit","args":{"paths":["src/total.ts"]}"#,
        r#""event":"tool_result","call_id":"a","tool":"edit","ok":true"#,
        r#""event":"record","type":"gotcha","content":"`src/total.ts` rounds per line, never on the sum.""#,
        r#""event":"tool_call","call_id":"b","tool":"shell","args":{"command":"cargo test"}"#,
        r#""event":"tool_result","call_id":"b","tool":"shell","ok":true,"excerpt":"ok""#,
    ];
    fixture.record(&mut project, &parse_events_at(START, 1, &lines));

    // Damage the end of the journal: binary data, an unknown event, a cut line.
    let path = project.session_history().journal_transcripts()[0].path.clone();
    let mut text = std::fs::read(&path).unwrap();
    text.extend_from_slice(b"\0\0\xff\xfe not an event\n{\"event\":\"future_kind\"}\n{\"cut");
    std::fs::write(&path, text).unwrap();

    // Three damaged lines, and one result without its call. The rest is learned.
    let parsed = project
        .session_history()
        .read_transcript(&project.session_history().journal_transcripts()[0])
        .unwrap()
        .unwrap();
    assert_eq!((parsed.n_damaged_lines, parsed.pad.anomalies.orphan_results), (3, 1));
    let learned = fixture.learn_journals(&mut project);
    assert_eq!(learned.states, [LessonState::New]);
    assert_eq!(learned.texts, ["`src/total.ts` rounds per line, never on the sum."]);
}
