//! Languages: detects the language of a file and extracts its facts: its definitions, its imports
//! and its references, that is, the places where it uses a name.
//!
//! [`extract_facts`] parses a file with tree-sitter and walks over the syntax tree once. A node of
//! the tree has a kind (`call_expression`), and its children may have a field name (`function`,
//! `arguments`):
//!
//! ```text
//! save(1)    call_expression
//!              function:  identifier `save`
//!              arguments: arguments
//!                           integer_literal `1`
//! ```
//!
//! Each language lists the kinds and fields it reads as the enums `NodeKind` and `Field`
//! (`grammar`), and its `visit_node` is one `match` over the kinds. What all walks share is in
//! `syntax_walker`.
//!
//! A reference contains a [`Term`](crate::Term), which is an expression or a type reduced to what
//! name lookup needs: the one of `save(1)` is a call of `Name("save")`, without the argument. How
//! an expression becomes a term is a table per language, read by `term_shape`. The rows of `spec`
//! list the languages. Rules for modules and name lookup across files are in `resolve`, not here.

mod ecmascript;
mod error_recovery;
pub(crate) mod generic;
mod go;
mod grammar;
mod java;
mod python;
mod rust;
mod spec;
mod syntax_walker;
mod term_shape;

pub use spec::SourceLanguage;
pub(crate) use spec::{LanguageFamily, NamespaceRule};

use crate::facts::FileFacts;
use crate::facts_builder::FactsBuilder;

/// Names of manifest files, which name packages and locate their modules.
const MANIFEST_FILE_NAMES: &[&str] =
    &["package.json", "tsconfig.json", "jsconfig.json", "Cargo.toml", "go.mod"];

/// Returns the language of a file, judged by its name alone.
pub fn language_of_path(path: &str) -> Option<SourceLanguage> {
    let name = path.rsplit('/').next().unwrap_or(path);
    // Projects split their configuration: `tsconfig.build.json`.
    let is_tsconfig_part = name.starts_with("tsconfig.") && name.ends_with(".json");
    if MANIFEST_FILE_NAMES.contains(&name) || is_tsconfig_part {
        return Some(SourceLanguage::Manifest);
    }
    let (_, extension) = name.rsplit_once('.')?;
    SourceLanguage::with_extension(&extension.to_ascii_lowercase())
}

/// Extracts the facts of one file. Never fails: syntax that cannot be read is left out.
pub fn extract_facts(lang: SourceLanguage, path: &str, source: &[u8]) -> FileFacts {
    // The table of languages gives `.h` to C, but headers of C++ use it, too.
    let is_cpp = lang == SourceLanguage::C && is_cpp_header(path, source);
    let lang = if is_cpp { SourceLanguage::Cpp } else { lang };
    let mut builder = FactsBuilder::new(lang, path, source);
    // A syntax tree is many small allocations. They come from an arena, which is emptied in one
    // step afterwards: the facts do not refer to the tree.
    arena::with_arena(|| (lang.spec().extract)(&mut builder));
    builder.finish()
}

/// Returns whether a file is a `.h` file of C++: one of its lines begins with a word that C does
/// not have.
fn is_cpp_header(path: &str, source: &[u8]) -> bool {
    const CPP_LINE_STARTS: &[&str] =
        &["class ", "namespace ", "template", "public:", "private:", "virtual ", "using ", "std::"];
    if !path.ends_with(".h") {
        return false;
    }
    for line in String::from_utf8_lossy(source).lines() {
        let line = line.trim_start();
        // In a comment any word may begin a line: `* class of the request`.
        let is_comment = line.starts_with(['*', '/']);
        if !is_comment && CPP_LINE_STARTS.iter().any(|it| line.starts_with(it)) {
            return true;
        }
    }
    false
}

/// Returns whether a file contains tests, judged by the naming conventions of all languages:
/// `tests/db.py`, `src/tests.rs`, `user.test.ts`, `test_user.py`, `db_test.go`, `ServerTest.java`.
pub fn is_test_path(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_in_test_folder = folders
        .split('/')
        .any(|it| matches!(it, "test" | "tests" | "__tests__" | "spec" | "specs" | "testing"));
    // Up to the first dot: `user` of `user.test.ts`.
    let stem = name.split('.').next().unwrap_or(name);
    let extension = name.rsplit_once('.').map_or("", |it| it.1);
    // Conventions of a single language apply to its files only.
    let language = SourceLanguage::with_extension(extension);
    let stem_suffixes = language.map_or(&[][..], |it| it.family().rules().test_stem_suffixes);
    let has_test_suffix =
        ["_test", "_spec"].iter().chain(stem_suffixes).any(|it| stem.ends_with(it));
    let has_test_part =
        name.starts_with("test_") || name.contains(".test.") || name.contains(".spec.");
    let is_named_test = stem == "tests" || name == "test.rs";
    is_in_test_folder || has_test_suffix || has_test_part || is_named_test
}
