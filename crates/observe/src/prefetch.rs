//! Ranks the files that a task will likely touch: from past sessions, past commits, the words of the
//! task and the neighbours of the first file. The engine gathers the inputs and answers the request of an
//! agent or a user with the result.
//!
//! Each scorer ranks the files by itself. The ranks are combined by weighted reciprocal rank fusion
//! (Cormack, Clarke and Büttcher 2009), because the scores have no common scale: a file gets
//! `weight / (RANK_OFFSET + rank)` of every scorer that ranks it. Example: rank 0 of a scorer with weight 2
//! and rank 3 of one with weight 1.2 give 2/12 + 1.2/15 = 0.25.
//!
//! Rare words weigh more than common ones, by their inverse document frequency (IDF); a document is a past
//! task or a path.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::words;

use crate::ModuleLookup;
use crate::path_rules::is_test_pair;

/// Everything that is known about a task before it begins.
#[derive(Clone, Copy, Debug)]
pub struct TaskDescription<'a> {
    pub text: &'a str,
    /// The file that is open, or was read first.
    pub first_file: Option<&'a str>,
}

/// A past session: its task, and the files it touched in order.
#[derive(Clone, Debug, Default)]
pub struct PastSession {
    pub task: String,
    pub touched: Vec<String>,
}

/// Files that commits suggest, each with a score.
#[derive(Clone, Debug, Default)]
pub struct CommitEvidence {
    /// Files that changed together with the first one.
    pub co_changed: Vec<(String, f64)>,
    /// Files of commits with a similar message.
    pub similar_commits: Vec<(String, f64)>,
    /// Files that changed often in recent commits.
    pub recently_changed: Vec<(String, f64)>,
}

/// Everything that the ranking is computed from.
#[derive(Clone, Copy, Debug)]
pub struct PredictionInputs<'a> {
    /// Oldest first.
    pub sessions: &'a [PastSession],
    pub commits: &'a CommitEvidence,
    /// The files that exist now.
    pub project_files: &'a [String],
    pub modules: &'a ModuleLookup,
}

/// Scores files; a file that is not in the map scores 0.
type FileScorer = fn(&TaskDescription<'_>, &PredictionInputs<'_>) -> HashMap<String, f64>;

/// The scorers with their weights, tuned on the sessions of one repository (see `docs/reference/eval.md`).
/// So were the constants below.
#[rustfmt::skip]
const SCORERS: &[(FileScorer, f64)] = &[
    (score_session_neighbours, 2.0),
    (score_co_changed,         1.2),
    (score_similar_tasks,      0.6),
    (score_similar_commits,    0.6),
    (score_named_files,        3.0),
    (score_path_words,         1.4),
    (score_module_neighbours,  0.4),
    (score_recent_use,         1.6),
    (score_recent_changes,     0.2),
];
/// Offset of the reciprocal rank: the larger, the flatter.
const RANK_OFFSET: f64 = 12.0;
/// Weight of a session relative to the one after it.
const AGE_DECAY: f64 = 0.97;
/// Files of one scorer that are ranked.
const MAX_RANKED_FILES: usize = 60;
/// Touches after which the nearness to the first file is halved.
const HALF_NEARNESS_TOUCHES: f64 = 8.0;
/// Exponent by which files that many sessions touch are discounted: 0 is not at all, 1 is fully.
const FREQUENCY_DISCOUNT: f64 = 0.35;
/// Scores of a file whose path, or only whose name, is in the task.
const NAMED_PATH_SCORE: f64 = 3.0;
const NAMED_FILE_SCORE: f64 = 2.0;
/// Shorter file names are words of the language as well.
const MIN_NAME_BYTES: usize = 6;
/// Scores of the test of the first file, and of a file in its module.
const TEST_PAIR_SCORE: f64 = 3.0;
const SAME_MODULE_SCORE: f64 = 1.0;
/// Touches that weigh as much as being in the module.
const POPULARITY_TOUCHES: f64 = 50.0;

