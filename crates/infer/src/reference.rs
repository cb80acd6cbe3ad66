//! A second implementation of the encoder, for tests only: one text, double precision, written as in a
//! textbook. It shares only the weights file with the fast implementation, so that a mistake is
//! unlikely to be in both.

use crate::DIMS;
use crate::weights::{WeightMatrix, WeightReader};

/// The vector of one token.
type Row = Vec<f64>;

/// Width of one of the twelve attention heads.
const HEAD_WIDTH: usize = 32;

/// The unit vector of a text.
pub(crate) fn embed(tokens: &[u16]) -> Row {
    // Embeddings: token, position (the first two positions are reserved) and token type.
    let mut reader = WeightReader::new();
    let token_embeddings = reader.read_matrix(50_265, DIMS);
    let positions = reader.read_floats(514 * DIMS);
    let token_types = reader.read_floats(2 * DIMS);
    let embedding = |(i, token): (usize, &u16)| {
        let number = |j| {
            weight(&token_embeddings, usize::from(*token), j)
                + f64::from(positions[(i + 2) * DIMS + j])
                + f64::from(token_types[j])
        };
        (0..DIMS).map(number).collect()
    };
    let mut rows: Vec<Row> = tokens.iter().enumerate().map(embedding).collect();
    layer_norm(&mut reader, &mut rows);

    for _ in 0..6 {
        // Attention with residual connection.
        let qkv = linear(&mut reader, &rows, 3 * DIMS);
        let attention_output = linear(&mut reader, &attention(&qkv), DIMS);
        add_rows(&mut rows, &attention_output);
        layer_norm(&mut reader, &mut rows);
        // Feed-forward network with GELU and residual connection.
        let mut wide = linear(&mut reader, &rows, 4 * DIMS);
        wide.iter_mut().flatten().for_each(|it| *it *= 0.5 * (1.0 + erf(*it / 2_f64.sqrt())));
        let narrow = linear(&mut reader, &wide, DIMS);
        add_rows(&mut rows, &narrow);
        layer_norm(&mut reader, &mut rows);
    }

    // The first token stands for the text.
    let length = rows[0].iter().map(|it| it * it).sum::<f64>().sqrt();
    rows[0].iter().map(|it| it / length).collect()
}

fn weight(matrix: &WeightMatrix, row: usize, column: usize) -> f64 {
    let value = matrix.values[row * matrix.columns + column].cast_signed();
    f64::from(value) * f64::from(matrix.scale(row, column))
}

fn linear(reader: &mut WeightReader, inputs: &[Row], n_outputs: usize) -> Vec<Row> {
    let n_inputs = inputs[0].len();
    let matrix = reader.read_matrix(n_outputs, n_inputs);
    let bias = reader.read_floats(n_outputs);
    let mut res = vec![vec![0.0; n_outputs]; inputs.len()];
    for output in 0..n_outputs {
        let weights: Row = (0..n_inputs).map(|it| weight(&matrix, output, it)).collect();
        for (row, inputs) in res.iter_mut().zip(inputs) {
            row[output] = dot(&weights, inputs) + f64::from(bias[output]);
        }
    }
    res
}

/// Softmax attention; a row of `qkv` is query, key and value of a token.
fn attention(qkv: &[Row]) -> Vec<Row> {
    let mut res = vec![vec![0.0; DIMS]; qkv.len()];
    for head_start in (0..DIMS).step_by(HEAD_WIDTH) {
        for (i, acc) in res.iter_mut().enumerate() {
            let query = &qkv[i][head_start..head_start + HEAD_WIDTH];
            let score = |token: &Row| {
                let key = &token[DIMS + head_start..][..HEAD_WIDTH];
                (dot(query, key) / 32_f64.sqrt()).exp()
            };
            let scores: Row = qkv.iter().map(score).collect();
            let total: f64 = scores.iter().sum();
            for (score, token) in scores.iter().zip(qkv) {
                let value = &token[2 * DIMS + head_start..][..HEAD_WIDTH];
                for (j, number) in value.iter().enumerate() {
                    acc[head_start + j] += score / total * number;
                }
            }
        }
    }
    res
}

fn layer_norm(reader: &mut WeightReader, rows: &mut [Row]) {
    let (weight, bias) = (reader.read_floats(DIMS), reader.read_floats(DIMS));
    for row in rows {
        let mean = row.iter().sum::<f64>() / 384.0;
        let variance = row.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / 384.0;
        for (i, it) in row.iter_mut().enumerate() {
            *it = (*it - mean) / (variance + 1e-12).sqrt() * f64::from(weight[i])
                + f64::from(bias[i]);
        }
    }
}

fn add_rows(acc: &mut [Row], other: &[Row]) {
    for (acc, it) in acc.iter_mut().flatten().zip(other.iter().flatten()) {
        *acc += it;
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The error function by its Taylor series; beyond 4 it equals one in double precision's first seven
/// digits.
fn erf(x: f64) -> f64 {
    if x.abs() > 4.0 {
        return x.signum();
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..100 {
        let n = f64::from(n);
        term *= -x * x / n;
        sum += term / (2.0 * n + 1.0);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}
