//! Co-change coupling (logical coupling, Gall et al. 1998): how often two files change in the same
//! commit, and how much each file changes.
//!
//! For example, if `a` changed in four commits, two of them together with `b`, then `b` is a *partner*
//! of `a` with strength 0.5. The *churn* of a file is the number of its changes, with older ones
//! counting less.
//!
//! The module map groups files by coupling, and the file prediction of `engine` suggests the partners
//! of the current file.

use std::collections::HashMap;

use model::hasher::FastBuildHasher;

use crate::{CommitHistory, HistoryFileId};

/// A file that changes together with another.
#[derive(Clone, Debug, PartialEq)]
pub struct CoChangePartner {
    pub path: String,
    /// Share of the first file's changes that this file took part in, from 0 to 1. Recent commits
    /// weigh more, commits of many files less.
    pub strength: f32,
    /// Commits that changed both.
    pub n_commits: u32,
}

/// Co-change partners and churn of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileCoupling {
    /// Strongest first.
    pub partners: Vec<CoChangePartner>,
    /// Commits that changed the file.
    pub n_commits: u32,
    /// Time of the last of them, in seconds since the Unix epoch.
    pub last_commit_at: i64,
    /// Sum of the recency weights of those commits.
    pub churn: f32,
}

/// Largest number of files in a commit whose files are paired with one another. In a larger commit
/// most pairs are chance.
const MAX_PAIRED_FILES: usize = 15;
/// Age at which a change weighs half as much as one in the newest commit.
const HALF_LIFE_DAYS: f64 = 180.0;
/// Partners listed per file.
const MAX_PARTNERS: usize = 32;
const SECONDS_PER_DAY: f64 = 86_400.0;

/// Weight of a change by its age in seconds: 1 for the newest commit, halved every half-life.
#[expect(clippy::cast_precision_loss, reason = "ages in seconds are far below 2^53")]
pub fn recency_weight(age: i64) -> f64 {
    (-(age.max(0) as f64) / (SECONDS_PER_DAY * HALF_LIFE_DAYS)).exp2()
}

/// Sums over the commits of one file.
#[derive(Default)]
struct CouplingSums {
    /// Recency weights of the commits.
    weight: f64,
    n_commits: u32,
    last_commit_at: i64,
    /// The commits shared with each other file.
    shared: HashMap<HistoryFileId, SharedCommits, FastBuildHasher>,
}

/// The commits that changed both files of a pair.
#[derive(Default)]
struct SharedCommits {
    /// Recency weights, each divided by [`pair_discount`].
    weight: f64,
    n_commits: u32,
}

/// Coupling of the files that `wanted` selects and that still have a path.
pub fn file_couplings(
    history: &CommitHistory,
    wanted: impl Fn(HistoryFileId) -> bool,
) -> HashMap<HistoryFileId, FileCoupling> {
    let newest = history.newest_commit_at();
    let mut sums: HashMap<HistoryFileId, CouplingSums, FastBuildHasher> = HashMap::default();
    for commit in &history.commits {
        let weight = recency_weight(newest - commit.committed_at);
        let n_files = commit.files.len();
        for file in commit.files.iter().filter(|it| wanted(**it)) {
            let file_sums = sums.entry(*file).or_default();
            file_sums.weight += weight;
            file_sums.n_commits += 1;
            file_sums.last_commit_at = file_sums.last_commit_at.max(commit.committed_at);
            // A commit of many files counts for churn only.
            if n_files > MAX_PAIRED_FILES {
                continue;
            }
            for other in commit.files.iter().filter(|it| *it != file) {
                let shared = file_sums.shared.entry(*other).or_default();
                shared.weight += weight / pair_discount(n_files);
                shared.n_commits += 1;
            }
        }
    }

    let mut couplings = HashMap::new();
    for (file, file_sums) in sums {
        // A file without a path no longer exists.
        if history.current_path(file).is_some() {
            couplings.insert(file, to_coupling(history, file_sums));
        }
    }
    couplings
}

