//! How strongly files are tied by having changed together, and how much each changes.

use std::collections::HashMap;

use super::History;
use crate::fast::FastHasher;

/// Two files that changed together.
#[derive(Clone, Debug, PartialEq)]
pub struct Tie {
    pub path: String,
    /// The share of the first file's changes that came with a change of this one, the newest counting
    /// most: from 0 to 1.
    pub strength: f32,
    /// In how many commits.
    pub n: u32,
}

/// What the past says about one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ties {
    /// Strongest first.
    pub together: Vec<Tie>,
    /// How many commits changed it, and the last of them.
    pub n_commits: u32,
    pub last: i64,
    /// Its changes of late: each counts half as much with every half-life before the newest commit.
    pub churn: f32,
}

/// Two files that changed in a commit of more files than this have little to do with one another.
const TOGETHER: usize = 15;
/// What changed so long before counts half, in days.
const HALF_LIFE: f64 = 180.0;
/// How many partners of a file are named.
const PARTNERS: usize = 32;

/// How much a change counts that is so many seconds old.
#[expect(clippy::cast_precision_loss, reason = "ages in seconds are far below 2^53")]
pub fn decay(age: i64) -> f64 {
    (-(age.max(0) as f64) / (86_400.0 * HALF_LIFE)).exp2()
}

impl History {
    /// The moment ages are counted from: that of the newest commit.
    pub fn newest(&self) -> i64 {
        self.commits.iter().map(|it| it.at).max().unwrap_or(0)
    }

    /// What the past says about each of some files.
    pub fn ties(&self, wanted: impl Fn(u32) -> bool) -> HashMap<u32, Ties> {
        #[derive(Default)]
        struct Sum {
            all: f64,
            n: u32,
            last: i64,
            others: HashMap<u32, (f64, u32), FastHasher>,
        }
        let newest = self.newest();
        let mut sums: HashMap<u32, Sum, FastHasher> = HashMap::default();
        for commit in &self.commits {
            let weight = decay(newest - commit.at);
            let n_files = commit.files.len();
            let pairs = (2..=TOGETHER).contains(&n_files);
            for file in commit.files.iter().filter(|it| wanted(**it)) {
                let sum = sums.entry(*file).or_default();
                sum.all += weight;
                sum.n += 1;
                sum.last = sum.last.max(commit.at);
                for other in commit.files.iter().filter(|it| pairs && *it != file) {
                    let known = sum.others.entry(*other).or_default();
                    known.0 += weight / share(n_files);
                    known.1 += 1;
                }
            }
        }
        let tied = |(file, sum): (u32, Sum)| {
            self.path(file)?;
            let mut together: Vec<Tie> = Vec::new();
            for (other, (weight, n)) in sum.others {
                let Some(path) = self.path(other) else { continue };
                #[expect(clippy::cast_possible_truncation, reason = "a share, for ordering")]
                let strength = (weight / sum.all) as f32;
                together.push(Tie { path: path.to_owned(), strength, n });
            }
            together.sort_by(|a, b| {
                b.strength.total_cmp(&a.strength).then_with(|| a.path.cmp(&b.path))
            });
            together.truncate(PARTNERS);
            #[expect(clippy::cast_possible_truncation, reason = "a sum of shares, for ordering")]
            let churn = sum.all as f32;
            Some((file, Ties { together, n_commits: sum.n, last: sum.last, churn }))
        };
        sums.into_iter().filter_map(tied).collect()
    }
}

/// By how much a commit of several files says less about each pair.
#[expect(clippy::cast_precision_loss, reason = "a handful of files")]
fn share(n_files: usize) -> f64 {
    (n_files as f64 - 1.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::Touched;
    use super::*;

    fn history(commits: &[(i64, &str)]) -> History {
        let mut res = History::default();
        for (day, files) in commits {
            let touched = |path| Touched { path, before: None, is_new: false };
            let files: Vec<Touched<'_>> = files.split(' ').map(touched).collect();
            res.take(day * 86_400, "", &files);
        }
        res
    }

    fn ties(history: &History, path: &str) -> Ties {
        let file = history.file(path).unwrap();
        history.ties(|it| it == file).remove(&file).unwrap()
    }

    #[test]
    fn what_changes_together_is_tied_by_how_often() {
        let it = history(&[(0, "a b"), (0, "a b"), (0, "a c"), (0, "a")]);
        let ties = ties(&it, "a");
        let told: Vec<(&str, f32, u32)> =
            ties.together.iter().map(|it| (it.path.as_str(), it.strength, it.n)).collect();
        assert_eq!(told, [("b", 0.5, 2), ("c", 0.25, 1)]);
        assert_eq!((ties.n_commits, ties.last), (4, 0));
    }

    #[test]
    fn the_newest_count_most_and_sweeps_not_at_all() {
        let many: Vec<String> = (0..20).map(|it| format!("f{it}")).collect();
        let it = history(&[(0, "a old"), (720, "a new"), (720, &format!("a {}", many.join(" ")))]);
        let ties = ties(&it, "a");
        let told: Vec<&str> = ties.together.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(told, ["new", "old"]);
        assert!((ties.churn - 2.0625).abs() < 1e-4, "{}", ties.churn);
    }

    #[test]
    fn two_of_two_are_closer_than_two_of_ten() {
        let it = history(&[(0, "a b"), (0, "a c d e f g h i j k")]);
        let ties = ties(&it, "a");
        assert_eq!(ties.together[0].path, "b");
        assert!(ties.together[0].strength > 2.0 * ties.together[1].strength);
    }
}
