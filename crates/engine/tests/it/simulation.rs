//! Simulation: plays long random scripts and checks invariants after every operation. A failure
//! prints the seed and the script, so that it can be repeated.
//!
//! A script has one command per line, such as `teach TEXT`, `edit m1 TEXT` or `undo`. Its texts
//! contain planted words: *marks*, each in one memory only, which must vanish with a purge, and
//! *secrets*, which must never be stored.

mod random_run;

use model::words;
use random_run::RandomRun;
use testkit::SplitMix64;

const OPERATIONS_PER_RUN: usize = 300;
/// The expensive invariants are checked after every 25th operation.
const EXPENSIVE_CHECK_INTERVAL: usize = 25;

/// Plays random operations and checks every invariant after each.
fn run_random_operations(seed: u64) {
    let mut run = RandomRun::new(seed);
    for nth in 0..OPERATIONS_PER_RUN {
        let line = run.next_line();
        let (output, before) = run.play_and_observe(&line);
        run.assert_holds(
            run.every_acknowledged_memory_is_there(),
            "every acknowledged memory is in the export or was purged",
        );
        let only_grow = run.versions_only_grow();
        run.assert_holds(only_grow, "versions only grow");
        run.assert_holds(
            run.now.no_text_holds_a_secret(),
            "no text ever contains a planted secret",
        );
        run.assert_holds(
            run.now.shows_only_active_memories(),
            "list never shows forgotten or deprecated memories",
        );
        if output.starts_with("purged") {
            // Marks that were stored before the purge and are not stored now.
            let erased_marks = &before.planted_marks() - &run.now.planted_marks();
            run.assert_holds(
                ["not found anywhere", "not there inside", "nothing to look for"]
                    .iter()
                    .any(|it| output.contains(it)),
                "a purge proves that it worked",
            );
            run.assert_holds(
                !erased_marks.iter().any(|it| run.is_in_a_file(it)),
                "after purge no planted text is in any file",
            );
        }
        if nth % EXPENSIVE_CHECK_INTERVAL == 0 {
            run.assert_holds(!run.a_secret_is_in_a_file(), "no file ever holds a planted secret");
            every_word_finds_its_memory(&mut run, nth);
        }
        // Every second change of the user is undone at once. Maintenance is no change of the user,
        // and a purge cannot be undone.
        let undoable = ["teach", "edit", "pin", "unpin", "flag", "forget", "restore", "import"];
        let changed = run.changed_since(&before);
        if nth % 2 == 0 && changed && undoable.contains(&line.split(' ').next().unwrap_or("")) {
            run.play_and_observe("undo");
            run.assert_holds(
                run.now.visible == before.visible,
                "undo after any single operation restores the visible state exactly",
            );
        }
    }
}

/// Checks that search finds one of the visible memories by each of its words. `nth` chooses the
/// memory.
fn every_word_finds_its_memory(run: &mut RandomRun, nth: usize) {
    let n_visible = run.now.visible.len().max(1);
    let Some(memory) = run.now.visible.get(nth % n_visible).cloned() else { return };
    for word in words::query_keywords(&memory.content) {
        let found = run.search_finds(&word, memory.id);
        run.assert_holds(
            found,
            &format!("search finds {:?} by its own word `{word}`", memory.content),
        );
    }
}

#[test]
fn the_invariants_hold_in_a_random_run() {
    run_random_operations(1);
}

#[test]
fn the_invariants_hold_in_a_second_random_run() {
    run_random_operations(2);
}

#[test]
fn the_invariants_hold_in_a_third_random_run() {
    run_random_operations(3);
}

#[test]
fn the_same_script_gives_the_same_export() {
    let seed = 20_261_115;
    let mut first = RandomRun::new(seed);
    for _ in 0..OPERATIONS_PER_RUN {
        let line = first.next_line();
        first.play_line(&line);
    }
    let (script, exported) = (first.script(), first.export());
    drop(first);
    let mut second = RandomRun::new(seed);
    script.lines().for_each(|it| drop(second.play_line(it)));
    let exported_again = second.export();
    second.assert_holds(
        exported_again == exported,
        "replaying the same script gives the same export",
    );
}

/// Makes 40 changes while the clock jumps back and forth, and undoes them one by one.
#[test]
fn undo_reverts_changes_of_both_notebooks_in_reverse_order_whatever_the_clock() {
    for seed in 1..=3 {
        let mut run = RandomRun::new(seed);
        let mut random = SplitMix64::new(seed);
        // The visible memories before each change.
        let mut earlier_states = Vec::new();
        let mut current_day: i64 = 0;
        while earlier_states.len() < 40 {
            // The clock jumps to a day within the 30 days in which a change can be undone.
            let day = i64::try_from(random.below(20)).expect("it is small");
            run.play_line(&format!("days {}", day - current_day));
            current_day = day;
            let line = run.next_line();
            // Each of these is one batch; a `restore` may be two.
            let changes = ["teach", "edit", "pin", "unpin", "flag", "forget", "import"];
            if changes.contains(&line.split(' ').next().unwrap_or("")) {
                let (_, before) = run.play_and_observe(&line);
                if run.changed_since(&before) {
                    earlier_states.push(before.visible);
                }
            }
        }
        while let Some(visible) = earlier_states.pop() {
            run.play_and_observe("undo");
            run.assert_holds(run.now.visible == visible, "undo reverts the last change");
        }
    }
}
