//! The module map as framed notes for a model: the whole map, or one module in detail. *Framed* means
//! between a header and a footer that mark the text as data; neutralised text cannot end the frame.
//!
//! ```text
//! - crates/store — Keeps memories in SQLite (needs crates/model)
//! - test: cargo test
//! ```

use super::{MappedModule, ModuleMap};
use crate::model_text;

/// Modules that are listed; the rest is counted.
const MAX_LISTED_MODULES: usize = 60;

/// The modules that are worth listing for a newcomer: those that are no tests, up to a limit.
pub(super) fn listed_modules(map: &ModuleMap) -> impl Iterator<Item = &MappedModule> {
    code_modules(map).take(MAX_LISTED_MODULES)
}

fn code_modules(map: &ModuleMap) -> impl Iterator<Item = &MappedModule> {
    map.modules.iter().filter(|it| !it.module.is_test)
}

/// The whole map as notes.
pub(super) fn render_map(map: &ModuleMap) -> String {
    let mut lines: Vec<String> = listed_modules(map).map(module_line).collect();
    let n_modules = code_modules(map).count();
    if n_modules > lines.len() {
        lines.push(format!("- and {} more", n_modules - lines.len()));
    }
    // Commands come from manifests of the repository, so they are neutralised like any outside text.
    // `neutralize_description`, for descriptions, is stricter and may leave nothing of a text.
    for tool in &map.tools {
        lines.push(format!(
            "- {}: {}",
            tool.kind.slug(),
            model_text::neutralize_foreign_text(&tool.value)
        ));
    }
    frame_lines(&lines)
}

/// Everything about one module as notes.
pub(super) fn render_module(mapped: &MappedModule) -> String {
    let module = &mapped.module;
    let mut lines = vec![format!("- {}", model_text::neutralize_foreign_text(&module.name))];
    let description = model_text::neutralize_description(&module.description);
    if !description.is_empty() {
        lines.push(format!("about: {description}"));
    }
    let rows = [
        ("comes in at", &module.entry_points),
        ("core", &module.core_files),
        ("tests", &module.test_files),
        ("needs", &module.dependencies),
        ("needed by", &module.dependents),
        ("changes with", &module.co_changing),
    ];
    for (title, names) in rows {
        if !names.is_empty() {
            lines.push(format!(
                "{title}: {}",
                model_text::neutralize_foreign_text(&names.join(", "))
            ));
        }
    }
    frame_lines(&lines)
}

/// One line of the list. It names the module by its id, by which a caller can request the module;
/// `render_module` shows its name, which the user may have changed.
fn module_line(mapped: &MappedModule) -> String {
    let module = &mapped.module;
    let about = match model_text::neutralize_description(&module.description).as_str() {
        "" => String::new(),
        about => format!(" — {about}"),
    };
    let needs = match module.dependencies.as_slice() {
        [] => String::new(),
        needs => format!(" (needs {})", model_text::neutralize_foreign_text(&needs.join(", "))),
    };
    format!("- {}{about}{needs}", model_text::neutralize_foreign_text(&module.id))
}

fn frame_lines(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    format!("{}\n{}\n{}", model_text::NOTES_HEADER, lines.join("\n"), model_text::NOTES_FOOTER)
}
