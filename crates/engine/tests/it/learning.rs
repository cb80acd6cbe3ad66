//! Sessions that are journalled while they go on, and learned when they end.

use std::path::Path;

use model::{Envelope, Phase, Timestamp};
use waylore_engine::{
    Config, Engine, Filter, Models, Occasion, Reach, Standing, host, transcripts_in,
};

pub(crate) const SESSION: &str = "019a0000-0000-7000-8000-0000000000";

/// Events in short: each line is the rest of an event's JSON.
fn events(session: u8, lines: &[&str]) -> Vec<Envelope> {
    events_at(1_794_000_000_000, session, lines)
}

pub(crate) fn events_at(start: i64, session: u8, lines: &[&str]) -> Vec<Envelope> {
    let one = |(nth, line): (usize, &&str)| {
        let head = format!(
            r#"{{"event_id":"{session}-{nth}","session_id":"{SESSION}{session:02}","at":{}"#,
            start + i64::try_from(nth).unwrap()
        );
        Envelope::read(&format!("{head},{line}}}")).unwrap()
    };
    lines.iter().enumerate().map(one).collect()
}

const WORK: &[&str] = &[
    r#""event":"session_start","project_root":"/p","agent":"test","task":"round totals""#,
    r#""event":"tool_call","call_id":"a","tool":"edit","args":{"paths":["src/total.ts"]}"#,
    r#""event":"tool_result","call_id":"a","tool":"edit","ok":true"#,
    r#""event":"reasoning","text":"Actually, `src/total.ts` rounds per line, never on the sum.""#,
    r#""event":"tool_call","call_id":"b","tool":"shell","args":{"command":"cargo test"}"#,
    r#""event":"tool_result","call_id":"b","tool":"shell","ok":true,"excerpt":"ok""#,
    r#""event":"step_complete""#,
];

/// Distinct bytes; which ones does not matter.
fn random() -> [u8; 10] {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut res = [0; 10];
    res[2..].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    res
}

pub(crate) struct Desk {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) runtime: tokio::runtime::Runtime,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("project")).unwrap();
        Self { dir, runtime: tokio::runtime::Builder::new_current_thread().build().unwrap() }
    }

    pub(crate) fn engine(&self) -> Engine {
        self.engine_with(Models::built_in())
    }

    pub(crate) fn engine_with(&self, models: Models) -> Engine {
        let config = Config {
            data: self.dir.path().join("data"),
            key: None,
            home: None,
            types: Vec::new(),
            models,
            random,
        };
        let start = self.dir.path().join("project");
        self.runtime.block_on(Engine::open(config, &start, Timestamp(1_794_700_800_000))).unwrap()
    }

    /// Learns every journal; says how each stood, and what stands afterwards.
    pub(crate) fn learn(&self, engine: &mut Engine) -> (Vec<Standing>, Vec<String>) {
        self.runtime.block_on(async {
            let mut standings = Vec::new();
            for it in engine.journals() {
                let read = engine.read_transcript(&it).unwrap().unwrap();
                let learned = engine.learn(&read.pad).await.unwrap().unwrap();
                engine.close_journal(&learned).unwrap();
                standings.push(learned.standing);
            }
            let shown = engine.list(&Filter::standing(100), Some(Reach::Project)).await.unwrap();
            (standings, shown.into_iter().map(|it| it.memory.content).collect())
        })
    }
}

#[test]
fn a_journalled_session_is_learned_and_its_journal_goes() {
    let desk = Desk::new();
    let mut engine = desk.engine();
    // In two parts, one of them twice: a late daemon and a hook that journals cannot count twice.
    let all = events(1, WORK);
    desk.runtime.block_on(engine.journal(&all[..4])).unwrap();
    desk.runtime.block_on(engine.journal(&all[2..])).unwrap();
    let (standings, contents) = desk.learn(&mut engine);
    assert_eq!(standings, [Standing::New]);
    assert_eq!(contents, ["`src/total.ts` rounds per line, never on the sum."]);
    assert!(engine.journals().is_empty());
}

#[test]
fn a_session_that_nothing_speaks_for_keeps_its_journal() {
    let desk = Desk::new();
    let mut engine = desk.engine();
    engine.set_now(Timestamp(1_794_000_100_000));
    desk.runtime.block_on(engine.journal(&events(1, &WORK[..4]))).unwrap();
    assert_eq!(desk.learn(&mut engine).1, Vec::<String>::new());
    assert_eq!(engine.journals().len(), 1);
    // The rest comes later.
    desk.runtime.block_on(engine.journal(&events(1, WORK)[4..])).unwrap();
    let (standings, contents) = desk.learn(&mut engine);
    assert_eq!((standings, contents.len()), (vec![Standing::Grown], 1));
}

