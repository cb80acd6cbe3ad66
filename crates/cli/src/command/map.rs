//! `waylore map`: prints the module map or one module, and stores corrections of it. The map lists the modules of
//! the project (parts found by manifests, folders and imports) and its tools (frameworks, build and test commands).
//! A module in the list:
//!
//! ```text
//! store       reads and writes the databases  (41 files, 3 memories)
//! ```

use std::cmp::Reverse;
use std::path::PathBuf;

use engine::{MapEdit, MappedModule, ModuleMap, ProjectToolKind};

use super::CommandContext;
use crate::output::{BOLD_STYLE, DIM_STYLE, Output, escape_controls, format_count};
use crate::reader::{readable_description, refuse_agent};
use crate::wire;

/// Show the modules of the project: purpose, dependencies, entry points
///
/// Found by `waylore index` from manifests, folders, imports and history. With a module, all its details. `rename`,
/// `describe` and `move` correct the map; corrections are stored as memories and survive indexing.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct MapArgs {
    #[command(subcommand)]
    edit: Option<MapEditCommand>,
    /// Id or name of a module
    #[arg(value_name = "MODULE")]
    module: Option<String>,
    /// Also show modules that contain only tests
    #[arg(long)]
    tests: bool,
}

#[derive(clap::Subcommand, Debug)]
enum MapEditCommand {
    Rename(RenameArgs),
    Describe(DescribeArgs),
    Move(MoveArgs),
}

/// Rename a module; its id stays
#[derive(clap::Args, Debug)]
struct RenameArgs {
    /// Module
    module: String,
    /// New name
    #[arg(required = true, value_name = "NAME")]
    name: Vec<String>,
}

/// Describe a module
#[derive(clap::Args, Debug)]
struct DescribeArgs {
    /// Module
    module: String,
    /// Purpose of the module
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
}

/// Move files to a module
#[derive(clap::Args, Debug)]
struct MoveArgs {
    /// Module
    module: String,
    /// Files
    #[arg(required = true, value_name = "PATH")]
    files: Vec<PathBuf>,
}

impl MapArgs {
    /// True if the map is corrected, not only shown.
    pub(crate) const fn changes_map(&self) -> bool {
        self.edit.is_some()
    }
}

pub(crate) async fn run(args: MapArgs, command: &mut CommandContext<'_>) -> anyhow::Result<u8> {
    if let Some(edit) = args.edit {
        return change_map(edit, command).await;
    }
    let out = command.output;
    let map = command.project.code_graph().module_map().await?;
    if let Some(name) = &args.module {
        let Some(module) = map.find_module(name) else {
            return Err(map.unknown_module(name).into());
        };
        if out.json {
            out.print_json("module", wire::map::module_json(module));
        } else {
            render_one(out, &map, module);
        }
        return Ok(0);
    }
    if out.json {
        out.print_json("map", wire::map::map_json(&map));
    } else {
        render(out, &map, args.tests);
    }
    Ok(0)
}

/// Stores a correction as a memory and prints the changed module.
async fn change_map(
    map_edit: MapEditCommand,
    command: &mut CommandContext<'_>,
) -> anyhow::Result<u8> {
    refuse_agent(
        "a correction of the map is the user's",
        "the tool `update_module_map` proposes it to the user",
    )?;
    let (module, edit) = match map_edit {
        MapEditCommand::Rename(it) => (it.module, MapEdit::Name(it.name.join(" "))),
        MapEditCommand::Describe(it) => (it.module, MapEdit::Description(it.text.join(" "))),
        MapEditCommand::Move(it) => {
            let to_project_path =
                |path: &PathBuf| command.project.project_path(path, &command.base);
            let files: Result<Vec<_>, _> = it.files.iter().map(to_project_path).collect();
            (it.module, MapEdit::Members(files?))
        }
    };
    let memory = command.project.code_indexer().update_module_map(&module, edit).await?;
    let map = command.project.code_graph().module_map().await?;
    let out = command.output;
    let changed = memory.modules.first().and_then(|it| map.find_module(it));
    match changed {
        Some(module) if out.json => out.print_json("module", wire::map::module_json(module)),
        Some(module) => render_one(out, &map, module),
        // The changed map has no such module; the memory is stored all the same.
        None => {}
    }
    out.say(&format!("stored as memory #{}; `waylore undo` reverts it", memory.id.short()));
    Ok(0)
}

