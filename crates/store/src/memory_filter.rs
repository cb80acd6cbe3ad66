//! A filter for memories, its SQL condition, and the parameters of that condition.
//!
//! `memories` puts the condition into its list and search statements. Every criterion that the
//! filter leaves open is bound as NULL and then always true, so that one statement serves all
//! filters.

use model::{MemoryScope, MemorySource, MemoryStatus, ProjectPath};
use rusqlite::ToSql;

/// Selects memories. A criterion that is `None` matches all memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryFilter {
    /// Slug of a type, core or custom.
    pub kind: Option<String>,
    pub source: Option<MemorySource>,
    pub scope: Option<MemoryScope>,
    pub file: Option<ProjectPath>,
    pub module: Option<String>,
    pub tag: Option<String>,
    /// Branch on which the memory was made.
    pub branch: Option<String>,
    pub pinned: Option<bool>,
    /// Statuses that match; without any, nothing matches.
    pub statuses: Vec<MemoryStatus>,
    pub limit: u32,
    pub offset: u32,
}

impl MemoryFilter {
    /// Matches all memories that are neither forgotten nor deprecated, without candidates: those
    /// are not memories yet, and a caller that wants them names their status.
    pub fn active(limit: u32) -> Self {
        use MemoryStatus::{Live, NeedsReview, Stale, Tainted};
        Self {
            kind: None,
            source: None,
            scope: None,
            file: None,
            module: None,
            tag: None,
            branch: None,
            pinned: None,
            statuses: vec![Tainted, Stale, NeedsReview, Live],
            limit,
            offset: 0,
        }
    }

    /// Returns whether the filter names a file, a module or a tag.
    pub fn has_subject(&self) -> bool {
        self.file.is_some() || self.module.is_some() || self.tag.is_some()
    }
}

/// SQL: the status of a row as its position in `MemoryStatus::ALL`. The first state that applies
/// counts, as in `Memory::status`. A candidate has the second bit of `needs_review`, see
/// `memory_row::review_bits`.
macro_rules! status_position {
    () => {
        "(CASE WHEN deleted_at IS NOT NULL THEN 0 WHEN deprecated_at IS NOT NULL THEN 1 \
         WHEN needs_review >= 2 THEN 3 WHEN tainted = 1 THEN 2 WHEN stale_at IS NOT NULL THEN 4 WHEN needs_review = 1 THEN 5 ELSE 6 END)"
    };
}
pub(crate) use status_position;

/// SQL: the condition of the filter on a row of `memories m`. `?1` is a bit set of statuses, `?2`
/// to `?9` are the criteria, see `with_filter_params`.
macro_rules! filter_condition {
    () => {
        concat!(
            "((1 << ",
            status_position!(),
            ") & ?1) <> 0 \
         AND (?2 IS NULL OR type = ?2) AND (?3 IS NULL OR source = ?3) AND (?4 IS NULL OR scope = ?4) \
         AND (?5 IS NULL OR pinned = ?5) \
         AND (?6 IS NULL OR EXISTS (SELECT 1 FROM memory_files f WHERE f.file = ?6 AND f.n = m.n)) \
         AND (?7 IS NULL OR EXISTS (SELECT 1 FROM memory_modules o WHERE o.module = ?7 AND o.n = m.n)) \
         AND (?8 IS NULL OR EXISTS (SELECT 1 FROM memory_tags t WHERE t.tag = ?8 AND t.n = m.n)) \
         AND (?9 IS NULL OR branch = ?9)"
        )
    };
}
pub(crate) use filter_condition;

/// Calls `run` with the parameters of the filter: `?1` to `?9` for its condition, `?10` and `?11`
/// for limit and offset, and `?12` for the full-text expression if there is one.
pub(crate) fn with_filter_params<T>(
    filter: &MemoryFilter,
    expression: Option<&str>,
    run: impl FnOnce(&[&dyn ToSql]) -> T,
) -> T {
    // The bit of a status is its position in `ALL`, as in `status_position`.
    let bit = |it: &MemoryStatus| {
        1_i64 << MemoryStatus::ALL.iter().position(|known| known == it).unwrap_or(0)
    };
    let wanted_statuses: i64 = filter.statuses.iter().map(bit).sum();
    let source = filter.source.map(MemorySource::slug);
    let scope = filter.scope.map(MemoryScope::slug);
    let file = filter.file.as_ref().map(ProjectPath::as_str);
    let params: [&dyn ToSql; 12] = [
        &wanted_statuses,
        &filter.kind,
        &source,
        &scope,
        &filter.pinned,
        &file,
        &filter.module,
        &filter.tag,
        &filter.branch,
        &filter.limit,
        &filter.offset,
        &expression,
    ];
    // Only search statements have the twelfth parameter, and binding one too many is an error.
    let n_params = if expression.is_some() { 12 } else { 11 };
    run(&params[..n_params])
}
