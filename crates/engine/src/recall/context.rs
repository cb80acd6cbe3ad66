//! The candidates of a context block: found by a search for the task, listed by file or type, or
//! reinjected. `context_builder` checks and packs them.

use std::collections::HashSet;

use model::{
    DAY_MS, Memory, MemoryId, MemoryKind, MemoryStatus, Phase, ProjectPath, QuietSpan,
    current_confidence, lived_millis,
};
use recall::{
    DisabledStages, FusedHit, MemoryCondition, RankCandidate, RankedHit, RelevanceVerdict,
    ScoreFactors, SearchPurpose, phase_weights,
};
use store::{MemoryFilter, ShownEntry, WARNING_KINDS};

use super::context_builder::build_context;
use super::context_request::{
    ContextBlock, ContextCandidates, ContextRequest, OmissionReason, SectionChoice,
};
use super::map_summary::map_summary;
use super::search::search_memories;
use super::search_results::{HitExplanation, RejectionReason, SearchHit, SearchQuery};
use super::unmerged_branches::unmerged_branches;
use crate::housekeeping::quiet_spans;
use crate::learn::{describe_expected_errors, predict_files};
use crate::lookup::excluded_memories;
use crate::{Error, ProjectReader, RatedMemory};

/// Hits of a search that become candidates.
const SEARCHED_CANDIDATES: u32 = 60;
/// Newest memories, and newest pinned memories, that are candidates without a task.
const NEWEST_CANDIDATES: u32 = 100;
/// Candidates of each type that the phase reserves a share of the budget for, without a task.
const CANDIDATES_PER_TYPE: u32 = 30;
/// Memories of one file that are candidates.
const CANDIDATES_PER_FILE: u32 = 300;

/// Builds the block for the start of a session or a task.
pub(crate) async fn build_start_context(
    reader: &ProjectReader,
    request: &ContextRequest,
) -> Result<ContextBlock, Error> {
    let (purpose, has_task) = (SearchPurpose::Start, !request.task.trim().is_empty());
    let mut candidates = if has_task {
        search_related(reader, &request.task, None, request).await?
    } else {
        let filters = most_valuable_filters(request.phase);
        ContextCandidates::from_hits(list_ranked(reader, &filters, request, purpose).await?)
    };
    // Warnings about the request's files are candidates whatever the task is.
    let of_kind = |file: &ProjectPath, kind: MemoryKind| {
        let kind = Some(kind.slug().to_owned());
        MemoryFilter { kind, file: Some(file.clone()), ..live_filter(CANDIDATES_PER_FILE) }
    };
    let warnings = request.files.iter().flat_map(|it| WARNING_KINDS.map(|kind| of_kind(it, kind)));
    let warnings: Vec<MemoryFilter> = warnings.collect();
    candidates.hits.extend(list_ranked(reader, &warnings, request, purpose).await?);
    candidates.hits.extend(read_reinjected(reader, request).await?);
    if request.expected_errors == SectionChoice::Include && !has_task {
        candidates.expected_errors = describe_expected_errors(reader).await?;
    }
    candidates.map_lines = map_summary(reader, request).await?;
    if has_task && !request.shown_texts.contains(&ShownEntry::PredictedFiles) {
        let mut predicted = predict_files(reader, &request.task).await?;
        let is_known = |path: &str| {
            request.files.iter().chain(&request.nearby_files).any(|it| it.as_str() == path)
        };
        // The agent knows these files already.
        predicted.files.retain(|it| !is_known(&it.path));
        candidates.predicted_files = Some(predicted);
    }
    build_context(reader, request, purpose, candidates).await
}

/// Builds the block about the request's files.
pub(crate) async fn build_file_context(
    reader: &ProjectReader,
    request: &ContextRequest,
) -> Result<ContextBlock, Error> {
    let of_file = |it: &ProjectPath| MemoryFilter {
        file: Some(it.clone()),
        ..live_filter(CANDIDATES_PER_FILE)
    };
    let filters: Vec<MemoryFilter> = request.files.iter().map(of_file).collect();
    let hits = list_ranked(reader, &filters, request, SearchPurpose::File).await?;
    let candidates = ContextCandidates::from_hits(hits);
    build_context(reader, request, SearchPurpose::File, candidates).await
}

/// Reads the memories to reinject that are still live.
async fn read_reinjected(
    reader: &ProjectReader,
    request: &ContextRequest,
) -> Result<Vec<SearchHit>, Error> {
    let mut memories = Vec::new();
    for notebook in reader.notebooks().into_iter().filter(|_| !request.reinject.is_empty()) {
        let quiet = quiet_spans(reader, &notebook.store).await?;
        for id in &request.reinject {
            let memory = notebook.store.memories().get(*id).await?;
            let Some(memory) = memory.filter(|it| it.status() == MemoryStatus::Live) else {
                continue;
            };
            let condition = current_condition(reader, &memory, &quiet);
            let current_confidence = condition.current_confidence;
            let rated = RatedMemory { memory, scope: notebook.scope, current_confidence };
            memories.push((rated, condition));
        }
    }
    let (phase, disabled) = (request.phase, &request.disabled_stages);
    Ok(rank_equally_relevant(memories, phase, SearchPurpose::Start, disabled))
}

