//! The plan of a search: the query text, its terms and class, the notebooks it runs against; and the
//! retrieval paths (vectors, keywords, files) that collect candidates for it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use infer::EmbeddingModel;
use model::{MemoryId, words};
use recall::{
    FusedHit, KeywordMatch, PathHit, PathHits, QuantizedVectors, QueryClass, QueryStats,
    RankingStage, SearchPurpose, dot_product,
};
use store::MemoryFilter;

use super::graph_search::search_by_files;
use super::indexed_notebook::{IndexedNotebook, index_notebooks, load_index, read_index};
use super::keyword_search::KeywordSearch;
use super::notebook_index::SearchExclusions;
use super::search_results::SearchQuery;
use super::unmerged_branches::unmerged_branches;
use crate::lookup::{excluded_memories, notebooks_in_scope};
use crate::models::{self, CosineCalibration};
use crate::{Error, ProjectReader};

/// Candidates that the vector path collects per notebook, by parts and again by sentences.
const VECTOR_CANDIDATES: usize = 50;
/// Candidates that the keyword path collects per notebook.
const KEYWORD_CANDIDATES: usize = 50;
/// Bytes of a query that are read; the rest is ignored.
const MAX_QUERY_BYTES: usize = 8 << 10;

/// A query, analysed, with the notebooks it runs against.
pub(super) struct QueryPlan<'a> {
    pub(super) query: &'a SearchQuery,
    /// The query text, cut to [`MAX_QUERY_BYTES`].
    pub(super) text: &'a str,
    pub(super) terms: Vec<String>,
    pub(super) class: QueryClass,
    pub(super) notebooks: Vec<IndexedNotebook>,
    /// `None` if the embedding model is not available: only keywords and files are searched then.
    pub(super) embeddings: Option<EmbeddingModel>,
    pub(super) calibration: CosineCalibration,
    pub(super) notices: Vec<String>,
}

/// The embedded query, with its statistics in each notebook.
pub(super) struct QueryVector {
    vector: Vec<f32>,
    /// The part of `vector` that is compared with the codes of memories.
    scanned: Vec<f32>,
    stats: Vec<QueryStats>,
}

/// The candidates of all retrieval paths.
pub(super) struct RetrievedCandidates {
    pub(super) paths: PathHits,
    pub(super) best: BestEvidence,
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

/// Combines a notebook's index in the plan and a memory's number in it into one key.
pub(super) fn candidate_key(notebook: usize, number: u32) -> u32 {
    // A project sees two notebooks at most, so one bit is enough for the notebook.
    number | u32::try_from(notebook).unwrap_or(0) << 31
}

/// Splits a key of [`candidate_key`].
pub(super) fn notebook_and_number(key: u32) -> (usize, u32) {
    ((key >> 31) as usize, key & !(1 << 31))
}

impl QueryVector {
    /// The codes of memories cover only the beginning of their vectors.
    const fn is_truncated(&self) -> bool {
        self.scanned.len() < self.vector.len()
    }
}

impl QueryPlan<'_> {
    fn query_vector(&self, vector: &[f32]) -> QueryVector {
        let scanned = models::scanned_part(vector);
        let prior = self.calibration.prior();
        let stats =
            |it: &IndexedNotebook| read_index(&it.index).vector_stats.query_stats(&scanned, prior);
        let stats = self.notebooks.iter().map(stats).collect();
        QueryVector { vector: vector.to_vec(), scanned, stats }
    }

    /// Compares memories of one notebook with the query by their codes: best part and best sentence.
    pub(super) fn score_by_vector(
        &self,
        notebook: usize,
        query: &QueryVector,
        numbers: impl Iterator<Item = u32>,
    ) -> Vec<PathHit> {
        let index = read_index(&self.notebooks[notebook].index);
        let nearest = |codes: &QuantizedVectors, number: u32| {
            let (score, row) = codes.nearest_row(number, &query.scanned)?;
            Some((score, query.stats[notebook].standardized_score(&row, score)))
        };
        let score = |number: u32| {
            let part = nearest(&index.codes, number)?;
            // Only memories of several sentences have sentence codes.
            let sentence = nearest(&index.sentences, number).unwrap_or(part);
            let (score, place) = (part.0.max(sentence.0), f32::midpoint(part.1, sentence.1));
            Some(PathHit { key: candidate_key(notebook, number), score, normalized: place })
        };
        numbers.filter_map(score).collect()
    }

