//! A search, from the query to the results.
//!
//! [`search_memories`] is the whole pipeline, one call per stage: plan the query, embed it, retrieve
//! candidates by vectors, keywords and files, fuse their scores, read the memories, judge whether any
//! of them is relevant, repeat with HyDE if not, rerank, rank, select the page, add linked memories.
//! Each stage can be turned off by the query. A stage that fails (a provider that does not answer)
//! leaves a notice, and the search goes on without it.
//!
//! Words: *fusion* merges the scores of the three retrieval paths into one list. *HyDE* searches with a
//! made-up answer instead of the question. A *reranker* is a model that reads query and text together.
//! A candidate is identified by its *key*: the notebook's position in the plan, and the *number* of the
//! memory in that notebook's database. To *assess* a memory is to compute its current confidence.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use model::{MemoryId, RelationTarget};
use recall::{ExclusionReason, FusedHit, RankedHit, RankingStage, RelevanceVerdict};

use super::assessed_memory::{AssessedMemory, assess_memory, has_existing_file};
use super::candidate_retrieval::{RetrievedCandidates, retrieve_candidates};
use super::graph_search::boost_neighbouring_files;
use super::query_plan::{
    QueryPlan, candidate_key, embed_plan_text, notebook_and_number, plan_query,
};
use super::search_results::{RejectionReason, SearchHit, SearchQuery, SearchResults};
use super::search_stages::{
    MemoryCandidate, ScoreBoosts, fuse_candidates, has_absolute_scores, judge_query_relevance,
    n_candidates, order_candidates, to_hit,
};
use super::shared_index::read_index;
use crate::blocking::run_blocking;
use crate::models::QUERY_TIMEOUT;
use crate::{Error, NotebookScope, ProjectReader};

/// Weight of recency, per mille, from which the churn of files is looked up. Churn only modifies the
/// recency factor, so below this weight it would hardly change the order.
const MIN_RECENCY_FOR_CHURN: u16 = 100;
/// Best candidates that the reranker reads. It reads each text in full, so this bounds its time.
const RERANKED_CANDIDATES: usize = 20;
/// A search with fewer good candidates is repeated with HyDE.
const MIN_GOOD_CANDIDATES: usize = 3;
/// Fused score above which a candidate is good.
const GOOD_SCORE: f32 = 0.5;
/// Relevance below which a candidate is noise if the query has an answer.
const MIN_RELEVANCE: f32 = 0.15;
/// Linked memories that are added to the hits.
const MAX_LINKED_MEMORIES: usize = 3;
/// System prompt of HyDE.
const HYDE_PROMPT: &str = "You help to search the notes of a software project. Write the one or two \
sentences such a note would hold if it answered the question. Write only the note.";
const HYDE_TIMEOUT: Duration = Duration::from_secs(8);
const HYDE_MAX_TOKENS: u32 = 160;

/// The candidates of one retrieval, read and judged.
struct JudgedCandidates {
    candidates: Vec<MemoryCandidate>,
    boosts: ScoreBoosts,
    verdict: RelevanceVerdict,
    notices: Vec<String>,
}

/// Runs a search.
pub(crate) async fn search_memories(
    reader: &ProjectReader,
    query: &SearchQuery,
) -> Result<SearchResults, Error> {
    let mut plan = plan_query(reader, query).await?;
    let vector = embed_plan_text(reader, &mut plan).await;
    let mut judged = retrieve_and_judge(reader, &plan, vector.as_deref()).await?;
    // The second retrieval replaces the first; the two are not merged.
    if needs_hyde(reader, &plan, &judged)
        && let Some(vector) = embed_hyde_answer(reader, &mut plan).await
    {
        judged = retrieve_and_judge(reader, &plan, Some(&vector)).await?;
    }
    let JudgedCandidates { mut candidates, boosts, verdict, mut notices } = judged;
    plan.notices.append(&mut notices);
    rerank(reader, &mut plan, &mut candidates).await;
    let ranked = order_candidates(&plan, &candidates, reader.now);
    let mut results = SearchResults {
        hits: Vec::new(),
        excluded: Vec::new(),
        query_class: plan.class,
        verdict,
        notices: plan.notices.clone(),
    };
    select_hits(&mut results, &plan, ranked, candidates, &boosts);
    if query.disabled_stages.is_enabled(RankingStage::Expand) {
        add_linked_memories(reader, &plan, &mut results).await?;
    }
    Ok(results)
}

