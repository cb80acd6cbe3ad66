//! The candidates of a context block, and two ways to collect them: a search for a text
//! ([`search_related`]) and a list by filters ([`list_ranked`]).
//!
//! A list has no query that could tell its memories apart, so they are ranked as equally relevant: by
//! confidence, age and phase alone. `session_context` and `pipeline_context` collect candidates,
//! `context_builder` checks and packs them.

use std::collections::HashSet;

use model::{MemoryId, MemoryKind, MemoryStatus};
use observe::FilePrediction;
use recall::{QueryClass, RelevanceVerdict, SearchPurpose};
use store::MemoryFilter;

use super::context_request::{ContextRequest, OmissionReason};
use super::map_summary::MapLine;
use crate::housekeeping::quiet_spans;
use crate::lookup::user_excluded_memories;
use crate::retrieval::search::search_memories;
use crate::retrieval::{
    FileRenames, RejectionReason, SearchHit, SearchQuery, assess_memory, find_renames,
    list_unmerged_branches, rank_equally_relevant,
};
use crate::{Error, ProjectReader};

/// Hits of a search that become candidates.
const SEARCHED_CANDIDATES: u32 = 60;

/// The candidates for a block, before they are checked, compared and packed.
pub(super) struct ContextCandidates {
    pub(super) hits: Vec<SearchHit>,
    pub(super) omitted: Vec<(SearchHit, OmissionReason)>,
    /// The class of the searched text (an identifier, a question …); `None` for a list.
    pub(super) query_class: Option<QueryClass>,
    /// The decision of the search whether anything is relevant; `Open` for a list.
    pub(super) verdict: RelevanceVerdict,
    /// Problems that the user should know of.
    pub(super) notices: Vec<String>,
    /// Lines about errors of earlier sessions.
    pub(super) expected_errors: String,
    /// Lines about the commands and modules of the project.
    pub(super) map_lines: Vec<MapLine>,
    pub(super) predicted_files: Option<FilePrediction>,
}

impl ContextCandidates {
    pub(super) fn from_hits(hits: Vec<SearchHit>) -> Self {
        Self {
            hits,
            omitted: Vec::new(),
            query_class: None,
            verdict: RelevanceVerdict::Open,
            notices: Vec::new(),
            expected_errors: String::new(),
            map_lines: Vec::new(),
            predicted_files: None,
        }
    }
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
    let is_nothing_relevant = matches!(results.verdict, RelevanceVerdict::Nothing { .. });
    let mut candidates = ContextCandidates::from_hits(results.hits);
    for (hit, reason) in results.excluded {
        // A file that seems to be missing may have been renamed. The staleness check of
        // `context_builder` finds out, so the memory stays a candidate.
        if reason == RejectionReason::FilesMissing && !is_nothing_relevant {
            candidates.hits.push(hit);
        } else {
            candidates.omitted.push((hit, OmissionReason::Excluded(reason)));
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

    // The user can exclude memories of their own notebook from a project. Memories of a branch that is
    // not merged describe code that is not checked out.
    let user_excluded = user_excluded_memories(reader).await?;
    let unmerged = list_unmerged_branches(reader).await;
    // A memory may know a file by an earlier name.
    let renames = if filters.iter().any(|it| it.file.is_some()) {
        find_renames(reader).await?
    } else {
        FileRenames::default()
    };
    let filters: Vec<_> = filters.iter().flat_map(|it| renames.expand_filter(it)).collect();
    let mut listed = Vec::new();
    for notebook in reader.notebooks() {
        let (mut memories, mut known) = (Vec::new(), HashSet::<MemoryId>::new());
        for filter in &filters {
            let passing = notebook.store.memories().list(filter.clone()).await?;
            // Filters overlap: a pinned memory may also be among the newest.
            memories.extend(passing.into_iter().filter(|it| known.insert(it.id)));
        }
        memories.retain(|it| {
            let is_unmerged = it.branch.as_ref().is_some_and(|it| unmerged.contains(it));
            !is_unmerged && !user_excluded.contains(&it.id)
        });
        // Nothing to assess, so the quiet spans (times without work, which age nothing) need not be
        // read.
        if memories.is_empty() {
            continue;
        }
        let quiet = quiet_spans(reader, &notebook.store).await?;
        listed.extend(memories.into_iter().map(|mut memory| {
            renames.apply(&mut memory);
            assess_memory(reader, memory, notebook.scope, &quiet)
        }));
    }
    Ok(rank_equally_relevant(&listed, request.phase, purpose, &request.disabled_stages))
}

/// A filter for live memories: not deprecated, stale, tainted or waiting for review.
pub(super) fn live_filter(limit: u32) -> MemoryFilter {
    MemoryFilter { statuses: vec![MemoryStatus::Live], ..MemoryFilter::active(limit) }
}
