//! Which memories are wanted: the filter, its SQL, and the parameters that go with it.

use model::{ProjectPath, Scope, Source, Status};
use rusqlite::ToSql;

/// Which memories are wanted; an absent field wants all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The slug of a type, core or custom.
    pub kind: Option<String>,
    pub source: Option<Source>,
    pub scope: Option<Scope>,
    pub file: Option<ProjectPath>,
    pub module: Option<String>,
    pub tag: Option<String>,
    /// The branch a memory was made on.
    pub branch: Option<String>,
    pub pinned: Option<bool>,
    pub statuses: Vec<Status>,
    pub limit: u32,
    pub offset: u32,
}

impl Filter {
    /// Everything that has not been forgotten or deprecated.
    pub fn standing(limit: u32) -> Self {
        use Status::{Live, NeedsReview, Stale, Tainted};
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

    /// Whether it asks for a file, a module or a tag.
    pub fn is_about_something(&self) -> bool {
        self.file.is_some() || self.module.is_some() || self.tag.is_some()
    }
}

/// The bit of each status, and the row's status as that bit: the order of `Memory::status`.
macro_rules! wanted {
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
pub(crate) use wanted;

/// Calls `ask` with the parameters of the filter, and the words after them when there are any.
pub(crate) fn with_filter<T>(
    filter: &Filter,
    expression: Option<&str>,
    ask: impl FnOnce(&[&dyn ToSql]) -> T,
) -> T {
    let bit = |it: &Status| 1_i64 << Status::ALL.iter().position(|known| known == it).unwrap_or(0);
    let mask: i64 = filter.statuses.iter().map(bit).sum();
    let source = filter.source.map(Source::slug);
    let scope = filter.scope.map(Scope::slug);
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
    let wanted = if expression.is_some() { 12 } else { 11 };
    ask(&params[..wanted])
}