/// Runs one retrieval with a query vector, or without one if only words and files are searched.
async fn retrieve_and_judge(
    reader: &ProjectReader,
    plan: &QueryPlan<'_>,
    vector: Option<&[f32]>,
) -> Result<JudgedCandidates, Error> {
    let retrieved = retrieve_candidates(reader, plan, vector).await?;
    let (mut fused, neighbours) = fuse_candidates(plan, &retrieved);
    let files = boost_neighbouring_files(reader, plan, &mut fused).await?;
    let candidates = read_candidates(reader, plan, fused).await?;
    let RetrievedCandidates { best, notices, .. } = retrieved;
    let verdict = judge_query_relevance(plan, &candidates, best);
    Ok(JudgedCandidates { candidates, boosts: ScoreBoosts { neighbours, files }, verdict, notices })
}

/// Reads the best fused candidates with their current confidence. A memory that cannot be read is
/// dropped: the store has recorded the damage, and the caller reports it.
async fn read_candidates(
    reader: &ProjectReader,
    plan: &QueryPlan<'_>,
    mut fused: Vec<FusedHit>,
) -> Result<Vec<MemoryCandidate>, Error> {
    fused.truncate(n_candidates(plan));

    // Memories are read per notebook, and brought back into the fused order below.
    let mut memories: HashMap<u32, AssessedMemory> = HashMap::new();
    for (position, searched) in plan.notebooks.iter().enumerate() {
        let mut numbers: Vec<i64> = Vec::new();
        for hit in &fused {
            let (notebook, number) = notebook_and_number(hit.key);
            if notebook == position {
                numbers.push(i64::from(number));
            }
        }
        if numbers.is_empty() {
            continue;
        }
        let notebook = &searched.notebook;
        let (read, quiet) = notebook.store.memories().get_candidates(numbers).await?;
        // Spans in which the notebook was not used; they do not count as age.
        let quiet = quiet.spans_until(reader.now);
        for (number, memory) in read {
            let key = candidate_key(position, u32::try_from(number).unwrap_or(0));
            memories.insert(key, assess_memory(reader, memory, notebook.scope, &quiet));
        }
    }
    add_churn(reader, plan, &mut memories).await?;
    let mut candidates = Vec::new();
    for fused in fused {
        let Some(assessed) = memories.remove(&fused.key) else { continue };
        let AssessedMemory { rated, condition } = assessed;
        let files_missing = !has_existing_file(reader, &rated.memory);
        let rerank_score = None;
        candidates.push(MemoryCandidate { fused, rated, condition, files_missing, rerank_score });
    }
    Ok(candidates)
}

/// Adds the churn of its files (how much they changed recently) to each memory of the project, if
/// recency counts enough to use it.
async fn add_churn(
    reader: &ProjectReader,
    plan: &QueryPlan<'_>,
    memories: &mut HashMap<u32, AssessedMemory>,
) -> Result<(), Error> {
    // Churn is a part of the stage `Habit`, the ranking by recency and frequency of use.
    let is_used = plan.query.purpose.row().recency >= MIN_RECENCY_FOR_CHURN
        && plan.query.disabled_stages.is_enabled(RankingStage::Habit);
    let Some(graph) = reader.graph_reader().filter(|_| is_used) else { return Ok(()) };
    // The user's memories may name files of any project.
    let is_of_project = |it: &AssessedMemory| it.rated.scope == NotebookScope::Project;
    let mut files: BTreeSet<String> = BTreeSet::new();
    for assessed in memories.values().filter(|it| is_of_project(it)) {
        files.extend(assessed.rated.memory.files.iter().map(|it| it.as_str().to_owned()));
    }
    if files.is_empty() {
        return Ok(());
    }
    let churn = graph.churn_of(files.into_iter().collect()).await?;
    for assessed in memories.values_mut().filter(|it| is_of_project(it)) {
        let files = assessed.rated.memory.files.iter();
        // The most volatile file counts.
        assessed.condition.churn =
            files.filter_map(|it| churn.get(it.as_str()).copied()).reduce(f32::max);
    }
    Ok(())
}

