//! The generated reference matches the tables in the code.

use super::Problem;
use crate::docs::{DOCUMENTS, Document};
use crate::tree::Tree;

pub(super) fn check(acc: &mut Vec<Problem>, tree: &Tree) {
    for document in DOCUMENTS {
        acc.extend(stale(tree, document));
    }
}

/// The problem at the first line that differs; `None` if the document is up to date.
fn stale(tree: &Tree, document: &Document) -> Option<Problem> {
    let written = tree.file(document.path).map(|it| it.text.as_str()).unwrap_or_default();
    let wanted = (document.render)();
    if written == wanted {
        return None;
    }
    let n_same = written.lines().zip(wanted.lines()).take_while(|(a, b)| a == b).count();
    let what = "differs from the tables in the code";
    Some(Problem::failure(document.path, n_same + 1, what, "run `cargo xtask docs`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::File;
    use expect_test::{Expect, expect};

    fn check(text: &str, expect: Expect) {
        let file = File { path: "docs/reference/a.md".to_owned(), text: text.to_owned() };
        let tree = Tree { root: String::new(), files: vec![file] };
        let document = Document { path: "docs/reference/a.md", render: || "one\ntwo\n".to_owned() };
        let res = stale(&tree, &document).map(|it| it.to_string());
        expect.assert_eq(&res.unwrap_or_default());
    }

    #[test]
    fn a_stale_reference_says_where_and_how() {
        check("one\ntwo\n", expect![""]);
        check(
            "one\nthree\n",
            expect![
                "docs/reference/a.md:2: differs from the tables in the code; run `cargo xtask docs`"
            ],
        );
        check(
            "",
            expect![
                "docs/reference/a.md:1: differs from the tables in the code; run `cargo xtask docs`"
            ],
        );
    }
}
