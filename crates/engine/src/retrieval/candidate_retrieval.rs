//! Candidate retrieval: collects the memories that may answer a planned query, with their scores.
//!
//! Three paths run over the index of each notebook: vectors (this file), keywords (`keyword_search`)
//! and files (`graph_search`). Vectors are scanned as i8 codes; a memory has one code per part of its
//! text and, if a user wrote several sentences, one per sentence. Every candidate that any path finds
//! gets a vector score too, because `search_stages::fuse_candidates` would take a missing score for a
//! low one. Called by `search` for each retrieval, with the vector of the query or of an answer that a
//! language model made up (HyDE).
//!
//! A memory has two short names here besides its `MemoryId`. Its *number* is the one under which the
//! database of its notebook stores it; the index calls it the *slot* of the memory's codes. Its *key*
//! adds the position of the notebook in the plan, so it is unique within the query; see
//! `query_plan::candidate_key`. A *row* is always one code in the index: a memory of three parts has
//! three rows in its slot.
//!
//! Each hit has two scores. A path is sorted by `score`; `fuse_candidates` adds up `normalized`.
//!
//! ```text
//! path      PathHit.score             PathHit.normalized
//! dense     cosine with the query     its z-score, about 1 for a relevant memory
//! keyword   BM25 score                score divided by the best one
//! graph     nearness of its files     score divided by the best one
//! ```
//!
//! Cosines are comparable within one query, across notebooks too, because one model embeds them all. A
//! *z-score* relates a cosine to the mean and the deviation of the query's cosines in the notebook, so it
//! is comparable between queries. *IDF* (inverse document frequency) is high for rare terms.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use model::MemoryId;
use recall::{
    KeywordMatch, PathHit, PathHits, QuantizedVectors, QueryStats, RankingStage, dot_product,
};

use super::graph_search::search_by_files;
use super::keyword_search::KeywordSearch;
use super::query_plan::{QueryPlan, candidate_key, notebook_and_number};
use super::shared_index::{SearchedNotebook, read_index};
use super::vector_code::{encode_vector, scanned_part};
use crate::{Error, ProjectReader};

/// Candidates that the vector path collects per notebook, by parts and again by sentences.
const VECTOR_CANDIDATES: usize = 50;
/// Candidates that the keyword path collects per notebook.
const KEYWORD_CANDIDATES: usize = 50;

/// The candidates of all retrieval paths.
pub(super) struct RetrievedCandidates {
    pub(super) paths: PathHits,
    pub(super) best: BestEvidence,
    /// `None` if vectors were not searched.
    pub(super) query_vector: Option<QueryVector>,
    pub(super) notices: Vec<String>,
}

/// The strongest evidence of any candidate, used to decide if the query has an answer at all.
#[derive(Clone, Copy, Default)]
pub(super) struct BestEvidence {
    /// Highest IDF sum of the query terms that one memory holds.
    pub(super) matched_idf: f64,
    /// Highest ratio of that sum to the IDF sum of all query terms.
    pub(super) matched_idf_ratio: f64,
    /// Highest z-score of a memory's similarity to the query.
    pub(super) standardized_score: Option<f32>,
}

/// The embedded query.
pub(super) struct QueryVector {
    full: Vec<f32>,
    /// The beginning of `full` that the codes of memories cover; all of it for short vectors.
    scanned: Vec<f32>,
    /// The distribution of the query's cosines in each notebook of the plan.
    stats: Vec<QueryStats>,
}

impl QueryVector {
    fn new(plan: &QueryPlan<'_>, full: &[f32]) -> Self {
        let scanned = scanned_part(full);
        // The *calibration* holds cosines measured for the embedding model, such as that of unrelated
        // texts. Its *prior* stands in for the distribution as long as a notebook has few vectors.
        let prior = plan.calibration.prior();
        let mut stats = Vec::new();
        for searched in &plan.notebooks {
            let index = read_index(&searched.index);
            stats.push(index.vector_stats.query_stats(&scanned, prior));
        }
        Self { full: full.to_vec(), scanned, stats }
    }

    /// True if the codes of memories cover only the beginning of their vectors.
    const fn is_truncated(&self) -> bool {
        self.scanned.len() < self.full.len()
    }
}

