//! The module map is detected again only if something changed that it is computed from.
//!
//! To see whether it was, the test removes a part of the stored map; a detection writes it again.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use store::{DataDir, GraphStore, ModuleMapRows};
use waylore_engine::{Project, TaskProgress};

use crate::edit_outcome::git;
use crate::learning::{LearningFixture, START};

/// Writes a file of the project, as if that had been long ago: the stamp of a file that was written
/// just now proves nothing.
fn write_file(fixture: &LearningFixture, path: &str, text: &str) {
    let path = fixture.root().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    let before = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    File::options().write(true).open(path).unwrap().set_modified(before).unwrap();
}

/// A project of one package that is indexed, with its first commit.
fn indexed_project() -> (LearningFixture, Project) {
    let fixture = LearningFixture::new();
    write_file(&fixture, "Cargo.toml", "[package]\nname = \"shop\"\n");
    for name in ["lib", "cart", "price"] {
        write_file(&fixture, &format!("src/{name}.rs"), &format!("pub fn {name}() {{}}\n"));
    }
    git(&fixture.root(), START, &["init", "--quiet"]);
    git(&fixture.root(), START, &["add", "."]);
    git(&fixture.root(), START, &["commit", "--quiet", "-m", "first"]);
    let mut project = fixture.open_project();
    index(&fixture, &mut project);
    (fixture, project)
}

fn index(fixture: &LearningFixture, project: &mut Project) {
    let progress = TaskProgress::default();
    fixture.run(project.code_indexer().index_code(&progress, 1));
    fixture.run(project.code_indexer().index_history(&progress));
    fixture.run(project.code_indexer().index_map());
}

/// Removes the tools from the stored map; the fingerprint of its inputs stays. Indexes again, and
/// returns whether the tools are back: whether the modules were detected again.
fn is_detected_again(fixture: &LearningFixture, project: &mut Project) -> bool {
    let data = DataDir::new(fixture.root().parent().unwrap().join("data"));
    let store = GraphStore::new(data.graph_paths(data.list_projects()[0]), None);
    fixture.run(async {
        let rows = ModuleMapRows { tools: Vec::new(), ..store.module_map().await? };
        store.put_module_map(rows, ("test", String::new())).await?;
        Ok(())
    });
    index(fixture, project);
    let map = fixture.run(project.code_graph().module_map());
    assert_eq!(map.modules.len(), 1);
    !map.tools.is_empty()
}

#[test]
fn the_module_map_is_detected_again_if_one_of_its_inputs_changed() {
    let (fixture, mut project) = indexed_project();
    assert!(!is_detected_again(&fixture, &mut project), "nothing changed");

    write_file(&fixture, "src/lib.rs", "//! Sells things.\npub fn lib() {}\n");
    assert!(is_detected_again(&fixture, &mut project), "a source file");
    let map = fixture.run(project.code_graph().module_map());
    assert_eq!(map.modules[0].module.description, "Sells things");
    write_file(&fixture, "Cargo.toml", "[package]\nname = \"shop\"\nversion = \"2.0.0\"\n");
    assert!(is_detected_again(&fixture, &mut project), "a manifest");
    write_file(&fixture, "Makefile", "test:\n\tcargo test\n");
    assert!(is_detected_again(&fixture, &mut project), "a new manifest");
    fs::remove_file(fixture.root().join("Makefile")).unwrap();
    assert!(is_detected_again(&fixture, &mut project), "a manifest that is gone");
    write_file(&fixture, "src/README.md", "# Code\n\nThe code of the shop.\n");
    assert!(is_detected_again(&fixture, &mut project), "a README file");
    write_file(&fixture, ".github/workflows/ci.yml", "jobs: {}\n");
    assert!(is_detected_again(&fixture, &mut project), "a CI file");
    git(&fixture.root(), START, &["commit", "--quiet", "--all", "-m", "second"]);
    assert!(is_detected_again(&fixture, &mut project), "a commit");
    assert!(!is_detected_again(&fixture, &mut project), "nothing changed since");
}
