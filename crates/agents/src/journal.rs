//! Our own journals, read back: the events are there already.

use model::Envelope;

use crate::log::Log;

pub(crate) fn line(log: &mut Log, line: &[u8]) {
    let text = String::from_utf8_lossy(line);
    if text.trim().is_empty() {
        return;
    }
    match Envelope::read(&text) {
        Ok(envelope) => log.acc.push(envelope),
        Err(_) => log.counts.damaged += 1,
    }
}
