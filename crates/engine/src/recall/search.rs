//! The search pipeline: plan, retrieve, fuse, read, judge, rerank, rank, expand.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use model::{Memory, MemoryId, RelationTarget};
use recall::{
    ExclusionReason, FusedHit, MemoryCondition, RankedHit, RankingStage, RelevanceVerdict,
};

use super::context::current_condition;
use super::file_warnings::has_existing_file;
use super::graph_search::boost_by_files;
use super::indexed_notebook::read_index;
use super::query_plan::{
    QueryPlan, RetrievedCandidates, candidate_key, embed_query, notebook_and_number, plan_query,
    retrieve_candidates,
};
use super::ranking::{
    MemoryCandidate, ScoreBoosts, fuse_candidates, has_absolute_scores, judge_candidates,
    n_candidates, order_candidates, to_hit,
};
use super::search_results::{RejectionReason, SearchQuery, SearchResults};
use crate::models::{QUERY_TIMEOUT, run_blocking};
use crate::{Error, NotebookScope, ProjectReader, RatedMemory};

/// Weight of recency, per mille, from which the churn of files is looked up.
const MIN_RECENCY_FOR_CHURN: u16 = 100;
/// Best candidates that the reranker reads.
const RERANKED_CANDIDATES: usize = 20;
/// A search with fewer good candidates is repeated with HyDE.
const FEW_GOOD_CANDIDATES: usize = 3;
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

/// A memory read from a notebook.
struct ReadMemory {
    scope: NotebookScope,
    memory: Memory,
    condition: MemoryCondition,
}

/// Runs a search.
pub(crate) async fn search_memories(
    reader: &ProjectReader,
    query: &SearchQuery,
) -> Result<SearchResults, Error> {
    let mut plan = plan_query(reader, query).await?;
    let vector = embed_query(reader, &mut plan).await;
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

async fn retrieve_and_judge(
    reader: &ProjectReader,
    plan: &QueryPlan<'_>,
    vector: Option<&[f32]>,
) -> Result<JudgedCandidates, Error> {
    let retrieved = retrieve_candidates(reader, plan, vector).await?;
    let (mut fused, neighbours) = fuse_candidates(plan, &retrieved);
    let files = boost_by_files(reader, plan, &mut fused).await?;
    let candidates = read_candidates(reader, plan, fused).await?;
    let RetrievedCandidates { best, notices, .. } = retrieved;
    let verdict = judge_candidates(plan, &candidates, best);
    Ok(JudgedCandidates { candidates, boosts: ScoreBoosts { neighbours, files }, verdict, notices })
}

/// Reads the best fused candidates with their current confidence. A memory that cannot be read is
/// dropped.
async fn read_candidates(
    reader: &ProjectReader,
    plan: &QueryPlan<'_>,
    mut fused: Vec<FusedHit>,
) -> Result<Vec<MemoryCandidate>, Error> {
    fused.truncate(n_candidates(plan));
    // Memories are read per notebook, and brought back into the fused order below.
    let mut memories: HashMap<u32, ReadMemory> = HashMap::new();
    for (at, notebook) in plan.notebooks.iter().enumerate() {
        let own = fused.iter().map(|it| notebook_and_number(it.key)).filter(|it| it.0 == at);
        let numbers: Vec<i64> = own.map(|it| i64::from(it.1)).collect();
        if numbers.is_empty() {
            continue;
        }
        let notebook = &notebook.notebook;
        let (read, quiet) = notebook.store.memories().get_candidates(numbers).await?;
        let quiet = quiet.spans_until(reader.now);
        for (number, memory) in read {
            let condition = current_condition(reader, &memory, &quiet);
            let key = candidate_key(at, u32::try_from(number).unwrap_or(0));
            memories.insert(key, ReadMemory { scope: notebook.scope, memory, condition });
        }
    }
    add_churn(reader, plan, &mut memories).await?;
    let candidate = |fused: FusedHit| {
        let ReadMemory { scope, memory, condition } = memories.remove(&fused.key)?;
        let files_missing = !has_existing_file(reader, &memory);
        let current_confidence = condition.current_confidence;
        let rated = RatedMemory { memory, scope, current_confidence };
        Some(MemoryCandidate { fused, rated, condition, files_missing, rerank_score: None })
    };
    Ok(fused.into_iter().filter_map(candidate).collect())
}

/// Adds the churn of its files to each memory of the project, if recency counts enough to use it.
async fn add_churn(
    reader: &ProjectReader,
    plan: &QueryPlan<'_>,
    memories: &mut HashMap<u32, ReadMemory>,
) -> Result<(), Error> {
    let is_used = plan.query.purpose.row().recency >= MIN_RECENCY_FOR_CHURN
        && plan.query.disabled_stages.is_enabled(RankingStage::Habit);
    let Some(graph) = reader.graph_reader().filter(|_| is_used) else { return Ok(()) };
    // The user's memories may name files of any project.
    let is_own = |it: &ReadMemory| it.scope == NotebookScope::Project;
    let files = memories.values().filter(|it| is_own(it)).flat_map(|it| &it.memory.files);
    let files: BTreeSet<String> = files.map(|it| it.as_str().to_owned()).collect();
    if files.is_empty() {
        return Ok(());
    }
    let churn = graph.churn_of(files.into_iter().collect()).await?;
    for read in memories.values_mut().filter(|it| is_own(it)) {
        let known = read.memory.files.iter().filter_map(|it| churn.get(it.as_str()).copied());
        // The most volatile file counts.
        read.condition.churn = known.reduce(f32::max);
    }
    Ok(())
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
        None => {}
        Some(Ok(scores)) => {
            for (candidate, score) in candidates.iter_mut().zip(scores) {
                candidate.rerank_score = Some(score);
            }
        }
        Some(Err(error)) => plan.notices.push(format!("not reranked: {error}")),
    }
}

