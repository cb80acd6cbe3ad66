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
    use std::time::Instant;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the promise is about time")]
    fn hostile_text_takes_linear_time() {
        let pieces = [
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
        for piece in pieces {
            let text = piece.repeat(MAX_TEXT / piece.len());
            let started = Instant::now();
            for _ in 0..3 {
                corrections(&text);
                gives_up(&text);
                causal(&text);
                wish(&text);
            }
            let took = started.elapsed() / 12;
            // Ten times the promise, for machines that are busy and builds that are not optimised.
            assert!(took.as_millis() < 10, "{piece:?}: {took:?}");
        }
    }
}
