//! What later shows about a session: its siblings agree, its edits are committed or thrown away, its
//! advice is followed.

use std::path::Path;
use std::process::Command;

use agents::{Heard, Moment};
use model::{SessionId, Timestamp};
use waylore_engine::Engine;

use crate::learning::{Desk, SESSION, events_at};

const START: i64 = 1_794_000_000_000;

fn id(session: u8) -> SessionId {
    format!("{SESSION}{session:02}").parse().unwrap()
}

/// A subagent of session 90 that read and edited, and whose parent's word is what validates it.
fn subagent(note: &str, more: &[&str]) -> Vec<String> {
    let parent = format!("{SESSION}90");
    let mut res = vec![
        format!(
            r#""event":"session_start","project_root":"/p","agent":"test","parent":"{parent}","task":"a part of it""#
        ),
        r#""event":"tool_call","call_id":"a","tool":"edit","args":{"paths":["src/api.rs"]}"#
            .to_owned(),
        r#""event":"tool_result","call_id":"a","tool":"edit","ok":true"#.to_owned(),
        r#""event":"tool_call","call_id":"b","tool":"edit","args":{"paths":["web/wire.ts"]}"#
            .to_owned(),
        r#""event":"tool_result","call_id":"b","tool":"edit","ok":true"#.to_owned(),
        r#""event":"tool_call","call_id":"c","tool":"shell","args":{"command":"cargo test"}"#
            .to_owned(),
        r#""event":"tool_result","call_id":"c","tool":"shell","ok":true,"excerpt":"ok""#.to_owned(),
    ];
    if !note.is_empty() {
        res.push(format!(r#""event":"record","type":"gotcha","content":"{note}""#));
    }
    res.extend(more.iter().map(|it| (*it).to_owned()));
    res.push(r#""event":"step_complete""#.to_owned());
    res
}

fn journal(desk: &Desk, engine: &mut Engine, session: u8, lines: &[String]) {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    desk.runtime.block_on(engine.journal(&events_at(START, session, &lines))).unwrap();
}

#[test]
fn siblings_read_one_anothers_notes_and_nobody_elses() {
    let desk = Desk::new();
    let mut engine = desk.engine();
    journal(&desk, &mut engine, 1, &subagent("`src/api.rs` is generated from the schema.", &[]));
    journal(&desk, &mut engine, 2, &subagent("", &[]));
    let stranger = subagent("`web/wire.ts` is written by hand.", &[]);
    let stranger: Vec<String> = stranger
        .iter()
        .map(|it| it.replace(&format!("{SESSION}90"), &format!("{SESSION}91")))
        .collect();
    journal(&desk, &mut engine, 3, &stranger);
    let notes = |session| {
        let notes = engine.sibling_notes(id(session)).unwrap();
        notes.into_iter().map(|it| it.note.content).collect::<Vec<_>>()
    };
    assert_eq!(notes(2), ["`src/api.rs` is generated from the schema."]);
    assert!(notes(1).is_empty() && notes(3).is_empty());
    assert!(engine.sibling_notes(id(77)).is_err(), "a session that nobody knows");
}

#[test]
fn two_agents_of_one_session_are_enough_and_are_one_session() {
    let desk = Desk::new();
    let mut engine = desk.engine();
    // One agent alone is one session of three; two of one parent agree; a conflict is seen as well.
    journal(&desk, &mut engine, 1, &subagent("", &[]));
    assert_eq!(desk.learn(&mut engine).1, Vec::<String>::new());
    journal(&desk, &mut engine, 2, &subagent("", &[]));
    let mut contents = desk.learn(&mut engine).1;
    contents.sort();
    let couplings = contents.iter().filter(|it| it.contains("usually needs one in")).count();
    let conflicts = contents.iter().filter(|it| it.contains("two subagents")).count();
    assert_eq!((couplings, conflicts), (1, 2), "{contents:#?}");
    // Three agents of one parent say no more than one session: what they see stays theirs.
    let other = Desk::new();
    let mut engine = other.engine();
    for session in 1..=3 {
        let lines = subagent("", &[]);
        let parent = format!("{SESSION}{}", 80 + session);
        let lines: Vec<String> =
            lines.iter().map(|it| it.replace(&format!("{SESSION}90"), &parent)).collect();
        journal(&other, &mut engine, session, &lines);
        let n_expected = usize::from(session == 3);
        assert_eq!(other.learn(&mut engine).1.len(), n_expected, "after {session} sessions");
    }
}

fn git(root: &Path, at: i64, args: &[&str]) {
    let date = format!("@{} +0000", at / 1000);
    let status = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(root)
        .env("GIT_AUTHOR_DATE", &date)
        .env("GIT_COMMITTER_DATE", &date)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(status.status.success(), "{status:?}");
}

const MINUTE: i64 = 60_000;

/// A repository with one commit before the session begins.
fn repository() -> (Desk, Engine) {
    let desk = Desk::new();
    let root = desk.dir.path().join("project");
    std::fs::write(root.join("a.rs"), "fn a() {}\n").unwrap();
    git(&root, START - 60 * MINUTE, &["init", "-q"]);
    git(&root, START - 60 * MINUTE, &["add", "."]);
    git(&root, START - 60 * MINUTE, &["commit", "-qm", "first"]);
    let mut engine = desk.engine();
    engine.set_now(Timestamp(START + 30 * MINUTE));
    (desk, engine)
}

/// Twenty steps of work on one file that nothing speaks for.
fn unproven(desk: &Desk, engine: &mut Engine) {
    let mut lines = vec![
        r#""event":"session_start","project_root":"/p","agent":"test","task":"Cache the parsed totals in a global map. Be quick.""#.to_owned(),
    ];
    for nth in 0..21 {
        let tool = if nth % 2 == 0 { "edit" } else { "read" };
        lines.push(format!(
            r#""event":"tool_call","call_id":"c{nth}","tool":"{tool}","args":{{"paths":["a.rs"]}}"#
        ));
        lines
            .push(format!(r#""event":"tool_result","call_id":"c{nth}","tool":"{tool}","ok":true"#));
    }
    lines.push(r#""event":"step_complete""#.to_owned());
    journal(desk, engine, 1, &lines);
}

#[test]
fn edits_that_are_thrown_away_were_a_dead_end() {
    let (desk, mut engine) = repository();
    let root = desk.dir.path().join("project");
    unproven(&desk, &mut engine);
    std::fs::write(root.join("a.rs"), "fn a() { cache() }\n").unwrap();
    assert_eq!(desk.learn(&mut engine).1, Vec::<String>::new(), "the edits are still there");
    std::fs::write(root.join("a.rs"), "fn a() {}\n").unwrap();
    assert_eq!(desk.learn(&mut engine).1, Vec::<String>::new(), "nobody has gone on yet");
    std::fs::write(root.join("b.rs"), "fn b() {}\n").unwrap();
    git(&root, START + 10 * MINUTE, &["add", "."]);
    git(&root, START + 10 * MINUTE, &["commit", "-qm", "another way"]);
    let gone = "An attempt at “Cache the parsed totals in a global map” was thrown away: its edits of `a.rs` were never committed, and the files are as they were. Ask what was wrong with it before you try the same.";
    assert_eq!(desk.learn(&mut engine).1, [gone]);
    assert_eq!(desk.learn(&mut engine).1, [gone], "learning again changes nothing");
}

#[test]
fn edits_that_are_reverted_name_the_commit_that_did_it() {
    let (desk, mut engine) = repository();
    let root = desk.dir.path().join("project");
    unproven(&desk, &mut engine);
    std::fs::write(root.join("a.rs"), "fn a() { cache() }\n").unwrap();
    git(&root, START + 5 * MINUTE, &["commit", "-qam", "cache"]);
    git(&root, START + 6 * MINUTE, &["revert", "--no-edit", "HEAD"]);
    let contents = desk.learn(&mut engine).1;
    assert!(contents[0].contains("were taken back by “Revert \"cache\"”"), "{contents:?}");
}

#[test]
fn edits_that_are_committed_hold() {
    let (desk, mut engine) = repository();
    let root = desk.dir.path().join("project");
    unproven(&desk, &mut engine);
    std::fs::write(root.join("a.rs"), "fn a() { cache() }\n").unwrap();
    git(&root, START + 5 * MINUTE, &["commit", "-qam", "cache"]);
    desk.learn(&mut engine);
    let sessions = desk.runtime.block_on(engine.learned_sessions()).unwrap();
    assert_eq!(sessions[0].validated, Some(model::ValidationBasis::Deferred));
    assert!(engine.journals().is_empty(), "nothing is left to wait for");
}

/// Sessions that are shown a warning about the file they touch, and then open the other one it names.
#[test]
fn what_is_followed_again_and_again_becomes_surer() {
    let desk = Desk::new();
    let root = desk.dir.path().join("project");
    std::fs::write(root.join("a.rs"), "").unwrap();
    std::fs::write(root.join("b.rs"), "").unwrap();
    let mut engine = desk.engine();
    let note = r#""event":"record","type":"gotcha","content":"`a.rs` takes its limits from `b.rs`.","files":["a.rs","b.rs"]"#;
    let lines: Vec<String> = subagent("", &[note]);
    journal(&desk, &mut engine, 1, &lines);
    desk.learn(&mut engine);
    let found = |engine: &Engine| {
        let filter = waylore_engine::Filter::standing(10);
        let all = desk.runtime.block_on(engine.list(&filter, None)).unwrap();
        all.into_iter().find(|it| it.memory.content.starts_with("`a.rs`")).unwrap().memory
    };
    let before = found(&engine);
    for session in 10..16_u8 {
        let day = i64::from(session) * 24 * 60 * MINUTE;
        engine.set_now(Timestamp(START + day));
        let heard = Heard {
            host: Some("claude-code"),
            event: "PostToolUse".to_owned(),
            transcript: None,
            session: format!("host-{session}"),
            cwd: root.display().to_string(),
            moment: Moment::Touched { paths: vec!["a.rs".to_owned()] },
        };
        let told = desk.runtime.block_on(engine.attend(&heard)).unwrap();
        assert!(told.is_some_and(|it| it.contains("takes its limits")));
        // The last one touches only what it had at hand.
        let then = if session == 15 { "a.rs" } else { "b.rs" };
        let work = [
            format!(
                r#""event":"session_start","project_root":"/p","agent":"test","host_session":"host-{session}","task":"x""#
            ),
            r#""event":"tool_call","call_id":"a","tool":"read","args":{"paths":["a.rs"]}"#
                .to_owned(),
            r#""event":"tool_result","call_id":"a","tool":"read","ok":true"#.to_owned(),
            format!(
                r#""event":"tool_call","call_id":"b","tool":"read","args":{{"paths":["{then}"]}}"#
            ),
            r#""event":"tool_result","call_id":"b","tool":"read","ok":true"#.to_owned(),
        ];
        let work: Vec<&str> = work.iter().map(String::as_str).collect();
        let events = events_at(START + day - 2, session, &work);
        desk.runtime.block_on(engine.journal(&events)).unwrap();
        engine.set_now(Timestamp(START + day + 60 * MINUTE));
        desk.learn(&mut engine);
    }
    let after = found(&engine);
    assert_eq!(after.counters.used_count, 5, "the last one did not follow it");
    assert_eq!(after.confidence, before.confidence.plus(50));
    desk.learn(&mut engine);
    assert_eq!(found(&engine).counters.used_count, 5, "learning again counts nothing twice");
}

/// A session on a unit of work, with a plan, that ends in this way.
fn unit(steps: usize, ends: &[&str]) -> Vec<String> {
    let mut lines = vec![
        r#""event":"session_start","project_root":"/p","agent":"test","task":"x","planned_steps":5,"work_unit":{"methodology":"native","hierarchy":["spec_042","subtask_3"],"label":"Spec 042 / Subtask 3"}"#.to_owned(),
        r#""event":"record","type":"decision","content":"Totals are kept in cents.""#.to_owned(),
        r#""event":"tool_call","call_id":"a","tool":"edit","args":{"paths":["src/total.rs"]}"#.to_owned(),
        r#""event":"tool_result","call_id":"a","tool":"edit","ok":true"#.to_owned(),
    ];
    for nth in 2..steps {
        lines.push(format!(
            r#""event":"tool_call","call_id":"r{nth}","tool":"read","args":{{"paths":["src/total.rs"]}}"#
        ));
        lines.push(format!(r#""event":"tool_result","call_id":"r{nth}","tool":"read","ok":true"#));
    }
    lines.extend(ends.iter().map(|it| (*it).to_owned()));
    lines
}

const CALL: &str =
    r#""event":"tool_call","call_id":"z","tool":"shell","args":{"command":"cargo test"}"#;
const PASSED: &str =
    r#""event":"tool_result","call_id":"z","tool":"shell","ok":true,"excerpt":"ok""#;
const FAILED: &str = r#""event":"tool_result","call_id":"z","tool":"shell","ok":false,"excerpt":"error: totals differ by a cent""#;
const GAVE_UP: &str = r#""event":"session_end","outcome":"failure""#;

fn of_kind(desk: &Desk, engine: &Engine, kind: &str) -> Vec<model::Memory> {
    let filter = waylore_engine::Filter {
        kind: Some(kind.to_owned()),
        ..waylore_engine::Filter::standing(10)
    };
    let all = desk.runtime.block_on(engine.list(&filter, None)).unwrap();
    all.into_iter().map(|it| it.memory).collect()
}

#[test]
fn a_unit_of_work_has_one_outcome_which_later_sessions_bring_up_to_date() {
    let desk = Desk::new();
    let folder = desk.dir.path().join("project/src");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("total.rs"), "").unwrap();
    let mut engine = desk.engine();
    let learn = |engine: &mut Engine, session: u8, lines: Vec<String>| {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let events = events_at(START + i64::from(session) * MINUTE, session, &lines);
        desk.runtime.block_on(engine.journal(&events)).unwrap();
        desk.learn(engine);
        let [outcome] = &of_kind(&desk, engine, "work_unit_outcome")[..] else {
            panic!("one outcome a unit")
        };
        outcome.clone()
    };
    let failed = learn(&mut engine, 1, unit(3, &[CALL, FAILED, GAVE_UP]));
    assert_eq!(
        failed.content,
        "Spec 042 / Subtask 3 was tried and failed after changing `src/total.rs`. The last that failed: “error: totals differ by a cent”. Totals are kept in cents."
    );
    let done = learn(&mut engine, 2, unit(3, &[CALL, PASSED]));
    assert_eq!(
        done.content,
        "Spec 042 / Subtask 3 is done: it changed `src/total.rs`. Totals are kept in cents."
    );
    assert_eq!((done.id, done.provenance.len()), (failed.id, 2));
    let Some(model::Payload::WorkUnitOutcome(payload)) = done.payload else { panic!() };
    assert!(payload.succeeded && payload.failure_reason.is_none());
    let occasion = waylore_engine::Occasion::of(model::Phase::Reflect);
    let told = desk.runtime.block_on(engine.context_start(&occasion)).unwrap();
    assert!(told.text.contains("Subtask 3 is done"), "it is read back: {}", told.text);
}

#[test]
fn calibration_is_one_memory_that_every_plan_changes() {
    let desk = Desk::new();
    let mut engine = desk.engine();
    let learn = |engine: &mut Engine, session: u8, steps: usize| {
        let lines = unit(steps, &[CALL, PASSED]);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let events = events_at(START + i64::from(session) * MINUTE, session, &lines);
        desk.runtime.block_on(engine.journal(&events)).unwrap();
        desk.learn(engine);
        let all = of_kind(&desk, engine, "task_calibration");
        all.into_iter().map(|it| it.content).collect::<Vec<_>>()
    };
    assert!(learn(&mut engine, 1, 10).is_empty() && learn(&mut engine, 2, 10).is_empty());
    let twice = "Plan work in `src` with 2.0 times the steps you expect; it has taken that over 3 sessions.";
    assert_eq!(learn(&mut engine, 3, 10), [twice]);
    let limit = desk.runtime.block_on(engine.stop_limit(10, "src")).unwrap();
    assert_eq!((limit.calibration, limit.samples), (2_000, 3), "it is read back");
    let less = "Plan work in `src` with 1.6 times the steps you expect; it has taken that over 4 sessions.";
    assert_eq!(learn(&mut engine, 4, 3), [less]);
    for session in 5..10 {
        learn(&mut engine, session, 3);
    }
    assert!(of_kind(&desk, &engine, "task_calibration").is_empty(), "it comes out as planned now");
}
