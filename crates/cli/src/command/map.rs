//! `waylore map`.

use std::path::PathBuf;

use engine::{MapEdit, MappedModule, ModuleMap, ProjectToolKind};

use super::CommandSession;
use crate::output::{BOLD_STYLE, DIM_STYLE, Output, escape_controls, format_count};
use crate::wire;

/// Show the modules of the project: purpose, dependencies, entry points
///
/// Found by `waylore index` from manifests, folders, imports and history. With a module, all its details. `rename`,
/// `describe` and `move` correct the map; corrections are stored as memories and survive indexing.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct MapArgs {
    #[command(subcommand)]
    edit: Option<EditMap>,
    /// Id or name of a module
    #[arg(value_name = "MODULE")]
    module: Option<String>,
    /// Also show modules that contain only tests
    #[arg(long)]
    tests: bool,
}

#[derive(clap::Subcommand, Debug)]
enum EditMap {
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

pub(crate) async fn run(args: MapArgs, session: &mut CommandSession<'_>) -> anyhow::Result<u8> {
    if let Some(edit) = args.edit {
        return change_map(edit, session).await;
    }
    let out = session.output;
    let map = session.project.code_graph().module_map().await?;
    if let Some(word) = &args.module {
        let Some(module) = map.find_module(word) else {
            let what = format!("no module `{word}`");
            return Err(crate::failure::usage_error(what, "`waylore map` lists them"));
        };
        if out.json {
            out.data_json("module", wire::map::module_json(module));
        } else {
            render_one(out, &map, module);
        }
        return Ok(0);
    }
    if out.json {
        out.data_json("map", wire::map::map_json(&map));
    } else {
        render(out, &map, args.tests);
    }
    Ok(0)
}

async fn change_map(edit: EditMap, session: &mut CommandSession<'_>) -> anyhow::Result<u8> {
    let (module, edit) = match edit {
        EditMap::Rename(it) => (it.module, MapEdit::Name(it.name.join(" "))),
        EditMap::Describe(it) => (it.module, MapEdit::Description(it.text.join(" "))),
        EditMap::Move(it) => {
            let path = |it: &PathBuf| session.project.project_path(it, &session.base);
            (it.module, MapEdit::Members(it.files.iter().map(path).collect::<Result<_, _>>()?))
        }
    };
    let memory = session.project.code_indexer().update_module_map(&module, edit).await?;
    let map = session.project.code_graph().module_map().await?;
    let out = session.output;
    let found = memory.modules.first().and_then(|it| map.find_module(it));
    match found {
        Some(found) if out.json => out.data_json("module", wire::map::module_json(found)),
        Some(found) => render_one(out, &map, found),
        None => {}
    }
    out.say(&format!("stored as memory #{}; `waylore undo` reverts it", memory.id.short()));
    Ok(0)
}

/// Labels of project tools.
const TOOL_LABELS: &[(ProjectToolKind, &str)] = &[
    (ProjectToolKind::Build, "build"),
    (ProjectToolKind::Test, "test"),
    (ProjectToolKind::Lint, "check"),
    (ProjectToolKind::Run, "run"),
];

fn render(out: &Output, map: &ModuleMap, tests: bool) {
    let values = |kind: ProjectToolKind| -> Vec<&str> {
        map.tools.iter().filter(|it| it.kind == kind).map(|it| it.value.as_str()).collect()
    };
    for (kind, label) in [
        (ProjectToolKind::BuildTool, "built with"),
        (ProjectToolKind::Framework, "uses"),
        (ProjectToolKind::TestFramework, "tested with"),
    ] {
        if !values(kind).is_empty() {
            out.print_line(&format!("{label} {}", escape_controls(&values(kind).join(", "))));
        }
    }
    for (kind, label) in TOOL_LABELS {
        for it in map.tools.iter().filter(|it| it.kind == *kind) {
            out.print_line(&format!(
                "{label:<7} {BOLD_STYLE}{}{BOLD_STYLE:#}  {DIM_STYLE}{}{DIM_STYLE:#}",
                escape_controls(&it.value),
                it.declared_in
            ));
        }
    }
    let shown: Vec<&MappedModule> =
        map.modules.iter().filter(|it| tests || !it.module.is_test).collect();
    let width = shown.iter().map(|it| it.module.id.chars().count()).max().unwrap_or(0).min(32);
    out.print_line("");
    for it in &shown {
        out.print_line(&format_module(it, width));
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

fn format_module(it: &MappedModule, width: usize) -> String {
    let module = &it.module;
    let mut notes = vec![format_count(module.files.len(), "file", "files")];
    if it.n_memories > 0 {
        notes.push(format_count(it.n_memories, "memory", "memories"));
    }
    let name = if module.name == module.id {
        String::new()
    } else {
        format!("{} · ", escape_controls(&module.name))
    };
    let said = if module.description.is_empty() {
        let core = short_names(&module.core_files[..module.core_files.len().min(3)]);
        format!("{DIM_STYLE}{}{DIM_STYLE:#}", escape_controls(&core.join(", ")))
    } else {
        escape_controls(&module.description)
    };
    format!(
        "{BOLD_STYLE}{:<width$}{BOLD_STYLE:#}  {name}{said}  {DIM_STYLE}({}){DIM_STYLE:#}",
        module.id,
        notes.join(", ")
    )
}

/// File names, with as many folders as needed to be specific and distinct.
fn short_names(paths: &[String]) -> Vec<&str> {
    let from_end =
        |path: &'_ str, n: usize| path.rmatch_indices('/').nth(n).map_or(0, |it| it.0 + 1);
    let name = |path: &str| path[from_end(path, 0)..].to_owned();
    let short = |path| {
        let own = name(path);
        let is_nameless = GENERIC_STEMS.contains(&own.split('.').next().unwrap_or_default());
        let is_shared = paths.iter().filter(|it| name(it) == own).count() > 1;
        &path[from_end(path, usize::from(is_nameless || is_shared))..]
    };
    paths.iter().map(|it| short(it.as_str())).collect()
}

fn render_one(out: &Output, map: &ModuleMap, it: &MappedModule) {
    let module = &it.module;
    let edited = if it.is_edited { ", corrected by hand" } else { "" };
    out.print_line(&format!(
        "{BOLD_STYLE}{}{BOLD_STYLE:#}  {DIM_STYLE}{} in `{}`, {}{edited}{DIM_STYLE:#}",
        escape_controls(&module.name),
        format_count(module.files.len(), "file", "files"),
        if module.root.is_empty() { "." } else { &module.root },
        module.coverage(),
    ));
    if !module.description.is_empty() {
        out.print_line(&escape_controls(&module.description));
    }
    let name =
        |id: &String| map.find_module(id).map_or_else(|| id.clone(), |it| it.module.name.clone());
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
    if it.n_memories > 0 {
        out.print_line(&format!(
            "{:<13}{}",
            "remembered",
            format_count(it.n_memories, "memory", "memories")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_name_of_its_own_goes_by_its_folder() {
        for (path, said) in [
            ("src/runtime/worker.rs", "worker.rs"),
            ("src/runtime/mod.rs", "runtime/mod.rs"),
            ("mod.rs", "mod.rs"),
            ("a/__init__.py", "a/__init__.py"),
            ("ui/index.test.ts", "ui/index.test.ts"),
        ] {
            assert_eq!(short_names(&[path.to_owned()]), [said]);
        }
    }

    #[test]
    fn two_of_one_name_are_told_apart_by_their_folders() {
        let paths = ["src/flask/app.py", "src/flask/sansio/app.py", "src/flask/ctx.py"];
        assert_eq!(
            short_names(&paths.map(str::to_owned)),
            ["flask/app.py", "sansio/app.py", "ctx.py"]
        );
    }
}