/// Searches for memories that relate to a text, of one type or of any.
pub(super) async fn search_related(
    reader: &ProjectReader,
    text: &str,
    kind: Option<MemoryKind>,
    request: &ContextRequest,
) -> Result<ContextCandidates, Error> {
    let kind = kind.map(|it| it.slug().to_owned());
    let query = SearchQuery {
        text: text.to_owned(),
        files: [request.files.as_slice(), &request.nearby_files].concat(),
        filter: MemoryFilter { kind, ..live_filter(SEARCHED_CANDIDATES) },
        scope: None,
        phase: Some(request.phase),
        purpose: SearchPurpose::Start,
        disabled_stages: request.disabled_stages.clone(),
    };
    let results = search_memories(reader, &query).await?;
    let is_answered = !matches!(results.verdict, RelevanceVerdict::Nothing { .. });
    let mut candidates = ContextCandidates::from_hits(results.hits);
    for (hit, reason) in results.excluded {
        // A file that seems to be missing may have been renamed. The staleness check finds out, so
        // the memory stays a candidate.
        match reason {
            RejectionReason::FilesMissing if is_answered => candidates.hits.push(hit),
            _ => candidates.omitted.push((hit, OmissionReason::Excluded(reason))),
        }
    }
    candidates.query_class = Some(results.query_class);
    candidates.verdict = results.verdict;
    candidates.notices = results.notices;
    Ok(candidates)
}

/// Lists the memories that pass any of the filters and ranks them as equally relevant.
pub(super) async fn list_ranked(
    reader: &ProjectReader,
    filters: &[MemoryFilter],
    request: &ContextRequest,
    purpose: SearchPurpose,
) -> Result<Vec<SearchHit>, Error> {
    if filters.is_empty() {
        return Ok(Vec::new());
    }
    let excluded = excluded_memories(reader).await?;
    let unmerged = unmerged_branches(reader).await;
    let mut listed = Vec::new();
    for notebook in reader.notebooks() {
        let (mut memories, mut known) = (Vec::new(), HashSet::<MemoryId>::new());
        for filter in filters {
            let passing = notebook.store.memories().list(filter.clone()).await?;
            // Filters overlap: a pinned memory may also be among the newest.
            memories.extend(passing.into_iter().filter(|it| known.insert(it.id)));
        }
        memories.retain(|it| {
            let is_unmerged = it.branch.as_ref().is_some_and(|it| unmerged.contains(it));
            !is_unmerged && !excluded.contains(&it.id)
        });
        if memories.is_empty() {
            continue;
        }
        let quiet = quiet_spans(reader, &notebook.store).await?;
        listed.extend(memories.into_iter().map(|memory| {
            let condition = current_condition(reader, &memory, &quiet);
            let current_confidence = condition.current_confidence;
            (RatedMemory { memory, scope: notebook.scope, current_confidence }, condition)
        }));
    }
    Ok(rank_equally_relevant(listed, request.phase, purpose, &request.disabled_stages))
}

/// The confidence and age of a memory now. Time in which the user did not work does not count.
pub(super) fn current_condition(
    reader: &ProjectReader,
    memory: &Memory,
    quiet: &[QuietSpan],
) -> MemoryCondition {
    let current_confidence = current_confidence(memory, &reader.config.types, reader.now, quiet);
    #[expect(clippy::cast_precision_loss, reason = "days, not milliseconds, matter")]
    let days_unused = lived_millis(memory.last_touched(), reader.now, quiet) as f32 / DAY_MS as f32;
    MemoryCondition { current_confidence, days_unused, churn: None }
}

/// A filter for live memories: not deprecated, stale, tainted or waiting for review.
pub(super) fn live_filter(limit: u32) -> MemoryFilter {
    MemoryFilter { statuses: vec![MemoryStatus::Live], ..MemoryFilter::active(limit) }
}

/// Filters for the candidates of a session without a task.
fn most_valuable_filters(phase: Phase) -> Vec<MemoryFilter> {
    let of_kind = |it: &(MemoryKind, u16)| MemoryFilter {
        kind: Some(it.0.slug().to_owned()),
        ..live_filter(CANDIDATES_PER_TYPE)
    };
    let newest = live_filter(NEWEST_CANDIDATES);
    let mut filters = vec![newest.clone(), MemoryFilter { pinned: Some(true), ..newest }];
    filters.extend(phase_weights::phase_row(phase).shares.iter().map(of_kind));
    filters
}

/// Ranks memories by confidence, age and phase alone; best first.
pub(super) fn rank_equally_relevant(
    memories: Vec<(RatedMemory, MemoryCondition)>,
    phase: Phase,
    purpose: SearchPurpose,
    disabled: &DisabledStages,
) -> Vec<SearchHit> {
    let candidates: Vec<RankCandidate<'_>> = memories
        .iter()
        .zip(0..)
        .map(|((rated, condition), key)| RankCandidate {
            memory: &rated.memory,
            condition: *condition,
            fused: FusedHit { key, score: 1.0, traces: Vec::new() },
            relevance: 1.0,
            // The staleness check of the context decides about files.
            files_gone: false,
        })
        .collect();
    let ranked = recall::rank_candidates(&candidates, Some(phase), purpose.row(), disabled);
    let rated = |it: &RankedHit| memories[it.fused.key as usize].0.clone();
    ranked.into_iter().map(|it| unsearched_hit(rated(&it), it.factors)).collect()
}

/// A hit of a listing: no retrieval path explains it.
fn unsearched_hit(rated: RatedMemory, factors: ScoreFactors) -> SearchHit {
    let explanation = HitExplanation {
        traces: Vec::new(),
        matched_terms: Vec::new(),
        neighbour_boost: 0.0,
        file_boost: 0.0,
        factors,
        rerank_score: None,
        linked_from: None,
        caveats: Vec::new(),
    };
    SearchHit { rated, score: factors.score, explanation }
}
