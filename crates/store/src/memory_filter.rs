//! A filter for memories, its SQL, and the parameters of that SQL.

use model::{MemoryScope, MemorySource, MemoryStatus, ProjectPath};
use rusqlite::ToSql;

/// Selects memories. An absent field matches all.
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
    pub statuses: Vec<MemoryStatus>,
    pub limit: u32,
    pub offset: u32,
}

impl MemoryFilter {
    /// Matches all memories that are neither forgotten nor deprecated.
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

/// SQL condition of the filter. The status of a row is one bit, in the order of `Memory::status`.
macro_rules! filter_condition {
    () => {
        "((CASE WHEN deleted_at IS NOT NULL THEN 1 WHEN deprecated_at IS NOT NULL THEN 2 \
           WHEN tainted = 1 THEN 4 WHEN stale_at IS NOT NULL THEN 8 WHEN needs_review = 1 THEN 16 ELSE 32 END) & ?1) <> 0 \
         AND (?2 IS NULL OR type = ?2) AND (?3 IS NULL OR source = ?3) AND (?4 IS NULL OR scope = ?4) \
         AND (?5 IS NULL OR pinned = ?5) \
         AND (?6 IS NULL OR EXISTS (SELECT 1 FROM memory_files f WHERE f.file = ?6 AND f.n = m.n)) \
         AND (?7 IS NULL OR EXISTS (SELECT 1 FROM memory_modules o WHERE o.module = ?7 AND o.n = m.n)) \
         AND (?8 IS NULL OR EXISTS (SELECT 1 FROM memory_tags t WHERE t.tag = ?8 AND t.n = m.n)) \
         AND (?9 IS NULL OR branch = ?9)"
    };
}
pub(crate) use filter_condition;

/// Calls `run` with the parameters of the filter, followed by the full-text expression if there is
/// one.
pub(crate) fn with_filter_params<T>(
    filter: &MemoryFilter,
    expression: Option<&str>,
    run: impl FnOnce(&[&dyn ToSql]) -> T,
) -> T {
    let bit = |it: &MemoryStatus| {
        1_i64 << MemoryStatus::ALL.iter().position(|known| known == it).unwrap_or(0)
    };
    let mask: i64 = filter.statuses.iter().map(bit).sum();
    let source = filter.source.map(MemorySource::slug);
    let scope = filter.scope.map(MemoryScope::slug);
    let file = filter.file.as_ref().map(ProjectPath::as_str);
    let params: [&dyn ToSql; 12] = [
        &mask,
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
