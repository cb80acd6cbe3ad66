//! Typed access to the cells of a memory's row, and the memory decoded from them.
//!
//! `memory_row` calls it after it has checked the hash of the row. `None` always means a value that
//! this version cannot decode.

use model::{
    Actor, HybridTimestamp, Memory, MemoryFlags, MemoryId, MemoryScope, MemorySource, MemoryType,
    Payload, PerMille, ProjectId, ProjectPath, Relation, SessionId, SoftStates, SymbolAnchor,
    Timestamp, UsageCounters, Visibility, WorkUnit,
};
use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde_json::Value as Json;

use super::{CANDIDATE_BIT, MemoryColumn as Column, REVIEW_BIT, hash_counts};

/// The cells of one memory in a row, by column.
pub(super) struct RowCells<'a, 'r> {
    pub(super) row: &'a Row<'r>,
    /// Index of the memory's first column within the row.
    pub(super) first_column: usize,
}

impl RowCells<'_, '_> {
    pub(super) fn memory(&self) -> Option<Memory> {
        let kind = MemoryType::from_slug(self.text(Column::Type)?).ok()?;
        let (needs_review, candidate) = self.review_flags()?;
        Some(Memory {
            id: MemoryId::from_bytes(self.blob(Column::Id)?)?,
            project: self
                .nullable(Column::Project, |it, column| ProjectId::from_bytes(it.blob(column)?))?,
            source: MemorySource::from_slug(self.text(Column::Source)?)?,
            scope: MemoryScope::from_slug(self.text(Column::Scope)?)?,
            visibility: Visibility::from_slug(self.text(Column::Visibility)?)?,
            content: self.string(Column::Content)?,
            summary: self.string(Column::Summary)?,
            citation: self.string(Column::Citation)?,
            confidence: PerMille::new(u16::try_from(self.number(Column::Confidence)?).ok()?),
            tags: self.json(Column::Tags)?,
            files: self.json::<Vec<ProjectPath>>(Column::Files)?,
            modules: self.json(Column::Modules)?,
            anchors: self.json::<Vec<SymbolAnchor>>(Column::Anchors)?,
            work_unit: self.nullable(Column::WorkUnit, Self::json::<WorkUnit>)?,
            session: self
                .nullable(Column::Session, |it, column| SessionId::from_bytes(it.blob(column)?))?,
            provenance: self.json::<Vec<SessionId>>(Column::Provenance)?,
            commit: self.nullable(Column::Commit, Self::string)?,
            branch: self.nullable(Column::Branch, Self::string)?,
            relations: self.json::<Vec<Relation>>(Column::Relations)?,
            half_life_days: self.nullable(Column::HalfLifeDays, |it, column| {
                u32::try_from(it.number(column)?).ok()
            })?,
            flags: MemoryFlags {
                needs_review,
                user_verified: self.flag(Column::UserVerified)?,
                pinned: self.flag(Column::Pinned)?,
                tainted: self.flag(Column::Tainted)?,
                candidate,
            },
            states: SoftStates {
                deprecated_at: self.nullable(Column::DeprecatedAt, Self::timestamp)?,
                deprecated_reason: self.nullable(Column::DeprecatedReason, Self::string)?,
                stale_at: self.nullable(Column::StaleAt, Self::timestamp)?,
                deleted_at: self.nullable(Column::DeletedAt, Self::timestamp)?,
            },
            payload: self.payload(&kind)?,
            created_by: Actor::parse(self.text(Column::CreatedBy)?)?,
            created_at: self.timestamp(Column::CreatedAt)?,
            updated_at: self.timestamp(Column::UpdatedAt)?,
            version: u32::try_from(self.number(Column::Version)?).ok()?,
            hlc: HybridTimestamp(self.number(Column::Hlc)?),
            // The counts have a hash of their own: `counters` checks and reads them.
            counters: UsageCounters::default(),
            kind,
        })
    }

    /// Reads the counts, if they match their hash.
    pub(super) fn counters(&self, id: MemoryId) -> Option<UsageCounters> {
        let counters = UsageCounters {
            access_count: u64::try_from(self.number(Column::AccessCount)?).ok()?,
            used_count: u64::try_from(self.number(Column::UsedCount)?).ok()?,
            last_accessed_at: self.nullable(Column::LastAccessedAt, Self::timestamp)?,
            last_used_at: self.nullable(Column::LastUsedAt, Self::timestamp)?,
        };
        (self.blob(Column::CountsHash)? == hash_counts(id, &counters)).then_some(counters)
    }

    pub(super) fn blob(&self, column: Column) -> Option<&[u8]> {
        match self.cell(column)? {
            ValueRef::Blob(it) => Some(it),
            _ => None,
        }
    }

    fn text(&self, column: Column) -> Option<&str> {
        match self.cell(column)? {
            ValueRef::Text(it) => std::str::from_utf8(it).ok(),
            _ => None,
        }
    }

    fn number(&self, column: Column) -> Option<i64> {
        match self.cell(column)? {
            ValueRef::Integer(it) => Some(it),
            _ => None,
        }
    }

    fn cell(&self, column: Column) -> Option<ValueRef<'_>> {
        self.row.get_ref(self.first_column + column as usize).ok()
    }

    /// Reads a cell that may be NULL, with `read` if it is not. The outer `None` means that its
    /// value is malformed.
    #[expect(clippy::option_option, reason = "NULL and malformed are different answers")]
    fn nullable<T>(
        &self,
        column: Column,
        read: impl FnOnce(&Self, Column) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.cell(column)? {
            ValueRef::Null => Some(None),
            _ => read(self, column).map(Some),
        }
    }

    fn string(&self, column: Column) -> Option<String> {
        self.text(column).map(str::to_owned)
    }

    fn json<T: serde::de::DeserializeOwned>(&self, column: Column) -> Option<T> {
        serde_json::from_str(self.text(column)?).ok()
    }

    fn flag(&self, column: Column) -> Option<bool> {
        Some(self.number(column)? != 0)
    }

    /// Decodes the flags `needs_review` and `candidate`, which share a column.
    fn review_flags(&self) -> Option<(bool, bool)> {
        let bits = self.number(Column::NeedsReview)?;
        let is_known = (0..=(REVIEW_BIT | CANDIDATE_BIT)).contains(&bits);
        is_known.then_some((bits & REVIEW_BIT != 0, bits & CANDIDATE_BIT != 0))
    }

    fn timestamp(&self, column: Column) -> Option<Timestamp> {
        self.number(column).map(Timestamp)
    }

    /// Reads the payload, whose form depends on the type of the memory.
    #[expect(clippy::option_option, reason = "NULL and malformed are different answers")]
    fn payload(&self, kind: &MemoryType) -> Option<Option<Payload>> {
        let Some(json) = self.nullable(Column::Payload, Self::json::<Json>)? else {
            return Some(None);
        };
        Payload::parse(kind.core_kind()?, &json).ok().map(Some)
    }
}
