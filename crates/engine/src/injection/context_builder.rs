//! From candidates to a context block.
//!
//! [`build_context`] is the pipeline: reject what the request does not want, check the best candidates
//! against the working tree, group contradictions, pack into the token budget. Every candidate ends up
//! either placed in the block or omitted with a reason. `session_context` and `pipeline_context`
//! collect the candidates; `recall::pack_context` decides what fits.
//!
//! Words: a *hit* is a memory with its score. A memory is *stale* if the code that it refers to has
//! changed or is missing. A *conflict group* is one memory, or several that contradict one another
//! and are shown together. *Phase* is the kind of work (planning, implementing …); it reserves parts
//! of the budget for memory types. A *pipeline* request comes from one stage of a development
//! pipeline and divides the block into sections. A memory is *withheld* here if it reads like an
//! instruction or is tainted and the user has not confirmed it (`RejectionReason::Withheld`).

use std::collections::{HashMap, HashSet};

use model::{Actor, Memory, MemoryKind, MemoryType, Payload, PerMille, ProjectPath};
use recall::{
    PackItem, PackRequest, PackedContext, RankingStage, SearchPurpose, UnpackedReason,
    change_decay, estimate_tokens, pack_context, phase_weights, pipeline,
};
use store::WARNING_KINDS;

use super::conflict_groups::{ConflictGroup, ContextEntry, group_conflicts, group_similarity};
use super::context_candidates::ContextCandidates;
use super::context_request::{
    ContextBlock, ContextPlacement, ContextRequest, MemoryBreadth, NoteDetail, OmissionReason,
};
use super::duplicates::{DuplicateDetector, load_duplicate_detector};
use super::extra_sections::ExtraSections;
use super::note_format::{format_memory_note, format_text};
use crate::model_text::{self, is_memory_withheld};
use crate::retrieval::staleness::{Staleness, check_memories};
use crate::retrieval::{RejectionReason, SearchHit};
use crate::rules::rules_read_by_host;
use crate::{Error, ProjectReader, RatedMemory};

/// Best candidates that are checked against the working tree, compared and packed.
const MAX_CHECKED_MEMORIES: usize = 60;
/// Memories of each type that are checked in any case, because the phase reserves budget for types.
const MIN_CHECKED_PER_TYPE: usize = 12;
/// Added to the score of a warning about the request's files. Scores are a few units at most, so
/// these warnings come first.
const WARNING_SCORE_BONUS: f32 = 100.0;
/// Characters of the failure report that are repeated: the agent knows the report and only needs to
/// recognise it.
const MAX_REPORT_CHARS: usize = 1_200;

/// Builds the block for a request from its candidates.
pub(super) async fn build_context(
    reader: &ProjectReader,
    request: &ContextRequest,
    purpose: SearchPurpose,
    mut candidates: ContextCandidates,
) -> Result<ContextBlock, Error> {
    // Reject what the request does not want.
    let hits = reject_unwanted(reader, request, &mut candidates);

    // Check against the working tree. This reads files and runs git, so only the best candidates are
    // checked.
    let (hits, unchecked) = split_checked(best_first(hits));
    let staleness = check_memories(reader, hits.iter().map(|it| &it.rated.memory)).await;
    let mut entries = Vec::new();
    for (hit, staleness) in hits.into_iter().zip(staleness) {
        match check_hit(hit, staleness, request, purpose) {
            Ok(entry) => entries.push(entry),
            Err((hit, reason)) => {
                candidates.omitted.push((*hit, OmissionReason::Excluded(reason)));
            }
        }
    }
    let reason = OmissionReason::Excluded(RejectionReason::BeyondLimit);
    candidates.omitted.extend(unchecked.into_iter().map(|it| (it, reason)));

    // Again, because the check lowered the scores of stale memories.
    entries.sort_by(|a, b| by_score(&a.hit, &b.hit));

    // Compare. Vectors are read for the candidates that are left, not for all hits.
    let hits: Vec<SearchHit> = entries.iter().map(|it| it.hit.clone()).collect();
    let detector = load_duplicate_detector(reader, &hits).await?;
    candidates.notices.extend(detector.damage_notice());
    let (groups, repeated) = group_conflicts(entries, &detector, &request.disabled_stages);
    for (hit, original) in repeated {
        let reason = RejectionReason::Duplicate(original);
        candidates.omitted.push((hit, OmissionReason::Excluded(reason)));
    }
    Ok(pack_groups(reader, request, &groups, &detector, candidates))
}