/// Splits the ranked candidates into hits and excluded ones with their reason.
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
        let Some(candidate) = candidates.remove(&ranked.fused.key) else { continue };
        let excluded = ranked.excluded;
        let hit = to_hit(plan, ranked, candidate, boosts);
        let is_noise = hit.explanation.factors.relevance < MIN_RELEVANCE
            && has_absolute_scores(plan)
            && matches!(acc.verdict, RelevanceVerdict::Answered { .. });
        let reason = match (excluded, acc.verdict) {
            (Some(ExclusionReason::Unsure), _) => Some(RejectionReason::LowConfidence),
            (Some(ExclusionReason::OutOfPhase), _) => Some(RejectionReason::OutOfPhase),
            (Some(ExclusionReason::FilesGone), _) => Some(RejectionReason::FilesMissing),
            (None, RelevanceVerdict::Nothing { .. }) => Some(RejectionReason::Irrelevant),
            (None, _) if is_noise => Some(RejectionReason::Irrelevant),
            // The offset counts hits, so only what would be a hit is skipped.
            (None, _) if n_to_skip > 0 || acc.hits.len() >= limit => {
                n_to_skip = n_to_skip.saturating_sub(1);
                Some(RejectionReason::BeyondLimit)
            }
            (None, _) => None,
        };
        match reason {
            Some(reason) => acc.excluded.push((hit, reason)),
            None => acc.hits.push(hit),
        }
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
    let max_linked = limit.saturating_sub(acc.hits.len()).min(MAX_LINKED_MEMORIES);
    let mut known: Vec<MemoryId> = acc.hits.iter().map(|it| it.rated.memory.id).collect();
    let mut linked = Vec::new();
    for hit in &acc.hits {
        for relation in &hit.rated.memory.relations {
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
    for (at, notebook) in plan.notebooks.iter().enumerate() {
        let number = read_index(&notebook.index).number(id);
        if let Some(number) = number.filter(|it| notebook.allowed.contains(*it)) {
            let fused = FusedHit { key: candidate_key(at, number), score: 0.0, traces: Vec::new() };
            return Ok(read_candidates(reader, plan, vec![fused]).await?.pop());
        }
    }
    Ok(None)
}

/// Embeds a hypothetical answer written by the language model (HyDE, Gao et al. 2022): it can be
/// near a memory that the query itself is not near to.
async fn embed_hyde_answer(reader: &ProjectReader, plan: &mut QueryPlan<'_>) -> Option<Vec<f32>> {
    let embeddings = plan.embeddings.clone()?;
    let (models, query) = (&reader.config.models, plan.text.to_owned());
    let generated = models.generate_text(HYDE_PROMPT, query, HYDE_MAX_TOKENS, HYDE_TIMEOUT).await?;
    let vector = match generated {
        Ok(text) => run_blocking(move || embeddings.embed_query(&text, QUERY_TIMEOUT)).await,
        Err(error) => Err(error),
    };
    vector.map_err(|error| plan.notices.push(format!("no second search: {error}"))).ok()
}

/// True if the first search was poor and a second one with HyDE is possible and allowed.
fn needs_hyde(reader: &ProjectReader, plan: &QueryPlan<'_>, judged: &JudgedCandidates) -> bool {
    let n_good = judged.candidates.iter().filter(|it| it.fused.score > GOOD_SCORE).count();
    let is_poor =
        n_good < FEW_GOOD_CANDIDATES || matches!(judged.verdict, RelevanceVerdict::Nothing { .. });
    is_poor
        && reader.config.models.can_generate()
        && plan.query.purpose.row().uses_hyde
        && plan.query.disabled_stages.is_enabled(RankingStage::Hyde)
        && plan.embeddings.is_some()
        && !plan.text.trim().is_empty()
}
