//! A memory as a row: the columns, the hash over them, and reading them back.

use model::{
    Actor, Anchor, Counters, Flags, Hlc, Memory, MemoryId, MemoryType, Payload, PerMille,
    ProjectId, ProjectPath, Relation, Scope, SessionId, SoftStates, Source, Timestamp, Visibility,
    WorkUnit,
};
use rusqlite::Row;
use rusqlite::types::{Value, ValueRef};
use serde_json::Value as Json;

/// The columns of a memory in the order they are bound, hashed and read; the last four are counters.
macro_rules! columns {
    () => {
        "id, project, type, source, scope, visibility, content, summary, citation, confidence, tags, files, modules, \
         anchors, work_unit, session, provenance, commit_id, branch, relations, half_life_days, needs_review, \
         user_verified, pinned, tainted, deprecated_at, deprecated_reason, stale_at, deleted_at, payload, created_by, \
         created_at, updated_at, version, hlc, hash, access_count, used_count, last_accessed_at, last_used_at"
    };
}
pub(crate) use columns;

/// How many columns, from the first, the hash covers; the hash itself comes next.
pub(crate) const HASHED: usize = 35;

/// A row whose content does not match its hash, or does not make sense. It is never served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedRow {
    /// The id, when at least that can be read.
    pub id: Option<MemoryId>,
    pub what: &'static str,
}

/// The values of a memory's row, hash included.
pub(crate) fn to_values(memory: &Memory) -> Vec<Value> {
    let text = |it: &str| Value::Text(it.to_owned());
    let json = |it: Result<String, serde_json::Error>| {
        Value::Text(it.expect("plain lists have a JSON form"))
    };
    let flag = |it: bool| Value::Integer(i64::from(it));
    let moment = |it: Option<Timestamp>| it.map_or(Value::Null, |it| Value::Integer(it.0));
    let maybe = |it: &Option<String>| it.as_deref().map_or(Value::Null, text);
    let (flags, states, counters) = (&memory.flags, &memory.states, &memory.counters);
    let mut res = vec![
        Value::Blob(memory.id.0.as_bytes().to_vec()),
        memory.project.map_or(Value::Null, |it| Value::Blob(it.0.as_bytes().to_vec())),
        text(memory.kind.slug()),
        text(memory.source.slug()),
        text(memory.scope.slug()),
        text(memory.visibility.slug()),
        text(&memory.content),
        text(&memory.summary),
        text(&memory.citation),
        Value::Integer(i64::from(memory.confidence.get())),
        json(serde_json::to_string(&memory.tags)),
        json(serde_json::to_string(&memory.files)),
        json(serde_json::to_string(&memory.modules)),
        json(serde_json::to_string(&memory.anchors)),
        memory.work_unit.as_ref().map_or(Value::Null, |it| json(serde_json::to_string(it))),
        memory.session.map_or(Value::Null, |it| Value::Blob(it.0.as_bytes().to_vec())),
        json(serde_json::to_string(&memory.provenance)),
        maybe(&memory.commit),
        maybe(&memory.branch),
        json(serde_json::to_string(&memory.relations)),
        memory.half_life_days.map_or(Value::Null, |it| Value::Integer(i64::from(it))),
        flag(flags.needs_review),
        flag(flags.user_verified),
        flag(flags.pinned),
        flag(flags.tainted),
        moment(states.deprecated_at),
        maybe(&states.deprecated_reason),
        moment(states.stale_at),
        moment(states.deleted_at),
        memory.payload.as_ref().map_or(Value::Null, |it| Value::Text(it.to_json().to_string())),
        Value::Text(memory.created_by.to_string()),
        Value::Integer(memory.created_at.0),
        Value::Integer(memory.updated_at.0),
        Value::Integer(i64::from(memory.version)),
        Value::Integer(memory.hlc.0),
    ];
    debug_assert_eq!(res.len(), HASHED);
    let hash = hash(res.iter().map(ValueRef::from));
    res.extend([
        Value::Blob(hash.to_vec()),
        Value::Integer(i64::try_from(counters.access_count).unwrap_or(i64::MAX)),
        Value::Integer(i64::try_from(counters.used_count).unwrap_or(i64::MAX)),
        moment(counters.last_accessed_at),
        moment(counters.last_used_at),
    ]);
    res
}

/// Reads a memory from a row whose columns begin at `at`; a row that fails its hash is not a memory.
pub(crate) fn read_memory(
    row: &Row<'_>,
    at: usize,
) -> rusqlite::Result<Result<Memory, DamagedRow>> {
    let mut hasher = Hasher::default();
    for column in at..at + HASHED {
        hasher.add(row.get_ref(column)?);
    }
    let cells = Cells { row, at };
    let id = cells.blob(0).and_then(MemoryId::from_bytes);
    if cells.blob(HASHED) != Some(hasher.finish().as_slice()) {
        return Ok(Err(DamagedRow { id, what: "its content does not match its hash" }));
    }
    Ok(cells.memory().ok_or(DamagedRow { id, what: "it holds values this version cannot read" }))
}

