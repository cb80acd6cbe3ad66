//! The fold holds under anything a host may send, and stays within its bounds.

use super::*;
use crate::script::events;
use crate::{Modules, session, sightings};
use proptest::prelude::*;

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
    "list ** → a b c",
    "swap a.rs x y",
    "swap a.rs y x",
    "interrupt",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Events lost, doubled and out of order: results before calls, a session that never ends.
    #[test]
    fn nothing_a_host_sends_makes_it_fail(
        lines in proptest::collection::vec(0..LINES.len(), 0..60),
        order in proptest::collection::vec(any::<prop::sample::Index>(), 0..200),
    ) {
        let script: Vec<&str> = lines.iter().map(|it| LINES[*it]).collect();
        let all = events(&script.join("\n"));
        let mut pad = Scratchpad::new();
        for at in &order {
            pad.observe(at.get(&all));
        }
        sightings(&pad, &Modules::default());
        session(&pad);
    }

    #[test]
    fn the_same_events_give_the_same_signals(lines in proptest::collection::vec(0..LINES.len(), 0..40)) {
        let script: Vec<&str> = lines.iter().map(|it| LINES[*it]).collect();
        let all = events(&script.join("\n"));
        let fold = || {
            let mut pad = Scratchpad::new();
            for it in &all {
                pad.observe(it);
            }
            sightings(&pad, &Modules::default())
        };
        prop_assert_eq!(fold(), fold());
    }
}

#[test]
fn an_event_of_another_session_is_counted_and_left() {
    let mut pad = crate::script::pad("read a.rs");
    let mut stranger = events("read b.rs").pop().unwrap();
    stranger.session = SessionId::new(Timestamp(9), [9; 10]);
    pad.observe(&stranger);
    assert_eq!((pad.trouble.strangers, pad.calls.len()), (1, 1));
}

/// A result without its call, a clock that goes back, a tool nobody knows: counted, and the rest stands.
#[test]
fn what_is_wrong_is_counted_and_the_rest_is_intact() {
    let mut all = events("read a.rs\nedit b.rs\nrun make test");
    let is_call = |it: &Envelope| matches!(&it.event, Event::ToolCall(_));
    let call = all.iter().position(is_call).unwrap();
    all.remove(call);
    if let Some(last) = all.last_mut() {
        last.at = Timestamp(1_000);
    }
    let mut pad = Scratchpad::new();
    for it in &all {
        pad.observe(it);
    }
    assert_eq!((pad.trouble.orphans, pad.trouble.clock), (1, 1));
    let files: Vec<String> =
        session(&pad).unwrap().files.into_iter().map(|it| it.path.to_string()).collect();
    assert_eq!(files, ["b.rs"]);
}

#[test]
fn taint_follows_the_order_of_events() {
    let pad = crate::script::pad("say before\nweb https://x.test\nsay after");
    let (order, what) = pad.external.clone().unwrap();
    assert_eq!(what, "https://x.test");
    assert!(!pad.is_tainted(order) && pad.is_tainted(order + 1));
}

/// The result comes first: it is counted, its call stays open, and what follows is seen.
#[test]
fn a_result_before_its_call_is_counted() {
    let mut all = events("read a.rs\nedit b.rs");
    all.swap(1, 2);
    let mut pad = Scratchpad::new();
    for it in &all {
        pad.observe(it);
    }
    assert_eq!(pad.trouble.orphans, 1);
    let states: Vec<State> = pad.calls.iter().map(|it| it.state).collect();
    assert_eq!(states, [State::Pending, State::Ok]);
}

/// Back to 1970, a century ahead, and no time at all: counted where it went back, and nothing is lost.
#[test]
fn a_clock_that_jumps_is_counted_and_every_event_stays() {
    let mut all = events("read a.rs\nedit b.rs\nrun make test");
    let century = 100 * 365 * model::DAY;
    all[2].at = Timestamp(all[2].at.0 + century);
    all[3].at = Timestamp(0);
    all[4].at = Timestamp(-5);
    all[5].at = Timestamp(1);
    let mut pad = Scratchpad::new();
    for it in &all {
        pad.observe(it);
    }
    assert_eq!((pad.trouble.clock, pad.calls.len()), (2, 3));
    assert_eq!(session(&pad).unwrap().files.len(), 2);
    let took: Vec<u32> = pad.calls.iter().map(|it| it.took_ms).collect();
    assert_eq!(took[1], 0, "time that ran backwards took none");
}

/// Whatever it repeats, every list has an end.
#[test]
fn a_session_that_never_ends_stays_within_its_bounds() {
    let all = events(&LINES.join("\n"));
    let mut pad = Scratchpad::new();
    for round in 0..1_500 {
        for it in &all {
            let mut it = it.clone();
            it.id = format!("{round}-{}", it.id);
            if let Event::ToolCall(call) = &mut it.event {
                // Half of them are never answered.
                call.call_id =
                    format!("{}-{}", if round % 2 == 0 { "x" } else { "" }, call.call_id);
            }
            if let Event::ToolResult(result) = &mut it.event {
                result.call_id = format!("-{}", result.call_id);
            }
            pad.observe(&it);
        }
    }
    assert!(pad.n_events() > 40_000 && pad.trouble.orphans > 0);
    let sizes = [
        (pad.seen.len(), MAX_SEEN),
        (pad.open.len(), 4096),
        (pad.failures.len(), MAX_FAILURES),
        (pad.stumbles.len(), MAX_FAILURES),
        (pad.remarks.len(), MAX_REMARKS),
        (pad.messages.len(), MAX_MESSAGES),
        (pad.listings.len(), 200),
        (pad.undone.len(), 200),
        (pad.compactions.len(), 1_000),
        (pad.edits.len(), 2),
        (pad.imports.len(), 4),
    ];
    for (nth, (size, most)) in sizes.iter().enumerate() {
        assert!(size <= most, "{nth}: {size} of {most}");
    }
    assert!(session(&pad).is_some() && !sightings(&pad, &Modules::default()).is_empty());
}
