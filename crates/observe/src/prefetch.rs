//! Ranks the files that a task will likely touch: from past sessions, past commits, the words of the
//! task and the neighbours of the first file.
//!
//! Each scorer ranks the files by itself. The ranks are combined by weighted reciprocal rank fusion
//! (Cormack, Clarke and Büttcher 2009), because the scores have no common scale.

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

/// The scorers with their weights, tuned on the sessions of one repository (see `docs/reference/eval.md`).
#[rustfmt::skip]
const SCORERS: &[(FileScorer, f64)] = &[
    (score_session_neighbours, 2.0),
    (score_co_changed,         1.2),
    (score_similar_tasks,      0.6),
    (score_similar_commits,    0.6),
    (score_named_files,        3.0),
    (score_path_words,         1.4),
    (score_neighbours,         0.4),
    (score_recent_use,         1.6),
    (score_recent_changes,     0.2),
];

/// Scores files; a file that is not in the map scores 0.
type FileScorer = fn(&TaskDescription<'_>, &PredictionInputs<'_>) -> HashMap<String, f64>;

/// Offset of the reciprocal rank: the larger, the flatter.
const RANK_OFFSET: f64 = 12.0;
/// Factor by which each step into the past weighs less.
const AGE_DECAY: f64 = 0.97;

/// Files of one scorer that are ranked.
const MAX_RANKED_FILES: usize = 60;

/// Ranks the files by how likely the task touches them, without its first file.
pub fn rank_likely_files(
    task: &TaskDescription<'_>,
    inputs: &PredictionInputs<'_>,
    limit: usize,
) -> Vec<String> {
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    for (score_files, weight) in SCORERS {
        let mut ranked: Vec<(String, f64)> =
            score_files(task, inputs).into_iter().filter(|it| it.1 > 0.0).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        for (rank, (file, _)) in (0_u32..).zip(ranked.into_iter().take(MAX_RANKED_FILES)) {
            *sums.entry(file).or_default() += weight / (RANK_OFFSET + f64::from(rank));
        }
    }
    // Commits also name files that were deleted long ago.
    let present: BTreeSet<&str> = inputs.project_files.iter().map(String::as_str).collect();
    let known: BTreeSet<&str> =
        inputs.sessions.iter().flat_map(|it| &it.touched).map(String::as_str).collect();
    let mut fused: Vec<(String, f64)> = sums.into_iter().collect();
    fused.retain(|it| {
        Some(it.0.as_str()) != task.first_file
            && (present.contains(it.0.as_str()) || known.contains(it.0.as_str()))
    });
    fused.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    fused.into_iter().take(limit).map(|it| it.0).collect()
}

/// The weight of a session by its age: the last of `n` weighs 1.
fn age_weight(n: usize, at: usize) -> f64 {
    AGE_DECAY.powi(i32::try_from(n - 1 - at).unwrap_or(i32::MAX))
}

