//! The fold accepts any event sequence that a host may send, and stays within its bounds.
//!
//! Sessions are given as scripts in the notation of `test_script`, one event per line. A call is two events,
//! the call and its result, and a session start comes before the first line.

use super::*;
use crate::test_script::events_from_script;
use crate::{ModuleLookup, detect_sightings, summarise_session};
use proptest::prelude::*;

/// One line for nearly every kind of event, in the notation of `test_script`.
const LINES: &[&str] = &[
    "read a.rs",
    "edit a.rs",
    "edit b.rs",
    "grep fooBar → a.rs",
    "run make test",
    "fail make: error: no rule",
    "say Actually, `a.rs` is generated, not written.",
    "user no, always use tabs in this repo please",
    "web https://x.test",
    "compact",
    "commit",
    "refuse a.rs",
    "refuse a.rs: use b.rs",
    "queued no, not that one",
    "answer Which? → the second",
    "plan always write b.rs first",
    "list ** → a b c",
    "swap a.rs x y",
    "swap a.rs y x",
    "interrupt",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Events are lost, repeated and out of order: results before calls, a session without an end.
    #[test]
    fn any_event_sequence_is_accepted(
        lines in proptest::collection::vec(0..LINES.len(), 0..60),
        order in proptest::collection::vec(any::<prop::sample::Index>(), 0..200),
    ) {
        let script: Vec<&str> = lines.iter().map(|it| LINES[*it]).collect();
        let events = events_from_script(&script.join("\n"));
        let mut pad = Scratchpad::new();
        for at in &order {
            pad.observe(at.get(&events));
        }
        detect_sightings(&pad, &ModuleLookup::default());
        summarise_session(&pad);
    }

    #[test]
    fn the_same_events_give_the_same_signals(lines in proptest::collection::vec(0..LINES.len(), 0..40)) {
        let script: Vec<&str> = lines.iter().map(|it| LINES[*it]).collect();
        let events = events_from_script(&script.join("\n"));
        let fold = || {
            let mut pad = Scratchpad::new();
            for it in &events {
                pad.observe(it);
            }
            detect_sightings(&pad, &ModuleLookup::default())
        };
        prop_assert_eq!(fold(), fold());
    }
}

#[test]
fn an_event_of_another_session_is_counted_and_ignored() {
    let mut pad = crate::test_script::pad_from_script("read a.rs");
    let mut foreign = events_from_script("read b.rs").pop().unwrap();
    foreign.session = SessionId::new(Timestamp(9), [9; 10]);
    pad.observe(&foreign);
    assert_eq!((pad.anomalies.foreign_events, pad.calls.len()), (1, 1));
}

/// A result without its call and a clock that goes back are counted; the other events are intact.
#[test]
fn malformed_events_are_counted_and_the_rest_is_intact() {
    // Remove the first call, so that its result is an orphan, and set the last clock back.
    let mut events = events_from_script("read a.rs\nedit b.rs\nrun make test");
    let is_call = |it: &EventEnvelope| matches!(&it.event, Event::ToolCall(_));
    let call = events.iter().position(is_call).unwrap();
    events.remove(call);
    if let Some(last) = events.last_mut() {
        last.at = Timestamp(1_000);
    }
    let mut pad = Scratchpad::new();
    for it in &events {
        pad.observe(it);
    }

    // Both are counted. Of the calls that are left, only the edit touches a file.
    assert_eq!((pad.anomalies.orphan_results, pad.anomalies.clock_jumps), (1, 1));
    let files: Vec<String> =
        summarise_session(&pad).unwrap().files.into_iter().map(|it| it.path.to_string()).collect();
    assert_eq!(files, ["b.rs"]);
}

#[test]
fn events_are_tainted_from_the_external_call_on() {
    let pad = crate::test_script::pad_from_script("say before\nweb https://x.test\nsay after");
    assert_eq!(pad.external.as_ref().unwrap().source, "https://x.test");
    let web_call = pad.calls[0].order;
    assert!(!pad.is_tainted(web_call - 1), "the sentence before it is not tainted");
    assert!(pad.is_tainted(web_call) && pad.is_tainted(web_call + 1));
}

