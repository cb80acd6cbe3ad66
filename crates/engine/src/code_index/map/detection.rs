//! Detection of modules: reads index, history and manifests, groups the files, stores the result.
//!
//! Every indexed source file becomes a node with its references and couplings; the crate `modules`
//! groups the nodes, guided by the packages that manifests (`Cargo.toml`, `package.json` …) declare. A
//! module keeps its id over detections as long as most of its files stay. A *stamp* is the row of an
//! indexed file; *churn* is how much a file changed recently; a *coupling* of two files is the share
//! of commits or sessions that change both.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use graph::{is_test_path, language_of_path};
use history::decode_partners;
use modules::{
    CI_CONFIG_PATHS, FileNode, MANIFEST_FILES, Module, PackageRoot, ProjectTool, detect_tools,
    encode_module, find_modules, manifest_name, reclassify_test_libraries, reuse_module_ids,
};
use observe::WorkStatistics;
use store::{FileHistoryRow, GraphStamp, ModuleMapRows};

use super::input_fingerprint::{StoredInputs, fingerprint_inputs};
use super::module_descriptions::{DescriptionTexts, describe_modules};
use super::project_folders::{ProjectFolders, join_path};
use crate::blocking::run_blocking;
use crate::code_index::history_index::HISTORY_HEAD_STATE;
use crate::{Error, NotebookScope, Project};

/// Manifests that count by their presence. Their text is not read.
const UNREAD_MANIFESTS: &[&str] = &[
    "yarn.lock",
    "pnpm-lock.yaml",
    "package-lock.json",
    "bun.lock",
    "uv.lock",
    "poetry.lock",
    "gradlew",
    "mvnw",
];

/// Weight of a coupling by sessions, relative to one by commits.
const SESSION_COUPLING_WEIGHT: f32 = 0.5;

/// Key of the row with the fingerprint of the inputs of the stored map.
const MAP_INPUTS_STATE: &str = "map_inputs";

/// Detects the modules of the indexed code, stores them, and returns their number. Keeps the stored
/// map if nothing has changed from which it was computed.
pub(crate) async fn detect_modules(project: &mut Project) -> Result<usize, Error> {
    let notebook = project.ensure_notebook(NotebookScope::Project).await?;
    let Some(id) = notebook.project else {
        return Err(Error::nothing_to_do("there is no project here"));
    };
    let store = project.open_graph_writer(id);
    let (generation, stamps) = (store.generation().await?, store.stamps().await?);
    let indexed_commit = store.get_state(HISTORY_HEAD_STATE).await?;
    let work = observe::count_work(&crate::learn::load_visits(&notebook.store).await?);
    let root = project.place.root.clone();
    let (folders, fingerprint, stamps, work) = run_blocking(move || {
        let paths = stamps.iter().filter(|it| is_module_file(it)).map(|it| it.path.as_str());
        let folders = ProjectFolders::list(&root, paths);
        let inputs = StoredInputs { generation, indexed_commit, work: &work };
        let fingerprint = fingerprint_inputs(&root, &folders, &inputs);
        (folders, fingerprint, stamps, work)
    })
    .await;
    if fingerprint.is_some() && fingerprint == store.get_state(MAP_INPUTS_STATE).await? {
        return Ok(store.count_modules().await?);
    }
    let (links, histories) = (store.file_links().await?, store.file_histories().await?);
    let ids_before: BTreeMap<String, String> =
        store.module_map().await?.members.into_iter().collect();
    let root = project.place.root.clone();
    let rows = run_blocking(move || {
        let files = to_file_nodes(&stamps, &links, &histories, &work);
        let (packages, manifests) = read_manifests(&root, &folders);
        let mut modules = find_modules(&files, &packages);
        let project = packages.iter().find(|it| it.root.is_empty());
        let name = project.and_then(|it| it.name.as_deref());
        let texts = DescriptionTexts::new(&root, &folders, &manifests);
        describe_modules(&mut modules, name, &texts);
        // Ids stay the same over detections, because memories and users refer to them.
        reuse_module_ids(&mut modules, &follow_moved_files(ids_before, &files));
        let paths: Vec<&str> = files.iter().map(|it| it.path.as_str()).collect();
        to_rows(&modules, &detect_tools(&manifests, &paths))
    })
    .await;
    let n_modules = rows.modules.len();
    let state = (MAP_INPUTS_STATE, fingerprint.unwrap_or_default());
    store.put_module_map(rows, state).await?;
    Ok(n_modules)
}

/// Returns whether an indexed file belongs to a module. Manifests and generated files are indexed as
/// well, but belong to none.
pub(in crate::code_index) fn is_module_file(stamp: &GraphStamp) -> bool {
    let path = stamp.path.as_str();
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_manifest = model::words::file_extension(name) == Some("json")
        || MANIFEST_FILES.iter().any(|(manifest, _)| *manifest == name);
    language_of_path(path).is_some() && !is_manifest && !stamp.is_generated
}

