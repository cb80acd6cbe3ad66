//! The secret scanner on text without secrets: what every stored text pays.

use std::time::Instant;

use crate::clock::times;
use crate::table::{Row, row};

#[expect(clippy::unnecessary_wraps, reason = "every benchmark has the same shape")]
pub(crate) fn run() -> anyhow::Result<Vec<Row>> {
    secrets::warm();
    let text: String = (0..20_000).map(|it| crate::store::memory(it).content + "\n").collect();
    let start = Instant::now();
    let found = secrets::scan(&text).len();
    let rate = text.len() as f64 / 1e6 / start.elapsed().as_secs_f64();
    let start = Instant::now();
    let copied =
        text.bytes().fold(0_u64, |acc, it| acc.wrapping_mul(31).wrapping_add(u64::from(it)));
    let walk = text.len() as f64 / 1e6 / start.elapsed().as_secs_f64();
    let piece = &text[..2048];
    let small = times(2_000, |_| {
        std::hint::black_box(secrets::scan(std::hint::black_box(piece)));
    });
    std::hint::black_box(copied);
    Ok(vec![
        row(
            format!("secret scan of {} MB ({found} found)", text.len() / 1_000_000),
            format!("{rate:.0} MB/s"),
            "≥ 20 MB/s",
            format!("one multiply a byte: {walk:.0} MB/s"),
        ),
        row("secret scan of 2 KiB, warm", small.both(), "< 1 ms", ""),
    ])
}
