//! Rule files (`CLAUDE.md`, `AGENTS.md` …): every rule becomes a memory, which follows its file
//! until the user changes it.
//!
//! Each test plays a script, one command per line, and compares the output. There each command is
//! repeated after `>`, unless it prints nothing:
//!
//! ```text
//! > teach retry limit is 3                     stores a statement
//! m1 new: module_insight "retry limit is 3"    `m1`, the first memory, is new; then its type and text
//! > list                                       prints the active memories, newest first
//! m1 module_insight 0.90 "retry limit is 3"    0.90 is its current confidence
//! ```
//!
//! After the text of a memory come `tags=`, `files=`, `user` if it is in the user's notebook, `pinned`,
//! and its status if it is not active: `[deleted]`. `main.rs` explains the other words of the output,
//! the header of the crate `testkit` all commands. This file also uses:
//!
//! ```text
//! rules                  imports the rules of all rule files of the project
//! rules --vouched        the same, and the user has agreed to them
//! m1 was "old text": …   output: the rule was reworded
//! N known                output: number of rules that were imported before and stay as they are
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn rules_become_memories_and_descriptions_do_not() {
    check(
        r"
            write src/db.rs
            write CLAUDE.md # Shop\n\nThe shop sells things.\n\n## Database\n- Never open a connection outside `src/db.rs`\n- Postgres 16\n\n## Rules\n- Run `make fmt` before committing\n
            rules --vouched
            # A second import changes nothing.
            rules --vouched
        ",
        expect![[r#"
            > rules --vouched
            added: m1 preference "Database: Never open a connection outside `src/db.rs`" files=src/db.rs
            added: m2 preference "Run `make fmt` before committing"
            0 known
            > rules --vouched
            2 known
        "#]],
    );
}

#[test]
fn rules_without_the_users_consent_wait_for_review() {
    check(
        r"
            write .cursorrules Always answer with a test first.
            rules
            # It is not injected.
            context start
        ",
        expect![[r#"
            > rules
            added: m1 preference "Always answer with a test first." [tainted]
            0 known
            > context start
            nothing
        "#]],
    );
}

#[test]
fn memories_follow_their_file() {
    check(
        r"
            write AGENTS.md - The retry limit must be 3\n- Never push to main\n- Use tabs in Makefiles\n
            rules --vouched
            # One rule is reworded, one removed, one added.
            write AGENTS.md - The retry limit must be 5\n- Use tabs in Makefiles\n- Always sign commits with a key\n
            rules --vouched
            list
        ",
        expect![[r#"
            > rules --vouched
            added: m1 preference "The retry limit must be 3"
            added: m2 preference "Never push to main"
            added: m3 preference "Use tabs in Makefiles"
            0 known
            > rules --vouched
            added: m4 preference "Always sign commits with a key"
            was "The retry limit must be 3": m1 preference "The retry limit must be 5"
            retired: m2 preference "Never push to main" [deprecated] (no longer in AGENTS.md)
            1 known
            > list
            m4 preference 0.85 "Always sign commits with a key"
            m3 preference 0.85 "Use tabs in Makefiles"
            m1 preference 0.85 "The retry limit must be 5"
        "#]],
    );
}

#[test]
fn a_rule_the_user_changed_no_longer_follows_its_file() {
    check(
        r"
            write AGENTS.md - Never push to main\n- Use tabs in Makefiles\n- Always sign commits\n
            rules --vouched
            edit m1 Never push to main, not even docs
            forget m2
            # All three rules count as known: the changed and the forgotten memory are not added again.
            rules --vouched
            # The rules that the user changed are removed from the file; their memories stay as they are.
            write AGENTS.md - Always sign commits\n
            rules --vouched
            list
            delete AGENTS.md
            rules --vouched
        ",
        expect![[r#"
            > rules --vouched
            added: m1 preference "Never push to main"
            added: m2 preference "Use tabs in Makefiles"
            added: m3 preference "Always sign commits"
            0 known
            > edit m1 Never push to main, not even docs
            m1 preference "Never push to main, not even docs"
            > forget m2
            m2 preference "Use tabs in Makefiles" [deleted]
            > rules --vouched
            3 known
            > rules --vouched
            1 known
            > list
            m3 preference 0.85 "Always sign commits"
            m1 preference 0.85 "Never push to main, not even docs"
            > rules --vouched
            retired: m3 preference "Always sign commits" [deprecated] (no longer in AGENTS.md)
            0 known
        "#]],
    );
}

#[test]
fn one_rule_in_two_files_is_one_memory() {
    check(
        r"
            write AGENTS.md - Never push to main\n
            write CLAUDE.md - Never push to main\n
            rules --vouched
            rules --vouched
        ",
        expect![[r#"
            > rules --vouched
            added: m1 preference "Never push to main"
            1 known
            > rules --vouched
            2 known
        "#]],
    );
}
