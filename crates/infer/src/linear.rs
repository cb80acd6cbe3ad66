//! Linear layers: 8-bit weights times 16-bit inputs, summed as integers per group of sixty-four.

use crate::maths::Quantised;
use crate::pack::Matrix;
use crate::simd::{self, GROUP, Group, LANES, Level};

/// The most rows any level puts into one tile.
const MAX_ROWS: usize = 12;

pub(crate) struct Linear {
    /// Panel by panel, each the groups of sixteen outputs in order of their inputs.
    groups: Vec<Group>,
    bias: Vec<f32>,
    groups_per_panel: usize,
}

impl Linear {
    /// The pack keeps weights output by output; the loops want sixteen outputs side by side.
    pub(crate) fn new(matrix: &Matrix, bias: Vec<f32>) -> Self {
        let groups_per_panel = matrix.columns / GROUP;
        let n_groups = bias.len() / LANES * groups_per_panel;
        let group = |i| lay_out(matrix, i / groups_per_panel * LANES, i % groups_per_panel * GROUP);
        Self { groups: (0..n_groups).map(group).collect(), bias, groups_per_panel }
    }

    pub(crate) fn n_outputs(&self) -> usize {
        self.bias.len()
    }

    /// Writes one row of outputs per row of inputs.
    pub(crate) fn apply(&self, acc: &mut [f32], level: Level, inputs: &Quantised) {
        let n_rows = inputs.steps.len();
        let n_tiles = n_rows.div_ceil(level.rows());
        for (i, panel) in self.groups.chunks_exact(self.groups_per_panel).enumerate() {
            for tile in 0..n_tiles {
                // Even sizes: a tile of one or two rows costs as much as one of four.
                let rows = n_rows * tile / n_tiles..n_rows * (tile + 1) / n_tiles;
                let mut sums = [[0.0; LANES]; MAX_ROWS];
                let sums = &mut sums[..rows.len()];
                let n = self.groups_per_panel;
                simd::tile(level, sums, panel, &inputs.blocks[rows.start * n..rows.end * n]);
                for (row, sums) in rows.zip(sums) {
                    let at = row * self.n_outputs() + i * LANES;
                    let bias = &self.bias[i * LANES..];
                    for (lane, acc) in acc[at..at + LANES].iter_mut().enumerate() {
                        *acc = sums[lane] * inputs.steps[row] + bias[lane];
                    }
                }
            }
        }
    }
}

fn lay_out(matrix: &Matrix, output: usize, input: usize) -> Group {
    let mut res = Group { weights: [[0; 2 * LANES]; GROUP / 2], scales: [0.0; LANES] };
    for lane in 0..LANES {
        let row = output + lane;
        res.scales[lane] = matrix.scale(row, input);
        let values = &matrix.values[row * matrix.columns + input..][..GROUP];
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
    use crate::maths::quantise;

    /// A small linear layer with weights and inputs that use their whole range.
    fn example(n_rows: usize) -> (Linear, Quantised) {
        const INPUTS: usize = 192;
        const OUTPUTS: usize = 48;
        let mut state = 7_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        };
        let values: Vec<u8> = (0..INPUTS * OUTPUTS).map(|_| next()).collect();
        let scales: Vec<u8> = (0..INPUTS * OUTPUTS / GROUP)
            .flat_map(|_| (f32::from(next()) / 3e4).to_le_bytes())
            .collect();
        let bias = (0..OUTPUTS).map(|_| f32::from(next())).collect();
        let rows: Vec<f32> = (0..n_rows * INPUTS).map(|_| f32::from(next()) - 128.0).collect();
        let matrix = Matrix { values: values.leak(), scales: scales.leak(), columns: INPUTS };
        let mut inputs = Quantised::default();
        quantise(&mut inputs, &rows, INPUTS);
        (Linear::new(&matrix, bias), inputs)
    }

    #[test]
    fn every_level_and_every_tile_gives_the_same_bits() {
        for n_rows in 1..=27 {
            let (linear, inputs) = example(n_rows);
            let outputs = |level| {
                let mut acc = vec![0.0; n_rows * linear.n_outputs()];
                linear.apply(&mut acc, level, &inputs);
                acc.into_iter().map(f32::to_bits).collect::<Vec<_>>()
            };
            let plain = outputs(Level::available()[0]);
            for level in Level::available() {
                assert!(level.rows() <= MAX_ROWS);
                assert_eq!(outputs(level), plain, "{level:?}, {n_rows} rows");
            }
        }
    }

    #[test]
    fn no_rows_are_no_work() {
        let (linear, inputs) = example(0);
        linear.apply(&mut [], Level::best(), &inputs);
    }
}
