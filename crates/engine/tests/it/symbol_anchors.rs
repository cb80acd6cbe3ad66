//! Symbol anchors: a memory that is anchored to a symbol loses confidence when the code of the
//! symbol changes, and follows the symbol to another file.
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
//! After the text of a memory come `files=` and `anchors=`, the symbols. `main.rs` explains the other
//! words of the output, the header of the crate `testkit` all commands. This file also uses:
//!
//! ```text
//! teach --file a.rs:verify    anchors the memory to the symbol `verify`, for which the file is parsed
//! index                       indexes the code
//! --explain                   prints for each memory `worth`, its confidence, and the reasons for a
//!                             lower one; nothing after the colon if there are none
//! # text                      a comment; the output does not repeat it
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn white_space_comments_and_other_code_do_not_count_as_changes() {
    check(
        r"
            write a.rs fn verify(t: u8) {\n    one(t);\n}\nfn other() {}\n
            git main
            commit
            teach --type gotcha --file a.rs:verify tokens are verified twice on purpose
            write a.rs // Why this is so.\n\nfn verify( t: u8 )\n{\n  one(t); // indeed\n}\n\nfn other() { two(); three(); four() }\nfn more() {}\n
            commit
            # The file is also 45 days newer than the memory.
            newer a.rs 45
            file-context --explain a.rs
        ",
        expect![[r#"
            > teach --type gotcha --file a.rs:verify tokens are verified twice on purpose
            m1 new: gotcha "tokens are verified twice on purpose" files=a.rs anchors=verify
            > file-context --explain a.rs
            a.rs:
            - [GOTCHA] tokens are verified twice on purpose [m1]
              m1 worth 0.90: 
        "#]],
    );
}

#[test]
fn a_changed_body_halves_the_confidence_until_the_memory_is_confirmed() {
    check(
        r"
            write a.rs impl Server {\n    fn verify(t: u8) { one(t) }\n}\n
            git main
            commit
            teach --type gotcha --file a.rs:Server::verify tokens are verified twice on purpose
            write a.rs impl Server {\n    fn verify(t: u8) { two(t) }\n}\n
            file-context --explain a.rs
            # The user confirms the memory for the new code.
            flag m1 right
            file-context --explain a.rs
        ",
        expect![[r#"
            > teach --type gotcha --file a.rs:Server::verify tokens are verified twice on purpose
            m1 new: gotcha "tokens are verified twice on purpose" files=a.rs anchors=Server.verify
            > file-context --explain a.rs
            a.rs:
            - [GOTCHA] tokens are verified twice on purpose (the code it is about has changed since: check) [m1]
              m1 worth 0.45: `Server.verify` in `a.rs` changed since
            > flag m1 right
            m1 gotcha "tokens are verified twice on purpose" files=a.rs anchors=Server.verify
            > file-context --explain a.rs
            a.rs:
            - [GOTCHA] tokens are verified twice on purpose [m1]
              m1 worth 1.00: 
        "#]],
    );
}

#[test]
fn a_symbol_that_moved_to_another_file_is_followed() {
    check(
        r"
            write a.py def verify(t):\n    return one(t)\n\ndef other():\n    pass\n
            git main
            commit
            teach --type gotcha --file a.py:verify tokens are verified twice on purpose
            # The whole file is renamed.
            delete a.py
            write lib/b.py def verify(t):\n    return one(t)\n\ndef other():\n    pass\n
            commit
            context --explain --phase implement are tokens verified twice on purpose
            # The symbol moves to another file; only the index can find it there.
            write lib/b.py def other():\n    pass\n
            write c.py # Here now.\ndef verify(t):\n    return one(t)\n
            context --explain --phase implement are tokens verified twice on purpose
            index
            context --explain --phase implement are tokens verified twice on purpose
            # Moved and changed: it counts as gone.
            write c.py def verify(t):\n    return two(t)\n
            context --explain --phase implement are tokens verified twice on purpose
        ",
        expect![[r#"
            > teach --type gotcha --file a.py:verify tokens are verified twice on purpose
            m1 new: gotcha "tokens are verified twice on purpose" files=a.py anchors=verify
            > context --explain --phase implement are tokens verified twice on purpose
            lib/b.py:
            - [GOTCHA] tokens are verified twice on purpose [m1]
              m1 worth 0.90: `a.py` is now `lib/b.py`
            > context --explain --phase implement are tokens verified twice on purpose
              without m1: the code it is anchored to is gone
            > context --explain --phase implement are tokens verified twice on purpose
            c.py:
            - [GOTCHA] tokens are verified twice on purpose [m1]
              m1 worth 0.90: `a.py` is now `lib/b.py`; `verify` is now in `c.py`
            > context --explain --phase implement are tokens verified twice on purpose
              without m1: the code it is anchored to is gone
        "#]],
    );
}

#[test]
fn a_symbol_is_named_in_full_or_by_a_line_and_refused_if_unclear() {
    check(
        r"
            write a.ts export class A { run() {} }\nexport class B { run() {}\n  stop() {\n  }\n}\n
            teach --file a.ts:walk something is wrong with walking
            teach --file a.ts:run something is wrong with running
            teach --file a.ts:B.run something is wrong with running of b
            # A line number means the symbol around it.
            teach --file a.ts:4 something is wrong with stopping
            # No such file: the whole name counts as a path.
            teach --file nowhere.ts:run something is wrong elsewhere
        ",
        expect![[r#"
            > teach --file a.ts:walk something is wrong with walking
            error: `a.ts` defines no symbol named `walk`
              `waylore symbols a.ts` lists its symbols, once it is indexed
            > teach --file a.ts:run something is wrong with running
            error: `run` fits several symbols of `a.ts`: A.run, B.run
              name one of them in full
            > teach --file a.ts:B.run something is wrong with running of b
            m1 new: module_insight "something is wrong with running of b" files=a.ts anchors=B.run
            > teach --file a.ts:4 something is wrong with stopping
            m2 new: module_insight "something is wrong with stopping" files=a.ts anchors=B.stop
            > teach --file nowhere.ts:run something is wrong elsewhere
            m3 new: module_insight "something is wrong elsewhere" files=nowhere.ts:run
              absent: nowhere.ts:run
        "#]],
    );
}