/// Ranks the files by how likely the task touches them, without its first file.
pub fn rank_likely_files(
    task: &TaskDescription<'_>,
    inputs: &PredictionInputs<'_>,
    limit: usize,
) -> Vec<String> {
    // Reciprocal rank fusion: the sum of the weighted reciprocal ranks of all scorers.
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    for (score_files, weight) in SCORERS {
        let mut ranked: Vec<(String, f64)> = score_files(task, inputs).into_iter().collect();
        ranked.retain(|(_, score)| *score > 0.0);
        ranked.sort_by(by_score);
        for (rank, (file, _)) in (0_u32..).zip(ranked.into_iter().take(MAX_RANKED_FILES)) {
            *sums.entry(file).or_default() += weight / (RANK_OFFSET + f64::from(rank));
        }
    }
    // Commits also name files that were deleted long ago: only files that exist or that a session touched
    // are kept.
    let touched = inputs.sessions.iter().flat_map(|it| &it.touched);
    let known: BTreeSet<&str> =
        inputs.project_files.iter().chain(touched).map(String::as_str).collect();
    let mut fused: Vec<(String, f64)> = sums.into_iter().collect();
    fused.retain(|(file, _)| {
        Some(file.as_str()) != task.first_file && known.contains(file.as_str())
    });
    fused.sort_by(by_score);
    fused.into_iter().take(limit).map(|(file, _)| file).collect()
}

/// The order of files by their scores, highest first; ties by path.
fn by_score((file_a, score_a): &(String, f64), (file_b, score_b): &(String, f64)) -> Ordering {
    score_b.total_cmp(score_a).then_with(|| file_a.cmp(file_b))
}

/// Files that past sessions touched near the first file.
fn score_session_neighbours(
    task: &TaskDescription<'_>,
    inputs: &PredictionInputs<'_>,
) -> HashMap<String, f64> {
    let Some(first) = task.first_file else { return HashMap::new() };
    // Weights of each file: near the first file, and anywhere in a session.
    let mut near_first: HashMap<String, f64> = HashMap::new();
    let mut anywhere: HashMap<&str, f64> = HashMap::new();
    for (session, weight) in weigh_by_age(inputs.sessions) {
        for file in &session.touched {
            *anywhere.entry(file).or_default() += weight;
        }
        // A session that did not touch the first file has no neighbours of it.
        let Some(position) = session.touched.iter().position(|it| it == first) else { continue };
        for (nth, file) in session.touched.iter().enumerate() {
            // A file touched right after the first one is closer to it than one touched much later.
            #[expect(clippy::cast_precision_loss, reason = "distances within a session are small")]
            let distance = nth.abs_diff(position) as f64;
            let nearness = 1.0 / (1.0 + distance / HALF_NEARNESS_TOUCHES);
            *near_first.entry(file.clone()).or_default() += weight * nearness;
        }
    }
    // A file that every session touches is weaker evidence.
    for (file, score) in &mut near_first {
        let total = anywhere.get(file.as_str()).copied().unwrap_or(1.0);
        *score /= total.powf(FREQUENCY_DISCOUNT);
    }
    near_first
}

/// The sessions with their weights by age, oldest first: the latest weighs 1, the one before it 0.97.
fn weigh_by_age(sessions: &[PastSession]) -> impl Iterator<Item = (&PastSession, f64)> {
    sessions.iter().enumerate().map(|(nth, session)| {
        let n_later = sessions.len() - 1 - nth;
        (session, AGE_DECAY.powi(i32::try_from(n_later).unwrap_or(i32::MAX)))
    })
}

/// Files that commits changed together with the first file.
fn score_co_changed(
    _: &TaskDescription<'_>,
    inputs: &PredictionInputs<'_>,
) -> HashMap<String, f64> {
    inputs.commits.co_changed.iter().cloned().collect()
}

