//! Typed access to the cells of a memory's row.

use model::{
    Actor, HybridTimestamp, Memory, MemoryFlags, MemoryId, MemoryScope, MemorySource, MemoryType,
    Payload, PerMille, ProjectId, ProjectPath, Relation, SessionId, SoftStates, SymbolAnchor,
    Timestamp, UsageCounters, Visibility, WorkUnit,
};
use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde_json::Value as Json;

use super::{FIRST_COUNT_COLUMN, hash_counts};

/// The cells of a row. An unexpected type or value reads as `None`, never as a panic.
pub(super) struct RowCells<'a, 'r> {
    pub(super) row: &'a Row<'r>,
    pub(super) at: usize,
}

impl RowCells<'_, '_> {
    fn cell(&self, column: usize) -> Option<ValueRef<'_>> {
        self.row.get_ref(self.at + column).ok()
    }

    pub(super) fn blob(&self, column: usize) -> Option<&[u8]> {
        match self.cell(column)? {
            ValueRef::Blob(it) => Some(it),
            _ => None,
        }
    }

    fn text(&self, column: usize) -> Option<&str> {
        match self.cell(column)? {
            ValueRef::Text(it) => std::str::from_utf8(it).ok(),
            _ => None,
        }
    }

    fn number(&self, column: usize) -> Option<i64> {
        match self.cell(column)? {
            ValueRef::Integer(it) => Some(it),
            _ => None,
        }
    }

    /// Reads a nullable cell. The outer `None` means that its value is malformed.
    #[expect(clippy::option_option, reason = "absent and malformed are different answers")]
    fn maybe<T>(
        &self,
        column: usize,
        read: impl FnOnce(&Self, usize) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.cell(column)? {
            ValueRef::Null => Some(None),
            _ => read(self, column).map(Some),
        }
    }

    fn json<T: serde::de::DeserializeOwned>(&self, column: usize) -> Option<T> {
        serde_json::from_str(self.text(column)?).ok()
    }

    fn flag(&self, column: usize) -> Option<bool> {
        Some(self.number(column)? != 0)
    }

    fn owned(&self, column: usize) -> Option<String> {
        self.text(column).map(str::to_owned)
    }

    fn timestamp(&self, column: usize) -> Option<Timestamp> {
        self.number(column).map(Timestamp)
    }

    #[expect(clippy::option_option, reason = "absent and malformed are different answers")]
    fn payload(&self, kind: &MemoryType) -> Option<Option<Payload>> {
        let Some(json) = self.maybe(29, Self::json::<Json>)? else {
            return Some(None);
        };
        Payload::parse(kind.core_kind()?, &json).ok().map(Some)
    }

    pub(super) fn memory(&self) -> Option<Memory> {
        let kind = MemoryType::from_slug(self.text(2)?).ok()?;
        Some(Memory {
            id: MemoryId::from_bytes(self.blob(0)?)?,
            project: self.maybe(1, |it, at| ProjectId::from_bytes(it.blob(at)?))?,
            source: MemorySource::from_slug(self.text(3)?)?,
            scope: MemoryScope::from_slug(self.text(4)?)?,
            visibility: Visibility::from_slug(self.text(5)?)?,
            content: self.owned(6)?,
            summary: self.owned(7)?,
            citation: self.owned(8)?,
            confidence: PerMille::new(u16::try_from(self.number(9)?).ok()?),
            tags: self.json(10)?,
            files: self.json::<Vec<ProjectPath>>(11)?,
            modules: self.json(12)?,
            anchors: self.json::<Vec<SymbolAnchor>>(13)?,
            work_unit: self.maybe(14, Self::json::<WorkUnit>)?,
            session: self.maybe(15, |it, at| SessionId::from_bytes(it.blob(at)?))?,
            provenance: self.json::<Vec<SessionId>>(16)?,
            commit: self.maybe(17, Self::owned)?,
            branch: self.maybe(18, Self::owned)?,
            relations: self.json::<Vec<Relation>>(19)?,
            half_life_days: self.maybe(20, |it, at| u32::try_from(it.number(at)?).ok())?,
            flags: MemoryFlags {
                needs_review: self.flag(21)?,
                user_verified: self.flag(22)?,
                pinned: self.flag(23)?,
                tainted: self.flag(24)?,
            },
            states: SoftStates {
                deprecated_at: self.maybe(25, Self::timestamp)?,
                deprecated_reason: self.maybe(26, Self::owned)?,
                stale_at: self.maybe(27, Self::timestamp)?,
                deleted_at: self.maybe(28, Self::timestamp)?,
            },
            payload: self.payload(&kind)?,
            created_by: Actor::parse(self.text(30)?)?,
            created_at: self.timestamp(31)?,
            updated_at: self.timestamp(32)?,
            version: u32::try_from(self.number(33)?).ok()?,
            hlc: HybridTimestamp(self.number(34)?),
            counters: UsageCounters::default(),
            kind,
        })
    }

    /// Reads the counts, if they match their hash.
    pub(super) fn counters(&self, id: MemoryId) -> Option<UsageCounters> {
        let counters = UsageCounters {
            access_count: u64::try_from(self.number(FIRST_COUNT_COLUMN)?).ok()?,
            used_count: u64::try_from(self.number(FIRST_COUNT_COLUMN + 1)?).ok()?,
            last_accessed_at: self.maybe(FIRST_COUNT_COLUMN + 2, Self::timestamp)?,
            last_used_at: self.maybe(FIRST_COUNT_COLUMN + 3, Self::timestamp)?,
        };
        (self.blob(FIRST_COUNT_COLUMN + 4)? == hash_counts(id, &counters)).then_some(counters)
    }
}