/// Takes the hits out of the candidates, and moves those that the request does not want to the
/// omitted ones.
fn reject_unwanted(
    reader: &ProjectReader,
    request: &ContextRequest,
    candidates: &mut ContextCandidates,
) -> Vec<SearchHit> {
    // Rules in the host's own rule files (`CLAUDE.md` …): the agent reads these without us.
    let rules = rules_read_by_host(reader, request.host);

    // At the start of a session a memory tied to an error or a file is held back until that error or file
    // occurs. Exception: a memory that the agent knew and lost when the host compacted the conversation
    // comes back at once.
    let hold_back_reason = |memory: &Memory| {
        let is_held_back =
            request.breadth == MemoryBreadth::GeneralOnly && !request.reinject.contains(&memory.id);
        waiting_reason(memory).filter(|_| is_held_back)
    };
    let rejection = |memory: &Memory| {
        if request.shown_memories.contains(&memory.id) {
            Some(RejectionReason::AlreadyShown)
        } else if rules.contains(&memory.content) {
            Some(RejectionReason::InHostRules)
        } else if let Some(reason) = hold_back_reason(memory) {
            Some(reason)
        } else if request.pipeline.is_some() && section_index(reader, memory, request).is_none() {
            // The stage of the pipeline has no section for the memory.
            Some(RejectionReason::OutOfPhase)
        } else {
            None
        }
    };
    let mut wanted = Vec::new();
    for hit in std::mem::take(&mut candidates.hits) {
        match rejection(&hit.rated.memory) {
            Some(reason) => candidates.omitted.push((hit, OmissionReason::Excluded(reason))),
            None => wanted.push(hit),
        }
    }
    wanted
}

/// The event that a memory is tied to, as the reason to hold it back until then: a learned fix waits for its
/// error, a memory about files for one of them. `None` if it concerns all work. An error that was stated or
/// imported is not recognised when it occurs, so its memory does not wait.
fn waiting_reason(memory: &Memory) -> Option<RejectionReason> {
    if memory.flags.pinned {
        return None;
    }
    if memory.kind.core_kind() == Some(MemoryKind::ErrorPattern) {
        let is_learned = memory.created_by == Actor::Observer
            && matches!(memory.payload, Some(Payload::ErrorPattern(_)));
        return is_learned.then_some(RejectionReason::WaitsForError);
    }
    (!memory.files.is_empty()).then_some(RejectionReason::WaitsForFile)
}

/// Sorts hits by score and drops repeated ids. Different memories that say the same are dropped later, by
/// `group_conflicts` and `pack_context`, which compare vectors.
fn best_first(mut hits: Vec<SearchHit>) -> Vec<SearchHit> {
    hits.sort_by(by_score);
    // A memory found by the search and by a listing keeps its better score.
    let mut known = HashSet::new();
    hits.retain(|it| known.insert(it.rated.memory.id));
    hits
}

/// Splits hits into those that are checked and the rest.
fn split_checked(hits: Vec<SearchHit>) -> (Vec<SearchHit>, Vec<SearchHit>) {
    let mut n_per_type: HashMap<MemoryType, usize> = HashMap::new();
    let (mut checked, mut rest) = (Vec::new(), Vec::new());
    for hit in hits {
        let n_of_type = n_per_type.entry(hit.rated.memory.kind.clone()).or_default();
        *n_of_type += 1;
        if checked.len() < MAX_CHECKED_MEMORIES || *n_of_type <= MIN_CHECKED_PER_TYPE {
            checked.push(hit);
        } else {
            rest.push(hit);
        }
    }
    (checked, rest)
}

/// Best first, ties by id.
fn by_score(a: &SearchHit, b: &SearchHit) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(a.rated.memory.id.cmp(&b.rated.memory.id))
}

