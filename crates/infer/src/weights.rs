//! The file with the weights and the vocabulary of the built-in model, embedded in the program.
//!
//! Header, tokenizer tables, then tensors, which are read one after another in a fixed order. The
//! layout is known at compile time, so the header is not parsed; a test compares it with this code.
//! See `model/README.md` for the format.

use std::ops::Range;

use crate::simd::WEIGHTS_PER_SCALE;

static WEIGHTS_FILE: &[u8] = include_bytes!("../model/granite-embedding-30m-english.int8.pack");

/// Magic, length of the header, and the header itself.
const HEADER_BYTES: usize = 16 + 6492;
/// 16-bit token ids: one per byte value, then three per merge rule.
const TOKENIZER_BYTES: usize = 2 * (256 + 3 * N_MERGES);
const N_MERGES: usize = 50_000;

/// 8-bit weights, row after row, with a scale for every sixty-four.
pub(crate) struct WeightMatrix {
    pub(crate) values: &'static [u8],
    /// Little-endian floats; they are not aligned in the file, so they are read one by one.
    pub(crate) scales: &'static [u8],
    pub(crate) columns: usize,
}

/// Reads tensors in the order of the file.
pub(crate) struct WeightReader {
    rest: &'static [u8],
}

impl WeightMatrix {
    /// The scale of the group that a weight belongs to.
    pub(crate) fn scale(&self, row: usize, column: usize) -> f32 {
        let group = (row * self.columns + column) / WEIGHTS_PER_SCALE;
        f32::from_le_bytes(self.scales.as_chunks().0[group])
    }
}

impl WeightReader {
    /// Starts at the first tensor.
    pub(crate) fn new() -> Self {
        Self { rest: &WEIGHTS_FILE[HEADER_BYTES + TOKENIZER_BYTES..] }
    }

    pub(crate) fn read_matrix(&mut self, rows: usize, columns: usize) -> WeightMatrix {
        let values = self.take_bytes(rows * columns);
        let scales = self.take_bytes(rows * columns / WEIGHTS_PER_SCALE * 4);
        WeightMatrix { values, scales, columns }
    }

    pub(crate) fn read_floats(&mut self, n: usize) -> Vec<f32> {
        self.take_bytes(n * 4).as_chunks().0.iter().map(|it| f32::from_le_bytes(*it)).collect()
    }

    pub(crate) const fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    fn take_bytes(&mut self, n: usize) -> &'static [u8] {
        let (res, rest) = self.rest.split_at(n);
        self.rest = rest;
        res
    }
}

/// The tokens of single bytes.
pub(crate) fn byte_tokens() -> impl Iterator<Item = u16> {
    read_shorts(0..256)
}

/// Left token, right token and the token that replaces them, in order of precedence.
pub(crate) fn merge_rules() -> impl Iterator<Item = [u16; 3]> {
    let mut shorts = read_shorts(256..256 + 3 * N_MERGES);
    std::iter::from_fn(move || Some([shorts.next()?, shorts.next()?, shorts.next()?]))
}

fn read_shorts(range: Range<usize>) -> impl Iterator<Item = u16> {
    let table = WEIGHTS_FILE[HEADER_BYTES..HEADER_BYTES + TOKENIZER_BYTES].as_chunks().0;
    table[range].iter().map(|it| u16::from_le_bytes(*it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn the_weights_file_is_the_one_that_was_measured() {
        let hash = blake3::hash(WEIGHTS_FILE).to_string();
        assert_eq!(hash, "d089b200ce0b47172fe1dbc839dfe5fce5f69c83d74809341fde153b0d6cc6ac");
    }

    #[test]
    fn the_header_agrees_with_the_constants_of_the_code() {
        assert_eq!(&WEIGHTS_FILE[..8], b"EMBPACK2");
        let length = u64::from_le_bytes(WEIGHTS_FILE[8..16].try_into().unwrap());
        assert_eq!(16 + usize::try_from(length).unwrap(), HEADER_BYTES);
        let header: Value = serde_json::from_slice(&WEIGHTS_FILE[16..HEADER_BYTES]).unwrap();
        assert_eq!(header["tokenizer_len"], TOKENIZER_BYTES);
        assert_eq!(header["merges"], N_MERGES);
        assert_eq!(header["pooling"], "cls");
        assert_eq!((&header["heads"], &header["layers"]), (&12.into(), &6.into()));
        assert_eq!((&header["eps"], &header["position_offset"]), (&1e-12.into(), &2.into()));

        let tensors = header["tensors"].as_array().unwrap();
        let names: Vec<&str> = tensors.iter().map(|it| it["name"].as_str().unwrap()).collect();
        let mut expected = vec!["word_emb", "pos_emb", "type_emb", "emb_ln.w", "emb_ln.b"];
        let layers: Vec<String> = (0..6)
            .flat_map(|i| ["qkv", "ao", "aln", "f1", "f2", "fln"].map(|it| format!("l{i}.{it}")))
            .flat_map(|it| [format!("{it}.w"), format!("{it}.b")])
            .collect();
        expected.extend(layers.iter().map(String::as_str));
        assert_eq!(names, expected);
    }
}