#[test]
fn calls_of_our_own_server_bring_no_external_text() {
    let own = ["mcp:waylore/search_memory", "mcp:plugin_waylore_waylore/record_memory"];
    // Another server may take our name, but not with its own tools.
    let others = ["mcp:waylore/fetch_page", "mcp:docs/search_memory"];
    for (tools, is_external) in [(own, false), (others, true)] {
        for tool in tools {
            let mut events = events_from_script("read a.rs");
            let call = events.iter_mut().find_map(|it| match &mut it.event {
                Event::ToolCall(call) => Some(call),
                _ => None,
            });
            call.unwrap().tool = model::Tool::parse(tool).unwrap();
            let mut pad = Scratchpad::new();
            for it in &events {
                pad.observe(it);
            }
            assert_eq!(pad.external.is_some(), is_external, "{tool}");
        }
    }
}

/// The result is counted, its call stays pending, and later events are observed.
#[test]
fn a_result_before_its_call_is_counted() {
    let mut events = events_from_script("read a.rs\nedit b.rs");
    // After the session start come the first call and its result.
    events.swap(1, 2);
    let mut pad = Scratchpad::new();
    for it in &events {
        pad.observe(it);
    }
    assert_eq!(pad.anomalies.orphan_results, 1);
    let states: Vec<CallState> = pad.calls.iter().map(|it| it.state).collect();
    assert_eq!(states, [CallState::Pending, CallState::Ok]);
}

/// Back to 1970, a century ahead, and no time at events: steps back are counted, and no event is lost.
#[test]
fn a_clock_that_jumps_is_counted_and_every_event_stays() {
    let mut events = events_from_script("read a.rs\nedit b.rs\nrun make test");
    let century = 100 * 365 * model::DAY_MS;
    // Events 1 to 6 are the calls and results in turn. A time of 0 or less counts as unknown. Events 5 and
    // 6 are both long before event 2, so that the clock goes back twice.
    events[2].at = Timestamp(events[2].at.0 + century);
    events[3].at = Timestamp(0);
    events[4].at = Timestamp(-5);
    events[5].at = Timestamp(1);
    let mut pad = Scratchpad::new();
    for it in &events {
        pad.observe(it);
    }
    assert_eq!((pad.anomalies.clock_jumps, pad.calls.len()), (2, 3));
    assert_eq!(summarise_session(&pad).unwrap().files.len(), 2);
    let took: Vec<u32> = pad.calls.iter().map(|it| it.took_ms).collect();
    assert_eq!(took[1], 0, "a clock that ran backwards gives no duration");
}

/// Every collection is bounded.
#[test]
fn a_session_that_never_ends_stays_within_its_bounds() {
    let events = events_from_script(&LINES.join("\n"));
    let mut pad = Scratchpad::new();
    for round in 0..1_500 {
        for envelope in &events {
            let mut envelope = envelope.clone();
            // Another id, or the event would be dropped as a repeat.
            envelope.id = format!("{round}-{}", envelope.id);
            if let Event::ToolCall(call) = &mut envelope.event {
                // In every other round no call gets its result.
                let prefix = if round % 2 == 0 { "unanswered" } else { "" };
                call.call_id = format!("{prefix}-{}", call.call_id);
            }
            if let Event::ToolResult(result) = &mut envelope.event {
                result.call_id = format!("-{}", result.call_id);
            }
            pad.observe(&envelope);
        }
    }
    assert!(pad.n_events() > 40_000 && pad.anomalies.orphan_results > 0);

    // The size of each collection, and its limit.
    let sizes = [
        (pad.seen_ids.len(), MAX_SEEN_IDS),
        (pad.pending_calls.len(), MAX_PENDING_CALLS),
        (pad.errors.len(), MAX_ERRORS),
        (pad.failed_calls.len(), MAX_ERRORS),
        (pad.statements.len(), MAX_STATEMENTS),
        (pad.messages.len(), MAX_MESSAGES),
        (pad.listings.len(), MAX_LISTINGS),
        (pad.reverted_edits.len(), MAX_REVERTED_EDITS),
        (pad.compactions.len(), MAX_COMPACTIONS),
        // The two swaps of the script, and the import window.
        (pad.edits_by_text.len(), 2),
        (pad.recent_reads.len(), 4),
    ];
    for (nth, (size, limit)) in sizes.iter().enumerate() {
        assert!(size <= limit, "{nth}: {size} of {limit}");
    }

    // The bounded state is still usable.
    assert!(
        summarise_session(&pad).is_some()
            && !detect_sightings(&pad, &ModuleLookup::default()).is_empty()
    );
}
