//! What orders changes: a dense number for this file, a hybrid clock for all devices, and the
//! stretches of time nobody lived through.

use model::{Hlc, QuietSpan, Timestamp};

use crate::Error;
use crate::query::{Db, Query, both};

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] =
    &[&META, &SET_META, &ADD_META, &QUIET, &TRIM_QUIET, &DROP_QUIET];

pub(crate) const META: Query = both("meta", "SELECT value FROM meta WHERE key = ?1");
pub(crate) const SET_META: Query = both("set_meta", "UPDATE meta SET value = ?2 WHERE key = ?1");
pub(crate) const ADD_META: Query =
    both("add_meta", "UPDATE meta SET value = value + ?2 WHERE key = ?1");
const QUIET: Query = both("quiet", "INSERT INTO quiet_spans (from_ms, to_ms) VALUES (?1, ?2)");
// A span cannot end later than now: the clock had jumped ahead, and that time is still to be lived.
const TRIM_QUIET: Query = both("trim_quiet", "UPDATE quiet_spans SET to_ms = ?1 WHERE to_ms > ?1");
const DROP_QUIET: Query = both("drop_quiet", "DELETE FROM quiet_spans WHERE to_ms <= from_ms");

/// Takes a number for a change that is in no batch: every acknowledged change moves the mark.
pub(crate) fn take_number(db: &Db) -> Result<(), Error> {
    db.run(&ADD_META, &[&"seq", &1]).map(|_| ())
}

/// Notes that the store is in use now; a long gap before becomes a quiet span.
pub(crate) fn note_use(db: &Db, now: Timestamp) -> Result<(), Error> {
    let last = Timestamp(db.number(&META, &[&"last_used"])?);
    if now < last {
        db.run(&TRIM_QUIET, &[&now.0])?;
        db.run(&DROP_QUIET, &[])?;
    }
    if last.0 > 0
        && let Some(span) = QuietSpan::between(last, now)
    {
        db.run(&QUIET, &[&span.from.0, &span.to.0])?;
    }
    db.run(&SET_META, &[&"last_used", &now.0]).map(|_| ())
}

/// The last reading of the hybrid clock in this file.
pub(crate) fn clock(db: &Db) -> Result<Hlc, Error> {
    db.number(&META, &[&"hlc"]).map(Hlc)
}

/// The counters that order changes: a dense sequence for this file, a hybrid clock for all devices.
pub(crate) struct Stamp {
    pub(crate) seq: i64,
    hlc: Hlc,
    now: Timestamp,
}

impl Stamp {
    /// The counters as they stand; the clock is not behind `after`, wherever that was read.
    pub(crate) fn read(db: &Db, now: Timestamp, after: Hlc) -> Result<Self, Error> {
        Ok(Self { seq: db.number(&META, &[&"seq"])?, hlc: clock(db)?.max(after), now })
    }

    /// The next sequence number and the clock reading that goes with it, not taken yet.
    pub(crate) fn peek(&self) -> (i64, Hlc) {
        (self.seq + 1, self.hlc.tick(self.now))
    }

    /// Takes the next sequence number, and the clock reading that goes with it.
    pub(crate) fn next(&mut self) -> Hlc {
        (self.seq, self.hlc) = self.peek();
        self.hlc
    }

    pub(crate) fn write(&self, db: &Db) -> Result<(), Error> {
        db.run(&SET_META, &[&"seq", &self.seq])?;
        db.run(&SET_META, &[&"hlc", &self.hlc.0]).map(|_| ())
    }
}
