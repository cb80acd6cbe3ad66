//! Files that cost far more tokens than others.

use model::SignalKind;

use crate::facts::file_uses;
use crate::sighting::{Evidence, Sighting, paths};
use crate::{Modules, Scratchpad};

/// A token is about four bytes of code.
const BYTES: u64 = 4;
/// Large is this many tokens a read, and four times the session's average.
const LARGE: u64 = 6_000;
const TIMES: u64 = 4;

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &Modules) {
    let uses = file_uses(pad);
    let (bytes, reads) =
        uses.values().fold((0, 0), |acc, it| (acc.0 + it.bytes, acc.1 + u64::from(it.n_reads)));
    let average = bytes / BYTES / reads.max(1);
    for (name, it) in uses.into_iter().filter(|it| it.1.n_reads > 0) {
        let tokens = it.bytes / BYTES / u64::from(it.n_reads);
        if tokens >= LARGE && tokens >= average * TIMES {
            let key = pad.names.text(name).to_owned();
            let evidence =
                Evidence { files: paths(pad, [name]), number: tokens, ..Evidence::default() };
            acc.push(Sighting::new(SignalKind::ContextTokenSpike, key, evidence));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::ContextTokenSpike;

    #[test]
    fn a_file_far_above_the_average_is_seen() {
        let large = "x".repeat(30_000);
        let few: Vec<String> = (0..20).map(|it| format!("read s{it}.rs: small")).collect();
        let few = few.join("\n") + "\n";
        check(
            ContextTokenSpike,
            &format!("{few}read big.json: {large}"),
            expect![[r#"
            big.json ×1 {"files":["big.json"],"number":7500}
        "#]],
        );
        check(ContextTokenSpike, &format!("read big.json: {large}"), expect![""]);
        check(ContextTokenSpike, &few, expect![""]);
    }
}
