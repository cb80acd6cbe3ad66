//! What is the same stays the same, and what is wrong with a session harms nothing else.

use std::cell::Cell;
use std::fmt::Write as _;
use std::path::PathBuf;

use model::{Envelope, Timestamp};
use waylore_engine::{Config, Engine, Explained, Filter, Models, Reach, Standing, transcripts_in};

use crate::learning::{Desk, SESSION, events_at};

const START: i64 = 1_794_000_000_000;
const DAY: i64 = 86_400_000;

thread_local! {
    static NEXT: Cell<u64> = const { Cell::new(1) };
}

/// The same bytes in the same order, whoever asks in this thread.
fn random() -> [u8; 10] {
    let n = NEXT.replace(NEXT.get() + 1);
    let mut res = [0; 10];
    res[2..].copy_from_slice(&n.to_be_bytes());
    res
}

/// Sessions of every kind of signal: a coupling, an error with its end, a correction, what came from
/// outside, a routine, a dead end.
fn session(n: u8) -> String {
    let mut lines = Vec::new();
    let mut push = |line: String| lines.push(line);
    push(
        r#""event":"session_start","project_root":"/p","agent":"test","task":"change the wire""#
            .to_owned(),
    );
    let mut call = |id: &str, tool: &str, args: &str, ok: bool, text: &str| {
        push(format!(r#""event":"tool_call","call_id":"{id}","tool":"{tool}","args":{args}"#));
        push(format!(
            r#""event":"tool_result","call_id":"{id}","tool":"{tool}","ok":{ok},"excerpt":"{text}""#
        ));
    };
    for nth in 0..8 {
        call(&format!("r{nth}"), "read", &format!(r#"{{"paths":["src/{nth}.rs"]}}"#), true, "");
    }
    call("a", "edit", r#"{"paths":["src/api.rs"]}"#, true, "");
    call("b", "edit", r#"{"paths":["web/wire.ts"]}"#, true, "");
    call(
        "c",
        "shell",
        r#"{"command":"git show --no-stat"}"#,
        false,
        "fatal: unrecognized argument: --no-stat",
    );
    call("d", "shell", r#"{"command":"git show --stat"}"#, true, "ok");
    call("e", "shell", r#"{"command":"cargo test"}"#, true, "ok");
    call("f", "shell", r#"{"command":"cargo clippy"}"#, true, "ok");
    call("g", "shell", r#"{"command":"git commit -m x"}"#, true, "ok");
    call("h", "web_fetch", r#"{"url":"https://example.com"}"#, true, "page");
    lines.push(format!(
        r#""event":"reasoning","text":"Actually, `src/{n}.rs` rounds per line, never on the sum.""#
    ));
    lines.push(r#""event":"step_complete""#.to_owned());
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let events = events_at(START + i64::from(n) * DAY, n, &lines);
    events.iter().map(|it| it.line() + "\n").collect()
}

struct Home {
    dir: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
    files: Vec<PathBuf>,
}

impl Home {
    fn new(sessions: &[(&str, String)]) -> Self {
        NEXT.set(1);
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

    fn engine(&self) -> Engine {
        let config = Config {
            data: self.dir.path().join("data"),
            key: None,
            home: None,
            types: Vec::new(),
            models: Models::built_in(),
            random,
        };
        let start = self.dir.path().join("project");
        self.runtime.block_on(Engine::open(config, &start, Timestamp(START + 60 * DAY))).unwrap()
    }

    /// Learns every file, as `waylore learn --from` does.
    fn learn(&self, engine: &mut Engine) -> (Vec<Standing>, Vec<String>) {
        let (mut standings, mut notices) = (Vec::new(), Vec::new());
        for it in transcripts_in(&self.files).unwrap() {
            let read = engine.read_transcript(&it).unwrap().unwrap();
            let learned = self.runtime.block_on(engine.learn(&read.pad)).unwrap().unwrap();
            standings.push(learned.standing);
            notices.extend(learned.notices);
        }
        self.runtime.block_on(engine.synthesise_week()).unwrap();
        (standings, notices)
    }

    /// Everything that is kept: memories, versions, sessions and what was seen in each.
    fn kept(&self, engine: &Engine) -> String {
        self.runtime.block_on(async {
            let mut acc = format!("{:#?}", engine.export(Reach::Project).await.unwrap());
            for it in engine.learned_sessions().await.unwrap() {
                let told = engine.explain(&it.id.to_string()).await.unwrap();
                let _ = write!(acc, "{told:#?}");
            }
            acc
        })
    }
}

#[test]
fn the_same_sessions_give_the_same_database_and_learning_again_changes_nothing() {
    let names = ["a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl", "e.jsonl", "f.jsonl"];
    let sessions: Vec<(&str, String)> =
        names.iter().zip(1..).map(|(name, n)| (*name, session(n))).collect();
    let kept = || {
        let home = Home::new(&sessions);
        let mut engine = home.engine();
        assert_eq!(home.learn(&mut engine).0, [Standing::New; 6]);
        let kept = home.kept(&engine);
        assert_eq!(home.learn(&mut engine).0, [Standing::Known; 6]);
        assert!(kept == home.kept(&engine), "learning again changes nothing");
        kept
    };
    let first = kept();
    assert!(first.contains("tainted: true") && first.contains("usually needs one in"), "{first}");
    assert!(first == kept(), "the same sessions give the same database");
}

/// A gate that is applied again finds what it left: the session grows, and its tainted note with it.
#[test]
fn a_gate_applied_twice_takes_nothing_twice() {
    let noted = r#""event":"record","type":"gotcha","content":"`src/api.rs` is generated from the schema.""#;
    let grown = |more: &str| {
        let text = session(1);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let head = |nth: usize| {
            format!(
                r#"{{"event_id":"more-{nth}","session_id":"{SESSION}01","at":{}"#,
                START + DAY + 1_000
            )
        };
        lines.push(format!("{},{noted}}}", head(1)));
        if !more.is_empty() {
            lines.push(format!("{},{more}}}", head(2)));
        }
        lines.join("\n") + "\n"
    };
    let home = Home::new(&[("a.jsonl", grown(""))]);
    let mut engine = home.engine();
    // What was kept, and what was dropped with which score.
    let state = |engine: &Engine| {
        home.runtime.block_on(async {
            let session = format!("{SESSION}01");
            let all = engine.list(&Filter::standing(50), Some(Reach::Project)).await.unwrap();
            let kept = all.iter().map(|it| format!("{:?}", it.memory));
            let Explained::Session(told) = engine.explain(&session).await.unwrap() else {
                panic!("it is a session")
            };
            let seen = told.sightings.iter().map(|it| format!("{:?}", it.sighting));
            kept.chain(seen).collect::<Vec<_>>()
        })
    };
    assert_eq!(home.learn(&mut engine).0, [Standing::New]);
    let once = state(&engine);
    let is_tainted = |it: &String| it.contains("generated") && it.contains("tainted: true");
    assert!(once.iter().any(is_tainted), "{once:#?}");
    std::fs::write(&home.files[0], grown(r#""event":"user_message","text":"thank you""#)).unwrap();
    assert_eq!(home.learn(&mut engine).0, [Standing::Grown]);
    assert_eq!(state(&engine), once);
}

/// Two files that claim one id: the longer is learned, in either order, and that is said.
#[test]
fn of_two_sessions_with_one_id_the_longer_is_learned() {
    let long = session(1);
    let short = r#""event":"session_start","project_root":"/p","agent":"test","task":"another""#;
    let short = events_at(START + 20 * DAY, 1, &[short]);
    let short: String = short.iter().map(|it| it.line() + "\n").collect();
    let mut kept = Vec::new();
    for order in [["a.jsonl", "b.jsonl"], ["b.jsonl", "a.jsonl"]] {
        let home = Home::new(&[(order[0], long.clone()), (order[1], short.clone())]);
        let mut engine = home.engine();
        home.learn(&mut engine);
        let (standings, notices) = home.learn(&mut engine);
        assert_eq!(standings, [Standing::Known; 2]);
        assert!(notices.len() == 1 && notices[0].contains("from a longer log"), "{notices:?}");
        kept.push(home.runtime.block_on(engine.learned_sessions()).unwrap());
    }
    assert_eq!((kept[0].len(), kept[0][0].task.as_str()), (1, "change the wire"));
    assert_eq!(kept[0], kept[1]);
}

#[test]
fn a_host_whose_clock_is_a_century_ahead_makes_no_memories_of_the_future() {
    let ahead: String = session(1)
        .lines()
        .map(|it| {
            let mut event = Envelope::read(it).unwrap();
            event.at = Timestamp(event.at.0 + 36_500 * DAY);
            event.line() + "\n"
        })
        .collect();
    let home = Home::new(&[("a.jsonl", ahead), ("b.jsonl", session(2))]);
    let mut engine = home.engine();
    assert_eq!(home.learn(&mut engine).0.len(), 2);
    let all = home.runtime.block_on(engine.list(&Filter::standing(50), Some(Reach::Project)));
    let latest = all.unwrap().iter().map(|it| it.memory.created_at.0).max();
    assert!(latest.is_some_and(|it| it <= START + 90 * DAY), "{latest:?}");
}

/// No end, no validation, results before calls, tools nobody knows, ids that are missing: what is sound
/// of the session is learned, and the next session is learned as always.
#[test]
fn a_session_in_shambles_is_learned_as_far_as_it_is_sound() {
    let desk = Desk::new();
    let mut engine = desk.engine();
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
    desk.runtime.block_on(engine.journal(&events_at(START, 1, &lines))).unwrap();
    let path = engine.journals()[0].path.clone();
    let mut text = std::fs::read(&path).unwrap();
    text.extend_from_slice(b"\0\0\xff\xfe not an event\n{\"event\":\"future_kind\"}\n{\"cut");
    std::fs::write(&path, text).unwrap();
    let read = engine.read_transcript(&engine.journals()[0]).unwrap().unwrap();
    assert_eq!((read.damaged, read.pad.trouble.orphans), (3, 1));
    let (standings, contents) = desk.learn(&mut engine);
    assert_eq!(standings, [Standing::New]);
    assert_eq!(contents, ["`src/total.ts` rounds per line, never on the sum."]);
}
