//! The index of the git history: the report of an indexing pass.

use waylore_engine::TaskProgress;

use crate::edit_outcome::git;
use crate::learning::{LearningFixture, START};

#[test]
fn an_up_to_date_history_reports_its_commits_and_files() {
    let fixture = LearningFixture::new();
    let root = fixture.root();
    git(&root, START, &["init", "--quiet"]);
    for name in ["a.rs", "b.rs"] {
        std::fs::write(root.join(name), name).unwrap();
    }
    git(&root, START, &["add", "."]);
    git(&root, START, &["commit", "--quiet", "-m", "first"]);
    let mut project = fixture.open_project();
    let first = fixture.run(project.code_indexer().index_history(&TaskProgress::default()));
    assert_eq!((first.n_new, first.n_commits, first.n_files), (1, 1, 2));
    let second = fixture.run(project.code_indexer().index_history(&TaskProgress::default()));
    assert_eq!((second.n_new, second.n_commits, second.n_files), (0, 1, 2));
}