/// Applies the staleness of a hit: rejects it, or lowers its confidence and score. Hits that a search
/// added as linked memories obey the same rules.
fn check_hit(
    mut hit: SearchHit,
    staleness: Staleness,
    request: &ContextRequest,
    purpose: SearchPurpose,
) -> Result<ContextEntry, (Box<SearchHit>, RejectionReason)> {
    let disabled = &request.disabled_stages;
    hit.explanation.caveats = staleness.reasons;
    if staleness.files_missing {
        return Err((Box::new(hit), RejectionReason::FilesMissing));
    }
    if staleness.symbols_missing {
        return Err((Box::new(hit), RejectionReason::SymbolsMissing));
    }
    if is_memory_withheld(&hit.rated.memory) {
        return Err((Box::new(hit), RejectionReason::Withheld));
    }

    // The share that changed lowers confidence and score alike.
    if disabled.is_enabled(RankingStage::Trust) {
        let factor = change_decay::confidence_factor(staleness.changed);
        let confidence = hit.rated.current_confidence;
        hit.rated.current_confidence =
            change_decay::lower_confidence(confidence, staleness.changed);
        hit.explanation.factors.confidence *= factor;
        hit.explanation.factors.score *= factor;
        hit.score *= factor;
        // Two minimums: the purpose has one for every project, the user's trust level may set a higher one.
        if hit.rated.current_confidence < purpose.row().min_confidence {
            return Err((Box::new(hit), RejectionReason::LowConfidence));
        }
        if !is_trusted(&hit.rated, request.min_confidence) {
            return Err((Box::new(hit), RejectionReason::BelowTrustLevel));
        }
    }

    // A note is shown under its first file, which should be one the agent works on.
    let mut files = staleness.files;
    files.sort_by_key(|it| !request.files.contains(it));
    let mut remarks = Vec::new();
    if staleness.changed >= change_decay::MIN_REPORTED_CHANGE {
        remarks.push("the code it is about has changed since: check".to_owned());
    }
    Ok(ContextEntry { hit, files, remarks })
}

/// True if the trust level allows the injection of a memory. Pinned memories always pass.
pub(super) fn is_trusted(rated: &RatedMemory, min_confidence: PerMille) -> bool {
    rated.memory.flags.pinned
        // Zero: the trust level sets no minimum.
        || min_confidence == PerMille::ZERO
        || rated.current_confidence > min_confidence
}

/// Packs groups into the budget that the extra sections leave, and reports every memory. The key of
/// a packed item is the position of its group.
fn pack_groups(
    reader: &ProjectReader,
    request: &ContextRequest,
    groups: &[ConflictGroup],
    detector: &DuplicateDetector<'_>,
    candidates: ContextCandidates,
) -> ContextBlock {
    let default_budget = phase_weights::phase_row(request.phase).budget;
    let token_budget = request.token_budget.unwrap_or(default_budget);
    let extras = ExtraSections::new(&candidates, token_budget);
    let items = to_pack_items(reader, request, groups);
    let footer = block_footer(&request.failure_report);
    let pack_request = PackRequest {
        phase: request.phase,
        budget: token_budget - extras.tokens(),
        header: model_text::NOTES_HEADER,
        footer: &footer,
        duplicate_threshold: detector.duplicate_threshold(),
        sections: request.pipeline.map_or(&[][..], |it| it.row().sections),
    };
    let drops_duplicates = request.disabled_stages.is_enabled(RankingStage::Duplicates);
    let similarity = |a: u32, b: u32| {
        if !drops_duplicates {
            return None;
        }
        group_similarity(&groups[a as usize], &groups[b as usize], detector)
    };
    let packed = pack_context(&items, &pack_request, &similarity);
    let placed = place_groups(reader, request, groups, &packed);

    // The omitted memories come from several steps; they are sorted together for the explanation.
    let mut omitted = candidates.omitted;
    omitted.extend(unpacked_hits(groups, &packed));
    omitted.sort_by(|a, b| by_score(&a.0, &b.0));
    let text = extras.append_to(packed.text);
    ContextBlock {
        used_tokens: estimate_tokens(&text),
        text,
        token_budget,
        phase: request.phase,
        shown_entries: extras.shown_entries(&candidates.map_lines),
        expected_errors: extras.expected_errors.text,
        predicted_files: candidates.predicted_files,
        placed,
        omitted,
        query_class: candidates.query_class,
        verdict: candidates.verdict,
        notices: candidates.notices,
    }
}

