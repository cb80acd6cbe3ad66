//! Detects the signal `dead_end`: the agent gave up an approach that it had followed for a while.
//!
//! The scratchpad (the log of one session) has found the sentences already. Each becomes a sighting: the
//! key, by which sessions are compared, is a hash of the sentence; the evidence quotes it with its
//! neighbours. Example: "I patched it. This approach won't work because … Let me use a fork."
//!
//! A whole session can also turn out to be a dead end, when git shows later that its edits were
//! reverted. That is not in the scratchpad, so the caller reports it ([`reverted_session`]).

use model::ProjectPath;

use crate::evidence::Evidence;
use crate::pattern_key::PatternKey;
use crate::scratchpad::StatementKind;
use crate::sentences::split_sentences;
use crate::session::SessionOverview;
use crate::sighting::{Sighting, find_named_files, to_paths};
use crate::{ModuleLookup, Scratchpad};

/// Calls before the sentence from which an approach counts as explored. An agent that gives up sooner has
/// only changed its plan.
const MIN_EXPLORED_CALLS: u32 = 20;

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    let dead_ends = pad.statements.iter().filter(|it| it.kind == StatementKind::DeadEnd);
    for statement in dead_ends.filter(|it| it.call >= MIN_EXPLORED_CALLS) {
        // The neighbouring sentences; empty if there is none.
        let [before, after] = &statement.context;
        let mut files = find_named_files(pad, &format!("{before} {} {after}", statement.text));
        if files.is_empty() {
            // The approach is most likely about the file that was edited last.
            let earlier =
                pad.successful_touches().filter(|it| it.call < statement.call && it.is_write);
            files = to_paths(pad, earlier.last().map(|it| it.file));
        }
        let non_empty = |text: &String| Some(text.clone()).filter(|it| !it.is_empty());
        let evidence = Evidence::DeadEnd {
            files,
            sentence: statement.text.clone(),
            before: non_empty(before),
            after: non_empty(after),
        };
        let key = PatternKey::dead_end(&statement.text);
        acc.push(Sighting::new(key, evidence).seen_at(pad, statement.order));
    }
}

/// The dead end that a whole session turned out to be, because its edits were reverted later.
/// `revert_subject` is the subject of the commit that did it, if there is one.
pub fn reverted_session(session: &SessionOverview, revert_subject: Option<String>) -> Sighting {
    let files: Vec<ProjectPath> =
        session.files.iter().filter(|it| it.edits > 0).map(|it| it.path.clone()).collect();
    let task = split_sentences(&session.task).first().map(|it| (*it).to_owned());
    let evidence = Evidence::RevertedSession { files, task, revert_subject };
    // The user wrote the task, and git shows the reversal. The task of a subagent is the text of an agent.
    let tainted = session.parent.is_some() && session.external.is_some();
    Sighting { tainted, ..Sighting::new(PatternKey::reverted_session(session.id), evidence) }
}

#[cfg(test)]
mod tests {
    //! `check` takes a session as a script, one event per line (notation: `test_script`), and the expected
    //! sightings, one per line: `KEY ×OCCURRENCES [tainted] EVIDENCE`, the evidence as stored JSON.

    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::DeadEnd;

    #[test]
    fn an_explored_approach_that_is_given_up_is_a_dead_end() {
        let work = "edit src/a.rs\n".repeat(21);
        let statement = "say I patched `vendor/x`. This approach won't work because the vendor folder is generated. Let me use a fork instead.";
        check(
            DeadEnd,
            &format!("{work}{statement}"),
            expect![[r#"
                b92d4bb74028f605 ×1 {"files":["src/a.rs"],"text":"This approach won't work because the vendor folder is generated.","before":"I patched `vendor/x`.","after":"Let me use a fork instead."}
            "#]],
        );
        check(DeadEnd, statement, expect![""]);
    }
}
