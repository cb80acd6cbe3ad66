//! Statements of the agent and the user that a memory can be composed of: corrections, dead ends,
//! dependencies, preferences.
//!
//! Sentences are recognised by their words, in time linear in the text. Precision comes first: a
//! sentence that could be a plan or a status report is ignored.

mod causal;
mod correction;
mod dead_end;
mod fact;
mod preference;

pub use causal::causal_statements;
pub use correction::{corrections, is_correction};
pub use dead_end::{dead_ends, is_dead_end};
pub use fact::extract_fact;
pub use preference::{is_objection, standing_preferences};

/// The longest text that is searched, in bytes.
pub const MAX_TEXT_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    const HOSTILE: &[&str] = &[
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
        ("standing_preferences", |it| drop(standing_preferences(it))),
        ("is_objection", |it| _ = is_objection(it)),
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
            for piece in HOSTILE {
                let long = piece.repeat(MAX_TEXT_BYTES / piece.len());
                let short = &long[..long.floor_char_boundary(MAX_TEXT_BYTES / 16)];
                let (short, long) = (fastest_run(*detect, short), fastest_run(*detect, &long));
                let limit = short.max(Duration::from_micros(50)) * 64;
                assert!(long < limit, "{name} of {piece:?}: {short:?}, then {long:?}");
            }
        }
    }
}
