//! A system clock that jumps 400 days back or 30 years ahead between two commands: memories keep the
//! order in which they were written, nothing expires because of a jump, and `undo` still works.
//!
//! The clock is faked with libfaketime; without it the tests are skipped. Points in time are offsets
//! in its notation, such as `+30y`.
//!
//! A *notebook* is a collection of memories with its own database: one for the project, one for the user.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::sandbox::{CommandOutput, Sandbox, files, run_command, skip, string};

const PRESENT: &str = "+0";
const PAST: &str = "-400d";
const FUTURE: &str = "+30y";

#[test]
fn memories_are_listed_in_the_order_of_writing() {
    let Some(clock) = FakedClock::new("order under a wrong clock") else { return };
    let ids: Vec<String> = [PRESENT, PAST, FUTURE, PRESENT, PAST, PRESENT, FUTURE, FUTURE]
        .iter()
        .enumerate()
        .map(|(n, time)| clock.remember(time, &format!("thing {n}")))
        .collect();
    let newest_first: Vec<String> = ids.iter().rev().cloned().collect();
    for time in [PRESENT, PAST, FUTURE] {
        assert_eq!(clock.list_ids(time), newest_first, "listed at {time}");
    }
    let mut unique = ids.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "no id is used twice");
    clock.sandbox.assert_healthy("after the jumps");
}

#[test]
fn a_clock_jump_expires_nothing() {
    let Some(clock) = FakedClock::new("expiry under a wrong clock") else { return };
    let kept = clock.remember(PRESENT, "a thing to keep");
    let forgotten = clock.remember(PRESENT, "a thing to forget");
    clock.sandbox.json(&["forget", &forgotten]);
    // Maintenance lowers the confidence of old memories (`decayed`) and erases those that were forgotten
    // long ago (`removed`). A jump makes none of them old.
    for time in [FUTURE, PAST, PRESENT, FUTURE, PRESENT, PAST] {
        let maintained = clock.json(time, &["maintain"]);
        for notebook in maintained["notebooks"].as_array().unwrap() {
            for effect in ["decayed", "removed", "findings"] {
                assert_eq!(notebook[effect], json!([]), "{effect} at {time}: {notebook}");
            }
        }
    }
    assert_eq!(clock.list_ids(PRESENT), vec![kept]);
    // A forgotten memory can be restored for 30 days; the jump does not count as that time.
    clock.run(FUTURE, &["restore", &forgotten]).expect_code(0, "restore the forgotten memory");
    assert_eq!(clock.list_ids(PRESENT).len(), 2);
}

#[test]
fn a_change_can_be_undone_at_any_clock_time() {
    for (edit_time, undo_time) in
        [(PRESENT, FUTURE), (FUTURE, PRESENT), (PAST, PRESENT), (PRESENT, PAST), (PAST, FUTURE)]
    {
        let Some(clock) = FakedClock::new("undo under a wrong clock") else { return };
        let case = format!("edited at {edit_time}, undone at {undo_time}");
        let id = clock.remember(PRESENT, "the first text");
        clock.json(edit_time, &["edit", &id, "--text", "the second text"]);
        clock.run(undo_time, &["undo"]).expect_code(0, &case);
        let memory = &clock.sandbox.json(&["show", &id])["memory"];
        assert_eq!(memory["content"], "the first text", "{case}");
    }
}

/// Two databases, the project's and the user's: `undo` must find the latest change of both, whatever
/// their timestamps say.
#[test]
fn undo_reverts_the_latest_change_across_both_notebooks() {
    const TO_PROJECT: &[&str] = &[];
    const TO_USER: &[&str] = &["--user"];
    let times = [(PRESENT, PAST), (FUTURE, PRESENT), (FUTURE, PAST), (PAST, FUTURE)];
    let targets = [(TO_PROJECT, TO_USER), (TO_USER, TO_PROJECT)];
    let cases = times.iter().flat_map(|times| targets.map(|targets| (*times, targets)));
    for ((first_time, last_time), (first_target, last_target)) in cases {
        let Some(clock) = FakedClock::new("undo in two notebooks under a wrong clock") else {
            return;
        };
        let case = format!("{first_target:?} at {first_time}, then {last_target:?} at {last_time}");
        let remember = |time: &str, target: &[&str], text: &str| {
            clock.json(time, &[&["remember", "--new", text], target].concat());
        };
        remember(first_time, first_target, "written first");
        remember(last_time, last_target, "written last");
        // The first `undo` takes back what was written last, the second what was written first.
        for remaining in [vec!["written first"], vec![]] {
            clock.json(last_time, &["undo"]);
            let listed = clock.json(last_time, &["list"]);
            let memories = listed["memories"].as_array().unwrap();
            let texts: Vec<&str> =
                memories.iter().filter_map(|it| it["content"].as_str()).collect();
            assert_eq!(texts, remaining, "{case}");
        }
    }
}

