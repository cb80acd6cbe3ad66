//! Crash tests: writing commands are killed with `kill -9` at random moments, 100 times per test.
//!
//! Every acknowledged write must be stored, and an unacknowledged one can be repeated without being
//! stored twice. A write is acknowledged when the whole line of JSON output has been read.
//!
//! The clock is too coarse for the moment of the kill. It is measured in polls instead, that is
//! calls of `try_wait` on the process: each test first counts the polls of a run without a kill, and
//! then kills after a random number of polls below that.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Read;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::sandbox::{Sandbox, SeededRandom, id_of, record, string};

const KILLS_PER_TEST: u64 = 100;
const CONCURRENT_WRITERS: usize = 3;
const RECORDS_PER_IMPORT: u64 = 30;

#[test]
fn a_killed_remember_is_stored_if_acknowledged_and_never_twice() {
    let (sandbox, mut seeded) = (Sandbox::in_memory(), SeededRandom::new(11));
    let n_polls =
        polls_of_a_whole_run(&sandbox, &["remember", "--new", "--json", "the first of all"]);
    // Processes that compete for the lock take longer than one alone.
    let max_polls = n_polls * CONCURRENT_WRITERS as u64;

    let mut acknowledged = HashMap::new();
    for cycle in 0..KILLS_PER_TEST {
        // Several processes store one memory each, and are killed. The store takes commands with the
        // same key (`--key`) for one attempt, which may be repeated.
        let mut attempts = Vec::new();
        for writer in 0..CONCURRENT_WRITERS {
            let key = format!("key-{cycle}-{writer}");
            attempts.push((key, format!("fact {cycle}.{writer} {}", seeded.next())));
        }
        let mut children = Vec::new();
        for (key, text) in &attempts {
            let args = ["remember", "--new", "--json", "--key", key, text];
            children.push(start_command(&sandbox, &args));
        }
        let kill_after = (0..CONCURRENT_WRITERS).map(|_| seeded.below(max_polls)).collect();
        let answers = kill_after_polls(children, kill_after);

        // The user repeats what was not acknowledged, with the same key. Then everything is stored.
        for ((key, text), answer) in attempts.into_iter().zip(answers) {
            let answer = answer
                .unwrap_or_else(|| sandbox.json(&["remember", "--new", "--key", &key, &text]));
            acknowledged.insert(string(&answer["memory"]["id"]), text);
        }
        assert_acknowledged_are_stored(&sandbox, &acknowledged, cycle);
    }
}

#[test]
fn a_killed_import_is_stored_whole_or_not_at_all() {
    let (sandbox, mut seeded) = (Sandbox::in_memory(), SeededRandom::new(12));
    let file = sandbox.root.join("many.json");
    let path = file.to_str().unwrap().to_owned();
    let import = ["import", "--trust", "--json", path.as_str()];
    let mut acknowledged = HashMap::new();
    let mut n_polls = None;
    // One cycle more, because the first one does not kill.
    for cycle in 0..=KILLS_PER_TEST {
        let records: Vec<Value> = (0..RECORDS_PER_IMPORT)
            .map(|it| record(&id_of(cycle, it), &format!("note {cycle}.{it} {}", seeded.next())))
            .collect();
        fs::write(&file, serde_json::to_vec(&records).unwrap()).unwrap();

        // The first cycle runs to the end and counts the polls.
        let Some(n_polls) = n_polls else {
            n_polls = Some(polls_of_a_whole_run(&sandbox, &import));
            acknowledged.extend(ids_and_contents(&records));
            continue;
        };

        let child = start_command(&sandbox, &import);
        let answer = kill_after_polls(vec![child], vec![seeded.below(n_polls)]).remove(0);

        // All records are stored or none; an acknowledged import has stored all.
        let n_stored = sandbox.contents().len() - acknowledged.len();
        assert!(n_stored == 0 || n_stored == records.len(), "cycle {cycle}: {n_stored} stored");
        assert!(answer.is_none() || n_stored == records.len(), "cycle {cycle}: {answer:?}");

        // In half of the cycles a failed import is not repeated, so that the next one starts from
        // whatever state the kill left.
        if cycle.is_multiple_of(2) && n_stored == 0 {
            continue;
        }

        // Repeated, the import adds exactly what is missing.
        let repeated = sandbox.json(&["import", "--trust", &path]);
        assert_eq!(repeated["added"], records.len() - n_stored, "cycle {cycle}");
        acknowledged.extend(ids_and_contents(&records));
        assert_acknowledged_are_stored(&sandbox, &acknowledged, cycle);
    }
}

