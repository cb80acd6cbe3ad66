//! Long random lives. Whatever happens, these sentences stay true; a failure prints its seed and script.

mod tale;

use model::words;
use tale::Tale;
use testkit::Random;

const TURNS: usize = 300;

/// A life in which every sentence is held against every turn.
fn live(seed: u64) {
    let mut tale = Tale::new(seed);
    for turn in 0..TURNS {
        let line = tale.next();
        let (answer, before) = tale.turn(&line);
        tale.must(
            tale.every_acknowledged_memory_is_there(),
            "every acknowledged memory is in the export or was purged",
        );
        let grown = tale.versions_only_grow();
        tale.must(grown, "versions only grow");
        tale.must(tale.now.no_text_holds_a_secret(), "no text ever contains a planted secret");
        tale.must(tale.now.only_what_stands(), "list never shows forgotten or deprecated memories");
        if answer.starts_with("purged") {
            let erased = &before.marks() - &tale.now.marks();
            tale.must(
                ["not found anywhere", "not there inside", "nothing to look for"]
                    .iter()
                    .any(|it| answer.contains(it)),
                "a purge proves that it worked",
            );
            tale.must(
                !erased.iter().any(|it| tale.is_in_a_file(it)),
                "after purge no planted text is in any file",
            );
        }
        if turn % 25 == 0 {
            tale.must(!tale.a_secret_is_in_a_file(), "no file ever holds a planted secret");
            words_lead_back(&mut tale, turn);
        }
        // Upkeep is not a person's doing, and erasing cannot be undone.
        let undoable = ["teach", "edit", "pin", "unpin", "flag", "forget", "restore", "import"];
        let changed = tale.changed_since(&before);
        if turn % 2 == 0 && changed && undoable.contains(&line.split(' ').next().unwrap_or("")) {
            tale.turn("undo");
            tale.must(
                tale.now.visible == before.visible,
                "undo after any single operation restores the visible state exactly",
            );
        }
    }
}

/// Search finds a memory by each of its own words.
fn words_lead_back(tale: &mut Tale, turn: usize) {
    let n_visible = tale.now.visible.len().max(1);
    let Some(memory) = tale.now.visible.get(turn % n_visible).cloned() else { return };
    for word in words::keywords(&memory.content) {
        let found = tale.finds(&word, memory.id);
        tale.must(found, &format!("search finds {:?} by its own word `{word}`", memory.content));
    }
}

#[test]
fn a_long_life() {
    live(1);
}

#[test]
fn another_long_life() {
    live(2);
}

#[test]
fn a_third_long_life() {
    live(3);
}

/// Replaying the same script gives the same export.
#[test]
fn the_same_script_gives_the_same_export() {
    let seed = 20_261_115;
    let mut first = Tale::new(seed);
    for _ in 0..TURNS {
        let line = first.next();
        first.play(&line);
    }
    let (script, kept) = (first.script(), first.export());
    drop(first);
    let mut second = Tale::new(seed);
    script.lines().for_each(|it| drop(second.play(it)));
    let again = second.export();
    second.must(again == kept, "replaying the same script gives the same export");
}

/// Undo without a name takes back the change made last, whatever the clock.
#[test]
fn undo_walks_back_through_both_notebooks_whatever_the_clock() {
    for seed in 1..=3 {
        let mut tale = Tale::new(seed);
        let mut random = Random::new(seed);
        let mut before = Vec::new();
        let mut away: i64 = 0;
        while before.len() < 40 {
            // Within what can still be undone, the clock is anywhere.
            let day = i64::try_from(random.below(20)).expect("it is small");
            tale.play(&format!("days {}", day - away));
            away = day;
            let line = tale.next();
            // Each is one step back; a `restore` may be two.
            let person = ["teach", "edit", "pin", "unpin", "flag", "forget", "import"];
            if person.contains(&line.split(' ').next().unwrap_or("")) {
                let (_, seen) = tale.turn(&line);
                if tale.changed_since(&seen) {
                    before.push(seen.visible);
                }
            }
        }
        while let Some(seen) = before.pop() {
            tale.turn("undo");
            tale.must(tale.now.visible == seen, "undo takes back the change made last");
        }
    }
}
