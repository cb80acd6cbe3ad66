//! Reads a journal of Waylore, whose lines are events already, so nothing is converted.

use model::EventEnvelope;

use crate::event_log::EventLog;

pub(crate) fn read_line(log: &mut EventLog, line: &[u8]) {
    let text = String::from_utf8_lossy(line);
    if text.trim().is_empty() {
        return;
    }
    // The last line may be incomplete, for example after a full disk.
    match EventEnvelope::parse_line(&text) {
        Ok(envelope) => log.acc.push(envelope),
        Err(_) => log.counts.n_damaged += 1,
    }
}
