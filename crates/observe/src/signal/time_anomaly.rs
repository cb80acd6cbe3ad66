//! Detects the signal `time_anomaly`: a failed command that took far longer than the other calls of the
//! session.
//!
//! Input is the scratchpad, the log of one session. Each such call becomes a sighting: the key, by which
//! sessions are compared, is the command; the evidence has the command and the seconds. Example: `make e2e`
//! fails after 400 seconds, among calls of one second.

use model::ToolKind;

use crate::evidence::Evidence;
use crate::pattern_key::PatternKey;
use crate::sighting::Sighting;
use crate::{ModuleLookup, Scratchpad, shell};

/// A call that takes less than a minute is not slow, however fast the others are.
const MIN_SLOW_MS: u32 = 60_000;
/// A slow call also takes at least this multiple of the session's median.
const SLOW_FACTOR: u32 = 20;

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    // A duration of 0 is unknown.
    let mut took: Vec<u32> = pad.calls.iter().map(|it| it.took_ms).filter(|it| *it > 0).collect();
    took.sort_unstable();
    let Some(median) = took.get(took.len() / 2) else { return };
    let limit = MIN_SLOW_MS.max(median.saturating_mul(SLOW_FACTOR));
    for (number, call) in (0_u32..).zip(&pad.calls) {
        // Only a command can be run with a time limit.
        if call.took_ms < limit || call.tool != ToolKind::Shell {
            continue;
        }
        // A slow command that succeeds is worth its time.
        if !pad.errors.iter().any(|it| it.call == number) {
            continue;
        }
        // A host can omit the command line.
        let Some(command) = call.command else { continue };
        let command = shell::essential_command(pad.strings.text(command));
        let key = PatternKey::time_anomaly(&command);
        let seconds = u64::from(call.took_ms / 1000);
        acc.push(Sighting::new(key, Evidence::TimeAnomaly { command, seconds }));
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::Evidence;
    use crate::test_script::events_from_script;
    use crate::{Scratchpad, detect_sightings};
    use model::{Event, SignalKind};

    /// The seconds of each sighting, if every failed call took `ms`.
    fn anomaly_seconds(script: &str, ms: u64) -> Vec<u64> {
        let mut pad = Scratchpad::new();
        for mut it in events_from_script(script) {
            if let Event::ToolResult(result) = &mut it.event
                && !result.ok
            {
                result.duration_ms = Some(ms);
            }
            pad.observe(&it);
        }
        let sightings = detect_sightings(&pad, &crate::ModuleLookup::default());
        sightings
            .iter()
            .filter(|it| it.signal() == SignalKind::TimeAnomaly)
            .map(|it| match it.evidence {
                Evidence::TimeAnomaly { seconds, .. } => seconds,
                _ => panic!("evidence of another signal"),
            })
            .collect()
    }

    #[test]
    fn a_slow_failure_is_a_sighting_and_a_quick_one_is_not() {
        let script = "read a\nread b\nread c\nfail make e2e: error: timed out waiting";
        assert_eq!(anomaly_seconds(script, 400_000), [400]);
        assert!(anomaly_seconds(script, 5_000).is_empty());
    }
}
