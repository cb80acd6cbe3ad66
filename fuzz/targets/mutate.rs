//! Replays the seeds and a few thousand small mutations of them, the same in every run.

use std::fs;
use std::path::Path;

/// Byte sequences that are significant to a parser.
const PIECES: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b"\n",
    b"\0",
    b"null",
    b"-1",
    b"1e999",
    b"\xff",
    b"../",
    b"\xf0\x9f\xa6\x80",
];

/// Runs the seeds of a target, then `rounds` mutations of them.
pub(crate) fn replay(target: &str, rounds: usize, run: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let entries = fs::read_dir(&folder).expect("every target has seeds");
    let mut files: Vec<_> = entries.flatten().map(|it| it.path()).collect();
    files.sort();
    let seeds: Vec<Vec<u8>> = files.iter().filter_map(|it| fs::read(it).ok()).collect();
    assert!(!seeds.is_empty(), "{}", folder.display());
    for seed in &seeds {
        run(seed);
    }
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..rounds {
        let mut below = |n: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % u64::try_from(n.max(1)).unwrap_or(1)).unwrap_or(0)
        };
        let mut data = seeds[below(seeds.len())].clone();
        for _ in 0..=below(4) {
            let (at, to) = (below(data.len() + 1), below(data.len() + 1));
            match below(5) {
                0 => drop(data.drain(at.min(to)..at.max(to))),
                1 => drop(data.splice(at..at, PIECES[below(PIECES.len())].iter().copied())),
                2 if at < data.len() => data[at] ^= 1 << below(8),
                3 => data.extend_from_within(at.min(to)..at.max(to).min(at.min(to) + 200)),
                _ => {
                    let other = &seeds[below(seeds.len())];
                    let from = below(other.len() + 1);
                    data.truncate(at);
                    data.extend_from_slice(&other[from..]);
                }
            }
            data.truncate(64 << 10);
        }
        run(&data);
    }
}