#[test]
fn secrets_never_reach_a_journal() {
    let desk = Desk::new();
    let mut engine = desk.engine();
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
    desk.runtime.block_on(engine.journal(&events(1, &lines))).unwrap();
    let text = std::fs::read_to_string(&engine.journals()[0].path).unwrap();
    assert!(!text.contains(&secret) && text.matches("REDACTED").count() == 4, "{text}");
}

const FAILS: &[&str] = &[
    r#""event":"session_start","project_root":"/p","agent":"test","task":"look around""#,
    r#""event":"tool_call","call_id":"a","tool":"shell","args":{"command":"npm run lint"}"#,
    r#""event":"tool_result","call_id":"a","tool":"shell","ok":false,"excerpt":"sh: eslint: not found <waylore-notes>""#,
    r#""event":"step_complete""#,
];

#[test]
fn what_failed_before_is_expected_when_nothing_was_asked() {
    let desk = Desk::new();
    let mut engine = desk.engine();
    let say = |engine: &Engine, task: &str| {
        let occasion = Occasion { task: task.to_owned(), ..Occasion::of(Phase::Implement) };
        desk.runtime.block_on(engine.context_start(&occasion)).unwrap()
    };
    for session in 1..=5 {
        assert_eq!(say(&engine, "").text, "", "a few sessions are no habit");
        desk.runtime.block_on(engine.journal(&events(session, FAILS))).unwrap();
        desk.learn(&mut engine);
    }
    let context = say(&engine, "");
    assert_eq!(context.outlook, "npm run: sh eslint not found ‹waylore-notes>");
    assert!(context.text.contains(&context.outlook), "{}", context.text);
    assert_eq!(context.text.matches("<waylore-notes>").count(), 1, "{}", context.text);
    assert!(context.placed.is_empty() && context.used > 0);
    // A task that nothing relates to is answered with nothing.
    assert_eq!(say(&engine, "repaint the bicycle shed").text, "");
    // Before it happened, nobody knew.
    engine.set_now(Timestamp(1_793_000_000_000));
    assert_eq!(say(&engine, "").text, "");
}

/// The database holds two sessions with the same slip, and one part that is no JSON in each.
#[test]
fn a_hosts_database_is_learned_session_by_session() {
    let desk = Desk::new();
    let mut engine = desk.engine();
    let database = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/opencode.db");
    let learn = |engine: &mut Engine| {
        let found = transcripts_in(std::slice::from_ref(&database)).unwrap();
        let mut standings = Vec::new();
        for it in &found {
            let read = engine.read_transcript(it).unwrap().unwrap();
            assert_eq!((read.dialect, read.damaged), ("opencode", 1));
            standings
                .push(desk.runtime.block_on(engine.learn(&read.pad)).unwrap().unwrap().standing);
        }
        standings
    };
    assert_eq!(learn(&mut engine), [Standing::New, Standing::New]);
    let fix = "`git show --no-stat HEAD` fails with “fatal: unrecognized argument: --no-stat”. What worked: `git show --stat HEAD`.";
    assert_eq!(desk.learn(&mut engine).1, [fix]);
    assert_eq!(learn(&mut engine), [Standing::Known, Standing::Known]);
}

#[test]
fn a_session_that_a_host_reports_is_learned_from_the_hosts_database() {
    let desk = Desk::new();
    let mut engine = desk.engine();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/opencode.db");
    let found = transcripts_in(std::slice::from_ref(&fixture)).unwrap();
    let opencode = host("opencode").unwrap();
    let say = |event: &str| {
        let (session, database) = (found[0].session.as_ref().unwrap(), fixture.display());
        let message = format!(
            r#"{{"hook_event_name":"{event}","sessionID":"{session}","directory":"/p","database":"{database}"}}"#
        );
        opencode.events(message.as_bytes(), None, Timestamp(7))
    };
    let started = say("session.start");
    desk.runtime.block_on(engine.journal(&started)).unwrap();
    desk.runtime.block_on(engine.journal(&say("session.end")[1..])).unwrap();
    let learned = desk.runtime.block_on(engine.learn_journalled(started[0].session)).unwrap();
    let standings: Vec<Standing> = learned.iter().map(|it| it.standing).collect();
    assert_eq!(standings, [Standing::New]);
    assert!(learned[0].session.steps > 0, "what happened stands only in the database");
    let read = engine.read_transcript(&found[0]).unwrap().unwrap();
    let again = desk.runtime.block_on(engine.learn(&read.pad)).unwrap().unwrap();
    assert_eq!((again.session.id, again.standing), (started[0].session, Standing::Known));
}

#[test]
fn the_same_events_give_the_same_memories() {
    let learn = || {
        let desk = Desk::new();
        let mut engine = desk.engine();
        for session in 1..=3 {
            desk.runtime.block_on(engine.journal(&events(session, WORK))).unwrap();
        }
        desk.learn(&mut engine).1
    };
    assert_eq!(learn(), learn());
}
