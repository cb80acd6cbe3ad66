//! At which moments anything is said, how sure it must be, and that it still holds.

use agents::{Heard, Moment};
use model::{Group, Status, TrustLevel};
use waylore_engine::{
    Engine, Filter, OnDuplicate, OnSecret, PassedOver, Reach, Silence, Teaching, Telling,
};

use crate::learning::{Desk, events_at};

const START: i64 = 1_794_000_000_000;

fn heard(desk: &Desk, session: &str, moment: Moment) -> Heard {
    Heard {
        host: Some("claude-code"),
        event: String::new(),
        session: session.to_owned(),
        cwd: desk.dir.path().join("project").display().to_string(),
        transcript: None,
        moment,
    }
}

fn touched(path: &str) -> Moment {
    Moment::Touched { paths: vec![path.to_owned()] }
}

/// A project that learned a gotcha about `a.rs`, bound to its function.
fn taught(desk: &Desk) -> Engine {
    let root = desk.dir.path().join("project");
    std::fs::write(root.join("a.rs"), "fn verify() {}\nfn other() {}\n").unwrap();
    let mut engine = desk.engine();
    let teaching = Teaching {
        content: "verify() wants seconds".to_owned(),
        kind: Some("gotcha".to_owned()),
        reach: Reach::Project,
        tags: Vec::new(),
        files: vec!["a.rs:verify".into()],
        modules: Vec::new(),
        cwd: root,
        pinned: false,
        on_secret: OnSecret::Refuse,
        on_duplicate: OnDuplicate::Keep,
        key: None,
        dry_run: false,
    };
    desk.runtime.block_on(engine.remember(teaching)).unwrap();
    engine
}

fn attend(desk: &Desk, engine: &Engine, session: &str, moment: Moment) -> Telling {
    desk.runtime.block_on(engine.attend_to(&heard(desk, session, moment))).unwrap()
}

fn only(desk: &Desk, engine: &Engine) -> model::Memory {
    let filter = Filter::standing(10);
    let mut all = desk.runtime.block_on(engine.list(&filter, None)).unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0).memory
}

#[test]
fn what_would_be_told_is_what_is_told() {
    let desk = Desk::new();
    let engine = taught(&desk);
    for moment in [
        touched("a.rs"),
        Moment::Start { compacted: false },
        Moment::Prompt { text: "verify() wants milliseconds, or does it?".to_owned() },
        Moment::Prompt { text: "go on".to_owned() },
        Moment::End,
    ] {
        let asked = heard(&desk, &format!("{moment:?}"), moment);
        let level = engine.manners.level;
        let would = desk.runtime.block_on(engine.telling(&asked, level)).unwrap();
        let again = desk.runtime.block_on(engine.telling(&asked, level)).unwrap();
        let told = desk.runtime.block_on(engine.attend_to(&asked)).unwrap();
        assert_eq!((&would.text, would.silence), (&told.text, told.silence), "{asked:?}");
        assert_eq!(would.text, again.text, "asking notes nothing");
        assert_eq!(would.text.is_empty(), would.silence.is_some());
    }
}

#[test]
fn the_level_says_when_anything_is_said_and_how_sure_it_must_be() {
    let desk = Desk::new();
    let mut engine = taught(&desk);
    engine.manners.level = TrustLevel::Cautious;
    let told = attend(&desk, &engine, "s1", touched("a.rs"));
    assert_eq!(told.silence, Some(Silence::Level), "only at the start of a session");
    engine.manners.level = TrustLevel::Standard;
    let mut unsure = only(&desk, &engine);
    let sure = attend(&desk, &engine, "s2", touched("a.rs"));
    assert!(sure.text.contains("wants seconds"), "{}", unsure.confidence);
    let edit = waylore_engine::Edit {
        content: None,
        kind: None,
        tags: None,
        files: None,
        modules: None,
        confidence: Some(model::PerMille::new(600)),
        cwd: desk.dir.path().join("project"),
        on_secret: OnSecret::Refuse,
    };
    let id = unsure.id.to_string();
    desk.runtime.block_on(engine.edit(&id, edit)).unwrap();
    unsure = only(&desk, &engine);
    let told = attend(&desk, &engine, "s3", touched("a.rs"));
    assert_eq!(told.silence, Some(Silence::Nothing), "{}", unsure.confidence);
    assert_eq!(told.warned.unwrap().left_out[0].1, PassedOver::Untrusted);
    engine.manners.level = TrustLevel::Confident;
    assert_ne!(attend(&desk, &engine, "s4", touched("a.rs")).text, "");
}

