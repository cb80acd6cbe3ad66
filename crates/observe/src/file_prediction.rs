//! File prediction: files that a task will need, if past sessions on similar tasks agree.
//!
//! Sessions whose task shares enough rare words are similar, and each votes for the files it opened. A file
//! is predicted if its share of the votes is high. Example: the task is "why does a login token expire at
//! midnight". Three of five past sessions were about login tokens, and all three opened `src/auth.rs`.
//!
//! Rare words weigh more, by their inverse document frequency (IDF) among past tasks.
//! [`crate::rank_likely_files`] ranks whatever there is, for a caller who asked; this prediction is injected
//! without a request, so that it must be right more often than not. The measured numbers are in
//! `docs/reference/eval.md`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::words;

use crate::PastSession;

/// A file that sessions on similar tasks opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredictedFile {
    pub path: String,
    /// Similar sessions that opened it.
    pub n_sessions: u32,
}

/// The files that a task will need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePrediction {
    /// The surest first.
    pub files: Vec<PredictedFile>,
    /// Sessions on similar tasks, and all sessions they were chosen from.
    pub n_similar: u32,
    pub n_known: u32,
}

/// Similar sessions needed for a prediction.
pub const MIN_SIMILAR_SESSIONS: u32 = 3;
/// Similar sessions that must have opened a file.
const MIN_OPENING_SESSIONS: u32 = 2;
/// Two tasks are similar from this value: the IDF of the shared words over the geometric mean of the IDF
/// of both.
const MIN_TASK_SIMILARITY: f64 = 0.12;
/// Words that similar tasks share. One rare word can be chance.
const MIN_SHARED_WORDS: usize = 2;
/// A file with more than this share of the votes is predicted.
const SURE_SHARE: f64 = 0.8;
/// A file with more than this share is predicted only if the task contains a rare word of its path.
const LIKELY_SHARE: f64 = 0.5;
/// A word is rare if it is in at most one path of this many.
const RARE_PATHS_DIVISOR: usize = 15;
/// In a small project, a word is rare if it is in at most this many paths.
const MIN_RARE_LIMIT: usize = 3;
/// Files that a prediction names.
const MAX_PREDICTED_FILES: usize = 6;
/// The most recent sessions are compared, up to this number.
const MAX_SESSIONS_SCANNED: usize = 500;

/// Predicts the files of a task from past sessions, oldest first. Files that the task names are left out:
/// the agent knows them.
pub fn predict_files(task: &str, sessions: &[PastSession]) -> FilePrediction {
    let sessions = &sessions[sessions.len().saturating_sub(MAX_SESSIONS_SCANNED)..];
    let keywords =
        |it: &str| -> BTreeSet<String> { words::query_keywords(it).into_iter().collect() };
    let task_words = keywords(task);
    let past_words: Vec<BTreeSet<String>> = sessions.iter().map(|it| keywords(&it.task)).collect();
    let similar = find_similar_sessions(&task_words, &past_words);
    let n_known = u32::try_from(sessions.len()).unwrap_or(u32::MAX);
    let n_similar = u32::try_from(similar.len()).unwrap_or(u32::MAX);
    let empty = FilePrediction { files: Vec::new(), n_similar, n_known };
    if n_similar < MIN_SIMILAR_SESSIONS {
        return empty;
    }
    // Each similar session votes for its files, with the weight of its similarity.
    let mut votes: BTreeMap<&str, FileVotes> = BTreeMap::new();
    for (nth, weight) in &similar {
        // A set, because a session votes once for a file that it touched several times.
        for file in sessions[*nth].touched.iter().collect::<BTreeSet<_>>() {
            let file_votes = votes.entry(file).or_default();
            file_votes.weight += weight;
            file_votes.n_sessions += 1;
        }
    }
    let total_weight: f64 = similar.iter().map(|(_, weight)| weight).sum();
    // Select the files that are likely enough, each with its share of the votes for the order.
    let is_rare = rare_path_words(sessions);
    let lowercase_task = task.to_lowercase();
    let mut found: Vec<(f64, PredictedFile)> = Vec::new();
    for (path, FileVotes { weight, n_sessions }) in votes {
        if n_sessions < MIN_OPENING_SESSIONS {
            continue;
        }
        let share = weight / total_weight;
        let path_words = words::identifier_parts(path);
        let has_task_word = path_words.iter().any(|it| task_words.contains(it) && is_rare(it));
        let min_share = if has_task_word { LIKELY_SHARE } else { SURE_SHARE };
        if share <= min_share {
            continue;
        }
        // The agent knows a file that the task names.
        let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
        if lowercase_task.contains(&name) {
            continue;
        }
        found.push((share, PredictedFile { path: path.to_owned(), n_sessions }));
    }
    found.sort_by(|(share_a, file_a), (share_b, file_b)| {
        share_b.total_cmp(share_a).then_with(|| file_a.path.cmp(&file_b.path))
    });
    let files = found.into_iter().map(|(_, file)| file).take(MAX_PREDICTED_FILES).collect();
    FilePrediction { files, ..empty }
}