/// Converts indexed files to nodes with their edges and couplings. A link is the id of the referring
/// file, the id of the file it refers to, and the weight of the references.
fn to_file_nodes(
    stamps: &[GraphStamp],
    links: &[(u32, u32, u32)],
    histories: &[FileHistoryRow],
    worked: &WorkStatistics,
) -> Vec<FileNode> {
    let mut stamps: Vec<&GraphStamp> = stamps.iter().filter(|it| is_module_file(it)).collect();

    // Sorted, so that the detection gives the same modules whatever the order of the database. The
    // position in this list is how nodes refer to one another.
    stamps.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let (mut by_id, mut by_path) = (HashMap::new(), HashMap::new());
    for (position, stamp) in stamps.iter().enumerate() {
        by_id.insert(stamp.id, position);
        by_path.insert(stamp.path.as_str(), position);
    }
    let to_node = |it: &&GraphStamp| FileNode {
        path: it.path.clone(),
        is_test: is_test_path(&it.path),
        is_empty: it.size == 0,
        ..FileNode::default()
    };
    let mut nodes: Vec<FileNode> = stamps.iter().map(to_node).collect();
    for (from, to, weight) in links {
        if let (Some(from), Some(to)) = (by_id.get(from), by_id.get(to)) {
            nodes[*from].references.push((*to, *weight));
        }
    }
    for row in histories {
        // The history also knows files that are gone or that are no code.
        let Some(position) = by_path.get(row.path.as_str()) else { continue };
        #[expect(clippy::cast_possible_truncation, reason = "a sum of shares, for ordering")]
        let churn = row.churn as f32;
        nodes[*position].churn = churn;
        for partner in decode_partners(&row.co_changed).unwrap_or_default() {
            if let Some(other) = by_path.get(partner.path.as_str()) {
                nodes[*position].co_changes.push((*other, partner.strength));
            }
        }
    }

    // Files worked on in the same session belong together, whether committed together or not.
    for (from, to, share) in &worked.co_changes {
        if let (Some(from), Some(to)) = (by_path.get(from.as_str()), by_path.get(to.as_str())) {
            nodes[*from].co_changes.push((*to, share * SESSION_COUPLING_WEIGHT));
        }
    }

    // A session counts like a recent commit.
    for (path, n_sessions) in &worked.sessions_by_file {
        if let Some(position) = by_path.get(path.as_str()) {
            #[expect(clippy::cast_precision_loss, reason = "counts of sessions are small")]
            let n_sessions = *n_sessions as f32;
            nodes[*position].churn += n_sessions;
        }
    }
    reclassify_test_libraries(&mut nodes);
    nodes
}

/// The module ids of files under their current paths. A file that is gone counts as moved if
/// exactly one new file has the same name in a folder of the same name.
fn follow_moved_files(
    ids_before: BTreeMap<String, String>,
    files: &[FileNode],
) -> BTreeMap<String, String> {
    // `src/auth/token.rs` gives `token.rs/auth`: the order does not matter for a key.
    let name_and_folder = |path: &str| {
        let parts: Vec<&str> = path.rsplit('/').take(2).collect();
        parts.join("/")
    };
    let current_paths: BTreeSet<&str> = files.iter().map(|it| it.path.as_str()).collect();
    let mut new_files: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for path in current_paths.iter().filter(|it| !ids_before.contains_key(**it)) {
        new_files.entry(name_and_folder(path)).or_default().push(path);
    }
    let mut ids = BTreeMap::new();
    for (path, id) in ids_before {
        let is_gone = !current_paths.contains(path.as_str());
        let current = match new_files.get(&name_and_folder(&path)).map(Vec::as_slice) {
            Some([only]) if is_gone => (*only).to_owned(),
            // It is still there, or nothing or too much looks like it.
            Some(_) | None => path,
        };
        ids.insert(current, id);
    }
    ids
}

/// Reads the packages of a project, and the texts of its manifests and CI files by path.
fn read_manifests(
    root: &Path,
    folders: &ProjectFolders,
) -> (Vec<PackageRoot>, Vec<(String, String)>) {
    let (mut packages, mut texts) = (Vec::new(), Vec::new());
    // The root and every folder above a file may hold a manifest.
    for folder in folders.paths() {
        let (mut is_package, mut package_name) = (false, None);
        for (name, makes_package) in MANIFEST_FILES {
            let path = join_path(folder, name);
            if !folders.may_have(&path) || !source::exists_in_project(root, &path) {
                continue;
            }
            let text = if UNREAD_MANIFESTS.contains(name) {
                None
            } else {
                source::read_small_text(root, &path)
            };
            let text = text.unwrap_or_default();
            // Lock files and settings mark no package, but name its tools.
            is_package |= *makes_package && describes_package(name, &text);
            package_name = package_name.or_else(|| manifest_name(name, &text));
            texts.push((path, text));
        }
        // A root with a name counts even if its manifests describe no package, only a workspace.
        if is_package || (folder.is_empty() && package_name.is_some()) {
            packages.push(PackageRoot { root: folder.to_owned(), name: package_name });
        }
    }
    for place in CI_CONFIG_PATHS {
        let inside = source::list_files(root, place);
        // A CI path is a folder of files or a single file.
        let files = if inside.is_empty() { vec![(*place).to_owned()] } else { inside };
        for file in files {
            if let Some(text) = source::read_small_text(root, &file) {
                texts.push((file, text));
            }
        }
    }
    (packages, texts)
}

/// Returns whether a manifest describes a package, not only a workspace or settings.
fn describes_package(name: &str, text: &str) -> bool {
    match name {
        "Cargo.toml" => text.lines().any(|it| it.trim() == "[package]"),
        "package.json" => text.contains("\"name\""),
        _ => true,
    }
}

/// The rows to store. Members are stored apart from their modules, so that a file is found fast.
fn to_rows(modules: &[Module], tools: &[ProjectTool]) -> ModuleMapRows {
    // The module of each file. Sorted by file, so that the same modules give the same rows.
    let mut members: BTreeMap<String, String> = BTreeMap::new();
    for module in modules {
        for file in &module.files {
            members.insert(file.clone(), module.id.clone());
        }
    }
    let mut tool_rows = Vec::new();
    for tool in tools {
        let kind = tool.kind.slug().to_owned();
        tool_rows.push((kind, tool.value.clone(), tool.declared_in.clone()));
    }
    ModuleMapRows {
        modules: modules.iter().map(|it| (it.id.clone(), encode_module(it))).collect(),
        members: members.into_iter().collect(),
        tools: tool_rows,
    }
}