    /// The mean similarity of vectors in the densest notebook, and the number of vectors in all.
    pub(super) fn vector_density(&self) -> (f32, usize) {
        let (mut mean_similarity, mut n_vectors) = (0.0_f32, 0);
        for notebook in &self.notebooks {
            let index = read_index(&notebook.index);
            mean_similarity =
                mean_similarity.max(index.vector_stats.mean_similarity(self.calibration.prior()));
            n_vectors += index.codes.len();
        }
        (mean_similarity, n_vectors)
    }

    /// The newest allowed memories of each notebook, for a query without text.
    pub(super) fn newest_candidates(&self, limit: usize) -> Vec<FusedHit> {
        let mut candidates = Vec::new();
        for (at, notebook) in self.notebooks.iter().enumerate() {
            let mut numbers: Vec<u32> = notebook.allowed.iter().collect();
            numbers.reverse();
            let fused =
                |it| FusedHit { key: candidate_key(at, it), score: 1.0, traces: Vec::new() };
            candidates.extend(numbers.into_iter().take(limit).map(fused));
        }
        candidates
    }
}

/// Analyses a query and brings the indexes of its notebooks up to date.
pub(super) async fn plan_query<'a>(
    reader: &ProjectReader,
    query: &'a SearchQuery,
) -> Result<QueryPlan<'a>, Error> {
    let text = &query.text[..query.text.floor_char_boundary(MAX_QUERY_BYTES)];
    let mut notices = Vec::new();
    let embeddings = match reader.config.models.embeddings().await {
        Ok(embeddings) => Some(embeddings),
        Err(error) => {
            notices.push(format!("only words are searched: {error}"));
            None
        }
    };
    let uses_vectors = embeddings.is_some() && wants_vectors(query, text);
    let filter = filter_for_purpose(&query.filter, query.purpose);
    let exclusions = search_exclusions(reader, query.purpose).await?;
    let mut notebooks = Vec::new();
    for notebook in notebooks_in_scope(reader, query.scope) {
        let index = load_index(reader, &notebook.store).await?;
        let n_missing = read_index(&index).unembedded().len();
        notices.extend(missing_vector_notice(n_missing).filter(|_| uses_vectors));
        notebooks.push((notebook, index));
    }
    let notebooks = index_notebooks(notebooks, &filter, &exclusions).await?;
    let model = embeddings.as_ref().map_or("", EmbeddingModel::id);
    Ok(QueryPlan {
        query,
        text,
        terms: words::query_keywords(text),
        class: recall::classify_query(text),
        notebooks,
        calibration: models::cosine_calibration(model),
        embeddings,
        notices,
    })
}

fn wants_vectors(query: &SearchQuery, text: &str) -> bool {
    query.disabled_stages.is_enabled(RankingStage::Dense) && !text.trim().is_empty()
}

/// Embeds the query text; `None` if vectors are not wanted or not available.
pub(super) async fn embed_query(
    reader: &ProjectReader,
    plan: &mut QueryPlan<'_>,
) -> Option<Vec<f32>> {
    plan.embeddings.as_ref().filter(|_| wants_vectors(plan.query, plan.text))?;
    let text = reader.config.models.text_for_provider(plan.text);
    if text != plan.text {
        plan.notices.push(
            "what looks like a secret in the question was not sent to the provider".to_owned(),
        );
    }
    match reader.config.models.embed_query(&text).await {
        Ok(vector) => Some(vector),
        Err(error) => {
            plan.notices.push(format!("only words are searched: {error}"));
            None
        }
    }
}