#[test]
fn a_killed_edit_is_atomic_and_a_killed_backup_is_not_listed() {
    let (sandbox, mut seeded) = (Sandbox::in_memory(), SeededRandom::new(13));
    let ids: Vec<String> = (0..8).map(|it| sandbox.remember(&format!("thing {it}"))).collect();
    let n_polls = polls_of_a_whole_run(&sandbox, &["backup", "--json"]);
    for cycle in 0..KILLS_PER_TEST {
        // The commands take turns, each with a random memory.
        let id = &ids[seeded.index(ids.len())];
        let before = memory_state(&sandbox, id);
        let text = format!("thing edited in cycle {cycle}");
        let command: Vec<&str> = match cycle % 4 {
            0 => vec!["backup", "--json"],
            // A forgotten memory cannot be forgotten again; it is edited instead.
            1 if !before.is_forgotten => vec!["forget", "--json", id],
            2 => vec!["undo", "--json", id],
            _ => vec!["edit", "--json", id, "--text", &text],
        };
        let child = start_command(&sandbox, &command);
        let answer = kill_after_polls(vec![child], vec![seeded.below(n_polls)]).remove(0);

        // The change is complete, or it is not acknowledged and has not happened.
        let after = memory_state(&sandbox, id);
        let is_complete = match command[0] {
            "forget" => after == MemoryState { is_forgotten: true, ..before.clone() },
            "edit" => after == MemoryState { content: text.clone(), ..before.clone() },
            // A backup changes no memory, and only the store knows what `undo` should restore.
            _ => true,
        };
        assert!(
            is_complete || (after == before && answer.is_none()),
            "cycle {cycle}: {command:?} {after:?}"
        );

        // Every listed backup is complete.
        let backups = sandbox.run(&["restore-backup", "--json"]).json();
        for backup in backups["backups"].as_array().unwrap() {
            assert!(backup["problem"].is_null(), "cycle {cycle}: {backup}");
        }
        if cycle.is_multiple_of(20) {
            sandbox.assert_healthy(&format!("cycle {cycle}"));
        }
    }
    assert_eq!(sandbox.contents().len(), ids.len(), "a change created or removed a memory");
}

fn start_command(sandbox: &Sandbox, args: &[&str]) -> Child {
    let mut command = sandbox.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Runs a command to its end and counts the polls that it takes.
fn polls_of_a_whole_run(sandbox: &Sandbox, args: &[&str]) -> u64 {
    let mut child = start_command(sandbox, args);
    let mut n_polls = 0;
    while child.try_wait().unwrap().is_none() {
        n_polls += 1;
    }
    assert!(child.wait().unwrap().success(), "{args:?}");
    n_polls
}

/// Polls all processes in turn and kills each after its number of polls. Returns for each process
/// the acknowledgement it printed before, if any.
fn kill_after_polls(mut children: Vec<Child>, kill_after: Vec<u64>) -> Vec<Option<Value>> {
    let last_kill = kill_after.iter().max().copied().unwrap_or(0);
    for poll in 0..=last_kill {
        for (child, kill_at) in children.iter_mut().zip(&kill_after) {
            match poll.cmp(kill_at) {
                Ordering::Less => _ = child.try_wait().unwrap(),
                Ordering::Equal => child.kill().unwrap(),
                // Killed already; the others still run.
                Ordering::Greater => {}
            }
        }
    }
    children.into_iter().map(read_acknowledgement).collect()
}

/// The JSON that a killed process printed; `None` if the line is incomplete or an error.
fn read_acknowledgement(mut child: Child) -> Option<Value> {
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.wait().unwrap();
    if !out.ends_with('\n') {
        return None; // killed before it had printed the whole line
    }
    let answer: Value = serde_json::from_str(&out).unwrap();
    // A refusal is allowed (`undo` without anything to undo), but a kill must never leave the data
    // in a state that makes later commands fail.
    assert_ne!(answer["error"]["kind"], "environment", "{answer}");
    let is_error = answer["kind"] == "error";
    if is_error { None } else { Some(answer) }
}

fn ids_and_contents(records: &[Value]) -> impl Iterator<Item = (String, String)> {
    records.iter().map(|it| (string(&it["id"]), string(&it["content"])))
}

/// The part of a memory that the commands of these tests change.
#[derive(Clone, Debug, PartialEq)]
struct MemoryState {
    content: String,
    is_forgotten: bool,
}

fn memory_state(sandbox: &Sandbox, id: &str) -> MemoryState {
    let memory = &sandbox.json(&["show", id])["memory"];
    MemoryState {
        content: string(&memory["content"]),
        is_forgotten: !memory["deleted_at"].is_null(),
    }
}

/// Asserts that every acknowledged memory (id → text) is stored, and that no text is stored twice.
fn assert_acknowledged_are_stored(
    sandbox: &Sandbox,
    acknowledged: &HashMap<String, String>,
    cycle: u64,
) {
    let stored: HashMap<String, String> = sandbox.contents().into_iter().collect();
    for (id, text) in acknowledged {
        assert_eq!(stored.get(id), Some(text), "cycle {cycle}: {id}");
    }

    let distinct_texts: HashSet<&String> = stored.values().collect();
    assert_eq!(distinct_texts.len(), stored.len(), "cycle {cycle}: a text was stored twice");
    // `doctor` is slow compared with the rest of a cycle.
    if cycle.is_multiple_of(20) {
        sandbox.assert_healthy(&format!("cycle {cycle}"));
    }
}
