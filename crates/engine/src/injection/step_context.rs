//! Notes between two steps of a session. A step is one turn of the agent with the tool calls in it.
//!
//! [`build_step_context`] collects offers from four sources: warnings about the files of the step,
//! notes that siblings of the session have just recorded, memories that answer a search of the step, and the
//! next step of a fitting recipe. `recall::step_decision` then decides which of them are worth an
//! interruption, if any. The daemon calls it after every step, so it uses no vectors and no models:
//! only words, files and what the session did. [`record_step`] records what was injected in the
//! session's *shown log*, so that nothing is injected twice.
//!
//! Words: a *recipe* is a memory with the steps of a recurring task and the files of each step. A
//! *recorded* note is in the journal of its session and becomes a memory when the session is learned.

use std::collections::HashSet;

use model::{
    InjectionMoment, InjectionTier, Memory, MemoryId, MemoryKind, PerMille, Phase, ProjectPath,
    SessionId, Timestamp, TrustLevel, words,
};
use recall::step_decision::{
    NoteOffer, StepDecision, StepReason, StepState, WithholdReason, decide_step,
};
use recall::{DisabledStages, RankingStage, SearchPurpose, estimate_tokens, pipeline};
use store::ShownEntry;

use super::context_candidates::{live_filter, search_related};
use super::context_request::ContextRequest;
use super::file_warnings::{find_file_warnings, is_warning_kind};
use super::injection_log::GivenBlock;
use super::missing_references::reject_missing_references;
use super::note_format::{format_capped, format_text};
use super::recorded_notes::{RecordedSiblingNote, sibling_notes_since};
use super::shown_notes::{open_shown_log, record_block, shown_memory_ids};
use super::trial_group::{record_trial_group, trial_group};
use crate::lookup::shared_terms;
use crate::model_text::{self, TextOrigin, is_memory_withheld};
use crate::retrieval::SearchQuery;
use crate::retrieval::search::search_memories;
use crate::rules::rules_read_by_host;
use crate::{Error, MatchedRecipe, ProjectReader, RatedMemory};

/// Hits per text that the step searched for.
const HITS_PER_SEARCH: u32 = 5;

/// The end of a step.
#[derive(Clone, Debug)]
pub struct StepRequest {
    /// The host's name for the session.
    pub session: String,
    /// The session in journals. A subagent gets the notes of its siblings.
    pub session_id: SessionId,
    /// The host or client; empty if it is not known.
    pub host: String,
    /// Counted from 1.
    pub step_number: u32,
    pub trust_level: TrustLevel,
    /// The task of the session; empty if it is not known.
    pub task: String,
    /// The files this step touched.
    pub step_files: Vec<ProjectPath>,
    /// All files the session touched.
    pub session_files: Vec<ProjectPath>,
    /// The texts this step searched for.
    pub searches: Vec<String>,
    /// Notes that siblings recorded since this time are offered.
    pub notes_since: Timestamp,
}

/// The notes for the end of a step, and the result for every candidate.
#[derive(Clone, Debug, Default)]
pub struct StepContext {
    /// Empty if nothing is injected.
    pub text: String,
    pub used_tokens: u32,
    /// Tokens injected between earlier steps of the session.
    pub spent_tokens: u32,
    pub reason: Option<StepReason>,
    pub selected: Vec<StepCandidate>,
    pub withheld: Vec<(StepCandidate, WithholdReason)>,
}

/// A note that could be injected between two steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCandidate {
    pub reason: StepReason,
    pub entry: ShownEntry,
    pub line: String,
}

/// Candidates with what the decision needs to know of each.
type StepOffers = Vec<(StepCandidate, NoteOffer)>;

/// Selects the notes for the end of a step. Records nothing.
pub(crate) async fn build_step_context(
    reader: &ProjectReader,
    request: &StepRequest,
) -> Result<StepContext, Error> {
    if !trial_group(reader, &request.session).receives_tier(InjectionTier::Step) {
        return Ok(StepContext::default());
    }
    let shown = open_shown_log(reader, &request.session).read_entries();

    // Collect.
    let mut offers = StepOffers::new();
    offer_file_warnings(reader, &mut offers, request, &shown).await?;
    let mut withheld_early = Vec::new();
    offer_sibling_notes(reader, &mut offers, &mut withheld_early, request);
    offer_search_hits(reader, &mut offers, request).await?;
    offer_next_recipe_step(reader, &mut offers, request).await?;

    // A memory may be offered for two reasons; the first one counts.
    let mut known = HashSet::new();
    offers.retain(|(candidate, _)| {
        !shown.contains(&candidate.entry) && known.insert(candidate.entry.clone())
    });
    let spent_tokens = spent_tokens(&shown);
    let step = StepState {
        number: request.step_number,
        level: request.trust_level,
        tokens_spent: spent_tokens,
    };

    // Decide. The decision names offers by their position, so both lists must stay parallel.
    let (mut candidates, mut offers): (Vec<StepCandidate>, Vec<NoteOffer>) =
        offers.into_iter().unzip();
    let mut missing = Vec::new();
    let StepDecision { text, n_tokens, reason, chosen, withheld } = loop {
        let decision = decide_step(step, &offers);
        // References are checked only for chosen candidates, because the check reads files. Without
        // the missing ones the decision may choose others, so it is made again.
        let to_withhold = find_missing(reader, &candidates, &decision.chosen).await?;
        if to_withhold.is_empty() {
            break decision;
        }
        // From the end, so that the positions stay valid.
        for position in to_withhold.into_iter().rev() {
            missing.push((candidates.remove(position), WithholdReason::CodeMissing));
            offers.remove(position);
        }
    };

    // Report every candidate, chosen or not.
    let selected = chosen.into_iter().map(|it| candidates[it].clone()).collect();
    let not_chosen = withheld.into_iter().map(|(it, reason)| (candidates[it].clone(), reason));
    let withheld = not_chosen.chain(missing).chain(withheld_early).collect();
    Ok(StepContext { text, used_tokens: n_tokens, spent_tokens, reason, selected, withheld })
}