/// One item per group: the first member, which counts most, stands for it.
fn to_pack_items(
    reader: &ProjectReader,
    request: &ContextRequest,
    groups: &[ConflictGroup],
) -> Vec<PackItem> {
    let mut items = Vec::new();
    for (group, key) in groups.iter().zip(0..) {
        let first = &group[0];
        let bonus = if is_file_warning(first, request) { WARNING_SCORE_BONUS } else { 0.0 };
        items.push(PackItem {
            key,
            memory_type: first.hit.rated.memory.kind.clone(),
            score: first.hit.score + bonus,
            text: format_group(reader, group, request).join("\n"),
            files: first.files.clone(),
            section: section_index(reader, &first.hit.rated.memory, request).unwrap_or_default(),
        });
    }
    items
}

/// Reports the packed groups memory by memory. The tokens of the headings above a group are counted for its
/// first member.
fn place_groups(
    reader: &ProjectReader,
    request: &ContextRequest,
    groups: &[ConflictGroup],
    packed: &PackedContext,
) -> Vec<ContextPlacement> {
    let sections = request.pipeline.map_or(&[][..], |it| it.row().sections);
    let mut placed = Vec::new();
    for chosen in &packed.chosen {
        // The cost of the group is that of its lines and of the headings above it.
        let group = &groups[chosen.key as usize];
        let lines = format_group(reader, group, request);
        let costs: Vec<u32> = lines.iter().map(|it| estimate_tokens(&format!("{it}\n"))).collect();
        let section = section_index(reader, &group[0].hit.rated.memory, request);
        let heading_cost = chosen.cost.saturating_sub(costs.iter().sum());
        for (nth, (entry, cost)) in group.iter().zip(costs).enumerate() {
            placed.push(ContextPlacement {
                hit: entry.hit.clone(),
                file: chosen.file.clone(),
                section: section.and_then(|it| Some(sections.get(it)?.title)),
                tokens: cost + if nth == 0 { heading_cost } else { 0 },
                paid_by: chosen.paid_by,
            });
        }
    }
    placed
}

/// The members of the groups that were not packed, with the reason.
fn unpacked_hits(
    groups: &[ConflictGroup],
    packed: &PackedContext,
) -> Vec<(SearchHit, OmissionReason)> {
    let mut unpacked = Vec::new();
    for (key, reason) in &packed.left_out {
        let reason = match *reason {
            UnpackedReason::OverBudget { cost, tokens_left: left } => {
                OmissionReason::OverBudget { cost, left }
            }
            UnpackedReason::Duplicate { chosen_key, .. } => {
                let original = &groups[chosen_key as usize][0].hit.rated.memory;
                OmissionReason::Excluded(RejectionReason::Duplicate(original.id))
            }
        };
        unpacked.extend(groups[*key as usize].iter().map(|it| (it.hit.clone(), reason)));
    }
    unpacked
}

/// Formats each member of a group. A pipeline's summaries depend on the type of the memory.
fn format_group(
    reader: &ProjectReader,
    group: &ConflictGroup,
    request: &ContextRequest,
) -> Vec<String> {
    let format = |it: &ContextEntry| {
        let memory = &it.hit.rated.memory;
        if request.pipeline.is_some() && request.detail == NoteDetail::Summary {
            format_text(reader, memory, &pipeline::format_memory(memory), &it.remarks)
        } else {
            format_memory_note(reader, memory, request.detail, &it.remarks)
        }
    };
    group.iter().map(format).collect()
}

/// The section of the request's pipeline that a memory belongs to.
fn section_index(
    reader: &ProjectReader,
    memory: &Memory,
    request: &ContextRequest,
) -> Option<usize> {
    request.pipeline?.section_index(memory, reader.now)
}

/// True for a warning about one of the request's files.
fn is_file_warning(entry: &ContextEntry, request: &ContextRequest) -> bool {
    let kind = entry.hit.rated.memory.kind.core_kind();
    let is_requested = |it: &ProjectPath| request.files.contains(it);
    WARNING_KINDS.iter().any(|it| Some(*it) == kind) && entry.files.iter().any(is_requested)
}

/// The footer of a block, after the beginning of the failure report if there is one.
fn block_footer(report: &str) -> String {
    // The report is untrusted output of tools: it must not end the block.
    let report = model_text::neutralize_foreign_text(report);
    if report.is_empty() {
        return model_text::NOTES_FOOTER.to_owned();
    }
    let beginning: String = report.chars().take(MAX_REPORT_CHARS).collect();
    let more = if beginning.len() < report.len() { " …" } else { "" };
    format!("The report that failed:\n    {beginning}{more}\n{}", model_text::NOTES_FOOTER)
}
