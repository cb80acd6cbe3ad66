//! Context blocks for the start of a session and for files, and their entry points.
//!
//! The `build_` functions answer a request: they collect the candidates (`context_candidates`) and
//! hand them to `context_builder`, which checks and packs them. They record nothing. The `inject_`
//! functions do the same for a session: they leave out what it was shown before, respect its trial
//! group, and record the block as shown. Called by `Injector`, and by `hook_injection` at the start
//! of a session and at a prompt.
//!
//! Words: the *trial group* of a session decides in an A/B test of memory which notes it gets. The
//! *trust level* of a project sets how confident a memory must be to be injected. Memories to
//! *reinject* were shown in a conversation that the host has replaced by a summary.

use model::{InjectionMoment, InjectionTier, MemoryKind, MemoryStatus, Phase, ProjectPath};
use recall::{SearchPurpose, phase_weights};
use store::{MemoryFilter, ShownEntry, WARNING_KINDS};

use super::context_builder::build_context;
use super::context_candidates::{ContextCandidates, list_ranked, live_filter, search_related};
use super::context_request::{ContextBlock, ContextRequest, SectionChoice};
use super::map_summary::map_summary;
use super::shown_notes::{exclude_shown, open_shown_log, record_context};
use super::trial_group::{record_trial_group, trial_group};
use crate::housekeeping::quiet_spans;
use crate::learn::{describe_expected_errors, predict_files};
use crate::retrieval::{SearchHit, assess_memory, rank_equally_relevant};
use crate::{Error, ProjectReader};

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
    let mut warnings = Vec::new();
    for file in &request.files {
        for kind in WARNING_KINDS {
            warnings.push(MemoryFilter {
                kind: Some(kind.slug().to_owned()),
                file: Some(file.clone()),
                ..live_filter(CANDIDATES_PER_FILE)
            });
        }
    }
    candidates.hits.extend(list_ranked(reader, &warnings, request, purpose).await?);
    candidates.hits.extend(read_reinjected(reader, request).await?);

    // The sections that are not memories. Expected errors are about the whole project, so they
    // belong to the start of a session; predicted files need a task.
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

/// Builds the start context without what the session was shown before, and records it as shown.
pub(crate) async fn inject_start_context(
    reader: &ProjectReader,
    session: &str,
    request: ContextRequest,
) -> Result<ContextBlock, Error> {
    let mut request = exclude_shown(request, open_shown_log(reader, session).read_entries());
    // The caller is a program that injects, so the trust level of the project applies.
    request.min_confidence = reader.policy.injection.level.row().confidence_above;
    // For a group that gets nothing too: the trial compares the groups.
    record_trial_group(reader, session)?;
    let mut context = build_start_context(reader, &request).await?;
    // A group that gets nothing at the start gets an empty block; the explanation stays.
    if !trial_group(reader, session).receives_tier(InjectionTier::Start) {
        context.text = String::new();
        context.expected_errors = String::new();
        context.used_tokens = 0;
        context.placed.clear();
        // The map and the predicted files were not shown either.
        context.shown_entries.clear();
    }
    let moment = if request.task.trim().is_empty() {
        InjectionMoment::Start
    } else {
        InjectionMoment::Prompt
    };
    record_context(reader, session, request.host.unwrap_or_default(), moment, &context)?;
    Ok(context)
}

/// Builds the file context without what the session was shown before, and records it as shown.
pub(crate) async fn inject_file_context(
    reader: &ProjectReader,
    session: &str,
    request: ContextRequest,
) -> Result<ContextBlock, Error> {
    let request = exclude_shown(request, open_shown_log(reader, session).read_entries());
    let context = build_file_context(reader, &request).await?;
    let host = request.host.unwrap_or_default();
    record_context(reader, session, host, InjectionMoment::File, &context)?;
    Ok(context)
}

/// Filters for the candidates of a session without a task: the newest, the newest pinned, and some of
/// each type that the phase reserves budget for.
fn most_valuable_filters(phase: Phase) -> Vec<MemoryFilter> {
    let of_kind = |(kind, _share): &(MemoryKind, u16)| MemoryFilter {
        kind: Some(kind.slug().to_owned()),
        ..live_filter(CANDIDATES_PER_TYPE)
    };
    let newest = live_filter(NEWEST_CANDIDATES);
    let mut filters = vec![newest.clone(), MemoryFilter { pinned: Some(true), ..newest }];
    filters.extend(phase_weights::phase_row(phase).shares.iter().map(of_kind));
    filters
}

/// Reads the memories to reinject that are still live.
async fn read_reinjected(
    reader: &ProjectReader,
    request: &ContextRequest,
) -> Result<Vec<SearchHit>, Error> {
    if request.reinject.is_empty() {
        return Ok(Vec::new());
    }
    let mut memories = Vec::new();
    for notebook in reader.notebooks() {
        let quiet = quiet_spans(reader, &notebook.store).await?;
        for id in &request.reinject {
            // `None` if the other notebook has it, or if it was erased since.
            let memory = notebook.store.memories().get(*id).await?;
            if let Some(memory) = memory.filter(|it| it.status() == MemoryStatus::Live) {
                memories.push(assess_memory(reader, memory, notebook.scope, &quiet));
            }
        }
    }
    let (phase, disabled) = (request.phase, &request.disabled_stages);
    Ok(rank_equally_relevant(&memories, phase, SearchPurpose::Start, disabled))
}