/// Runs all retrieval paths.
pub(super) async fn retrieve_candidates(
    reader: &ProjectReader,
    plan: &QueryPlan<'_>,
    vector: Option<&[f32]>,
) -> Result<RetrievedCandidates, Error> {
    // `look_up_terms` queues its job on the store's thread when it is called, not when it is awaited.
    // So all keyword searches are started here and run while this thread compares vectors.
    let mut keyword_searches = Vec::new();
    for searched in &plan.notebooks {
        let start_search = |search: KeywordSearch| {
            searched.notebook.store.memories().look_up_terms(move |lookup| search.run(lookup))
        };
        keyword_searches.push(prepare_keyword_search(plan, searched).map(start_search));
    }
    let query_vector = vector.map(|it| QueryVector::new(plan, it));
    let (mut paths, mut best) = (PathHits::default(), BestEvidence::default());
    let mut damaged = Vec::new();
    paths.graph = search_by_files(reader, plan).await?;
    for (position, keyword_search) in keyword_searches.into_iter().enumerate() {
        let query = query_vector.as_ref();
        let found =
            retrieve_from_notebook(plan, position, query, keyword_search, &paths.graph).await?;
        damaged.extend(found.damaged);
        paths.dense.extend(found.dense);
        for keyword_match in found.matches {
            let KeywordMatch { number, score, matched_idf, matched_idf_ratio } = keyword_match;
            best.matched_idf = best.matched_idf.max(matched_idf);
            best.matched_idf_ratio = best.matched_idf_ratio.max(matched_idf_ratio);
            #[expect(clippy::cast_possible_truncation, reason = "a score, for ordering")]
            let score = score as f32;
            let key = candidate_key(position, number);
            // `normalized` is filled in below, when the best hit of all notebooks is known.
            paths.keyword.push(PathHit { key, score, normalized: 0.0 });
        }
    }

    // Vector scores are z-scores already; the other two paths are scaled by their best hit.
    recall::normalize_by_best(&mut paths.keyword);
    recall::normalize_by_best(&mut paths.graph);

    // The graph path is sorted already. Ties break on the key, so that runs repeat.
    for hits in [&mut paths.dense, &mut paths.keyword] {
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
    }
    best.standardized_score = paths.dense.iter().map(|it| it.normalized).reduce(f32::max);
    let notices = damaged_vector_notice(&damaged, "ranked without it").into_iter().collect();
    Ok(RetrievedCandidates { paths, best, query_vector, notices })
}

/// The keyword search of one notebook; `None` if the query has no terms or the stage is disabled.
fn prepare_keyword_search(
    plan: &QueryPlan<'_>,
    searched: &SearchedNotebook,
) -> Option<KeywordSearch> {
    let (index, allowed) = (Arc::clone(&searched.index), Arc::clone(&searched.allowed));
    let is_wanted =
        !plan.terms.is_empty() && plan.query.disabled_stages.is_enabled(RankingStage::Keyword);
    let includes_forgotten = plan.query.filter.statuses.contains(&model::MemoryStatus::Deleted);
    is_wanted.then(|| KeywordSearch {
        terms: plan.terms.clone(),
        index,
        allowed,
        includes_forgotten,
    })
}

/// The candidates of one notebook.
struct NotebookCandidates {
    dense: Vec<PathHit>,
    matches: Vec<KeywordMatch>,
    /// Memories whose full vectors cannot be read.
    damaged: Vec<MemoryId>,
}

/// Runs the vector path of the notebook at a position of the plan while its keyword search runs, then
/// scores the candidates of all paths by their vectors. `graph` are the hits of the file path in all
/// notebooks.
async fn retrieve_from_notebook(
    plan: &QueryPlan<'_>,
    position: usize,
    query: Option<&QueryVector>,
    keyword_search: Option<impl Future<Output = Result<Vec<KeywordMatch>, store::Error>>>,
    graph: &[PathHit],
) -> Result<NotebookCandidates, Error> {
    // Without a query vector, `nearest` and `dense` stay empty.
    let (mut nearest, mut dense) = (Vec::new(), Vec::new());
    if let Some(query) = query {
        // The full vector: `encode_vector` cuts it to the scanned part itself.
        nearest = nearest_numbers(&plan.notebooks[position], &query.full);
        dense = score_by_vector(plan, position, query, nearest.iter().copied());
    }
    let matches = match keyword_search {
        // The best matches, and besides them those of the memories that the vectors found, however low
        // their keyword score: fusion needs both scores.
        Some(search) => recall::best_matches(search.await?, KEYWORD_CANDIDATES, &nearest),
        None => Vec::new(),
    };
    let mut damaged = Vec::new();
    if let Some(query) = query {
        // The candidates of the other paths, without those that the vector path scored above.
        let mut others: HashSet<u32> = matches.iter().map(|it| it.number).collect();
        for hit in graph {
            let (notebook, number) = notebook_and_number(hit.key);
            if notebook == position {
                others.insert(number);
            }
        }
        others.retain(|it| nearest.binary_search(it).is_err());
        dense.extend(score_by_vector(plan, position, query, others.into_iter()));
        if query.is_truncated() {
            damaged = rescore_with_full_vectors(plan, position, query, &mut dense).await?;
        }
    }
    Ok(NotebookCandidates { dense, matches, damaged })
}

