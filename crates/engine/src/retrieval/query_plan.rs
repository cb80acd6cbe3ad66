//! The plan of a search: everything that is known before candidates are retrieved.
//!
//! [`plan_query`] analyses the text (terms, class), opens the embedding model and brings the index of
//! each notebook up to date; for each notebook it computes the set of memories that the search may
//! return. The later stages (`candidate_retrieval`, `search_stages`, `search`) read the plan and share
//! its [`candidate_key`], by which all of them identify a candidate.
//!
//! A search is *unsolicited* (automatic) if no person or agent asked for it: its results are injected.
//! Such a search sees live memories of merged work only.

use std::collections::HashSet;

use infer::EmbeddingModel;
use model::{MemoryId, MemoryStatus, words};
use recall::{QueryClass, RankingStage, SearchPurpose};
use store::MemoryFilter;

use super::notebook_index::SearchExclusions;
use super::search_results::SearchQuery;
use super::shared_index::{SearchedNotebook, filter_notebook, load_index, read_index};
use super::unmerged_branches::list_unmerged_branches;
use crate::lookup::{notebooks_in_scope, user_excluded_memories};
use crate::models::{self, CosineCalibration};
use crate::{Error, ProjectReader};

/// Bytes of a query that are read; the rest is ignored.
const MAX_QUERY_BYTES: usize = 8 * 1024;

/// Bit of a candidate key that holds the position of the notebook; the bits below hold the number of
/// the memory. A project sees two notebooks at most, so one bit is enough.
const NOTEBOOK_BIT: u32 = 31;

/// A query, analysed, with the notebooks it runs against.
pub(super) struct QueryPlan<'a> {
    pub(super) query: &'a SearchQuery,
    /// The query text, cut to [`MAX_QUERY_BYTES`].
    pub(super) text: &'a str,
    /// The keywords of the text.
    pub(super) terms: Vec<String>,
    /// Sets the weights of the retrieval paths.
    pub(super) class: QueryClass,
    pub(super) notebooks: Vec<SearchedNotebook>,
    /// `None` if the embedding model is not available: only keywords and files are searched then.
    pub(super) embeddings: Option<EmbeddingModel>,
    /// The meaning of cosines of the embedding model.
    pub(super) calibration: CosineCalibration,
    pub(super) notices: Vec<String>,
}

/// Combines the position of a notebook in the plan and the number of a memory in it into one key:
/// memory 7 of the notebook at position 1 has the key `1 << 31 | 7`. The pure crate `recall` works with
/// these keys and does not look into them.
pub(super) fn candidate_key(notebook: usize, number: u32) -> u32 {
    number | u32::try_from(notebook).unwrap_or(0) << NOTEBOOK_BIT
}

/// Splits a key of [`candidate_key`].
pub(super) fn notebook_and_number(key: u32) -> (usize, u32) {
    let number_mask = (1 << NOTEBOOK_BIT) - 1;
    ((key >> NOTEBOOK_BIT) as usize, key & number_mask)
}

/// Analyses a query and brings the indexes of its notebooks up to date.
pub(super) async fn plan_query<'a>(
    reader: &ProjectReader,
    query: &'a SearchQuery,
) -> Result<QueryPlan<'a>, Error> {
    let text = &query.text[..query.text.floor_char_boundary(MAX_QUERY_BYTES)];
    let mut notices = Vec::new();

    // A search without a model still works, by words and files.
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
        let index = load_index(reader, &notebook.store, embeddings.as_ref()).await?;
        if uses_vectors {
            let n_missing = read_index(&index).unembedded().len();
            notices.extend(missing_vector_notice(n_missing));
        }
        notebooks.push(filter_notebook(reader, notebook, index, &filter, &exclusions).await?);
    }
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

/// Embeds the text of a planned query; `None` if vectors are not wanted or not available.
pub(super) async fn embed_plan_text(
    reader: &ProjectReader,
    plan: &mut QueryPlan<'_>,
) -> Option<Vec<f32>> {
    if plan.embeddings.is_none() || !wants_vectors(plan.query, plan.text) {
        return None;
    }
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

/// Collects what a search must not return whatever its filter says: memories the user excluded from
/// this project and, in automatic searches, memories of unmerged branches.
async fn search_exclusions(
    reader: &ProjectReader,
    purpose: SearchPurpose,
) -> Result<SearchExclusions, Error> {
    let user_excluded: HashSet<MemoryId> =
        user_excluded_memories(reader).await?.into_iter().collect();
    let unmerged_branches = if purpose.row().is_unsolicited {
        list_unmerged_branches(reader).await
    } else {
        Vec::new()
    };
    Ok(SearchExclusions { user_excluded, unmerged_branches })
}

fn missing_vector_notice(n_missing: usize) -> Option<String> {
    match n_missing {
        0 => None,
        1 => Some("1 memory has no vector yet and is found by its words alone".to_owned()),
        n => Some(format!("{n} memories have no vector yet and are found by their words alone")),
    }
}

/// Restricts the filter of an automatic search to live memories.
fn filter_for_purpose(filter: &MemoryFilter, purpose: SearchPurpose) -> MemoryFilter {
    let mut restricted = filter.clone();
    if purpose.row().is_unsolicited {
        restricted.statuses.retain(|it| *it == MemoryStatus::Live);
    }
    restricted
}