#[test]
fn confidence_and_age_stay_plausible() {
    let Some(clock) = FakedClock::new("confidence under a wrong clock") else { return };
    for (n, time) in [PRESENT, PAST, FUTURE].iter().enumerate() {
        clock.remember(time, &format!("thing {n}"));
    }
    for time in [PRESENT, PAST, FUTURE, PRESENT] {
        let listed = clock.json(time, &["list"]);
        for memory in listed["memories"].as_array().unwrap() {
            let stored = memory["confidence"].as_f64().unwrap();
            let current = memory["current_confidence"].as_f64().unwrap();
            // A jump may count as a short time without use, but not as the years it pretends.
            assert!(
                current <= stored && current > stored / 2.0,
                "at {time}: {current} of {stored}"
            );
        }
        for id in clock.list_ids(time) {
            let shown = clock.run(time, &["show", &id]).expect_code(0, "show a memory");
            // A negative number would follow a space.
            assert!(!shown.out.contains(" -"), "no age is negative: {shown:?}");
        }
    }
}

#[test]
fn a_backup_from_the_future_does_not_prevent_backups() {
    let Some(clock) = FakedClock::new("backups under a wrong clock") else { return };
    clock.remember(PRESENT, "the first thing");
    clock.json(FUTURE, &["backup"]);
    clock.remember(PRESENT, "the second thing");
    // Maintenance makes a backup when the latest one is old. The one from the future must not count as
    // new.
    clock.json(PRESENT, &["maintain"]);
    let listed = clock.sandbox.json(&["restore-backup"]);
    let has_both_memories = |it: &Value| it["memories"] == 2;
    assert!(listed["backups"].as_array().unwrap().iter().any(has_both_memories), "{listed}");
}

/// A sandbox whose commands run at a chosen time.
struct FakedClock {
    sandbox: Sandbox,
    /// The path of libfaketime.
    library: PathBuf,
}

impl FakedClock {
    /// `None` without libfaketime; then the check `what` is reported as skipped.
    fn new(what: &str) -> Option<Self> {
        let found =
            ["/usr/lib", "/usr/local/lib"].iter().find_map(|it| find_libfaketime(Path::new(it)));
        if found.is_none() {
            skip(what, "libfaketime is not installed");
        }
        found.map(|library| Self { sandbox: Sandbox::new(), library })
    }

    fn run(&self, time: &str, args: &[&str]) -> CommandOutput {
        let mut command = self.sandbox.command(args);
        command.env("LD_PRELOAD", &self.library).env("FAKETIME", time);
        // Timeouts use the monotonic clock and must stay real.
        command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        run_command(command)
    }

    fn json(&self, time: &str, args: &[&str]) -> Value {
        let output = self.run(time, &[&["--json"], args].concat());
        output.expect_code(0, &format!("{args:?} at {time}")).json()
    }

    fn remember(&self, time: &str, text: &str) -> String {
        string(&self.json(time, &["remember", "--new", text])["memory"]["id"])
    }

    fn list_ids(&self, time: &str) -> Vec<String> {
        let listed = self.json(time, &["list"]);
        listed["memories"].as_array().unwrap().iter().map(|it| string(&it["id"])).collect()
    }
}

/// Finds the library in `root/faketime` or `root/*/faketime`, as distributions install it.
fn find_libfaketime(root: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(root).ok()?.flatten().map(|it| it.path());
    // For each entry of `root`, the folder `faketime` may be below it or be the entry itself.
    let mut libraries: Vec<PathBuf> = entries
        .flat_map(|entry| [entry.join("faketime"), entry])
        .filter(|folder| folder.ends_with("faketime"))
        .flat_map(|folder| files(&folder))
        .filter(|it| it.ends_with("faketime/libfaketime.so.1"))
        .collect();
    libraries.sort();
    libraries.into_iter().next()
}
