//! A command that takes far longer than the session's others; it counts only beside an error.

use model::{SignalKind, ToolKind};

use crate::sighting::{Evidence, Sighting};
use crate::{Modules, Scratchpad, shell};

/// Long is a minute, and twenty times the middle of the session.
const LONG_MS: u32 = 60_000;
const TIMES: u32 = 20;

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &Modules) {
    let mut took: Vec<u32> = pad.calls.iter().map(|it| it.took_ms).filter(|it| *it > 0).collect();
    took.sort_unstable();
    let Some(middle) = took.get(took.len() / 2) else { return };
    let limit = LONG_MS.max(middle.saturating_mul(TIMES));
    for (number, call) in (0_u32..).zip(&pad.calls) {
        let failed = pad.failures.iter().any(|it| it.call == number);
        let Some(command) = call.command.filter(|_| call.tool == ToolKind::Shell && failed) else {
            continue;
        };
        if call.took_ms >= limit {
            let command = shell::essence(pad.names.text(command));
            let number = u64::from(call.took_ms / 1000);
            let evidence =
                Evidence { command: Some(command.clone()), number, ..Evidence::default() };
            acc.push(Sighting::new(SignalKind::TimeAnomaly, command, evidence));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::script::events;
    use crate::{Scratchpad, sightings};
    use model::{Event, SignalKind};

    fn seconds_of(script: &str, ms: u64) -> Vec<u64> {
        let mut pad = Scratchpad::new();
        for mut it in events(script) {
            if let Event::ToolResult(result) = &mut it.event
                && !result.ok
            {
                result.duration_ms = Some(ms);
            }
            pad.observe(&it);
        }
        let all = sightings(&pad, &crate::Modules::default());
        all.iter()
            .filter(|it| it.signal == SignalKind::TimeAnomaly)
            .map(|it| it.evidence.number)
            .collect()
    }

    #[test]
    fn a_slow_failure_is_seen_a_quick_one_is_not() {
        let script = "read a\nread b\nread c\nfail make e2e: error: timed out waiting";
        assert_eq!(seconds_of(script, 400_000), [400]);
        assert!(seconds_of(script, 5_000).is_empty());
    }
}