/// Runs all retrieval paths. Every candidate that any path finds is scored by its vector too.
pub(super) async fn retrieve_candidates(
    reader: &ProjectReader,
    plan: &QueryPlan<'_>,
    vector: Option<&[f32]>,
) -> Result<RetrievedCandidates, Error> {
    // The store looks terms up on its own thread while this one compares vectors, so the keyword
    // searches start first and are awaited last.
    let mut keyword_searches = Vec::new();
    for notebook in &plan.notebooks {
        let start = |search: KeywordSearch| {
            notebook.notebook.store.memories().look_up_terms(move |lookup| search.run(lookup))
        };
        keyword_searches.push(keyword_search(plan, notebook).map(start));
    }
    let query_vector = vector.map(|it| plan.query_vector(it));
    let (mut paths, mut best) = (PathHits::default(), BestEvidence::default());
    let mut damaged = Vec::new();
    paths.graph = search_by_files(reader, plan).await?;
    for (at, search) in keyword_searches.into_iter().enumerate() {
        let query = query_vector.as_ref();
        let found = retrieve_from_notebook(plan, at, query, search, &paths.graph).await?;
        damaged.extend(found.damaged);
        paths.dense.extend(found.dense);
        for keyword_match in found.matches {
            let KeywordMatch { number, score, matched_idf, matched_idf_ratio } = keyword_match;
            best.matched_idf = best.matched_idf.max(matched_idf);
            best.matched_idf_ratio = best.matched_idf_ratio.max(matched_idf_ratio);
            #[expect(clippy::cast_possible_truncation, reason = "a score, for ordering")]
            let score = score as f32;
            let key = candidate_key(at, number);
            paths.keyword.push(PathHit { key, score, normalized: 0.0 });
        }
    }
    recall::normalize_by_best(&mut paths.keyword);
    recall::normalize_by_best(&mut paths.graph);
    for list in [&mut paths.dense, &mut paths.keyword] {
        list.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
    }
    best.standardized_score = paths.dense.iter().map(|it| it.normalized).reduce(f32::max);
    let notices = damaged_vector_notice(&damaged, "ranked without it").into_iter().collect();
    Ok(RetrievedCandidates { paths, best, query_vector, notices })
}

/// The candidates of one notebook.
struct NotebookCandidates {
    dense: Vec<PathHit>,
    matches: Vec<KeywordMatch>,
    /// Memories whose full vectors cannot be read.
    damaged: Vec<MemoryId>,
}

/// Runs the vector path while `keyword_search` runs, then scores the candidates of all paths.
async fn retrieve_from_notebook(
    plan: &QueryPlan<'_>,
    at: usize,
    query: Option<&QueryVector>,
    keyword_search: Option<impl Future<Output = Result<Vec<KeywordMatch>, store::Error>>>,
    graph: &[PathHit],
) -> Result<NotebookCandidates, Error> {
    let score = |numbers: HashSet<u32>| {
        let scored = query.map(|it| plan.score_by_vector(at, it, numbers.into_iter()));
        scored.unwrap_or_default()
    };
    let nearest = query.map(|it| nearest_numbers(&plan.notebooks[at], &it.vector));
    let nearest = nearest.unwrap_or_default();
    let mut dense = score(nearest.iter().copied().collect());
    let matches = match keyword_search {
        Some(search) => recall::best_matches(search.await?, KEYWORD_CANDIDATES, &nearest),
        None => Vec::new(),
    };
    // Candidates of the other paths get a vector score as well, or fusion would take its absence for
    // a low one.
    let by_words = matches.iter().map(|it| it.number);
    let by_files = graph.iter().map(|it| notebook_and_number(it.key)).filter(|it| it.0 == at);
    let others = by_words.chain(by_files.map(|it| it.1));
    dense.extend(score(others.filter(|it| nearest.binary_search(it).is_err()).collect()));
    let mut damaged = Vec::new();
    if let Some(query) = query.filter(|it| it.is_truncated()) {
        damaged = rescore_with_full_vectors(plan, at, query, &mut dense).await?;
    }
    Ok(NotebookCandidates { dense, matches, damaged })
}

