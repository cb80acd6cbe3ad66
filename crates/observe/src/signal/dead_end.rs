//! An approach was followed for a while and given up, in so many words.

use model::{ProjectPath, SignalKind};

use crate::scratchpad::RemarkKind;
use crate::session::Session;
use crate::sighting::{Evidence, Sighting, files_named, paths};
use crate::{Modules, Scratchpad};

/// Begins the key of a session whose edits were taken back.
pub(crate) const TAKEN_BACK: &str = "taken back ";

/// Calls after which an approach counts as explored.
const EXPLORED: u32 = 20;

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &Modules) {
    for it in pad.remarks.iter().filter(|it| it.kind == RemarkKind::DeadEnd && it.call >= EXPLORED)
    {
        let key = model::fingerprint(&it.text.to_lowercase());
        let mut files =
            files_named(pad, &format!("{} {} {}", it.context[0], it.text, it.context[1]));
        if files.is_empty() {
            let last =
                pad.good_touches().filter(|touch| touch.call < it.call && touch.writes).last();
            files = paths(pad, last.map(|it| it.file));
        }
        let said = |it: &String| Some(it.clone()).filter(|it| !it.is_empty());
        let evidence = Evidence {
            files,
            text: Some(it.text.clone()),
            before: said(&it.context[0]),
            after: said(&it.context[1]),
            ..Evidence::default()
        };
        acc.push(Sighting::new(SignalKind::DeadEnd, key, evidence).at(pad, it.order));
    }
}

/// A whole session whose edits were taken back later; `by` is what the commit that did it says.
pub fn taken_back(session: &Session, by: Option<String>) -> Sighting {
    let files: Vec<ProjectPath> =
        session.files.iter().filter(|it| it.edits > 0).map(|it| it.path.clone()).collect();
    let key = format!("{TAKEN_BACK}{}", session.id);
    let task = crate::sentence::sentences(&session.task).first().map(|it| (*it).to_owned());
    let evidence = Evidence { files, text: by, before: task, ..Evidence::default() };
    let mut res = Sighting::new(SignalKind::DeadEnd, key, evidence);
    // What was asked is a person's word; that it is gone, the history's.
    res.tainted = false;
    res
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::DeadEnd;

    #[test]
    fn an_explored_way_that_is_given_up_is_a_dead_end() {
        let work = "edit src/a.rs\n".repeat(21);
        let said = "say I patched `vendor/x`. This approach won't work because the vendor folder is generated. Let me use a fork instead.";
        check(
            DeadEnd,
            &format!("{work}{said}"),
            expect![[r#"
                b92d4bb74028f605 ×1 {"files":["src/a.rs"],"text":"This approach won't work because the vendor folder is generated.","before":"I patched `vendor/x`.","after":"Let me use a fork instead."}
            "#]],
        );
        check(DeadEnd, said, expect![""]);
    }
}