/// The numbers of the memories that have a part or a sentence nearest to a vector, sorted.
fn nearest_numbers(searched: &SearchedNotebook, vector: &[f32]) -> Vec<u32> {
    let (index, code) = (read_index(&searched.index), encode_vector(vector));
    let nearest = |codes: &QuantizedVectors| {
        let nearest = recall::nearest_slots(codes, &code, &searched.allowed, VECTOR_CANDIDATES);
        // The index accepts codes of one length only; a query of another length finds nothing.
        nearest.unwrap_or_default().into_iter().map(|it| it.slot)
    };
    let mut numbers: Vec<u32> = nearest(&index.codes).chain(nearest(&index.sentences)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Compares memories of the notebook at a position of the plan with the query by their codes.
pub(super) fn score_by_vector(
    plan: &QueryPlan<'_>,
    position: usize,
    query: &QueryVector,
    numbers: impl Iterator<Item = u32>,
) -> Vec<PathHit> {
    let index = read_index(&plan.notebooks[position].index);
    // The cosine of a memory's nearest row, and its z-score. The z-score needs the row as well: it is
    // that of the cosine after the notebook's mean vector is subtracted from row and query.
    let nearest = |codes: &QuantizedVectors, number: u32| {
        let (cosine, row) = codes.nearest_row(number, &query.scanned)?;
        Some((cosine, query.stats[position].standardized_score(&row, cosine)))
    };
    let mut hits = Vec::new();
    for number in numbers {
        // A memory that is not embedded yet has no score.
        let Some((part_cosine, part_z)) = nearest(&index.codes, number) else { continue };
        // Only memories of several sentences have sentence codes; for others the part stands in.
        let (sentence_cosine, sentence_z) =
            nearest(&index.sentences, number).unwrap_or((part_cosine, part_z));
        hits.push(PathHit {
            key: candidate_key(position, number),
            score: part_cosine.max(sentence_cosine),
            // The mean, so that neither the text as a whole nor one sentence decides alone.
            normalized: f32::midpoint(part_z, sentence_z),
        });
    }
    hits
}

/// Rescores candidates by their full vectors where the codes cover only the beginning of them. Returns
/// the memories whose vectors are damaged; those keep their scores.
///
/// Z-scores of full vectors cannot be computed, because the distribution is known for codes only. So
/// `recall::rescore_by_exact` hands the z-scores at hand out again: the best exact cosine gets the highest.
async fn rescore_with_full_vectors(
    plan: &QueryPlan<'_>,
    position: usize,
    query: &QueryVector,
    dense: &mut [PathHit],
) -> Result<Vec<MemoryId>, Error> {
    let Some(embeddings) = &plan.embeddings else { return Ok(Vec::new()) };
    let searched = &plan.notebooks[position];

    // The index lock must not be held across the await below.
    let (mut ids, mut id_by_key) = (Vec::new(), HashMap::new());
    {
        let index = read_index(&searched.index);
        for hit in dense.iter() {
            let (_, number) = notebook_and_number(hit.key);
            if let Some(id) = index.id(number) {
                ids.push(id);
                id_by_key.insert(hit.key, id);
            }
        }
    }
    let model = embeddings.id().to_owned();
    let stored = searched.notebook.store.vectors().get_many(ids, model).await?;
    let index = read_index(&searched.index);
    // The closure gives the exact cosine of a hit; the callee also reassigns the z-scores.
    recall::rescore_by_exact(dense, |hit| {
        let parts = stored.parts.get(id_by_key.get(&hit.key)?)?;
        let parts = parts.iter().filter(|it| !it.values.is_empty());
        let exact = parts.map(|it| dot_product(&it.values, &query.full)).reduce(f32::max)?;
        // Sentences are stored as codes only, so what a sentence scored above the best part is kept
        // as a difference.
        let (_, number) = notebook_and_number(hit.key);
        let (best_part, _) = index.codes.nearest_row(number, &query.scanned)?;
        Some(exact + (hit.score - best_part))
    });
    Ok(stored.damaged)
}

/// A notice about memories with damaged vectors; `consequence` says how they are treated.
pub(crate) fn damaged_vector_notice(damaged: &[MemoryId], consequence: &str) -> Option<String> {
    let first = damaged.first()?;
    let more = match damaged.len() - 1 {
        0 => String::new(),
        n => format!(" (and of {n} more)"),
    };
    Some(format!("the vector of memory #{}{more} is damaged: it is {consequence}", first.short()))
}
