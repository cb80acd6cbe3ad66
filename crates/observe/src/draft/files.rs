//! Drafts about files: which belong together, where to begin, what not to read.
//!
//! The input of each function is the sightings of one pattern, one per session, oldest first. The facts of a
//! draft (paths, query) come from the evidence of the latest sighting; the counts come from all of them.
//! Example: three sessions edited `api.rs` and `wire.ts` together, of four that edited `api.rs` → "A change
//! to `api.rs` usually needs one in `wire.ts` as well: 3 of the 4 sessions …".

use std::collections::BTreeMap;

use model::{
    CausalDependency, ContextCost, MemoryKind, Payload, PerMille, PrefetchPattern, ProjectPath,
};

use super::{
    MemoryDraft, SessionSighting, SupportCounts, count_sessions, distinct_sessions, quote_paths,
};
use crate::ModuleLookup;
use crate::evidence::Evidence;
use crate::signal::repeated_grep::searched_name;

/// Share of the sessions that edited one file which must have edited the other, in per mille.
const MIN_SHARE_PER_MILLE: u32 = 600;
/// Sessions that must have edited a file together with a configuration file: once is chance.
const MIN_CONFIG_SESSIONS: u32 = 2;
/// Sessions that a dependency lists as its evidence.
const MAX_SESSIONS: usize = 20;
/// Files that a prefetch pattern names.
const MAX_FIRST_FILES: usize = 6;
/// Share of the sessions from which a file is opened often, and always, in per mille.
const OFTEN_PER_MILLE: u32 = 500;
const ALWAYS_PER_MILLE: u32 = 800;

/// Two files that are usually edited together.
pub(super) fn draft_coupled_files(
    seen: &[SessionSighting],
    support: SupportCounts,
) -> Option<MemoryDraft> {
    let Evidence::CoAccess { first, second } = &seen.last()?.evidence else { return None };
    let n_both = count_sessions(seen);
    // The file that is edited less often implies the other one: of its sessions, more edited both.
    let (from, to, n_from) = if support.first_file <= support.second_file {
        (first, second, support.first_file)
    } else {
        (second, first, support.second_file)
    };
    // The counts are taken at another time than the sightings and can be lower.
    let n_from = n_from.max(n_both);
    if n_both * 1000 < n_from * MIN_SHARE_PER_MILLE {
        return None;
    }
    let content = format!(
        "A change to `{from}` usually needs one in `{to}` as well: {n_both} of the {n_from} sessions that edited `{from}` edited both. Check `{to}` before you finish."
    );
    Some(draft_dependency(content, from, to, seen, n_both * 1000 / n_from))
}

/// A configuration file that is usually edited with another file.
pub(super) fn draft_config_coupling(
    seen: &[SessionSighting],
    support: SupportCounts,
) -> Option<MemoryDraft> {
    let Evidence::ConfigTouch { file, config } = &seen.last()?.evidence else { return None };
    let n_both = count_sessions(seen);
    // The file implies the configuration, never the reverse: manifests change for many reasons.
    let n_file = support.first_file.max(n_both);
    if n_both < MIN_CONFIG_SESSIONS || n_both * 1000 < n_file * MIN_SHARE_PER_MILLE {
        return None;
    }
    let content = format!(
        "A change to `{file}` has meant a change to `{config}` in {n_both} of {n_file} sessions; look whether it needs one."
    );
    Some(draft_dependency(content, file, config, seen, n_both * 1000 / n_file))
}

/// A file and the import that is read with it.
pub(super) fn draft_import_pair(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let Evidence::ImportChase { from, to } = &seen.last()?.evidence else { return None };
    let content = format!(
        "To understand `{from}`, read `{to}` with it: it imports what it works on from there."
    );
    Some(draft_dependency(content, from, to, seen, 1000))
}

/// A draft which says that a change of `from` needs one of `to`, in a share of the sessions in per mille.
fn draft_dependency(
    content: String,
    from: &ProjectPath,
    to: &ProjectPath,
    seen: &[SessionSighting],
    share: u32,
) -> MemoryDraft {
    let mut sessions = distinct_sessions(seen);
    sessions.truncate(MAX_SESSIONS);
    let payload = Payload::CausalDependency(CausalDependency {
        from: from.to_string(),
        to: to.to_string(),
        sessions,
        // The stored field holds the share, not the lift in the statistical sense.
        lift: PerMille::new(u16::try_from(share).unwrap_or(1000)),
        directed: true,
    });
    MemoryDraft::new(MemoryKind::CausalDependency, content)
        .with_files(vec![from.clone(), to.clone()])
        .with_payload(payload)
}

