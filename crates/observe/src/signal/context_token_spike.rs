//! Detects the signal `context_token_spike`: a file whose reads cost far more tokens than those of other
//! files.
//!
//! Input is the scratchpad, the log of one session. Each such file becomes a sighting: the key, by which
//! sessions are compared, is the path; the evidence has the average tokens of one read. Example: 30,000
//! bytes of `big.json` among twenty small files have the key `big.json` and 7,500 tokens.

use crate::evidence::Evidence;
use crate::facts::file_uses;
use crate::pattern_key::PatternKey;
use crate::sighting::{Sighting, to_path};
use crate::{ModuleLookup, Scratchpad};

/// A token is about four bytes of code.
const BYTES_PER_TOKEN: u64 = 4;
/// A cheaper read is no spike, however small the other files are.
const MIN_SPIKE_TOKENS: u64 = 6_000;
/// A spike also costs at least this multiple of the session's average read.
const SPIKE_FACTOR: u64 = 4;

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    let uses = file_uses(pad);
    let n_bytes: u64 = uses.values().map(|it| it.bytes_read).sum();
    let n_reads: u64 = uses.values().map(|it| u64::from(it.n_reads)).sum();
    // Both sides are per read: a file that is read in parts is not expensive.
    let average = n_bytes / BYTES_PER_TOKEN / n_reads.max(1);
    for (file, file_use) in uses {
        // Only edited: it brought no content into the context.
        if file_use.n_reads == 0 {
            continue;
        }
        let tokens = file_use.bytes_read / BYTES_PER_TOKEN / u64::from(file_use.n_reads);
        if tokens < MIN_SPIKE_TOKENS || tokens < average * SPIKE_FACTOR {
            continue;
        }
        if let Some(file) = to_path(pad, file) {
            let key = PatternKey::context_token_spike(&file);
            acc.push(Sighting::new(key, Evidence::ContextTokenSpike { file, tokens }));
        }
    }
}

#[cfg(test)]
mod tests {
    //! `check` takes a session as a script, one event per line (notation: `test_script`), and the expected
    //! sightings, one per line: `KEY ×OCCURRENCES [tainted] EVIDENCE`, the evidence as stored JSON.

    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::ContextTokenSpike;

    #[test]
    fn a_file_far_above_the_average_is_a_sighting() {
        let large = "x".repeat(30_000);
        let small: Vec<String> = (0..20).map(|it| format!("read s{it}.rs: small")).collect();
        let small = small.join("\n") + "\n";
        check(
            ContextTokenSpike,
            &format!("{small}read big.json: {large}"),
            expect![[r#"
            big.json ×1 {"files":["big.json"],"number":7500}
        "#]],
        );
        // The only file is the average itself.
        check(ContextTokenSpike, &format!("read big.json: {large}"), expect![""]);
        check(ContextTokenSpike, &small, expect![""]);
    }
}
