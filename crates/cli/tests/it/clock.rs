//! A clock that is wrong by −400 days or +30 years: the order is the order of writing, nothing
//! expires that was not lived through, and everything can still be taken back.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::kit::{Desk, Said, files, finish, skip, string};

const PAST: &str = "-400d";
const FUTURE: &str = "+30y";

#[test]
fn the_list_is_in_the_order_of_writing() {
    let Some(clock) = Clock::new("order under a wrong clock") else { return };
    let ids: Vec<String> = ["+0", PAST, FUTURE, "+0", PAST, "+0", FUTURE, FUTURE]
        .iter()
        .enumerate()
        .map(|(n, at)| clock.remember(at, &format!("thing {n}")))
        .collect();
    let newest_first: Vec<String> = ids.iter().rev().cloned().collect();
    for at in ["+0", PAST, FUTURE] {
        assert_eq!(clock.listed(at), newest_first, "seen at {at}");
    }
    let mut unique = ids.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), ids.len());
    clock.desk.is_healthy("after the jumps");
}

#[test]
fn nothing_expires_that_was_not_lived_through() {
    let Some(clock) = Clock::new("expiry under a wrong clock") else { return };
    let kept = clock.remember("+0", "a thing to keep");
    let forgotten = clock.remember("+0", "a thing to forget");
    clock.desk.json(&["forget", &forgotten]);
    for at in [FUTURE, PAST, "+0", FUTURE, "+0", PAST] {
        let done = clock.json(at, &["maintain"]);
        for notebook in done["notebooks"].as_array().unwrap() {
            assert_eq!(notebook["decayed"], serde_json::json!([]), "at {at}: {notebook}");
            assert_eq!(notebook["removed"], serde_json::json!([]), "at {at}: {notebook}");
            assert_eq!(notebook["findings"], serde_json::json!([]), "at {at}: {notebook}");
        }
    }
    assert_eq!(clock.listed("+0"), vec![kept]);
    clock.run(FUTURE, &["restore", &forgotten]).ends(0, "it can still be restored");
    assert_eq!(clock.listed("+0").len(), 2);
}

#[test]
fn everything_can_still_be_taken_back() {
    for (wrote, took) in
        [("+0", FUTURE), (FUTURE, "+0"), (PAST, "+0"), ("+0", PAST), (PAST, FUTURE)]
    {
        let Some(clock) = Clock::new("undo under a wrong clock") else { return };
        let id = clock.remember("+0", "as it was first");
        clock.json(wrote, &["edit", &id, "--text", "as it was then"]);
        clock.run(took, &["undo"]).ends(0, &format!("written at {wrote}, taken back at {took}"));
        let now = &clock.desk.json(&["show", &id])["memory"];
        assert_eq!(now["content"], "as it was first", "written at {wrote}, taken back at {took}");
    }
}

#[test]
fn the_last_change_of_both_notebooks_is_taken_back() {
    let turns = [("+0", PAST), (FUTURE, "+0"), (FUTURE, PAST), (PAST, FUTURE)];
    let reaches: [[&[&str]; 2]; 2] = [[&[], &["--user"]], [&["--user"], &[]]];
    for ((first, second), [here, there]) in turns.iter().flat_map(|it| reaches.map(|to| (*it, to)))
    {
        let Some(clock) = Clock::new("undo in two notebooks under a wrong clock") else { return };
        let remember = |at: &str, reach: &[&str], text: &str| {
            clock.json(at, &[&["remember", "--new", text], reach].concat());
        };
        remember(first, here, "said first");
        remember(second, there, "said last");
        for left in [vec!["said first"], vec![]] {
            clock.json(second, &["undo"]);
            let listed = clock.json(second, &["list"]);
            let listed = listed["memories"].as_array().unwrap().clone();
            let texts: Vec<&str> = listed.iter().filter_map(|it| it["content"].as_str()).collect();
            assert_eq!(texts, left, "{here:?} at {first}, then {there:?} at {second}");
        }
    }
}

#[test]
fn what_is_shown_stays_sane() {
    let Some(clock) = Clock::new("confidence under a wrong clock") else { return };
    for (n, at) in ["+0", PAST, FUTURE].iter().enumerate() {
        clock.remember(at, &format!("thing {n}"));
    }
    for at in ["+0", PAST, FUTURE, "+0"] {
        let listed = clock.json(at, &["list"]);
        for memory in listed["memories"].as_array().unwrap() {
            let (kept, now) = (&memory["confidence"], &memory["current_confidence"]);
            let (kept, now) = (kept.as_f64().unwrap(), now.as_f64().unwrap());
            // A jump may count as a while without use, but not as the years it pretends.
            assert!(now <= kept && now > kept / 2.0, "at {at}: {now} of {kept}");
        }
        for id in clock.listed(at) {
            let shown = clock.run(at, &["show", &id]).ends(0, "show");
            assert!(!shown.out.contains(" -"), "no age is negative: {shown:?}");
        }
    }
}

#[test]
fn a_backup_of_the_future_does_not_stop_backups() {
    let Some(clock) = Clock::new("backups under a wrong clock") else { return };
    clock.remember("+0", "the first thing");
    clock.json(FUTURE, &["backup"]);
    clock.remember("+0", "a thing since");
    clock.json("+0", &["maintain"]);
    let holds_both = |it: &Value| it["memories"] == 2;
    let backups = clock.desk.json(&["restore-backup"]);
    assert!(backups["backups"].as_array().unwrap().iter().any(holds_both), "{backups}");
}

/// A desk whose clock can be set.
struct Clock {
    desk: Desk,
    library: PathBuf,
}

impl Clock {
    fn new(what: &str) -> Option<Self> {
        let found = ["/usr/lib", "/usr/local/lib"].iter().find_map(|it| faketime(Path::new(it)));
        if found.is_none() {
            skip(what, "libfaketime is absent");
        }
        found.map(|library| Self { desk: Desk::new(), library })
    }

    fn run(&self, at: &str, args: &[&str]) -> Said {
        let mut command = self.desk.command(args);
        // Waiting is not to be faked: only what the clock says.
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME", at)
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        finish(command)
    }

    fn json(&self, at: &str, args: &[&str]) -> Value {
        self.run(at, &[&["--json"], args].concat()).ends(0, &format!("{args:?} at {at}")).json()
    }

    fn remember(&self, at: &str, text: &str) -> String {
        string(&self.json(at, &["remember", "--new", text])["memory"]["id"])
    }

    fn listed(&self, at: &str) -> Vec<String> {
        let listed = self.json(at, &["list"]);
        listed["memories"].as_array().unwrap().iter().map(|it| string(&it["id"])).collect()
    }
}

/// The library that fakes time, in whichever folder of its own the system keeps it.
fn faketime(root: &Path) -> Option<PathBuf> {
    let within = |it: &PathBuf| it.parent().is_some_and(|it| it.ends_with("faketime"));
    let dirs = std::fs::read_dir(root).ok()?.flatten().map(|it| it.path());
    let mut found: Vec<PathBuf> = dirs
        .flat_map(|it| [it.join("faketime"), it])
        .filter(|it| it.ends_with("faketime"))
        .flat_map(|it| files(&it))
        .filter(within)
        .collect();
    found.sort();
    found.into_iter().find(|it| it.ends_with("libfaketime.so.1"))
}
