//! Long random runs. These invariants hold after every operation; a failure prints its seed and script.

mod random_run;

use model::words;
use random_run::RandomRun;
use testkit::SplitMix64;

const TURNS_PER_RUN: usize = 300;

/// Plays random operations and checks every invariant after each.
fn run_random_life(seed: u64) {
    let mut run = RandomRun::new(seed);
    for turn in 0..TURNS_PER_RUN {
        let line = run.next_line();
        let (answer, before) = run.play_and_observe(&line);
        run.assert_holds(
            run.every_acknowledged_memory_is_there(),
            "every acknowledged memory is in the export or was purged",
        );
        let grown = run.versions_only_grow();
        run.assert_holds(grown, "versions only grow");
        run.assert_holds(
            run.now.no_text_holds_a_secret(),
            "no text ever contains a planted secret",
        );
        run.assert_holds(
            run.now.shows_only_active_memories(),
            "list never shows forgotten or deprecated memories",
        );
        if answer.starts_with("purged") {
            let erased = &before.planted_marks() - &run.now.planted_marks();
            run.assert_holds(
                ["not found anywhere", "not there inside", "nothing to look for"]
                    .iter()
                    .any(|it| answer.contains(it)),
                "a purge proves that it worked",
            );
            run.assert_holds(
                !erased.iter().any(|it| run.is_in_a_file(it)),
                "after purge no planted text is in any file",
            );
        }
        if turn % 25 == 0 {
            run.assert_holds(!run.a_secret_is_in_a_file(), "no file ever holds a planted secret");
            every_word_finds_its_memory(&mut run, turn);
        }
        // Maintenance is not a user's change, and erasing cannot be undone.
        let undoable = ["teach", "edit", "pin", "unpin", "flag", "forget", "restore", "import"];
        let changed = run.changed_since(&before);
        if turn % 2 == 0 && changed && undoable.contains(&line.split(' ').next().unwrap_or("")) {
            run.play_and_observe("undo");
            run.assert_holds(
                run.now.visible == before.visible,
                "undo after any single operation restores the visible state exactly",
            );
        }
    }
}

/// Checks that search finds a memory by each of its words.
fn every_word_finds_its_memory(run: &mut RandomRun, turn: usize) {
    let n_visible = run.now.visible.len().max(1);
    let Some(memory) = run.now.visible.get(turn % n_visible).cloned() else { return };
    for word in words::query_keywords(&memory.content) {
        let found = run.search_finds(&word, memory.id);
        run.assert_holds(
            found,
            &format!("search finds {:?} by its own word `{word}`", memory.content),
        );
    }
}

#[test]
fn a_long_life() {
    run_random_life(1);
}

#[test]
fn another_long_life() {
    run_random_life(2);
}

#[test]
fn a_third_long_life() {
    run_random_life(3);
}

/// Replaying the same script gives the same export.
#[test]
fn the_same_script_gives_the_same_export() {
    let seed = 20_261_115;
    let mut first = RandomRun::new(seed);
    for _ in 0..TURNS_PER_RUN {
        let line = first.next_line();
        first.play_line(&line);
    }
    let (script, kept) = (first.script(), first.export());
    drop(first);
    let mut second = RandomRun::new(seed);
    script.lines().for_each(|it| drop(second.play_line(it)));
    let again = second.export();
    second.assert_holds(again == kept, "replaying the same script gives the same export");
}

/// Undo without an id reverts the last change, whatever the clock says.
#[test]
fn undo_walks_back_through_both_notebooks_whatever_the_clock() {
    for seed in 1..=3 {
        let mut run = RandomRun::new(seed);
        let mut random = SplitMix64::new(seed);
        let mut before = Vec::new();
        let mut away: i64 = 0;
        while before.len() < 40 {
            // The clock jumps, within the days in which a change can be undone.
            let day = i64::try_from(random.below(20)).expect("it is small");
            run.play_line(&format!("days {}", day - away));
            away = day;
            let line = run.next_line();
            // Each of these is one undo step; a `restore` may be two.
            let person = ["teach", "edit", "pin", "unpin", "flag", "forget", "import"];
            if person.contains(&line.split(' ').next().unwrap_or("")) {
                let (_, seen) = run.play_and_observe(&line);
                if run.changed_since(&seen) {
                    before.push(seen.visible);
                }
            }
        }
        while let Some(seen) = before.pop() {
            run.play_and_observe("undo");
            run.assert_holds(run.now.visible == seen, "undo takes back the change made last");
        }
    }
}
