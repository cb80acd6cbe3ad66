//! Staleness of memories: how much the files and symbols that a memory refers to have changed since it
//! was written, according to git and the working tree.
//!
//! A memory refers to files and, more precisely, to symbols (anchors with a structural hash). For
//! each file the check asks: does it exist, or was it renamed? If the memory has anchors in it: do
//! the symbols still have their hash, or were they moved? Otherwise: which share of its lines
//! changed? Context blocks drop memories whose references are all missing and lower the confidence
//! of the others by the changed share. Runs git a few times at most, and never on the caller's
//! runtime.
//!
//! A symbol that is not in its file any more is *absent*. If the code graph has the same code in
//! another file, it has *moved*, otherwise it is *lost*. The files or symbols of a memory are
//! *missing* if none of them exists.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;
use std::sync::Arc;

use model::{Memory, PerMille, ProjectPath, SymbolAnchor, Timestamp};
use recall::change_decay;
use source::{FileChange, ProjectPlace};

use crate::anchor::SourceOutline;
use crate::blocking::run_blocking;
use crate::code_index::queries::load_query_graph;
use crate::file_cache::FileCaches;
use crate::{ProjectReader, RatedMemory, format_count};

/// Commits that git compares with HEAD per call. Memories of further commits count as
/// unchanged.
const MAX_COMPARED_COMMITS: usize = 4;

/// The state of the files and symbols of a memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Staleness {
    /// By their current names; missing files by the name the memory has.
    pub(crate) files: Vec<ProjectPath>,
    /// The memory names files and none of them exists.
    pub(crate) files_missing: bool,
    /// The memory is anchored to symbols and none of them exists.
    pub(crate) symbols_missing: bool,
    /// Share of the files and symbols that changed.
    pub(crate) changed: PerMille,
    /// The changes in words, for people.
    pub(crate) reasons: Vec<String>,
}

/// The references of one memory that are checked.
#[derive(Clone)]
struct FileReferences {
    files: Vec<ProjectPath>,
    anchors: Vec<SymbolAnchor>,
    /// The memory is the project's. The user's memories may name files of any project and are not
    /// checked.
    is_of_project: bool,
    /// The commit that was checked out when the memory was written.
    commit: Option<String>,
    /// The last time that the memory was written, confirmed or used.
    last_touched: Timestamp,
}

/// The current file of symbols that left their file, by structural hash.
type MovedSymbols = HashMap<String, ProjectPath>;

/// Checks the files and symbols of each memory, in the same order.
pub(crate) async fn check_memories(
    reader: &ProjectReader,
    memories: impl Iterator<Item = &Memory>,
) -> Vec<Staleness> {
    // Copied out of the memories, because the check runs on another thread.
    let references = |it: &Memory| FileReferences {
        files: it.files.clone(),
        anchors: it.anchors.clone(),
        is_of_project: it.project.is_some(),
        commit: it.commit.clone(),
        last_touched: it.last_touched(),
    };
    let references: Vec<FileReferences> = memories.map(references).collect();
    let (staleness, absent) = run_check(reader, references.clone(), MovedSymbols::new()).await;
    if absent.is_empty() {
        return staleness;
    }
    // Loading the code graph is slow, so other files are searched only if a symbol is not in its own.
    let moved = find_moved_symbols(reader, &absent).await;
    if moved.is_empty() {
        return staleness;
    }
    let (staleness, _) = run_check(reader, references, moved).await;
    staleness
}

/// Lowers the confidence of a memory by its staleness and returns the reasons.
pub(crate) async fn lower_by_staleness(
    reader: &ProjectReader,
    rated: &mut RatedMemory,
) -> Vec<String> {
    let staleness = check_memories(reader, std::iter::once(&rated.memory)).await.pop();
    let staleness = staleness.unwrap_or_default();
    rated.current_confidence =
        change_decay::lower_confidence(rated.current_confidence, staleness.changed);
    staleness.reasons
}