/// Width of the column of ids. A longer id breaks the alignment of its own line only.
const MAX_ID_COLUMN: usize = 32;
/// Core files (the most important ones of a module) that are shown instead of a missing description.
const MAX_SHOWN_CORE_FILES: usize = 3;

/// Labels of project tools that are commands, in the order of the output. The other kinds are names.
const TOOL_LABELS: &[(ProjectToolKind, &str)] = &[
    (ProjectToolKind::Build, "build"),
    (ProjectToolKind::Test, "test"),
    (ProjectToolKind::Lint, "check"),
    (ProjectToolKind::Run, "run"),
];

/// Prints the tools of the project and one line per module.
fn render(out: &Output, map: &ModuleMap, with_tests: bool) {
    let values = |kind: ProjectToolKind| -> Vec<&str> {
        map.tools.iter().filter(|it| it.kind == kind).map(|it| it.value.as_str()).collect()
    };
    // Tools by name, each kind in one line.
    for (kind, label) in [
        (ProjectToolKind::BuildTool, "built with"),
        (ProjectToolKind::Framework, "uses"),
        (ProjectToolKind::TestFramework, "tested with"),
    ] {
        if !values(kind).is_empty() {
            out.print_line(&format!("{label} {}", escape_controls(&values(kind).join(", "))));
        }
    }
    // Commands, one per line, with the file that declares them.
    for (kind, label) in TOOL_LABELS {
        for it in map.tools.iter().filter(|it| it.kind == *kind) {
            out.print_line(&format!(
                "{label:<7} {BOLD_STYLE}{}{BOLD_STYLE:#}  {DIM_STYLE}{}{DIM_STYLE:#}",
                escape_controls(&it.value),
                it.declared_in
            ));
        }
    }
    let mut shown: Vec<&MappedModule> =
        map.modules.iter().filter(|it| with_tests || !it.module.is_test).collect();
    // In the order they matter: first those that most others need, then the largest.
    shown.sort_by_key(|it| {
        let module = &it.module;
        (Reverse(module.dependents.len()), Reverse(module.files.len()), module.id.clone())
    });
    let id_widths = shown.iter().map(|it| it.module.id.chars().count());
    let width = id_widths.max().unwrap_or(0).min(MAX_ID_COLUMN);
    out.print_line("");
    for mapped in &shown {
        out.print_line(&format_module(mapped, width));
    }
    let n_hidden = map.modules.len() - shown.len();
    if n_hidden > 0 {
        let n = format_count(n_hidden, "module holds", "modules hold");
        out.say(&format!("{n} only tests; --tests shows them"));
    }
    out.hint("`waylore map MODULE` shows details");
}

/// File stems that say less than the name of their folder.
const GENERIC_STEMS: &[&str] = &["mod", "lib", "main", "index", "__init__"];

/// Formats a module in one line; `width` is the width of the id.
fn format_module(mapped: &MappedModule, width: usize) -> String {
    let module = &mapped.module;
    let mut counts = vec![format_count(module.files.len(), "file", "files")];
    if mapped.n_memories > 0 {
        counts.push(format_count(mapped.n_memories, "memory", "memories"));
    }
    // Most names equal the id and would only repeat it.
    let name = if module.name == module.id {
        String::new()
    } else {
        format!("{} · ", escape_controls(&module.name))
    };
    let purpose = if module.description.is_empty() {
        let n_core = module.core_files.len().min(MAX_SHOWN_CORE_FILES);
        let core = short_names(&module.core_files[..n_core]);
        format!("{DIM_STYLE}{}{DIM_STYLE:#}", escape_controls(&core.join(", ")))
    } else {
        escape_controls(&readable_description(&module.description))
    };
    format!(
        "{BOLD_STYLE}{:<width$}{BOLD_STYLE:#}  {name}{purpose}  {DIM_STYLE}({}){DIM_STYLE:#}",
        module.id,
        counts.join(", ")
    )
}

