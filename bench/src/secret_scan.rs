//! The secret scanner on text without secrets: the cost for every stored text.

use std::time::Instant;

use crate::table::{BenchRow, row};
use crate::timing::time_rounds;

#[expect(clippy::unnecessary_wraps, reason = "every benchmark has the same signature")]
pub(crate) fn run() -> anyhow::Result<Vec<BenchRow>> {
    // The patterns are compiled once per process; that is not measured.
    secrets::compile_all();
    let text: String =
        (0..20_000).map(|it| crate::store::generated_memory(it).content + "\n").collect();
    let start = Instant::now();
    let n_found = secrets::scan(&text).len();
    let rate = text.len() as f64 / 1e6 / start.elapsed().as_secs_f64();

    // Baseline: the least work that looks at every byte.
    let start = Instant::now();
    let mut checksum = 0_u64;
    for byte in text.bytes() {
        checksum = checksum.wrapping_mul(31).wrapping_add(u64::from(byte));
    }
    // Used, so that the compiler does not drop the loop.
    std::hint::black_box(checksum);
    let walk_rate = text.len() as f64 / 1e6 / start.elapsed().as_secs_f64();

    let piece = &text[..2048];
    let small = time_rounds(2_000, |_| {
        std::hint::black_box(secrets::scan(std::hint::black_box(piece)));
    });
    Ok(vec![
        row(
            format!("secret scan of {} MB ({n_found} found)", text.len() / 1_000_000),
            format!("{rate:.0} MB/s"),
            "≥ 20 MB/s",
            format!("one multiplication per byte: {walk_rate:.0} MB/s"),
        ),
        row("secret scan of 2 KiB, warm", small.format_p50_p99(), "< 1 ms", ""),
    ])
}
