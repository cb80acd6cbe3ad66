//! File warnings: gotchas, error patterns and dead ends about the files that an agent touches, each
//! shown once per session.
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
//! touch FILE   prints the warnings for a step that accesses the file
//! --shown m1   the session has seen m1 already
//! ```

use expect_test::expect;

use crate::check;

#[test]
fn memories_about_the_file_that_were_not_shown_yet_are_listed_warnings_first() {
    check(
        r"
            write a.rs
            write b.rs
            teach --type gotcha --file a.rs the buffer must not be empty
            teach --type error_pattern --file a.rs --file b.rs a broken pipe means the reader went away
            teach --type dead_end --file a.rs a thread for each connection was too slow
            # A decision is no warning.
            teach --type decision --file a.rs we parse by hand because the generator was slow
            teach --type gotcha --file b.rs the printer flushes late
            teach --type gotcha --user --file a.rs never log the token
            # Four lines: the user's m6, then m1, m2 and m3.
            touch a.rs
            # Two lines: m6 and m2.
            touch a.rs --shown m1 --shown m3
            # Four lines: m6, m5, m2 and m3.
            touch b.rs a.rs --shown m1
            # Nothing is about this file.
            touch c.rs
        ",
        expect![[r#"
            > teach --type gotcha --file a.rs the buffer must not be empty
            m1 new: gotcha "the buffer must not be empty" files=a.rs
            > teach --type error_pattern --file a.rs --file b.rs a broken pipe means the reader went away
            m2 new: error_pattern "a broken pipe means the reader went away" files=a.rs,b.rs
            > teach --type dead_end --file a.rs a thread for each connection was too slow
            m3 new: dead_end "a thread for each connection was too slow" files=a.rs
            > teach --type decision --file a.rs we parse by hand because the generator was slow
            m4 new: decision "we parse by hand because the generator was slow" files=a.rs
            > teach --type gotcha --file b.rs the printer flushes late
            m5 new: gotcha "the printer flushes late" files=b.rs
            > teach --type gotcha --user --file a.rs never log the token
            m6 new: gotcha "never log the token" user files=a.rs
            > touch a.rs
            m6 gotcha "never log the token"
            m1 gotcha "the buffer must not be empty"
            m2 error_pattern "a broken pipe means the reader went away"
            m3 dead_end "a thread for each connection was too slow"
            m4 decision "we parse by hand because the generator was slow"
            > touch a.rs --shown m1 --shown m3
            m6 gotcha "never log the token"
            m2 error_pattern "a broken pipe means the reader went away"
            m4 decision "we parse by hand because the generator was slow"
            > touch b.rs a.rs --shown m1
            m6 gotcha "never log the token"
            m5 gotcha "the printer flushes late"
            m2 error_pattern "a broken pipe means the reader went away"
            m3 dead_end "a thread for each connection was too slow"
            m4 decision "we parse by hand because the generator was slow"
            > touch c.rs
            nothing
        "#]],
    );
}

#[test]
fn forgotten_deprecated_and_decayed_warnings_are_not_listed() {
    check(
        r"
            write a.rs
            teach --type gotcha --file a.rs the buffer must not be empty
            teach --type gotcha --file a.rs the second buffer must be flushed
            teach --type dead_end --file a.rs a thread for each connection was too slow
            forget m1
            flag m2 outdated
            touch a.rs
            active-days 120
            touch a.rs
            # Restoring restarts the decay.
            restore m1
            touch a.rs
        ",
        expect![[r#"
            > teach --type gotcha --file a.rs the buffer must not be empty
            m1 new: gotcha "the buffer must not be empty" files=a.rs
            > teach --type gotcha --file a.rs the second buffer must be flushed
            m2 new: gotcha "the second buffer must be flushed" files=a.rs
            > teach --type dead_end --file a.rs a thread for each connection was too slow
            m3 new: dead_end "a thread for each connection was too slow" files=a.rs
            > forget m1
            m1 gotcha "the buffer must not be empty" files=a.rs [deleted]
            > flag m2 outdated
            m2 gotcha "the second buffer must be flushed" files=a.rs [deprecated] (outdated)
            > touch a.rs
            m3 dead_end "a thread for each connection was too slow"
            > touch a.rs
            nothing
            > restore m1
            m1 gotcha "the buffer must not be empty" files=a.rs
            > touch a.rs
            m1 gotcha "the buffer must not be empty"
        "#]],
    );
}