/// The votes of similar sessions for one file.
#[derive(Default)]
struct FileVotes {
    /// The weights of the sessions together.
    weight: f64,
    n_sessions: u32,
}

/// Indexes of the sessions with a similar task, each with its weight: the squared similarity.
fn find_similar_sessions(task: &BTreeSet<String>, past: &[BTreeSet<String>]) -> Vec<(usize, f64)> {
    let mut doc_freq: HashMap<&str, u64> = HashMap::new();
    for word in past.iter().flatten() {
        *doc_freq.entry(word).or_default() += 1;
    }
    let n_docs = past.len() as u64;
    let idf = |word: &String| {
        let n = doc_freq.get(word.as_str()).copied().unwrap_or(0);
        words::inverse_document_frequency(n_docs, n)
    };
    let sum_idf = |words: &BTreeSet<String>| words.iter().map(idf).sum::<f64>();
    let task_sum = sum_idf(task);
    let mut acc = Vec::new();
    for (nth, past_words) in past.iter().enumerate() {
        let shared: BTreeSet<String> = task.intersection(past_words).cloned().collect();
        // The mean of an empty task is 0, by which nothing can be divided.
        let geometric_mean = (task_sum * sum_idf(past_words)).sqrt().max(f64::MIN_POSITIVE);
        let similarity = sum_idf(&shared) / geometric_mean;
        if shared.len() >= MIN_SHARED_WORDS && similarity >= MIN_TASK_SIMILARITY {
            acc.push((nth, similarity * similarity));
        }
    }
    acc
}

/// Returns a predicate for words that are in few of the paths that sessions touched.
fn rare_path_words(sessions: &[PastSession]) -> impl Fn(&str) -> bool {
    let paths: BTreeSet<&String> = sessions.iter().flat_map(|it| &it.touched).collect();
    let limit = MIN_RARE_LIMIT.max(paths.len() / RARE_PATHS_DIVISOR);
    let mut counts: HashMap<String, usize> = HashMap::new();
    for path in &paths {
        for word in words::identifier_parts(path).into_iter().collect::<BTreeSet<_>>() {
            *counts.entry(word).or_default() += 1;
        }
    }
    move |word| counts.get(word).is_some_and(|it| *it <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Checks the prediction for a task. Past sessions are given as `task: files`, one per line. The first
    /// expected line counts the similar sessions, the others are `FILE SESSIONS`.
    fn check(past: &str, task: &str, expect: Expect) {
        let session = |line: &str| {
            let (task, files) = line.split_once(": ").unwrap();
            let touched = files.split(' ').map(str::to_owned).collect();
            PastSession { task: task.to_owned(), touched }
        };
        let sessions: Vec<PastSession> = past.lines().map(session).collect();
        let prediction = predict_files(task, &sessions);
        let line = |it: &PredictedFile| format!("{} {}\n", it.path, it.n_sessions);
        let files: String = prediction.files.iter().map(line).collect();
        let FilePrediction { n_similar, n_known, .. } = prediction;
        expect.assert_eq(&format!("{n_similar} of {n_known} similar\n{files}"));
    }

    const PAST: &str = "the login token expires too early: src/auth.rs src/clock.rs README.md
a login token that expires never: src/auth.rs src/clock.rs src/token.rs
write the guide about colours: docs/guide.md README.md
login with an expired token fails: src/auth.rs src/clock.rs src/token.rs
release the next version: CHANGELOG.md Cargo.toml";

    #[test]
    fn files_of_similar_sessions_are_predicted() {
        check(
            PAST,
            "why does a login token expire at midnight",
            expect![[r"
                3 of 5 similar
                src/auth.rs 3
                src/clock.rs 3
                src/token.rs 2
            "]],
        );
    }

    #[test]
    fn files_that_the_task_names_are_left_out() {
        check(
            PAST,
            "the login token in clock.rs expires",
            expect![[r"
                3 of 5 similar
                src/auth.rs 3
                src/token.rs 2
            "]],
        );
    }

    #[test]
    fn other_tasks_and_a_single_session_predict_nothing() {
        check(
            PAST,
            "what is the boiling point of ethanol",
            expect![[r"
                0 of 5 similar
            "]],
        );
        check(
            PAST,
            "the guide about the colours of the panel",
            expect![[r"
                1 of 5 similar
            "]],
        );
        check("a b: c", "", expect!["0 of 1 similar\n"]);
    }
}