/// Checks all references off the runtime. Also returns the anchors whose symbol is not in its file.
async fn run_check(
    reader: &ProjectReader,
    references: Vec<FileReferences>,
    moved_symbols: MovedSymbols,
) -> (Vec<Staleness>, Vec<SymbolAnchor>) {
    let (place, caches) = (reader.place.clone(), Arc::clone(&reader.file_caches));
    run_blocking(move || {
        let mut check = StalenessCheck {
            place: &place,
            head: source::read_head(&place).commit,
            changes_by_commit: HashMap::new(),
            caches,
            moved_symbols,
            absent_anchors: Vec::new(),
        };
        let staleness = references.iter().map(|it| check_references(&mut check, it)).collect();
        (staleness, check.absent_anchors)
    })
    .await
}

/// Looks absent symbols up in the code graph by their structural hash. The graph may be outdated, so a
/// symbol counts only if the file has it now.
async fn find_moved_symbols(reader: &ProjectReader, absent: &[SymbolAnchor]) -> MovedSymbols {
    let mut moved = MovedSymbols::new();
    // Without an index a moved symbol counts as missing.
    let Ok((graph, _)) = load_query_graph(reader).await else { return moved };
    // Anchors have the hash as hexadecimal text, the graph as a number.
    let hashes = absent.iter().filter_map(|it| u64::from_str_radix(&it.hash, 16).ok());
    for symbol in graph.symbols_by_hash(&hashes.collect()) {
        let hash = format!("{:016x}", symbol.structural_hash);
        // `Queue.push` → `push`.
        let last_part = |it: &str| it.rsplit('.').next().unwrap_or_default().to_owned();
        let is_same = |it: &&SymbolAnchor| {
            it.hash == hash
                && it.file.as_str() != symbol.path
                && last_part(&it.symbol) == last_part(&symbol.name)
        };
        // The same code may exist under several names, so the last part of the name must match too.
        let Some(anchor) = absent.iter().find(is_same) else { continue };
        let outline = SourceOutline::read(&reader.place.root, &symbol.path);
        let is_there = outline.and_then(|it| it.symbol_hash(&symbol.name)) == Some(hash);
        if let Ok(path) = ProjectPath::parse(&symbol.path)
            && is_there
        {
            moved.entry(anchor.hash.clone()).or_insert(path);
        }
    }
    moved
}

/// The state of one check: the answers of git so far, and what the check of symbols needs.
struct StalenessCheck<'a> {
    place: &'a ProjectPlace,
    /// The checked-out commit.
    head: Option<String>,
    /// The changes between a commit and HEAD; `None` if git does not know the commit.
    changes_by_commit: HashMap<String, Option<Vec<FileChange>>>,
    caches: Arc<FileCaches>,
    moved_symbols: MovedSymbols,
    /// Anchors whose symbol is not in their file. It may have moved; one that is nowhere counts as lost.
    absent_anchors: Vec<SymbolAnchor>,
}

impl StalenessCheck<'_> {
    /// The changes between a commit and HEAD; `None` if they are not known. Runs git once per commit.
    fn cached_changes(&mut self, commit: Option<&str>) -> Option<&[FileChange]> {
        let commit = commit?;
        // Nothing differs from HEAD itself, so git need not run.
        if self.head.as_deref() == Some(commit) {
            return Some(&[]);
        }
        let may_run_git = self.changes_by_commit.len() < MAX_COMPARED_COMMITS;
        match self.changes_by_commit.entry(commit.to_owned()) {
            Entry::Occupied(it) => it.into_mut().as_deref(),
            Entry::Vacant(it) if may_run_git => {
                it.insert(source::changes_since(self.place, commit)).as_deref()
            }
            Entry::Vacant(_) => None,
        }
    }
}