/// Records the notes of a step as shown, with the tokens they took.
pub(crate) fn record_step(
    reader: &ProjectReader,
    request: &StepRequest,
    context: &StepContext,
) -> Result<(), Error> {
    record_trial_group(reader, &request.session)?;
    if context.selected.is_empty() {
        return Ok(());
    }
    let (step, tokens) = (request.step_number, context.used_tokens);
    let (mut entries, mut memory_tokens) = (Vec::new(), Vec::new());
    for StepCandidate { entry, line, .. } in &context.selected {
        entries.push(entry.clone());
        if let Some(id) = memory_of(entry) {
            memory_tokens.push((id, estimate_tokens(line)));
            // Learning compares the time with what the session did afterwards.
            entries.push(ShownEntry::MemoryAt { id, at: reader.now });
        }
    }
    entries.push(ShownEntry::StepTokens { step, tokens });
    let block = GivenBlock {
        session: &request.session,
        host: &request.host,
        moment: InjectionMoment::Step,
        tokens,
        memory_tokens: &memory_tokens,
    };
    record_block(reader, &block, &entries)
}

/// Offers the warnings about the files of the step.
async fn offer_file_warnings(
    reader: &ProjectReader,
    acc: &mut StepOffers,
    request: &StepRequest,
    shown: &HashSet<ShownEntry>,
) -> Result<(), Error> {
    let shown = shown_memory_ids(shown);
    let warnings = find_file_warnings(reader, &request.step_files, &shown).await?;
    // Between two steps only a warning is worth an interruption; the tool result had the others.
    let host_rules = rules_read_by_host(reader, Some(&request.host));
    let is_urgent =
        |it: &&RatedMemory| is_warning_kind(&it.memory) && !host_rules.contains(&it.memory.content);
    let urgent = warnings.selected.iter().filter(is_urgent);
    acc.extend(urgent.map(|it| offer_memory(reader, StepReason::Touched, it)));
    Ok(())
}

/// Offers notes that siblings have just recorded and that are not memories yet. A note that no agent may
/// read goes to `withheld` instead.
fn offer_sibling_notes(
    reader: &ProjectReader,
    acc: &mut StepOffers,
    withheld: &mut Vec<(StepCandidate, WithholdReason)>,
    request: &StepRequest,
) {
    let notes = sibling_notes_since(reader, request.session_id, request.notes_since);
    for RecordedSiblingNote { session, note, objection } in notes {
        let kind = note.note.kind.core_kind();
        let label = kind.map_or("NOTE", |it| it.row().label);
        let (id, remarks) = (session.short(), ["not yet reviewed".to_owned()]);
        let framed =
            model_text::FramedNote { label, text: &note.note.content, id: &id, remarks: &remarks };
        let (line, reason) =
            (model_text::format_note(&framed, TextOrigin::Unconfirmed), StepReason::Recorded);
        let entry = ShownEntry::PendingNote { session, event: note.event_id };
        let candidate = StepCandidate { reason, entry, line: line.clone() };
        match objection {
            Some(objection) => withheld.push((candidate, objection)),
            None => {
                acc.push((candidate, NoteOffer { reason, kind, confidence: PerMille::ZERO, line }));
            }
        }
    }
}

/// Offers memories that hold most keywords of a text the step searched for.
async fn offer_search_hits(
    reader: &ProjectReader,
    acc: &mut StepOffers,
    request: &StepRequest,
) -> Result<(), Error> {
    for text in request.searches.iter().filter(|it| !it.trim().is_empty()) {
        let query = SearchQuery {
            text: text.clone(),
            files: request.step_files.clone(),
            filter: live_filter(HITS_PER_SEARCH),
            scope: None,
            phase: Some(Phase::Implement),
            purpose: SearchPurpose::Step,
            disabled_stages: slow_stages(),
        };
        let hits = search_memories(reader, &query).await?.hits;
        // A rule that the host reads by itself is known to the agent.
        let host_rules = rules_read_by_host(reader, Some(&request.host));
        let matching = hits.iter().map(|it| &it.rated).filter(|it| {
            holds_most_keywords(&it.memory, text)
                && !is_memory_withheld(&it.memory)
                && !host_rules.contains(&it.memory.content)
        });
        acc.extend(matching.map(|it| offer_memory(reader, StepReason::Known, it)));
    }
    Ok(())
}