/// Files of commits with a similar message.
fn score_similar_commits(
    _: &TaskDescription<'_>,
    inputs: &PredictionInputs<'_>,
) -> HashMap<String, f64> {
    inputs.commits.similar_commits.iter().cloned().collect()
}

/// Files that recent commits changed often.
fn score_recent_changes(
    _: &TaskDescription<'_>,
    inputs: &PredictionInputs<'_>,
) -> HashMap<String, f64> {
    inputs.commits.recently_changed.iter().cloned().collect()
}

/// Files of past sessions whose task shares rare words.
fn score_similar_tasks(
    task: &TaskDescription<'_>,
    inputs: &PredictionInputs<'_>,
) -> HashMap<String, f64> {
    let keywords =
        |text: &str| -> BTreeSet<String> { words::query_keywords(text).into_iter().collect() };
    let task_words = keywords(task.text);
    let past_words: Vec<BTreeSet<String>> =
        inputs.sessions.iter().map(|it| keywords(&it.task)).collect();
    // The IDF of each word of the task, among the tasks of past sessions.
    let n_docs = u64::try_from(past_words.len()).unwrap_or(0);
    let mut idf_by_word: HashMap<&String, f64> = HashMap::new();
    for word in &task_words {
        let n_with_word = past_words.iter().filter(|it| it.contains(word)).count();
        let doc_freq = u64::try_from(n_with_word).unwrap_or(0);
        idf_by_word.insert(word, words::inverse_document_frequency(n_docs, doc_freq));
    }
    let mut acc: HashMap<String, f64> = HashMap::new();
    for (session, past) in inputs.sessions.iter().zip(&past_words) {
        let shared_words = task_words.iter().filter(|it| past.contains(*it));
        let similarity: f64 = shared_words.map(|it| idf_by_word[it]).sum();
        if similarity > 0.0 {
            // Squared, so that one close task outweighs several distant ones.
            for file in &session.touched {
                *acc.entry(file.clone()).or_default() += similarity * similarity;
            }
        }
    }
    acc
}

/// Files whose path or name the task contains.
fn score_named_files(
    task: &TaskDescription<'_>,
    inputs: &PredictionInputs<'_>,
) -> HashMap<String, f64> {
    let lower = task.text.to_lowercase();
    let mut acc = HashMap::new();
    for file in inputs.project_files {
        let path = file.to_lowercase();
        let name = path.rsplit('/').next().unwrap_or(&path);
        if lower.contains(&path) {
            acc.insert(file.clone(), NAMED_PATH_SCORE);
        } else if name.len() >= MIN_NAME_BYTES && lower.contains(name) {
            acc.insert(file.clone(), NAMED_FILE_SCORE);
        }
    }
    acc
}

/// Files whose path shares rare words with the task and the first file.
fn score_path_words(
    task: &TaskDescription<'_>,
    inputs: &PredictionInputs<'_>,
) -> HashMap<String, f64> {
    let mut wanted: BTreeSet<String> = words::query_keywords(task.text).into_iter().collect();
    // The name of the first file stands for the topic of the task.
    if let Some(first) = task.first_file {
        let stem = first.rsplit('/').next().unwrap_or(first);
        wanted.extend(words::identifier_parts(stem.split('.').next().unwrap_or(stem)));
    }
    // Each file with the words of its path: `src/auth_token.rs` has `src`, `auth`, `token` and `rs`.
    let mut words_by_file: Vec<(&String, BTreeSet<String>)> = Vec::new();
    for file in inputs.project_files {
        words_by_file.push((file, words::identifier_parts(file).into_iter().collect()));
    }
    let n_docs = u64::try_from(words_by_file.len()).unwrap_or(0);
    let mut acc: HashMap<String, f64> = HashMap::new();
    for word in &wanted {
        let has_word = |(_, path_words): &&(&String, BTreeSet<String>)| path_words.contains(word);
        let matching: Vec<_> = words_by_file.iter().filter(has_word).collect();
        let doc_freq = u64::try_from(matching.len()).unwrap_or(0);
        let weight = words::inverse_document_frequency(n_docs, doc_freq);
        for (file, _) in matching {
            *acc.entry((*file).clone()).or_default() += weight;
        }
    }
    acc
}

