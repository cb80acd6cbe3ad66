//! What was said that a memory can be made of: corrections, dead ends, dependencies, wishes.
//!
//! Everything here looks at sentences by their words, in time linear in the text. Precision first: a
//! sentence that could be a plan or a status report is left alone.

mod causal;
mod correction;
mod dead_end;
mod fact;
mod wish;

pub use causal::causal;
pub use correction::{corrections, revises};
pub use dead_end::{abandons, gives_up};
pub use fact::fact_in;
pub use wish::{corrects, wish};

/// The longest text looked at, in bytes.
pub const MAX_TEXT: usize = 64 << 10;

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

    type Listener = (&'static str, fn(&str));

    const LISTENERS: &[Listener] = &[
        ("corrections", |it| drop(corrections(it))),
        ("gives_up", |it| drop(gives_up(it))),
        ("causal", |it| drop(causal(it))),
        ("wish", |it| drop(wish(it))),
        ("corrects", |it| _ = corrects(it)),
        ("sentences", |it| drop(crate::sentences(it))),
        ("failure", |it| drop(crate::failure("make", it))),
        ("deeds", |it| drop(crate::shell::deeds(it))),
    ];

    /// The quickest of several, so that what else the machine does says nothing.
    #[expect(clippy::disallowed_methods, reason = "two times are compared, none is promised")]
    fn quickest(listen: fn(&str), text: &str) -> Duration {
        let once = |_| {
            let started = Instant::now();
            listen(text);
            started.elapsed()
        };
        (0..4).map(once).min().unwrap_or_default()
    }

    /// Sixteen times the text takes about sixteen times as long; what is quadratic takes 256 times. How
    /// long 64 KiB take is measured by `waylore-bench observe`.
    #[test]
    fn hostile_text_takes_linear_time() {
        for (name, listen) in LISTENERS {
            for piece in HOSTILE {
                let long = piece.repeat(MAX_TEXT / piece.len());
                let short = &long[..long.floor_char_boundary(MAX_TEXT / 16)];
                let (short, long) = (quickest(*listen, short), quickest(*listen, &long));
                let bearable = short.max(Duration::from_micros(50)) * 64;
                assert!(long < bearable, "{name} of {piece:?}: {short:?}, then {long:?}");
            }
        }
    }
}
