//! kill -9 at random while something is written, 300 times: what was acknowledged stays, what was
//! not can be tried again without being kept twice.
//!
//! Acknowledged means that the line of JSON was read. The moment of death is counted in looks at
//! the process, of which a whole run takes a number that is found out first.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::kit::{Desk, Seeded, id_of, record, string};

const CYCLES: u64 = 100;
const WRITERS: usize = 3;
const RECORDS: u64 = 30;

#[test]
fn a_killed_remember_is_kept_when_acknowledged_and_never_twice() {
    let (desk, mut seeded) = (Desk::in_memory(), Seeded::new(11));
    let looks = whole_run(&desk, &["remember", "--new", "--json", "the first of all"]);
    let mut acknowledged = HashMap::new();
    for cycle in 0..CYCLES {
        let tries: Vec<(String, String)> = (0..WRITERS)
            .map(|it| (format!("key-{cycle}-{it}"), format!("fact {cycle}.{it} {}", seeded.next())))
            .collect();
        let remember = |(key, text): &(String, String)| {
            start(&desk, &["remember", "--new", "--json", "--key", key, text])
        };
        let children = tries.iter().map(remember).collect();
        let moments = (0..WRITERS).map(|_| seeded.below(looks * 3)).collect();
        for ((key, text), answer) in tries.iter().zip(killed(children, moments)) {
            let id = match answer {
                Some(answer) => string(&answer["memory"]["id"]),
                // The person tries again with the same key.
                None => {
                    string(&desk.json(&["remember", "--new", "--key", key, text])["memory"]["id"])
                }
            };
            acknowledged.insert(id, text.clone());
        }
        is_kept(&desk, &acknowledged, cycle);
    }
}

#[test]
fn a_killed_import_is_taken_whole_or_not_at_all() {
    let (desk, mut seeded) = (Desk::in_memory(), Seeded::new(12));
    let file = desk.root.join("many.json");
    let path = file.to_str().unwrap().to_owned();
    let import = ["import", "--trust", "--json", path.as_str()];
    let mut acknowledged = HashMap::new();
    let mut looks = None;
    for cycle in 0..=CYCLES {
        let records: Vec<Value> = (0..RECORDS)
            .map(|it| record(&id_of(cycle, it), &format!("note {cycle}.{it} {}", seeded.next())))
            .collect();
        fs::write(&file, serde_json::to_vec(&records).unwrap()).unwrap();
        let Some(looks) = looks else {
            looks = Some(whole_run(&desk, &import));
            acknowledged.extend(pairs(&records));
            continue;
        };
        let answer = killed(vec![start(&desk, &import)], vec![seeded.below(looks)]).remove(0);
        let present = desk.contents().len() - acknowledged.len();
        assert!(present == 0 || present == records.len(), "cycle {cycle}: {present} were taken");
        assert!(answer.is_none() || present == records.len(), "cycle {cycle}: {answer:?}");
        if cycle.is_multiple_of(2) && present == 0 {
            continue;
        }
        let again = desk.json(&["import", "--trust", &path]);
        assert_eq!(again["added"], records.len() - present, "cycle {cycle}");
        acknowledged.extend(pairs(&records));
        is_kept(&desk, &acknowledged, cycle);
    }
}

#[test]
fn a_killed_change_is_done_or_not_done_and_a_killed_backup_is_no_backup() {
    let (desk, mut seeded) = (Desk::in_memory(), Seeded::new(13));
    let ids: Vec<String> = (0..8).map(|it| desk.remember(&format!("thing {it}"))).collect();
    let looks = whole_run(&desk, &["backup", "--json"]);
    for cycle in 0..CYCLES {
        let id = &ids[seeded.at(ids.len())];
        let before = state(&desk, id);
        let text = format!("thing said anew in cycle {cycle}");
        let change: Vec<&str> = match (cycle % 4, before.1) {
            (0, _) => vec!["backup", "--json"],
            (1, false) => vec!["forget", "--json", id],
            (2, _) => vec!["undo", "--json", id],
            _ => vec!["edit", "--json", id, "--text", &text],
        };
        let answer = killed(vec![start(&desk, &change)], vec![seeded.below(looks)]).remove(0);
        let after = state(&desk, id);
        let done = match change[0] {
            "forget" => after == (before.0.clone(), true),
            "edit" => after == (text.clone(), before.1),
            // What there was to take back is known to the store alone.
            _ => true,
        };
        assert!(
            done || (after == before && answer.is_none()),
            "cycle {cycle}: {change:?} {after:?}"
        );
        let backups = desk.run(&["restore-backup", "--json"]).json();
        for backup in backups["backups"].as_array().unwrap() {
            assert!(backup["problem"].is_null(), "cycle {cycle}: {backup}");
        }
        if cycle.is_multiple_of(20) {
            desk.is_healthy(&format!("cycle {cycle}"));
        }
    }
    assert_eq!(desk.contents().len(), ids.len(), "no change makes another memory");
}

fn start(desk: &Desk, args: &[&str]) -> Child {
    let mut command = desk.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// How many looks a whole run takes.
fn whole_run(desk: &Desk, args: &[&str]) -> u64 {
    let mut child = start(desk, args);
    let mut looks = 0;
    while child.try_wait().unwrap().is_none() {
        looks += 1;
    }
    assert!(child.wait().unwrap().success(), "{args:?}");
    looks
}

/// Looks at each process as often as its moment says, kills it, and reads what it had said by then.
fn killed(mut children: Vec<Child>, moments: Vec<u64>) -> Vec<Option<Value>> {
    let last = moments.iter().max().copied().unwrap_or(0);
    for look in 0..=last {
        for (child, moment) in children.iter_mut().zip(&moments) {
            match look.cmp(moment) {
                std::cmp::Ordering::Less => _ = child.try_wait().unwrap(),
                std::cmp::Ordering::Equal => child.kill().unwrap(),
                std::cmp::Ordering::Greater => {}
            }
        }
    }
    children.into_iter().map(answer).collect()
}

/// A line that did not come to its end is no acknowledgement.
fn answer(mut child: Child) -> Option<Value> {
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.wait().unwrap();
    let res: Option<Value> = out.ends_with('\n').then(|| serde_json::from_str(&out).unwrap());
    // There may be nothing to take back; any other refusal is the fault of those who died.
    let refused = res.as_ref().and_then(|it| it["error"]["kind"].as_str());
    assert!(refused.is_none_or(|it| it != "environment"), "{res:?}");
    res.filter(|it| it["kind"] != "error")
}

fn pairs(records: &[Value]) -> impl Iterator<Item = (String, String)> {
    records.iter().map(|it| (string(&it["id"]), string(&it["content"])))
}

/// What a memory says and whether it is forgotten.
fn state(desk: &Desk, id: &str) -> (String, bool) {
    let memory = &desk.json(&["show", id])["memory"];
    (string(&memory["content"]), !memory["deleted_at"].is_null())
}

fn is_kept(desk: &Desk, acknowledged: &HashMap<String, String>, cycle: u64) {
    let kept: HashMap<String, String> = desk.contents().into_iter().collect();
    for (id, text) in acknowledged {
        assert_eq!(kept.get(id), Some(text), "cycle {cycle}: {id}");
    }
    let mut texts: Vec<&String> = kept.values().collect();
    texts.sort();
    let n = texts.len();
    texts.dedup();
    assert_eq!(texts.len(), n, "cycle {cycle}: something was kept twice");
    if cycle.is_multiple_of(20) {
        desk.is_healthy(&format!("cycle {cycle}"));
    }
}