/// Files that past sessions touched near the first file.
fn score_session_neighbours(
    task: &TaskDescription<'_>,
    inputs: &PredictionInputs<'_>,
) -> HashMap<String, f64> {
    let Some(first) = task.first_file else { return HashMap::new() };
    let mut acc: HashMap<String, f64> = HashMap::new();
    let mut totals: HashMap<&str, f64> = HashMap::new();
    for (at, session) in inputs.sessions.iter().enumerate() {
        let weight = age_weight(inputs.sessions.len(), at);
        for file in &session.touched {
            *totals.entry(file).or_default() += weight;
        }
        let Some(position) = session.touched.iter().position(|it| it == first) else { continue };
        for (nth, file) in session.touched.iter().enumerate() {
            // A file touched right after the first one is closer to it than one touched much later.
            #[expect(clippy::cast_precision_loss, reason = "distances within a session are small")]
            let near = 1.0 / (1.0 + nth.abs_diff(position) as f64 / 8.0);
            *acc.entry(file.clone()).or_default() += weight * near;
        }
    }
    // A file that every session touches is weaker evidence. The exponent was tuned with the weights.
    acc.into_iter()
        .map(|(file, sum)| {
            let total = totals.get(file.as_str()).copied().unwrap_or(1.0);
            (file, sum / total.powf(0.35))
        })
        .collect()
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
    let n_docs = u64::try_from(past_words.len()).unwrap_or(0);
    let idf = |word: &String| {
        let doc_freq = past_words.iter().filter(|it| it.contains(word)).count();
        words::inverse_document_frequency(n_docs, u64::try_from(doc_freq).unwrap_or(0))
    };
    let weights: HashMap<&String, f64> = task_words.iter().map(|it| (it, idf(it))).collect();
    let mut acc: HashMap<String, f64> = HashMap::new();
    for (session, past) in inputs.sessions.iter().zip(&past_words) {
        let shared: f64 =
            task_words.iter().filter(|it| past.contains(*it)).map(|it| weights[it]).sum();
        if shared > 0.0 {
            // Squared, so that one close task outweighs several distant ones.
            for file in &session.touched {
                *acc.entry(file.clone()).or_default() += shared * shared;
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
            acc.insert(file.clone(), 3.0);
        // Short names are words of the language as well.
        } else if name.len() > 5 && lower.contains(name) {
            acc.insert(file.clone(), 2.0);
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
    let parts: Vec<BTreeSet<String>> = inputs
        .project_files
        .iter()
        .map(|it| words::identifier_parts(it).into_iter().collect())
        .collect();
    let n_docs = u64::try_from(parts.len()).unwrap_or(0);
    let mut acc: HashMap<String, f64> = HashMap::new();
    for word in &wanted {
        let matching: Vec<usize> =
            (0..parts.len()).filter(|it| parts[*it].contains(word)).collect();
        let doc_freq = u64::try_from(matching.len()).unwrap_or(0);
        let weight = words::inverse_document_frequency(n_docs, doc_freq);
        for at in matching {
            *acc.entry(inputs.project_files[at].clone()).or_default() += weight;
        }
    }
    acc
}

/// The test of the first file, and the files of its module.
fn score_neighbours(
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
        // A small bonus: fifty touches weigh as much as being in the module.
        let popularity = touched.get(file.as_str()).copied().unwrap_or(0.0) / 50.0;
        if is_test_pair(file, first) {
            acc.insert(file.clone(), 3.0 + popularity);
        } else if inputs.modules.module_of_file(file) == module {
            acc.insert(file.clone(), 1.0 + popularity);
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
    for (at, session) in inputs.sessions.iter().enumerate() {
        let weight = age_weight(inputs.sessions.len(), at);
        for file in session.touched.iter().collect::<BTreeSet<_>>() {
            *acc.entry(file.clone()).or_default() += weight;
        }
    }
    acc
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(lines: &[(&str, &str)]) -> Vec<PastSession> {
        let one = |it: &(&str, &str)| PastSession {
            task: it.0.to_owned(),
            touched: it.1.split(' ').map(str::to_owned).collect(),
        };
        lines.iter().map(one).collect()
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
        let past = PredictionInputs {
            sessions: &past,
            commits: &CommitEvidence::default(),
            project_files: &tree,
            modules: &ModuleLookup::default(),
        };
        let task = TaskDescription { text: "the login fails", first_file: Some("auth.rs") };
        let ranked = rank_likely_files(&task, &past, 3);
        let mut first_two = ranked[..2].to_vec();
        first_two.sort();
        assert_eq!(first_two, ["auth_test.rs", "token.rs"]);
        assert!(!ranked.contains(&"auth.rs".to_owned()), "it is open already");
        let named = TaskDescription { text: "improve guide.md", first_file: None };
        assert_eq!(rank_likely_files(&named, &past, 1), ["guide.md"]);
    }

    #[test]
    fn without_inputs_nothing_is_ranked() {
        let past = PredictionInputs {
            sessions: &[],
            commits: &CommitEvidence::default(),
            project_files: &[],
            modules: &ModuleLookup::default(),
        };
        assert!(
            rank_likely_files(&TaskDescription { text: "x", first_file: Some("a.rs") }, &past, 10)
                .is_empty()
        );
    }
}