/// Orders candidates by their full vectors where the codes cover only the beginning of them. Returns
/// the memories whose vectors are damaged; those keep the score of their codes.
async fn rescore_with_full_vectors(
    plan: &QueryPlan<'_>,
    notebook: usize,
    query: &QueryVector,
    dense: &mut [PathHit],
) -> Result<Vec<MemoryId>, Error> {
    let Some(embeddings) = &plan.embeddings else { return Ok(Vec::new()) };
    let notebook = &plan.notebooks[notebook];
    // The index lock must not be held across the await below.
    let known: Vec<(u32, MemoryId)> = {
        let index = read_index(&notebook.index);
        let id = |it: &PathHit| Some((it.key, index.id(notebook_and_number(it.key).1)?));
        dense.iter().filter_map(id).collect()
    };
    let ids = known.iter().map(|it| it.1).collect();
    let model = embeddings.id().to_owned();
    let stored = notebook.notebook.store.vectors().get_many(ids, model).await?;
    let ids: HashMap<u32, MemoryId> = known.into_iter().collect();
    let index = read_index(&notebook.index);
    recall::rescore_by_exact(dense, |it| {
        let parts = stored.parts.get(ids.get(&it.key)?)?.iter().filter(|it| !it.values.is_empty());
        let exact = parts.map(|it| dot_product(&it.values, &query.vector)).reduce(f32::max)?;
        // Sentences are stored as codes only, so what a sentence scored above the best part is kept
        // as a difference.
        let (part, _) = index.codes.nearest_row(notebook_and_number(it.key).1, &query.scanned)?;
        Some(exact + (it.score - part))
    });
    Ok(stored.damaged)
}

/// Collects what a search must not return whatever its filter says: memories the user excluded from
/// this project and, in automatic searches, memories of unmerged branches.
async fn search_exclusions(
    reader: &ProjectReader,
    purpose: SearchPurpose,
) -> Result<SearchExclusions, Error> {
    let memories: HashSet<MemoryId> = excluded_memories(reader).await?.into_iter().collect();
    let branches =
        if purpose.row().is_unsolicited { unmerged_branches(reader).await } else { Vec::new() };
    Ok(SearchExclusions { memories, branches })
}

fn keyword_search(plan: &QueryPlan<'_>, notebook: &IndexedNotebook) -> Option<KeywordSearch> {
    let (index, allowed) = (Arc::clone(&notebook.index), Arc::clone(&notebook.allowed));
    let is_wanted =
        !plan.terms.is_empty() && plan.query.disabled_stages.is_enabled(RankingStage::Keyword);
    is_wanted.then(|| KeywordSearch { terms: plan.terms.clone(), index, allowed })
}

/// The numbers of the memories that have a part or a sentence nearest to a vector, sorted.
fn nearest_numbers(notebook: &IndexedNotebook, vector: &[f32]) -> Vec<u32> {
    let (index, code) = (read_index(&notebook.index), models::encode_vector(vector));
    let nearest = |codes: &QuantizedVectors| {
        let nearest = recall::nearest_slots(codes, &code, &notebook.allowed, VECTOR_CANDIDATES);
        // The index accepts codes of one length only; a query of another length finds nothing.
        nearest.unwrap_or_default().into_iter().map(|it| it.slot)
    };
    let mut numbers: Vec<u32> = nearest(&index.codes).chain(nearest(&index.sentences)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn missing_vector_notice(n_missing: usize) -> Option<String> {
    match n_missing {
        0 => None,
        1 => Some("1 memory has no vector yet and is found by its words alone".to_owned()),
        n => Some(format!("{n} memories have no vector yet and are found by their words alone")),
    }
}

/// A notice about memories with damaged vectors; `consequence` says how they are treated.
pub(super) fn damaged_vector_notice(damaged: &[MemoryId], consequence: &str) -> Option<String> {
    let first = damaged.first()?;
    let more = match damaged.len() - 1 {
        0 => String::new(),
        n => format!(" (and of {n} more)"),
    };
    Some(format!("the vector of memory #{}{more} is damaged: it is {consequence}", first.short()))
}

/// Restricts the filter to the statuses that an automatic search may return.
fn filter_for_purpose(filter: &MemoryFilter, purpose: SearchPurpose) -> MemoryFilter {
    let mut restricted = filter.clone();
    if purpose.row().is_unsolicited {
        restricted.statuses.retain(|it| purpose.statuses().contains(it));
    }
    restricted
}