/// True if the first search was poor and a second one with HyDE is possible and allowed.
fn needs_hyde(reader: &ProjectReader, plan: &QueryPlan<'_>, judged: &JudgedCandidates) -> bool {
    let n_good = judged.candidates.iter().filter(|it| it.fused.score > GOOD_SCORE).count();
    let is_poor =
        n_good < MIN_GOOD_CANDIDATES || matches!(judged.verdict, RelevanceVerdict::Nothing { .. });
    is_poor
        && reader.config.models.can_generate()
        && plan.query.purpose.row().uses_hyde
        && plan.query.disabled_stages.is_enabled(RankingStage::Hyde)
        && plan.embeddings.is_some()
        && !plan.text.trim().is_empty()
}

/// Embeds a hypothetical answer written by the language model (HyDE, Gao et al. 2022): its vector can
/// be near a memory that the vector of the query itself is far from.
async fn embed_hyde_answer(reader: &ProjectReader, plan: &mut QueryPlan<'_>) -> Option<Vec<f32>> {
    let embeddings = plan.embeddings.clone()?;
    let (models, query) = (&reader.config.models, plan.text.to_owned());
    let generated = models.generate_text(HYDE_PROMPT, query, HYDE_MAX_TOKENS, HYDE_TIMEOUT).await?;
    // Not cached like the vector of a query: another run generates another answer.
    let vector = match generated {
        Ok(text) => {
            let text = models.text_for_provider(&text);
            run_blocking(move || embeddings.embed_query(&text, QUERY_TIMEOUT)).await
        }
        Err(error) => Err(error),
    };
    match vector {
        Ok(vector) => Some(vector),
        Err(error) => {
            plan.notices.push(format!("no second search: {error}"));
            None
        }
    }
}

/// Scores the best candidates with the reranker, if one is configured and the purpose has time.
async fn rerank(
    reader: &ProjectReader,
    plan: &mut QueryPlan<'_>,
    candidates: &mut [MemoryCandidate],
) {
    let is_wanted = plan.query.purpose.row().uses_reranker
        && plan.query.disabled_stages.is_enabled(RankingStage::Rerank)
        && !plan.text.trim().is_empty();
    if !is_wanted || candidates.is_empty() {
        return;
    }
    // Candidates beyond these keep their fused score.
    let n_read = RERANKED_CANDIDATES.min(candidates.len());
    let texts = candidates[..n_read].iter().map(|it| it.rated.memory.content.clone()).collect();
    match reader.config.models.rerank(plan.text, texts).await {
        // No reranker is configured.
        None => {}
        Some(Ok(scores)) => {
            for (candidate, score) in candidates.iter_mut().zip(scores) {
                candidate.rerank_score = Some(score);
            }
        }
        Some(Err(error)) => plan.notices.push(format!("not reranked: {error}")),
    }
}