/// The hash of a row's values, each with its kind and length, so that no two rows can look alike.
pub(crate) fn hash<'a>(values: impl Iterator<Item = ValueRef<'a>>) -> [u8; 32] {
    let mut hasher = Hasher::default();
    values.for_each(|it| hasher.add(it));
    hasher.finish()
}

#[derive(Default)]
struct Hasher(blake3::Hasher);

impl Hasher {
    fn add(&mut self, value: ValueRef<'_>) {
        let mut part = |kind: u8, bytes: &[u8]| {
            let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes();
            self.0.update(&[kind, length[0], length[1], length[2], length[3]]);
            self.0.update(bytes);
        };
        match value {
            ValueRef::Null => part(0, &[]),
            ValueRef::Integer(it) => part(1, &it.to_le_bytes()),
            ValueRef::Real(it) => part(2, &it.to_le_bytes()),
            ValueRef::Text(it) => part(3, it),
            ValueRef::Blob(it) => part(4, it),
        }
    }

    fn finish(&self) -> [u8; 32] {
        *self.0.finalize().as_bytes()
    }
}

/// A row seen as typed cells; anything unexpected is `None`, never a panic.
struct Cells<'a, 'r> {
    row: &'a Row<'r>,
    at: usize,
}

impl Cells<'_, '_> {
    fn cell(&self, column: usize) -> Option<ValueRef<'_>> {
        self.row.get_ref(self.at + column).ok()
    }

    fn blob(&self, column: usize) -> Option<&[u8]> {
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

    /// A nullable cell: the outer `None` means it holds something it should not.
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

    fn moment(&self, column: usize) -> Option<Timestamp> {
        self.number(column).map(Timestamp)
    }

    fn payload(&self, kind: &MemoryType) -> Option<Option<Payload>> {
        let Some(json) = self.maybe(29, Self::json::<Json>)? else {
            return Some(None);
        };
        Payload::parse(kind.core()?, &json).ok().map(Some)
    }

    fn memory(&self) -> Option<Memory> {
        let kind = MemoryType::from_slug(self.text(2)?).ok()?;
        Some(Memory {
            id: MemoryId::from_bytes(self.blob(0)?)?,
            project: self.maybe(1, |it, at| ProjectId::from_bytes(it.blob(at)?))?,
            source: Source::from_slug(self.text(3)?)?,
            scope: Scope::from_slug(self.text(4)?)?,
            visibility: Visibility::from_slug(self.text(5)?)?,
            content: self.owned(6)?,
            summary: self.owned(7)?,
            citation: self.owned(8)?,
            confidence: PerMille::new(u16::try_from(self.number(9)?).ok()?),
            tags: self.json(10)?,
            files: self.json::<Vec<ProjectPath>>(11)?,
            modules: self.json(12)?,
            anchors: self.json::<Vec<Anchor>>(13)?,
            work_unit: self.maybe(14, Self::json::<WorkUnit>)?,
            session: self.maybe(15, |it, at| SessionId::from_bytes(it.blob(at)?))?,
            provenance: self.json::<Vec<SessionId>>(16)?,
            commit: self.maybe(17, Self::owned)?,
            branch: self.maybe(18, Self::owned)?,
            relations: self.json::<Vec<Relation>>(19)?,
            half_life_days: self.maybe(20, |it, at| u32::try_from(it.number(at)?).ok())?,
            flags: Flags {
                needs_review: self.flag(21)?,
                user_verified: self.flag(22)?,
                pinned: self.flag(23)?,
                tainted: self.flag(24)?,
            },
            states: SoftStates {
                deprecated_at: self.maybe(25, Self::moment)?,
                deprecated_reason: self.maybe(26, Self::owned)?,
                stale_at: self.maybe(27, Self::moment)?,
                deleted_at: self.maybe(28, Self::moment)?,
            },
            payload: self.payload(&kind)?,
            created_by: Actor::parse(self.text(30)?)?,
            created_at: self.moment(31)?,
            updated_at: self.moment(32)?,
            version: u32::try_from(self.number(33)?).ok()?,
            hlc: Hlc(self.number(34)?),
            counters: Counters {
                access_count: u64::try_from(self.number(36)?).unwrap_or(0),
                used_count: u64::try_from(self.number(37)?).unwrap_or(0),
                last_accessed_at: self.maybe(38, Self::moment)?,
                last_used_at: self.maybe(39, Self::moment)?,
            },
            kind,
        })
    }
}
