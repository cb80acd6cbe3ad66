//! The past as bytes, as facts are.

use super::{Past, Tie};
use crate::facts::{Reader, Writer};

/// The words and the files of a commit. Both are sorted, so that differences are written.
pub fn encode_past(past: &Past) -> (Vec<u8>, Vec<u8>) {
    let words = past.words.iter().flat_map(|it| it.to_le_bytes()).collect();
    let (mut to, mut before) = (Writer::default(), 0);
    for it in &past.files {
        to.small(it - before);
        before = *it;
    }
    (words, to.0)
}

pub fn decode_past(at: i64, words: &[u8], files: &[u8]) -> Option<Past> {
    let (words, rest) = words.as_chunks::<4>();
    let words =
        rest.is_empty().then(|| words.iter().map(|it| u32::from_le_bytes(*it)).collect())?;
    let (mut from, mut before, mut numbers) = (Reader(files), 0_u32, Vec::new());
    while !from.0.is_empty() {
        before = before.checked_add(from.small()?)?;
        numbers.push(before);
    }
    Some(Past { at, words, files: numbers })
}

/// Partners, strongest first.
pub fn encode_ties(together: &[Tie]) -> Vec<u8> {
    let mut to = Writer::default();
    for it in together {
        to.text(&it.path);
        to.small(it.strength.to_bits());
        to.small(it.n);
    }
    to.0
}

pub fn decode_ties(bytes: &[u8]) -> Option<Vec<Tie>> {
    let (mut from, mut res) = (Reader(bytes), Vec::new());
    while !from.0.is_empty() {
        let path = from.text()?.to_owned();
        let strength = Some(f32::from_bits(from.small()?)).filter(|it| it.is_finite())?;
        res.push(Tie { path, strength, n: from.small()? });
    }
    Some(res)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let past = Past { at: 7, words: vec![1, u32::MAX], files: vec![3, 4, 900] };
        let (words, files) = encode_past(&past);
        assert_eq!(decode_past(7, &words, &files), Some(past));
        assert_eq!(decode_past(7, &[1, 2], &files), None);
        assert_eq!(decode_past(7, &words, &[0xff]), None);
        let ties = vec![Tie { path: "a/b.rs".to_owned(), strength: 0.25, n: 3 }];
        assert_eq!(decode_ties(&encode_ties(&ties)), Some(ties));
        assert_eq!(decode_ties(&[9]), None);
    }
}