/// Checks all references of one memory.
fn check_references(check: &mut StalenessCheck<'_>, references: &FileReferences) -> Staleness {
    if !references.is_of_project || references.files.is_empty() {
        return Staleness { files: references.files.clone(), ..Staleness::default() };
    }
    // Copied, because the check of symbols borrows `check` as well.
    let changes = check.cached_changes(references.commit.as_deref()).map(<[FileChange]>::to_vec);
    let mut staleness = Staleness::default();
    // The changed share of each file.
    let mut shares = Vec::new();
    let (mut n_existing, mut n_anchors, mut n_lost) = (0, 0, 0);
    for file in &references.files {
        let reasons = &mut staleness.reasons;
        let checked = check_file(check, references, file, changes.as_deref(), reasons);
        n_existing += usize::from(checked.exists);
        n_anchors += checked.n_anchors;
        n_lost += checked.n_lost_anchors;
        shares.push(checked.changed);
        staleness.files.push(checked.path);
    }
    staleness.files_missing = n_existing == 0;
    staleness.symbols_missing = n_anchors > 0 && n_lost == n_anchors;
    staleness.changed = change_decay::mean_change(&shares);
    staleness
}

/// The state of one file of a memory.
struct FileStaleness {
    /// Its current name.
    path: ProjectPath,
    exists: bool,
    changed: PerMille,
    /// Anchors of the memory in this file.
    n_anchors: usize,
    /// Anchors whose symbol exists nowhere.
    n_lost_anchors: usize,
}

/// Checks one file of a memory, and the anchors in it. `changes` are all changes since the memory's
/// commit, `None` if they are not known. Adds what it finds to the reasons.
fn check_file(
    check: &mut StalenessCheck<'_>,
    references: &FileReferences,
    file: &ProjectPath,
    changes: Option<&[FileChange]>,
    reasons: &mut Vec<String>,
) -> FileStaleness {
    let root = &check.place.root;
    let CurrentFile { path, exists, change } = find_current_file(root, file, changes);
    if path != *file {
        reasons.push(format!("`{file}` is now `{path}`"));
    }

    // Symbols are more precise than lines: a memory about one function does not become stale when
    // another part of the file changes. So lines count only without anchors.
    let anchors: Vec<&SymbolAnchor> =
        references.anchors.iter().filter(|it| it.file == *file).collect();
    if let Some(anchored) = check_anchors(check, &path, &anchors, reasons) {
        // The memory follows its symbol to another file, unless other symbols hold it in this one.
        let follows_symbol = !exists || anchors.len() == 1;
        let moved_to = anchored.moved_to.filter(|_| follows_symbol);
        return FileStaleness {
            exists: exists || moved_to.is_some(),
            path: moved_to.unwrap_or(path),
            changed: anchored.changed,
            n_anchors: anchors.len(),
            n_lost_anchors: anchored.n_lost,
        };
    }
    let line_share = if exists {
        let git_change = match change {
            Some(change) => GitChange::Changed(change),
            None if changes.is_some() => GitChange::Unchanged,
            None => GitChange::Unknown,
        };
        check_lines(root, &path, git_change, references.last_touched, reasons)
    } else {
        reasons.push(format!("`{path}` is gone"));
        PerMille::ONE
    };
    FileStaleness { path, exists, changed: line_share, n_anchors: 0, n_lost_anchors: 0 }
}

/// A file of a memory as it is now.
struct CurrentFile<'a> {
    /// Its name in HEAD; the old name if it was deleted.
    path: ProjectPath,
    exists: bool,
    /// Its change since the memory's commit; `None` if it is unchanged or git does not know.
    change: Option<&'a FileChange>,
}

