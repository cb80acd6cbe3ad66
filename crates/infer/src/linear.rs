//! Linear layers of the encoder (`outputs = weights × inputs + bias`): 8-bit weights times 16-bit
//! inputs, summed as integers per group of sixty-four inputs, which share a scale.
//!
//! A row is the vector of one token. Weights are stored in panels. A panel holds the weights of sixteen
//! outputs, as groups of sixty-four inputs each; `simd` multiplies one panel with a few rows (a tile)
//! at a time:
//!
//! ```text
//!              inputs 0–63   64–127   …
//! outputs 0–15   group        group       panel 0
//! outputs 16–31  group        group       panel 1
//! ```

use model::CpuLevel;

use crate::math::QuantizedRows;
use crate::simd::{self, OUTPUT_LANES, WEIGHTS_PER_SCALE, WeightGroup};
use crate::weights::WeightMatrix;

/// The most rows that any instruction set puts into one tile.
const MAX_ROWS_PER_TILE: usize = 12;

pub(crate) struct LinearLayer {
    /// Panel by panel, each the groups of sixteen outputs in order of their inputs.
    groups: Vec<WeightGroup>,
    bias: Vec<f32>,
    groups_per_panel: usize,
}

impl LinearLayer {
    /// Reorders weights: the file stores them by output, the loops read sixteen outputs side by side.
    pub(crate) fn new(matrix: &WeightMatrix, bias: Vec<f32>) -> Self {
        let groups_per_panel = matrix.columns / WEIGHTS_PER_SCALE;
        let n_groups = bias.len() / OUTPUT_LANES * groups_per_panel;
        let pack_nth = |i: usize| {
            let (panel, group) = (i / groups_per_panel, i % groups_per_panel);
            pack_group(matrix, panel * OUTPUT_LANES, group * WEIGHTS_PER_SCALE)
        };
        Self { groups: (0..n_groups).map(pack_nth).collect(), bias, groups_per_panel }
    }

    pub(crate) fn n_outputs(&self) -> usize {
        self.bias.len()
    }

    /// Writes one row of outputs per row of inputs.
    pub(crate) fn apply(&self, acc: &mut [f32], level: CpuLevel, inputs: &QuantizedRows) {
        let n_rows = inputs.steps.len();
        let n_tiles = n_rows.div_ceil(simd::rows_per_tile(level));
        // A block of inputs meets one group of weights.
        let blocks_per_row = self.groups_per_panel;
        // A panel stays in the cache while all rows pass it.
        for (i, panel) in self.groups.chunks_exact(self.groups_per_panel).enumerate() {
            let first_output = i * OUTPUT_LANES;
            let bias = &self.bias[first_output..];
            for tile in 0..n_tiles {
                // Even sizes: a tile of one or two rows costs as much as one of four.
                let rows = n_rows * tile / n_tiles..n_rows * (tile + 1) / n_tiles;
                let mut sums = [[0.0; OUTPUT_LANES]; MAX_ROWS_PER_TILE];
                let sums = &mut sums[..rows.len()];
                let blocks = &inputs.blocks[rows.start * blocks_per_row..rows.end * blocks_per_row];
                simd::multiply_tile(level, sums, panel, blocks);
                // Undo the quantisation of the row and add the bias.
                for (row, sums) in rows.zip(sums) {
                    let start = row * self.n_outputs() + first_output;
                    for (lane, acc) in acc[start..start + OUTPUT_LANES].iter_mut().enumerate() {
                        *acc = sums[lane] * inputs.steps[row] + bias[lane];
                    }
                }
            }
        }
    }
}

/// The weights of sixteen outputs for sixty-four inputs, starting with these.
fn pack_group(matrix: &WeightMatrix, first_output: usize, first_input: usize) -> WeightGroup {
    let mut res = WeightGroup {
        weights: [[0; 2 * OUTPUT_LANES]; WEIGHTS_PER_SCALE / 2],
        scales: [0.0; OUTPUT_LANES],
    };
    for lane in 0..OUTPUT_LANES {
        let row = first_output + lane;
        res.scales[lane] = matrix.scale(row, first_input);
        let values = &matrix.values[row * matrix.columns + first_input..][..WEIGHTS_PER_SCALE];
        for (weights, pair) in res.weights.iter_mut().zip(values.as_chunks::<2>().0) {
            weights[2 * lane] = pair[0].cast_signed();
            weights[2 * lane + 1] = pair[1].cast_signed();
        }
    }
    res
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::quantize_rows;

    /// A small linear layer with weights and inputs that use their whole range.
    fn example(n_rows: usize) -> (LinearLayer, QuantizedRows) {
        const INPUTS: usize = 192;
        const OUTPUTS: usize = 48;
        // Linear congruential generator (Numerical Recipes).
        let mut state = 7_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        };
        let values: Vec<u8> = (0..INPUTS * OUTPUTS).map(|_| next()).collect();
        let scales: Vec<u8> = (0..INPUTS * OUTPUTS / WEIGHTS_PER_SCALE)
            .flat_map(|_| (f32::from(next()) / 3e4).to_le_bytes())
            .collect();
        let bias = (0..OUTPUTS).map(|_| f32::from(next())).collect();
        let rows: Vec<f32> = (0..n_rows * INPUTS).map(|_| f32::from(next()) - 128.0).collect();
        let matrix = WeightMatrix { values: values.leak(), scales: scales.leak(), columns: INPUTS };
        let mut inputs = QuantizedRows::default();
        quantize_rows(&mut inputs, &rows, INPUTS);
        (LinearLayer::new(&matrix, bias), inputs)
    }

    #[test]
    fn every_instruction_set_and_tile_size_gives_the_same_bits() {
        for n_rows in 1..=27 {
            let (linear, inputs) = example(n_rows);
            let outputs = |level| {
                let mut acc = vec![0.0; n_rows * linear.n_outputs()];
                linear.apply(&mut acc, level, &inputs);
                acc.into_iter().map(f32::to_bits).collect::<Vec<_>>()
            };
            let portable = outputs(CpuLevel::detect_available()[0]);
            for level in CpuLevel::detect_available() {
                assert!(simd::rows_per_tile(level) <= MAX_ROWS_PER_TILE);
                assert_eq!(outputs(level), portable, "{level:?}, {n_rows} rows");
            }
        }
    }

    #[test]
    fn a_layer_can_be_applied_to_no_rows() {
        let (linear, inputs) = example(0);
        linear.apply(&mut [], CpuLevel::detect_best(), &inputs);
    }
}