/// The test of the first file, and the files of its module.
fn score_module_neighbours(
    task: &TaskDescription<'_>,
    inputs: &PredictionInputs<'_>,
) -> HashMap<String, f64> {
    let Some(first) = task.first_file else { return HashMap::new() };
    let mut touched: HashMap<&str, f64> = HashMap::new();
    for file in inputs.sessions.iter().flat_map(|it| &it.touched) {
        *touched.entry(file).or_default() += 1.0;
    }
    let module = inputs.modules.module_of_file(first);
    let mut acc = HashMap::new();
    for file in inputs.project_files.iter().filter(|it| *it != first) {
        let popularity = touched.get(file.as_str()).copied().unwrap_or(0.0) / POPULARITY_TOUCHES;
        if is_test_pair(file, first) {
            acc.insert(file.clone(), TEST_PAIR_SCORE + popularity);
        } else if inputs.modules.module_of_file(file) == module {
            acc.insert(file.clone(), SAME_MODULE_SCORE + popularity);
        }
    }
    acc
}

/// Files that recent sessions touched.
fn score_recent_use(
    _: &TaskDescription<'_>,
    inputs: &PredictionInputs<'_>,
) -> HashMap<String, f64> {
    let mut acc: HashMap<String, f64> = HashMap::new();
    for (session, weight) in weigh_by_age(inputs.sessions) {
        // A set, because a session can touch a file several times.
        for file in session.touched.iter().collect::<BTreeSet<_>>() {
            *acc.entry(file.clone()).or_default() += weight;
        }
    }
    acc
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sessions, given as task and touched files.
    fn sessions(lines: &[(&str, &str)]) -> Vec<PastSession> {
        let session = |(task, files): &(&str, &str)| PastSession {
            task: (*task).to_owned(),
            touched: files.split(' ').map(str::to_owned).collect(),
        };
        lines.iter().map(session).collect()
    }

    #[test]
    fn files_touched_together_come_first() {
        let past = sessions(&[
            ("fix the login", "auth.rs token.rs"),
            ("fix the login again", "auth.rs token.rs auth_test.rs"),
            ("write docs", "readme.md guide.md"),
        ]);
        let tree: Vec<String> = "auth.rs token.rs auth_test.rs readme.md guide.md other.rs"
            .split(' ')
            .map(str::to_owned)
            .collect();
        let inputs = PredictionInputs {
            sessions: &past,
            commits: &CommitEvidence::default(),
            project_files: &tree,
            modules: &ModuleLookup::default(),
        };

        // Files that sessions touched together with the first file, in any order.
        let task = TaskDescription { text: "the login fails", first_file: Some("auth.rs") };
        let ranked = rank_likely_files(&task, &inputs, 3);
        let mut first_two = ranked[..2].to_vec();
        first_two.sort();
        assert_eq!(first_two, ["auth_test.rs", "token.rs"]);
        assert!(!ranked.contains(&"auth.rs".to_owned()), "it is open already");

        // A file that the task names outranks all others.
        let named = TaskDescription { text: "improve guide.md", first_file: None };
        assert_eq!(rank_likely_files(&named, &inputs, 1), ["guide.md"]);
    }

    #[test]
    fn without_inputs_nothing_is_ranked() {
        let inputs = PredictionInputs {
            sessions: &[],
            commits: &CommitEvidence::default(),
            project_files: &[],
            modules: &ModuleLookup::default(),
        };
        assert!(
            rank_likely_files(
                &TaskDescription { text: "x", first_file: Some("a.rs") },
                &inputs,
                10
            )
            .is_empty()
        );
    }
}