/// File names, with their folder if the name alone is generic (`lib.rs`) or not distinct.
fn short_names(paths: &[String]) -> Vec<&str> {
    let mut res = Vec::new();
    for path in paths {
        let name = last_parts(path, 1);
        let stem = name.split('.').next().unwrap_or_default();
        let is_generic = GENERIC_STEMS.contains(&stem);
        let is_shared = paths.iter().filter(|it| last_parts(it, 1) == name).count() > 1;
        res.push(last_parts(path, if is_generic || is_shared { 2 } else { 1 }));
    }
    res
}

/// The last `n` parts of a path: two of `a/b/c.rs` are `b/c.rs`.
fn last_parts(path: &str, n: usize) -> &str {
    match path.rmatch_indices('/').nth(n - 1) {
        Some((slash, _)) => &path[slash + 1..],
        // The path has no more parts than that.
        None => path,
    }
}

/// Prints all details of a module.
fn render_one(out: &Output, map: &ModuleMap, mapped: &MappedModule) {
    let module = &mapped.module;
    let edited = if mapped.is_edited { ", corrected by hand" } else { "" };
    out.print_line(&format!(
        "{BOLD_STYLE}{}{BOLD_STYLE:#}  {DIM_STYLE}{} in `{}`, {}{edited}{DIM_STYLE:#}",
        escape_controls(&module.name),
        format_count(module.files.len(), "file", "files"),
        if module.root.is_empty() { "." } else { &module.root },
        module.coverage(),
    ));
    if !module.description.is_empty() {
        out.print_line(&escape_controls(&readable_description(&module.description)));
    }
    // Other modules are stored by id and shown by name; the id stays if there is no such module.
    let name = |id: &String| match map.find_module(id) {
        Some(it) => it.module.name.clone(),
        None => id.clone(),
    };
    let names = |ids: &[String]| ids.iter().map(name).collect::<Vec<_>>();
    for (label, list) in [
        ("enter at", module.entry_points.clone()),
        ("core", module.core_files.clone()),
        ("tests", module.test_files.clone()),
        ("needs", names(&module.dependencies)),
        ("needed by", names(&module.dependents)),
        ("changes with", names(&module.co_changing)),
    ] {
        if !list.is_empty() {
            out.print_line(&format!("{label:<13}{}", escape_controls(&list.join(", "))));
        }
    }
    if mapped.n_memories > 0 {
        out.print_line(&format!(
            "{:<13}{}",
            "remembered",
            format_count(mapped.n_memories, "memory", "memories")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_a_generic_name_is_shown_with_its_folder() {
        for (path, short) in [
            ("src/runtime/worker.rs", "worker.rs"),
            ("src/runtime/mod.rs", "runtime/mod.rs"),
            ("mod.rs", "mod.rs"),
            ("a/__init__.py", "a/__init__.py"),
            ("ui/index.test.ts", "ui/index.test.ts"),
        ] {
            assert_eq!(short_names(&[path.to_owned()]), [short]);
        }
    }

    #[test]
    fn two_files_of_the_same_name_are_shown_with_their_folders() {
        let paths = ["src/flask/app.py", "src/flask/sansio/app.py", "src/flask/ctx.py"];
        assert_eq!(
            short_names(&paths.map(str::to_owned)),
            ["flask/app.py", "sansio/app.py", "ctx.py"]
        );
    }
}
