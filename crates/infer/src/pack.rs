//! The weights, as they lie in the program.
//!
//! The pack is part of the program like a table, so its layout is known here and its header is
//! not read; a test holds the header against this reading. See `model/README.md` for the format.

use std::ops::Range;

use crate::simd::GROUP;

static PACK: &[u8] = include_bytes!("../model/granite-embedding-30m-english.int8.pack");

/// Magic, length of the header, and the header itself.
const HEADER: usize = 16 + 6492;
/// One id per byte, then three per merge.
const TOKENIZER: usize = 2 * (256 + 3 * N_MERGES);
const N_MERGES: usize = 50_000;

/// 8-bit weights, row after row, with a scale for every sixty-four.
pub(crate) struct Matrix {
    pub(crate) values: &'static [u8],
    /// Little-endian floats; they lie unaligned, so they are read one by one.
    pub(crate) scales: &'static [u8],
    pub(crate) columns: usize,
}

/// What of the pack has not been read yet; tensors are read in their order.
pub(crate) struct Reader {
    rest: &'static [u8],
}

impl Matrix {
    pub(crate) fn scale(&self, row: usize, column: usize) -> f32 {
        let group = (row * self.columns + column) / GROUP;
        f32::from_le_bytes(self.scales.as_chunks().0[group])
    }
}

impl Reader {
    /// Stands before the first tensor.
    pub(crate) fn new() -> Self {
        Self { rest: &PACK[HEADER + TOKENIZER..] }
    }

    pub(crate) fn matrix(&mut self, rows: usize, columns: usize) -> Matrix {
        let values = self.take(rows * columns);
        let scales = self.take(rows * columns / GROUP * 4);
        Matrix { values, scales, columns }
    }

    pub(crate) fn floats(&mut self, n: usize) -> Vec<f32> {
        self.take(n * 4).as_chunks().0.iter().map(|it| f32::from_le_bytes(*it)).collect()
    }

    pub(crate) const fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    fn take(&mut self, n: usize) -> &'static [u8] {
        let (res, rest) = self.rest.split_at(n);
        self.rest = rest;
        res
    }
}

/// The tokens of single bytes.
pub(crate) fn byte_tokens() -> impl Iterator<Item = u16> {
    shorts(0..256)
}

/// Left token, right token and what they become, most urgent first.
pub(crate) fn merges() -> impl Iterator<Item = [u16; 3]> {
    let mut shorts = shorts(256..256 + 3 * N_MERGES);
    std::iter::from_fn(move || Some([shorts.next()?, shorts.next()?, shorts.next()?]))
}

fn shorts(range: Range<usize>) -> impl Iterator<Item = u16> {
    let table = PACK[HEADER..HEADER + TOKENIZER].as_chunks().0;
    table[range].iter().map(|it| u16::from_le_bytes(*it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn the_pack_is_the_one_that_was_measured() {
        let hash = blake3::hash(PACK).to_string();
        assert_eq!(hash, "d089b200ce0b47172fe1dbc839dfe5fce5f69c83d74809341fde153b0d6cc6ac");
    }

    #[test]
    fn the_header_says_what_the_code_assumes() {
        assert_eq!(&PACK[..8], b"EMBPACK2");
        let length = u64::from_le_bytes(PACK[8..16].try_into().unwrap());
        assert_eq!(16 + usize::try_from(length).unwrap(), HEADER);
        let header: Value = serde_json::from_slice(&PACK[16..HEADER]).unwrap();
        assert_eq!(header["tokenizer_len"], TOKENIZER);
        assert_eq!(header["merges"], N_MERGES);
        assert_eq!(header["pooling"], "cls");
        assert_eq!((&header["heads"], &header["layers"]), (&12.into(), &6.into()));
        assert_eq!((&header["eps"], &header["position_offset"]), (&1e-12.into(), &2.into()));

        let tensors = header["tensors"].as_array().unwrap();
        let names: Vec<&str> = tensors.iter().map(|it| it["name"].as_str().unwrap()).collect();
        let mut wanted = vec!["word_emb", "pos_emb", "type_emb", "emb_ln.w", "emb_ln.b"];
        let layers: Vec<String> = (0..6)
            .flat_map(|i| ["qkv", "ao", "aln", "f1", "f2", "fln"].map(|it| format!("l{i}.{it}")))
            .flat_map(|it| [format!("{it}.w"), format!("{it}.b")])
            .collect();
        wanted.extend(layers.iter().map(String::as_str));
        assert_eq!(names, wanted);
    }
}
