//! How the vectors of a notebook lie, and where a question stands among them.
//!
//! Memories of one project speak of the same things, so their vectors crowd around a mean, and a
//! cosine of 0.8 may mean nothing. What tells is how far a memory stands out: its cosine around the
//! mean, in deviations from what the notebook shows the question on average.

use crate::codes::Codes;
use crate::dot::dot;

/// Rows that are looked at; more say the same.
const ROWS: usize = 1_024;
/// A notebook of this many vectors is believed as much as what is known about the model. Fewer of a
/// model that nobody measured do not say what stands out.
pub const FEW_VECTORS: u16 = 50;
const FEW: f32 = FEW_VECTORS as f32;
/// This many deviations make a place of one.
pub(crate) const FAR: f32 = 5.0;
/// One unrelated pair in a hundred is this many deviations above the average.
const CHANCE: f32 = 2.33;

/// The lie of a notebook's vectors: their mean, and some of them as seen from there.
#[derive(Clone, Debug, Default)]
pub struct Lie {
    n_rows: usize,
    mean: Vec<f32>,
    /// Each of length one, around the mean.
    sample: Vec<Vec<f32>>,
    /// The average cosine of two different rows.
    crowding: f32,
}

/// What is known about a model whatever it is used for, as cosines.
#[derive(Clone, Copy, Debug)]
pub struct Prior {
    pub unrelated: f32,
    /// One unrelated pair in a hundred is closer than this.
    pub chance: f32,
    /// Whether somebody measured that; a guess counts only where there is nothing else.
    pub measured: bool,
}

/// A question as it stands in a notebook.
#[derive(Clone, Debug)]
pub struct Bearing {
    query: Vec<f32>,
    mean: Vec<f32>,
    average: f32,
    deviation: f32,
    prior: Prior,
    trust: f32,
}

impl Lie {
    /// Looks at rows spread evenly over all of them.
    pub fn of(codes: &Codes) -> Self {
        let n_rows = codes.n_rows();
        let step = n_rows.div_ceil(ROWS).max(1);
        let rows: Vec<Vec<f32>> =
            (0..n_rows).step_by(step).filter_map(|it| codes.unit_row(it)).collect();
        let Some(first) = rows.first() else { return Self::default() };
        let mut mean = vec![0.0; first.len()];
        for row in &rows {
            mean.iter_mut().zip(row).for_each(|(acc, it)| *acc += it);
        }
        let n = count(rows.len());
        for it in &mut mean {
            *it /= n;
        }
        let squared = dot(&mean, &mean);
        let crowding = if n > 1.0 { (n * squared - 1.0) / (n - 1.0) } else { 0.0 };
        let sample = rows.iter().map(|it| around(it, &mean)).collect();
        Self { n_rows: rows.len() * step, mean, sample, crowding }
    }

    /// How close two memories are on average; a small notebook is believed only in part.
    pub fn crowding(&self, prior: Prior) -> f32 {
        let n = count(self.n_rows);
        (n * self.crowding + FEW * prior.unrelated) / (n + FEW)
    }

    /// Where a question stands here. The question is cut to the length of the codes.
    pub fn bearing(&self, query: &[f32], prior: Prior) -> Bearing {
        let mean = self.mean.clone();
        let query = around(&query[..mean.len().min(query.len())], &mean);
        let seen: Vec<f32> = self.sample.iter().map(|it| dot(it, &query)).collect();
        let n = count(seen.len()).max(1.0);
        let average = seen.iter().sum::<f32>() / n;
        let variance = seen.iter().map(|it| (it - average) * (it - average)).sum::<f32>() / n;
        let n = count(self.n_rows);
        let trust = if !prior.measured && n >= FEW { 1.0 } else { n / (n + FEW) };
        Bearing { query, mean, average, deviation: variance.sqrt().max(1e-3), prior, trust }
    }
}

impl Bearing {
    /// How far a memory stands out, about 1 for what answers the question: from its vector and
    /// from its plain cosine with the question.
    pub fn place(&self, vector: &[f32], cosine: f32) -> f32 {
        let Prior { unrelated, chance, .. } = self.prior;
        let known = (cosine - unrelated) * CHANCE / (chance - unrelated);
        let vector = &vector[..self.mean.len().min(vector.len())];
        let here = (dot(&around(vector, &self.mean), &self.query) - self.average) / self.deviation;
        (self.trust * here + (1.0 - self.trust) * known) / FAR
    }
}

/// A vector as seen from the mean, of length one.
fn around(vector: &[f32], mean: &[f32]) -> Vec<f32> {
    let mut res: Vec<f32> = vector.iter().zip(mean).map(|(it, mean)| it - mean).collect();
    let length = dot(&res, &res).sqrt().max(1e-6);
    for it in &mut res {
        *it /= length;
    }
    res
}

#[expect(clippy::cast_precision_loss, reason = "counts of rows; more than 2^24 say the same")]
fn count(n: usize) -> f32 {
    n as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIOR: Prior = Prior { unrelated: 0.5, chance: 0.7, measured: true };

    /// Rows that all share a direction and differ in another.
    fn crowd(n: u32) -> Codes {
        let mut codes = Codes::new(8);
        for slot in 0..n {
            let mut code = [0_i8; 8];
            code[0] = 100;
            code[1 + slot as usize % 7] = 60;
            codes.push(slot, &code).unwrap();
        }
        codes
    }

    fn unit(code: &[f32]) -> Vec<f32> {
        around(code, &[0.0; 8])
    }

    #[test]
    fn what_all_share_does_not_count() {
        let lie = Lie::of(&crowd(700));
        let query = unit(&[1.0, 0.6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let other = unit(&[1.0, 0.0, 0.6, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let bearing = lie.bearing(&query, PRIOR);
        let place = |it: &[f32]| bearing.place(it, dot(it, &query));
        assert!(dot(&other, &query) > 0.7, "they look alike");
        assert!(place(&query) > 0.3 && place(&other) < 0.0, "and are not");
        assert!(lie.crowding(PRIOR) > 0.7);
    }

    #[test]
    fn a_small_notebook_is_measured_by_what_is_known_about_the_model() {
        let lie = Lie::of(&crowd(1));
        let query = unit(&[1.0, 0.6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let bearing = lie.bearing(&query, PRIOR);
        assert!(bearing.place(&query, 1.0) > bearing.place(&query, 0.5));
        assert!((lie.crowding(PRIOR) - PRIOR.unrelated).abs() < 0.05);
        let guess = Prior { measured: false, ..PRIOR };
        let (few, many) = (Lie::of(&crowd(10)), Lie::of(&crowd(700)));
        let place = |lie: &Lie, cosine| lie.bearing(&query, guess).place(&query, cosine);
        assert!(place(&few, 1.0) > place(&few, 0.5), "a guess is better than nothing");
        let same = (place(&many, 1.0) - place(&many, 0.5)).abs();
        assert!(same < 1e-6, "and worse than what the notebook shows");
        let nothing = Lie::of(&Codes::new(8)).bearing(&query, PRIOR);
        assert!(nothing.place(&query, 1.0).is_finite());
    }
}
