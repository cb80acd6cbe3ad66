//! The network once more, as a textbook has it: one text, double precision, no cleverness. For tests only.
//!
//! It shares nothing with the fast one but the bytes of the pack.

use crate::DIMS;
use crate::weights::{WeightMatrix, WeightReader};

type Row = Vec<f64>;

pub(crate) fn embed(tokens: &[u16]) -> Row {
    let mut reader = WeightReader::new();
    let words = reader.read_matrix(50_265, DIMS);
    let positions = reader.read_floats(514 * DIMS);
    let types = reader.read_floats(2 * DIMS);
    let row = |(i, token): (usize, &u16)| {
        let at = |j| {
            weight(&words, usize::from(*token), j)
                + f64::from(positions[(i + 2) * DIMS + j])
                + f64::from(types[j])
        };
        (0..DIMS).map(at).collect()
    };
    let mut rows: Vec<Row> = tokens.iter().enumerate().map(row).collect();
    norm(&mut reader, &mut rows);
    for _ in 0..6 {
        let qkv = linear(&mut reader, &rows, 3 * DIMS);
        let mixed = linear(&mut reader, &attend(&qkv), DIMS);
        add(&mut rows, &mixed);
        norm(&mut reader, &mut rows);
        let mut wide = linear(&mut reader, &rows, 4 * DIMS);
        wide.iter_mut().flatten().for_each(|it| *it *= 0.5 * (1.0 + erf(*it / 2_f64.sqrt())));
        let narrow = linear(&mut reader, &wide, DIMS);
        add(&mut rows, &narrow);
        norm(&mut reader, &mut rows);
    }
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

fn attend(qkv: &[Row]) -> Vec<Row> {
    let mut res = vec![vec![0.0; DIMS]; qkv.len()];
    for (head, acc) in (0..DIMS).step_by(32).flat_map(|head| (0..qkv.len()).map(move |i| (head, i)))
    {
        let query = &qkv[acc][head..head + 32];
        let score = |it: &Row| (dot(query, &it[DIMS + head..][..32]) / 32_f64.sqrt()).exp();
        let scores: Row = qkv.iter().map(score).collect();
        let total: f64 = scores.iter().sum();
        for (score, token) in scores.iter().zip(qkv) {
            for i in 0..32 {
                res[acc][head + i] += score / total * token[2 * DIMS + head + i];
            }
        }
    }
    res
}

fn norm(reader: &mut WeightReader, rows: &mut [Row]) {
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

fn add(acc: &mut [Row], other: &[Row]) {
    for (acc, it) in acc.iter_mut().flatten().zip(other.iter().flatten()) {
        *acc += it;
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The error function by its series, which is exact enough where it is not yet one.
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