/// Turns the sums of a file into shares and orders its partners.
fn to_coupling(history: &CommitHistory, sums: CouplingSums) -> FileCoupling {
    let mut partners: Vec<CoChangePartner> = Vec::new();
    for (other, SharedCommits { weight, n_commits }) in sums.shared {
        // A partner that no longer exists cannot be suggested.
        let Some(path) = history.current_path(other) else { continue };
        #[expect(clippy::cast_possible_truncation, reason = "a share, for ordering")]
        let strength = (weight / sums.weight) as f32;
        partners.push(CoChangePartner { path: path.to_owned(), strength, n_commits });
    }
    // The map has no order of its own: equal strengths are ordered by path.
    partners.sort_by(|a, b| b.strength.total_cmp(&a.strength).then_with(|| a.path.cmp(&b.path)));
    partners.truncate(MAX_PARTNERS);
    #[expect(clippy::cast_possible_truncation, reason = "a sum of shares, for ordering")]
    let churn = sums.weight as f32;
    let (n_commits, last_commit_at) = (sums.n_commits, sums.last_commit_at);
    FileCoupling { partners, n_commits, last_commit_at, churn }
}

/// Divisor for the weight of one pair in a commit of `n_files` (2 or more): each pair of a larger
/// commit is weaker evidence. 1 for two files, 3 for ten. The square root is a compromise between no
/// discount at all and dividing the commit's weight among the partners of a file.
#[expect(clippy::cast_precision_loss, reason = "a handful of files")]
fn pair_discount(n_files: usize) -> f64 {
    (n_files as f64 - 1.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TouchedFile;

    /// A history from rows of a day and the files of one commit.
    fn history(commits: &[(i64, &str)]) -> CommitHistory {
        let mut history = CommitHistory::default();
        for (day, files) in commits {
            let touched = |path| TouchedFile { path, old_path: None, is_new: false };
            let files: Vec<TouchedFile<'_>> = files.split(' ').map(touched).collect();
            history.add_commit(day * 86_400, "", &files);
        }
        history
    }

    /// The coupling of the file at a path.
    fn coupling(history: &CommitHistory, path: &str) -> FileCoupling {
        let file = history.find_file(path).unwrap();
        file_couplings(history, |it| it == file).remove(&file).unwrap()
    }

    #[test]
    fn strength_is_the_share_of_common_changes() {
        let history = history(&[(0, "a b"), (0, "a b"), (0, "a c"), (0, "a")]);
        let coupling = coupling(&history, "a");
        let partners: Vec<(&str, f32, u32)> = coupling
            .partners
            .iter()
            .map(|it| (it.path.as_str(), it.strength, it.n_commits))
            .collect();
        assert_eq!(partners, [("b", 0.5, 2), ("c", 0.25, 1)]);
        assert_eq!((coupling.n_commits, coupling.last_commit_at), (4, 0));
    }

    #[test]
    fn recent_commits_weigh_most_and_large_ones_couple_nothing() {
        // 21 files with `a`: too many to be paired.
        let many: Vec<String> = (0..20).map(|it| format!("f{it}")).collect();
        let large = format!("a {}", many.join(" "));
        let history = history(&[(0, "a old"), (720, "a new"), (720, &large)]);
        let coupling = coupling(&history, "a");
        let partners: Vec<&str> = coupling.partners.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(partners, ["new", "old"]);
        // Two commits of weight 1 and one that is four half-lives (720 days) older: 1/16.
        assert!((coupling.churn - 2.0625).abs() < 1e-4, "{}", coupling.churn);
    }

    #[test]
    fn a_commit_of_two_files_couples_them_more_than_a_commit_of_ten() {
        let history = history(&[(0, "a b"), (0, "a c d e f g h i j k")]);
        let partners = coupling(&history, "a").partners;
        assert_eq!(partners[0].path, "b");
        assert!(partners[0].strength > 2.0 * partners[1].strength);
    }
}
