//! The values in table `meta` that order changes, and the spans in which the store was not used.
//!
//! `seq` is a dense sequence number per file, compared with the high-water mark to find losses.
//! `hlc` is a hybrid logical clock (Kulkarni et al. 2014), which orders changes across files and
//! devices even if a wall clock was set back. Every write takes the next value of both.

use model::{HybridTimestamp, QuietSpan, Timestamp};

use crate::Error;
use crate::query::{Db, Query};

/// Every statement of this file, for the tests that replay them on a libSQL server.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &SELECT_META,
    &UPDATE_META,
    &ADD_META,
    &INSERT_QUIET_SPAN,
    &TRIM_QUIET_SPANS,
    &DELETE_EMPTY_QUIET_SPANS,
];

/// One value of the store: `seq`, `hlc`, `last_used` or a number of rows.
pub(crate) const SELECT_META: Query =
    Query::shared("meta_value", "SELECT value FROM meta WHERE key = ?1");
/// Sets such a value.
pub(crate) const UPDATE_META: Query =
    Query::shared("set_meta", "UPDATE meta SET value = ?2 WHERE key = ?1");
/// Adds to such a value.
pub(crate) const ADD_META: Query =
    Query::shared("add_meta", "UPDATE meta SET value = value + ?2 WHERE key = ?1");
/// Stores a span in which the store was not used.
const INSERT_QUIET_SPAN: Query =
    Query::shared("add_quiet_span", "INSERT INTO quiet_spans (from_ms, to_ms) VALUES (?1, ?2)");
/// Ends all quiet spans at a time at the latest.
// A span that ends in the future has not fully passed yet.
const TRIM_QUIET_SPANS: Query =
    Query::shared("trim_quiet_spans", "UPDATE quiet_spans SET to_ms = ?1 WHERE to_ms > ?1");
/// Deletes the spans that trimming left empty.
const DELETE_EMPTY_QUIET_SPANS: Query =
    Query::shared("delete_empty_quiet_spans", "DELETE FROM quiet_spans WHERE to_ms <= from_ms");

/// Takes a sequence number for a change outside any batch: every acknowledged change moves the
/// mark.
pub(crate) fn advance_seq(db: &Db) -> Result<(), Error> {
    db.execute(&ADD_META, &[&"seq", &1]).map(|_| ())
}

/// Records that the store is in use now. A long gap since the last use becomes a quiet span, in
/// which nothing ages.
pub(crate) fn record_use(db: &Db, now: Timestamp) -> Result<(), Error> {
    let last = Timestamp(db.select_number(&SELECT_META, &[&"last_used"])?);
    if now < last {
        // The wall clock was set back, so a quiet span may end in the future. That part has not
        // passed: left in, it would keep memories from ageing while it passes. For example, the
        // clock jumped to 2056 and back; a span until 2056 must end today.
        db.execute(&TRIM_QUIET_SPANS, &[&now.0])?;
        db.execute(&DELETE_EMPTY_QUIET_SPANS, &[])?;
    }
    // 0 means that the store was never used before.
    if last.0 > 0
        && let Some(span) = QuietSpan::between(last, now)
    {
        db.execute(&INSERT_QUIET_SPAN, &[&span.from.0, &span.to.0])?;
    }
    db.execute(&UPDATE_META, &[&"last_used", &now.0]).map(|_| ())
}

/// Reads the hybrid clock as the last change left it.
pub(crate) fn read_clock(db: &Db) -> Result<HybridTimestamp, Error> {
    db.select_number(&SELECT_META, &[&"hlc"]).map(HybridTimestamp)
}

/// The sequence number and the hybrid logical clock of one file, during one transaction.
pub(crate) struct ChangeClock {
    pub(crate) seq: i64,
    hlc: HybridTimestamp,
    now: Timestamp,
}

impl ChangeClock {
    /// Reads the counters. The clock starts no earlier than `after`, a reading from another store.
    pub(crate) fn read(db: &Db, now: Timestamp, after: HybridTimestamp) -> Result<Self, Error> {
        Ok(Self {
            seq: db.select_number(&SELECT_META, &[&"seq"])?,
            hlc: read_clock(db)?.max(after),
            now,
        })
    }

    /// Returns the next sequence number and clock reading without taking them.
    pub(crate) fn peek(&self) -> (i64, HybridTimestamp) {
        (self.seq + 1, self.hlc.advance(self.now))
    }

    /// Takes the next sequence number and the clock reading that goes with it.
    pub(crate) fn next(&mut self) -> HybridTimestamp {
        (self.seq, self.hlc) = self.peek();
        self.hlc
    }

    /// Stores the values that were taken last.
    pub(crate) fn write(&self, db: &Db) -> Result<(), Error> {
        db.execute(&UPDATE_META, &[&"seq", &self.seq])?;
        db.execute(&UPDATE_META, &[&"hlc", &self.hlc.0]).map(|_| ())
    }
}