#[test]
fn what_a_compaction_took_comes_back_once() {
    let desk = Desk::new();
    let engine = taught(&desk);
    let says = |moment: Moment| attend(&desk, &engine, "s1", moment).text.contains("wants seconds");
    let start = |compacted| Moment::Start { compacted };
    assert!(!says(start(false)), "it is about a file");
    assert!(says(touched("a.rs")));
    assert!(!says(start(false)), "a session that is gone on with has it before it");
    assert!(!says(touched("a.rs")));
    assert!(says(start(true)), "the conversation it was in is gone");
    assert!(!says(touched("a.rs")), "it is there again");
    assert!(!says(start(true)) && !says(touched("a.rs")), "twice is enough");
    let other = heard(&desk, "s2", start(true));
    let told = desk.runtime.block_on(engine.attend(&other)).unwrap();
    assert!(told.is_none_or(|it| !it.contains("wants seconds")), "it was never told");
}

#[test]
fn what_is_not_there_any_more_is_not_said_and_somebody_is_asked() {
    let desk = Desk::new();
    let engine = taught(&desk);
    let file = desk.dir.path().join("project/a.rs");
    std::fs::write(&file, "fn other() {}\n").unwrap();
    let told = attend(&desk, &engine, "s1", touched("a.rs"));
    assert_eq!((told.text.as_str(), told.silence), ("", Some(Silence::Nothing)));
    let withheld = told.withheld();
    assert_eq!(withheld, [(only(&desk, &engine).id, PassedOver::SymbolsGone)]);
    assert_eq!(desk.runtime.block_on(engine.put_up(&withheld)).unwrap(), 1);
    assert_eq!(only(&desk, &engine).status(), Status::NeedsReview);
    assert_eq!(desk.runtime.block_on(engine.put_up(&withheld)).unwrap(), 0, "once");
}

#[test]
fn a_trial_tells_some_sessions_less_and_remembers_which() {
    let desk = Desk::new();
    let mut engine = taught(&desk);
    let project = engine.project().id().unwrap().to_string();
    let in_group = |group: Group| {
        let names = (0..10_000).map(|it| format!("session {it}"));
        names.into_iter().find(|it| Group::of(it, &project) == group).unwrap()
    };
    let control = in_group(Group::Control);
    assert_ne!(attend(&desk, &engine, &control, touched("a.rs")).text, "", "nothing is on trial");
    engine.manners.on_trial = true;
    let start = || Moment::Prompt { text: "does verify() want milliseconds or seconds".to_owned() };
    for (group, hears) in [
        (Group::Control, [false, false]),
        (Group::Passive, [true, false]),
        (Group::Full, [true, true]),
    ] {
        let session = in_group(group);
        let said = [start(), touched("a.rs")].map(|it| {
            engine.forget_heard(&session).unwrap();
            attend(&desk, &engine, &session, it).text.contains("seconds")
        });
        assert_eq!(said, hears, "{group}");
    }
    let start = format!(
        r#""event":"session_start","project_root":"/p","agent":"test","host_session":"{control}""#
    );
    let work = [start.as_str(), r#""event":"user_message","text":"do it""#];
    desk.runtime.block_on(engine.journal(&events_at(START, 7, &work))).unwrap();
    desk.learn(&mut engine);
    let trial = desk.runtime.block_on(engine.trial()).unwrap().unwrap();
    assert_eq!(trial.sessions, [(Group::Control, 1), (Group::Passive, 0), (Group::Full, 0)]);
}
