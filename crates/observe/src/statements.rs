//! Finds statements of the agent that a memory can be composed of: corrections, dead ends,
//! dependencies.
//!
//! One file per kind of statement. Each has lists of cues, which are words and phrases in lower case,
//! and rules for how a sentence must contain them. No model is involved, and the time is linear in the
//! text. Precision comes first: a sentence that could be a plan or a status report is ignored. The
//! scratchpad (the log of one session) calls these functions for every message. Example: "I see. Wait, I was
//! wrong: `total()` returns cents, not euros." → the second sentence is a correction.

mod causal;
mod correction;
mod dead_end;
mod fact;

pub use causal::{CausalSentence, causal_statements};
pub use correction::{corrections, is_correction};
pub use dead_end::{dead_ends, is_dead_end};
pub use fact::extract_fact;

/// The longest text that is searched, in bytes.
pub const MAX_TEXT_BYTES: usize = 64 << 10;
/// The longest sentence that is stored or compared, in bytes. Longer ones are pasted text.
pub(crate) const MAX_SENTENCE_BYTES: usize = 400;

/// Marks the first byte of each cue in a table of all bytes. One lookup then rejects most sentences before
/// any cue is compared. (`while`, because a `const fn` cannot use iterators.)
const fn mark_first_bytes(mut table: [bool; 256], cues: &[&str]) -> [bool; 256] {
    let mut nth = 0;
    while nth < cues.len() {
        table[cues[nth].as_bytes()[0] as usize] = true;
        nth += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// Pieces that begin many cues, sentences or quotes when they are repeated.
    const HOSTILE_PIECES: &[&str] = &[
        "wait, ",
        "actually, ",
        "`",
        ". ",
        "a.b.c.",
        "whenever i touch ",
        "await ",
        "no, ",
        "\n",
        "i was wrong about ",
        "…",
        "```\n",
        "this approach won't work ",
    ];

    type Detector = (&'static str, fn(&str));

    const DETECTORS: &[Detector] = &[
        ("corrections", |it| drop(corrections(it))),
        ("dead_ends", |it| drop(dead_ends(it))),
        ("causal_statements", |it| drop(causal_statements(it))),
        ("hear_person", |it| {
            let after = crate::Preceding::Work;
            drop(crate::hear_person(it, crate::PersonMoment { after, is_first: false }));
        }),
        ("is_objection", |it| _ = crate::person::is_objection(it)),
        ("split_sentences", |it| drop(crate::split_sentences(it))),
        ("recognise_error", |it| drop(crate::recognise_error("make", it))),
        ("find_effects", |it| drop(crate::shell::find_effects(it))),
    ];

    /// The fastest of several runs, so that other load on the machine does not count.
    #[expect(clippy::disallowed_methods, reason = "two times are compared, none is promised")]
    fn fastest_run(detect: fn(&str), text: &str) -> Duration {
        let once = |_| {
            let started = Instant::now();
            detect(text);
            started.elapsed()
        };
        (0..4).map(once).min().unwrap_or_default()
    }

    /// Sixteen times the text takes about sixteen times as long; quadratic code would take 256 times as
    /// long. `waylore-bench observe` measures the time for 64 KiB.
    #[test]
    fn hostile_text_takes_linear_time() {
        for (name, detect) in DETECTORS {
            for piece in HOSTILE_PIECES {
                let long = piece.repeat(MAX_TEXT_BYTES / piece.len());
                let short = &long[..long.floor_char_boundary(MAX_TEXT_BYTES / 16)];
                let (short, long) = (fastest_run(*detect, short), fastest_run(*detect, &long));
                // Half-way between linear and quadratic. Times below 50 µs are too short to compare.
                let limit = short.max(Duration::from_micros(50)) * 64;
                assert!(long < limit, "{name} of {piece:?}: {short:?}, then {long:?}");
            }
        }
    }
}
