//! Rankings of files over the whole history: by similar commit subjects, and by churn (the number of
//! changes, with older ones counting less). The file prediction of `engine` guesses from them which
//! files a task will need: for the task "the parser fails", `rank_by_subject` finds the files of the
//! commit "fix the token parser".

use std::collections::HashMap;

use model::hasher::FastBuildHasher;
use model::words;

use crate::{CommitHistory, HistoryFileId, hash_keywords, recency_weight};

/// Files returned by a ranking.
const MAX_RANKED_FILES: usize = 100;

/// Scores of files while they are summed up.
type FileScores = HashMap<HistoryFileId, f64, FastBuildHasher>;

/// Ranks files by the commits that changed them: the more rare words a commit's subject shares
/// with `text` (weighted by inverse document frequency), and the newer it is, the more it counts.
/// Best first; files of commits without a shared word are left out.
pub fn rank_by_subject(history: &CommitHistory, text: &str) -> Vec<(String, f64)> {
    let weights = word_weights(history, &hash_keywords(text));
    let newest = history.newest_commit_at();
    let mut scores = FileScores::default();
    for commit in &history.commits {
        let similarity: f64 = commit.word_hashes.iter().filter_map(|it| weights.get(it)).sum();
        if similarity <= 0.0 {
            continue; // No shared word.
        }
        // Squared, so that one commit with two shared words counts for more than two commits with
        // one each. Divided, so that a commit of many files does not lift all of them.
        #[expect(clippy::cast_precision_loss, reason = "a commit has at most 50 files")]
        let score = similarity * similarity * recency_weight(newest - commit.committed_at)
            / (commit.files.len() as f64).sqrt();
        for file in &commit.files {
            *scores.entry(*file).or_default() += score;
        }
    }
    rank_files(history, scores)
}

/// Inverse document frequency of the query's words, a commit subject being a document. Words that
/// occur in no subject are left out.
fn word_weights(history: &CommitHistory, query: &[u32]) -> HashMap<u32, f64, FastBuildHasher> {
    let mut doc_freqs: HashMap<u32, u64, FastBuildHasher> =
        query.iter().map(|it| (*it, 0)).collect();
    for commit in &history.commits {
        for word in &commit.word_hashes {
            if let Some(doc_freq) = doc_freqs.get_mut(word) {
                *doc_freq += 1;
            }
        }
    }
    let n_commits = history.commits.len() as u64;
    let mut weights = HashMap::default();
    for (word, doc_freq) in doc_freqs {
        if doc_freq > 0 {
            weights.insert(word, words::inverse_document_frequency(n_commits, doc_freq));
        }
    }
    weights
}

/// Ranks files by churn: the recency weights of the commits that changed them, summed. Best first.
pub fn rank_by_churn(history: &CommitHistory) -> Vec<(String, f64)> {
    let newest = history.newest_commit_at();
    let mut scores = FileScores::default();
    for commit in &history.commits {
        for file in &commit.files {
            *scores.entry(*file).or_default() += recency_weight(newest - commit.committed_at);
        }
    }
    rank_files(history, scores)
}

/// Sorts by score, ties by path, and drops files that have no path any more.
fn rank_files(history: &CommitHistory, scores: FileScores) -> Vec<(String, f64)> {
    let mut ranked: Vec<(String, f64)> = Vec::new();
    for (file, score) in scores {
        if let Some(path) = history.current_path(file) {
            ranked.push((path.to_owned(), score));
        }
    }
    ranked.sort_by(|(path_a, score_a), (path_b, score_b)| {
        score_b.total_cmp(score_a).then_with(|| path_a.cmp(path_b))
    });
    ranked.truncate(MAX_RANKED_FILES);
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TouchedFile;

    #[test]
    fn rare_words_lead_to_the_files_of_commits_that_used_them() {
        let mut history = CommitHistory::default();
        for (subject, path) in [
            ("fix the token parser", "token.rs"),
            ("fix the login page", "login.rs"),
            ("fix typo", "readme.md"),
            ("fix typo", "readme.md"),
        ] {
            history.add_commit(0, subject, &[TouchedFile { path, old_path: None, is_new: false }]);
        }
        // All subjects have "fix", only one has "parser".
        assert_eq!(rank_by_subject(&history, "why does the parser fix fail")[0].0, "token.rs");
        assert!(rank_by_subject(&history, "unheard of").is_empty());
        assert_eq!(rank_by_churn(&history)[0].0, "readme.md");
    }
}