/// Offers the next step of the recipe that fits the task.
async fn offer_next_recipe_step(
    reader: &ProjectReader,
    acc: &mut StepOffers,
    request: &StepRequest,
) -> Result<(), Error> {
    // Without a touched file it is not known which steps are done.
    if request.task.trim().is_empty() || request.session_files.is_empty() {
        return Ok(());
    }
    let context = ContextRequest {
        disabled_stages: slow_stages(),
        nearby_files: request.step_files.clone(),
        ..ContextRequest::new(Phase::Implement)
    };
    let kind = Some(MemoryKind::WorkflowRecipe);
    let mut hits = search_related(reader, &request.task, kind, &context).await?.hits;
    hits.retain(|it| holds_most_keywords(&it.rated.memory, &request.task));
    let Some(found) = hits.into_iter().find_map(MatchedRecipe::from_hit) else { return Ok(()) };
    // All steps may be done, or none of the session's files may belong to the recipe.
    let Some(step) = pipeline::next_recipe_step(&found.recipe, &request.session_files) else {
        return Ok(());
    };
    let memory = &found.rated.memory;
    let text = format!("next: {}", pipeline::format_recipe_step(step));
    if is_memory_withheld(memory) || model_text::is_withheld(&text, TextOrigin::of_memory(memory)) {
        return Ok(());
    }
    let (line, reason) = (format_text(reader, memory, &text, &[]), StepReason::NextStep);
    let entry = ShownEntry::RecipeStep { recipe: memory.id, order: step.order };
    let confidence = found.rated.current_confidence;
    let offer = NoteOffer { reason, kind, confidence, line: line.clone() };
    acc.push((StepCandidate { reason, entry, line }, offer));
    Ok(())
}

fn offer_memory(
    reader: &ProjectReader,
    reason: StepReason,
    rated: &RatedMemory,
) -> (StepCandidate, NoteOffer) {
    let memory = &rated.memory;
    let line = format_capped(reader, memory);
    let (kind, confidence) = (memory.kind.core_kind(), rated.current_confidence);
    let offer = NoteOffer { reason, kind, confidence, line: line.clone() };
    (StepCandidate { reason, entry: ShownEntry::Memory(memory.id), line }, offer)
}

/// The stages that need a vector or a model.
fn slow_stages() -> DisabledStages {
    DisabledStages(vec![
        RankingStage::Dense,
        RankingStage::Neighbours,
        RankingStage::Rerank,
        RankingStage::Hyde,
    ])
}

/// True if a memory holds two thirds of the keywords of a text, and at least two. Without vectors the
/// search gives no relevance verdict, so this is the only test.
fn holds_most_keywords(memory: &Memory, text: &str) -> bool {
    let keywords = words::query_keywords(text);
    let n_held = shared_terms(&keywords, memory).len();
    // Without division: n_held / n_keywords >= 2 / 3.
    n_held >= 2 && 3 * n_held >= 2 * keywords.len()
}

/// Tokens that were injected between earlier steps.
fn spent_tokens(shown: &HashSet<ShownEntry>) -> u32 {
    let mut spent: u32 = 0;
    for entry in shown {
        if let ShownEntry::StepTokens { tokens, .. } = entry {
            spent = spent.saturating_add(*tokens);
        }
    }
    spent
}

/// The positions of the chosen candidates whose files or symbols are missing, sorted.
async fn find_missing(
    reader: &ProjectReader,
    candidates: &[StepCandidate],
    chosen: &[usize],
) -> Result<Vec<usize>, Error> {
    let mut positions = Vec::new();
    for position in chosen {
        // A recorded note is not a memory yet and refers to nothing.
        let Some(id) = memory_of(&candidates[*position].entry) else { continue };
        // The user erased the memory after it was offered. Nothing can be checked, and it is shown one
        // last time.
        let Some(memory) = get_memory(reader, id).await? else { continue };
        if reject_missing_references(reader, &memory).await.is_some() {
            positions.push(*position);
        }
    }
    positions.sort_unstable();
    Ok(positions)
}

/// The memory behind a candidate; `None` for a recorded note.
fn memory_of(entry: &ShownEntry) -> Option<MemoryId> {
    match entry {
        ShownEntry::Memory(id) | ShownEntry::RecipeStep { recipe: id, .. } => Some(*id),
        _ => None,
    }
}

/// Reads a memory from the notebook that has it.
pub(super) async fn get_memory(
    reader: &ProjectReader,
    id: MemoryId,
) -> Result<Option<Memory>, Error> {
    for notebook in reader.notebooks() {
        if let Some(memory) = notebook.store.memories().get(id).await? {
            return Ok(Some(memory));
        }
    }
    Ok(None)
}