/// Files that more than half of the module's sessions opened early.
pub(super) fn draft_first_files(
    module: &str,
    seen: &[SessionSighting],
    modules: &ModuleLookup,
) -> Option<MemoryDraft> {
    // Count the sessions that opened each file early.
    let n_sessions = count_sessions(seen).max(1);
    let mut counts: BTreeMap<&ProjectPath, u32> = BTreeMap::new();
    for sighting in seen {
        let Evidence::FileAccess { files, .. } = &sighting.evidence else { continue };
        for file in files {
            *counts.entry(file).or_insert(0) += 1;
        }
    }
    // Select the files that are opened often, the surest first; ties by path.
    let share = |n_opened: u32| n_opened * 1000 / n_sessions;
    let mut ranked: Vec<(&ProjectPath, u32)> =
        counts.into_iter().filter(|(_, n_opened)| share(*n_opened) > OFTEN_PER_MILLE).collect();
    ranked.sort_by(|(file_a, n_a), (file_b, n_b)| n_b.cmp(n_a).then_with(|| file_a.cmp(file_b)));
    ranked.truncate(MAX_FIRST_FILES);
    // One file is no pattern of work.
    if ranked.len() < 2 {
        return None;
    }
    // If all of them are in other modules, they are where any work begins.
    let is_own_file = |file: &ProjectPath| modules.module_of_file(file.as_str()) == module;
    if !ranked.iter().any(|(file, _)| is_own_file(file)) {
        return None;
    }
    let files: Vec<ProjectPath> = ranked.iter().map(|(file, _)| (*file).clone()).collect();
    let content = format!(
        "Work in `{module}` begins with {}: sessions that changed this {} opened them first.",
        quote_paths(&files),
        modules.noun_for(module)
    );
    // The ranking is by share, so that the files that are always opened come first.
    let is_always = |n_opened: u32| share(n_opened) > ALWAYS_PER_MILLE;
    let n_always = ranked.iter().filter(|(_, n_opened)| is_always(*n_opened)).count();
    let (always, often) = files.split_at(n_always);
    let payload = Payload::PrefetchPattern(PrefetchPattern {
        always: always.to_vec(),
        often: often.to_vec(),
        trigger_module: Some(module.to_owned()),
        session_count: n_sessions,
    });
    let mut draft = MemoryDraft::new(MemoryKind::PrefetchPattern, content)
        .with_files(files)
        .with_payload(payload);
    draft.modules.push(module.to_owned());
    Some(draft)
}

/// A file that sessions read before they edited another one.
pub(super) fn draft_wrong_start(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let Evidence::ReadAbandon { read, edited } = &seen.last()?.evidence else { return None };
    let content = format!(
        "Start in `{edited}`, not in `{read}`: sessions read `{read}` several times and then made their change in `{edited}`."
    );
    let files = vec![edited.clone(), read.clone()];
    Some(MemoryDraft::new(MemoryKind::Gotcha, content).with_files(files))
}

/// The file in which every session found what a query searches for.
pub(super) fn draft_search_location(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let Evidence::RepeatedGrep { query, file, .. } = &seen.last()?.evidence else { return None };
    let mut latest_missed: Option<&str> = None;
    for sighting in seen {
        // All sightings of one key have this form, unless a row is damaged.
        let Evidence::RepeatedGrep { file: found, missed_query, .. } = &sighting.evidence else {
            return None;
        };
        // The file moved, or the query matches several: its place is not known.
        if found != file {
            return None;
        }
        latest_missed = missed_query.as_deref().or(latest_missed);
    }
    let warning =
        latest_missed.map(|it| format!(" A search for `{it}` finds nothing.")).unwrap_or_default();
    let name = searched_name(query);
    let content = format!(
        "`{name}` is in `{file}`; open it there instead of searching for `{query}`.{warning}"
    );
    Some(MemoryDraft::new(MemoryKind::ModuleInsight, content).with_files(vec![file.clone()]))
}

/// The files that every session used of a long list.
pub(super) fn draft_costly_listing(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let Evidence::GlobIgnore { pattern, n_listed, .. } = &seen.last()?.evidence else {
        return None;
    };
    // Only files that every session used are worth naming.
    let mut files = used_files(seen.first()?).to_vec();
    files.retain(|file| seen.iter().all(|it| used_files(it).contains(file)));
    if files.is_empty() {
        return None;
    }
    let content = format!(
        "Do not list `{pattern}` ({n_listed} files): what was needed of it every time is {}.",
        quote_paths(&files)
    );
    Some(MemoryDraft::new(MemoryKind::Gotcha, content).with_files(files))
}

/// The files of a list that one session used.
fn used_files(sighting: &SessionSighting) -> &[ProjectPath] {
    match &sighting.evidence {
        Evidence::GlobIgnore { used_files, .. } => used_files,
        _ => &[],
    }
}

/// A file that is expensive to read.
pub(super) fn draft_costly_file(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let Evidence::ContextTokenSpike { file, .. } = &seen.last()?.evidence else { return None };
    let mut tokens: Vec<u64> = Vec::new();
    for sighting in seen {
        if let Evidence::ContextTokenSpike { tokens: n, .. } = sighting.evidence {
            tokens.push(n);
        }
    }
    tokens.sort_unstable();
    // The latest sighting is one sample, so that there is no division by zero.
    let average = tokens.iter().sum::<u64>() / tokens.len() as u64;
    // The 90th percentile of the sorted samples (nearest rank, rounded down).
    let p90 = tokens[(tokens.len() - 1) * 9 / 10];
    let content = format!(
        "Reading `{file}` whole costs about {} tokens; search in it or read the part you need.",
        // Rounded down to hundreds.
        average / 100 * 100
    );
    let payload = Payload::ContextCost(ContextCost {
        module: file.to_string(),
        avg_tokens: average,
        p90_tokens: p90,
        samples: u32::try_from(tokens.len()).unwrap_or(u32::MAX),
    });
    let draft = MemoryDraft::new(MemoryKind::ContextCost, content);
    Some(draft.with_files(vec![file.clone()]).with_payload(payload))
}

/// A file that two subagents edited at the same time.
pub(super) fn draft_contested_file(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let Evidence::ParallelConflict { file, .. } = &seen.last()?.evidence else { return None };
    let content = format!(
        "Do not let two subagents edit `{file}` at once: they did, and one has to work on what the other wrote. Give it to one of them."
    );
    Some(MemoryDraft::new(MemoryKind::Gotcha, content).with_files(vec![file.clone()]))
}