/// Finds a file of a memory by the name that the memory has for it.
fn find_current_file<'a>(
    root: &Path,
    file: &ProjectPath,
    changes: Option<&'a [FileChange]>,
) -> CurrentFile<'a> {
    let changes = changes.unwrap_or_default();
    // It has its old name. It was not renamed then, even if git takes a new file for its copy.
    if source::exists_in_project(root, file.as_str()) {
        let change = changes.iter().find(|it| it.path == file.as_str());
        return CurrentFile { path: file.clone(), exists: true, change };
    }
    // It was renamed. The working tree may lack the new file as well.
    let renamed = changes.iter().find(|it| it.before.as_deref() == Some(file.as_str()));
    if let Some(change) = renamed
        && let Ok(path) = ProjectPath::parse(&change.path)
    {
        let exists = source::exists_in_project(root, path.as_str());
        return CurrentFile { path, exists, change: Some(change) };
    }
    // It was deleted.
    CurrentFile { path: file.clone(), exists: false, change: None }
}

/// Git's answer about one file.
enum GitChange<'a> {
    /// The changes since the commit of the memory are not known.
    Unknown,
    Unchanged,
    Changed(&'a FileChange),
}

/// The share of a file's lines that changed.
fn check_lines(
    root: &Path,
    path: &ProjectPath,
    change: GitChange<'_>,
    last_touched: Timestamp,
    reasons: &mut Vec<String>,
) -> PerMille {
    let state = source::read_file_state(root, path.as_str());
    let n_lines = state.map_or(0, |it| it.n_lines);
    let changed = match &change {
        GitChange::Changed(it) => change_decay::changed_share(it.added, it.removed, n_lines),
        GitChange::Unknown | GitChange::Unchanged => PerMille::ZERO,
    };
    if changed > PerMille::ZERO {
        reasons.push(format!("{} % of `{path}` changed since", changed.get().div_ceil(10)));
    }
    // A fresh checkout gives every file a new time, so the time does not count if git says that the
    // file is unchanged.
    let may_be_newer = matches!(change, GitChange::Unknown) || changed > PerMille::ZERO;
    let modified = state.map(|it| Timestamp(it.modified)).filter(|_| may_be_newer);
    let days = modified.and_then(|it| change_decay::days_newer(it, last_touched));
    reasons.extend(days.map(|it| {
        let n_days = usize::try_from(it).unwrap_or(usize::MAX);
        let days = format_count(n_days, "day", "days");
        format!("`{path}` is {days} newer: worth a review")
    }));
    changed
}

/// The state of a memory's anchors in one file.
struct AnchorStaleness {
    changed: PerMille,
    /// Anchors whose symbol exists nowhere.
    n_lost: usize,
    /// The file that the last moved symbol is in now.
    moved_to: Option<ProjectPath>,
}

/// Compares each anchored symbol with its code now; `None` without anchors.
fn check_anchors(
    check: &mut StalenessCheck<'_>,
    file: &ProjectPath,
    anchors: &[&SymbolAnchor],
    reasons: &mut Vec<String>,
) -> Option<AnchorStaleness> {
    // The changed share of each anchor: all of it or nothing.
    let mut shares = Vec::new();
    let (mut moved_to, mut n_lost) = (None, 0);
    for anchor in anchors {
        let symbol = &anchor.symbol;
        match check.caches.symbol_hash(&check.place.root, file.as_str(), symbol) {
            Some(hash) if hash == anchor.hash => shares.push(PerMille::ZERO),
            Some(_) => {
                reasons.push(format!("`{symbol}` in `{file}` changed since"));
                shares.push(PerMille::ONE);
            }
            None => {
                check.absent_anchors.push((*anchor).clone());
                // Moved code is the same code.
                if let Some(path) = check.moved_symbols.get(&anchor.hash) {
                    moved_to = Some(path.clone());
                    reasons.push(format!("`{symbol}` is now in `{path}`"));
                    shares.push(PerMille::ZERO);
                } else {
                    n_lost += 1;
                    reasons.push(format!("`{symbol}` is gone from `{file}`"));
                    shares.push(PerMille::ONE);
                }
            }
        }
    }
    if shares.is_empty() {
        return None;
    }
    let changed = change_decay::mean_change(&shares);
    Some(AnchorStaleness { changed, n_lost, moved_to })
}