/// Splits the ranked candidates into the page of hits and the excluded ones with their reason.
fn select_hits(
    acc: &mut SearchResults,
    plan: &QueryPlan<'_>,
    ranked: Vec<RankedHit>,
    candidates: Vec<MemoryCandidate>,
    boosts: &ScoreBoosts,
) {
    let mut candidates: HashMap<u32, MemoryCandidate> =
        candidates.into_iter().map(|it| (it.fused.key, it)).collect();
    let to_usize = |it: u32| usize::try_from(it).unwrap_or(usize::MAX);
    let filter = &plan.query.filter;
    let (mut n_to_skip, limit) = (to_usize(filter.offset), to_usize(filter.limit));
    for ranked in ranked {
        // Every ranked hit has its candidate: ranking neither adds nor repeats keys.
        let Some(candidate) = candidates.remove(&ranked.fused.key) else { continue };
        let excluded = ranked.excluded;
        let hit = to_hit(plan, ranked, candidate, boosts);
        let reason = match excluded {
            Some(ExclusionReason::LowConfidence) => Some(RejectionReason::LowConfidence),
            Some(ExclusionReason::FilesMissing) => Some(RejectionReason::FilesMissing),
            None if is_irrelevant(plan, acc.verdict, &hit) => Some(RejectionReason::Irrelevant),
            // The offset counts hits, so only what would be a hit is skipped.
            None if n_to_skip > 0 => {
                n_to_skip -= 1;
                Some(RejectionReason::BeyondLimit)
            }
            None if acc.hits.len() >= limit => Some(RejectionReason::BeyondLimit),
            None => None,
        };
        match reason {
            Some(reason) => acc.excluded.push((hit, reason)),
            None => acc.hits.push(hit),
        }
    }
}

/// True if the verdict about the whole query, or the relevance of the hit itself, speaks against it.
fn is_irrelevant(plan: &QueryPlan<'_>, verdict: RelevanceVerdict, hit: &SearchHit) -> bool {
    match verdict {
        RelevanceVerdict::Nothing { .. } => true,
        RelevanceVerdict::Answered { .. } => {
            has_absolute_scores(plan) && hit.explanation.factors.relevance < MIN_RELEVANCE
        }
        // Without a verdict no hit is called noise.
        RelevanceVerdict::Open => false,
    }
}

/// Appends memories that the hits link to. They rank below all hits, because the query did not ask
/// for them.
async fn add_linked_memories(
    reader: &ProjectReader,
    plan: &QueryPlan<'_>,
    acc: &mut SearchResults,
) -> Result<(), Error> {
    let limit = usize::try_from(plan.query.filter.limit).unwrap_or(usize::MAX);

    // Linked memories only fill what the page has left.
    let max_linked = limit.saturating_sub(acc.hits.len()).min(MAX_LINKED_MEMORIES);
    let mut known: Vec<MemoryId> = acc.hits.iter().map(|it| it.rated.memory.id).collect();
    let mut linked = Vec::new();
    for hit in &acc.hits {
        for relation in &hit.rated.memory.relations {
            // A relation to a file leads to no memory.
            let RelationTarget::Memory(id) = relation.target else { continue };
            if linked.len() < max_linked
                && relation.kind.expands_results()
                && !known.contains(&id)
                && let Some(candidate) = read_linked_memory(reader, plan, id).await?
            {
                known.push(id);
                linked.push((candidate, hit.rated.memory.id));
            }
        }
    }

    // Ranked one by one: they must not be compared with the hits.
    for (candidate, linked_from) in linked {
        let ranked = order_candidates(plan, std::slice::from_ref(&candidate), reader.now).remove(0);
        let mut hit = to_hit(plan, ranked, candidate, &ScoreBoosts::default());
        hit.explanation.linked_from = Some(linked_from);
        acc.hits.push(hit);
    }
    Ok(())
}

/// Reads a linked memory, if the filter allows it.
async fn read_linked_memory(
    reader: &ProjectReader,
    plan: &QueryPlan<'_>,
    id: MemoryId,
) -> Result<Option<MemoryCandidate>, Error> {
    for (position, searched) in plan.notebooks.iter().enumerate() {
        let number = read_index(&searched.index).number(id);
        if let Some(number) = number.filter(|it| searched.allowed.contains(*it)) {
            // No retrieval path found it, so it has neither a score nor a trace.
            let key = candidate_key(position, number);
            let fused = FusedHit { key, score: 0.0, traces: Vec::new() };
            return Ok(read_candidates(reader, plan, vec![fused]).await?.pop());
        }
    }
    Ok(None)
}
