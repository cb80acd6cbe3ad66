//! Which files a task will touch: from past sessions, past commits, the words of the task and the
//! neighbourhood of the first file.
//!
//! Each view ranks the files by itself; ranks are added up, since their scores have no common scale.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::words;

use crate::Modules;
use crate::sighting::are_twins;

/// What a task is known by before it is begun.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    pub text: &'a str,
    /// The file that is open or was read first.
    pub first: Option<&'a str>,
}

/// A past session: its task and what it touched, in order.
#[derive(Clone, Debug, Default)]
pub struct PastSession {
    pub task: String,
    pub touched: Vec<String>,
}

/// What commits say about files, each with how strongly.
#[derive(Clone, Debug, Default)]
pub struct FromCommits {
    /// Files that changed together with the first one.
    pub together: Vec<(String, f64)>,
    /// Files of commits that said something alike.
    pub alike: Vec<(String, f64)>,
    /// Files that change much of late.
    pub busy: Vec<(String, f64)>,
}

/// Everything that is known, sessions oldest first.
#[derive(Clone, Copy, Debug)]
pub struct Past<'a> {
    pub sessions: &'a [PastSession],
    pub commits: &'a FromCommits,
    /// The files there are now.
    pub tree: &'a [String],
    pub modules: &'a Modules,
}

/// How much each view counts; chosen on the sessions of one repository (see `docs/reference/eval.md`).
#[rustfmt::skip]
const VIEWS: &[(View, f64)] = &[
    (together_in_sessions, 2.0),
    (together_in_commits,  1.2),
    (alike_tasks,          0.6),
    (alike_commits,        0.6),
    (named_in_text,        3.0),
    (words_in_path,        1.4),
    (near_by,              0.4),
    (often_lately,         1.6),
    (busy,                 0.2),
];

type View = fn(&Task<'_>, &Past<'_>) -> HashMap<String, f64>;

/// How slowly ranks fall off.
const FLATTENS: f64 = 12.0;
/// By how much each step into the past counts less.
const FADES: f64 = 0.97;

/// Files ranked by how likely the task touches them, likeliest first; the first file is left out.
pub fn prefetch(task: &Task<'_>, past: &Past<'_>, limit: usize) -> Vec<String> {
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    for (view, weight) in VIEWS {
        let mut ranked: Vec<(String, f64)> =
            view(task, past).into_iter().filter(|it| it.1 > 0.0).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        for (place, (file, _)) in (0_u32..).zip(ranked.into_iter().take(60)) {
            *sums.entry(file).or_default() += weight / (FLATTENS + f64::from(place));
        }
    }
    let present: BTreeSet<&str> = past.tree.iter().map(String::as_str).collect();
    let known: BTreeSet<&str> =
        past.sessions.iter().flat_map(|it| &it.touched).map(String::as_str).collect();
    let mut res: Vec<(String, f64)> = sums.into_iter().collect();
    res.retain(|it| {
        Some(it.0.as_str()) != task.first
            && (present.contains(it.0.as_str()) || known.contains(it.0.as_str()))
    });
    res.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    res.into_iter().take(limit).map(|it| it.0).collect()
}

/// Counts of fading age: the last of `n` counts one.
fn faded(n: usize, at: usize) -> f64 {
    FADES.powi(i32::try_from(n - 1 - at).unwrap_or(i32::MAX))
}

fn together_in_sessions(task: &Task<'_>, past: &Past<'_>) -> HashMap<String, f64> {
    let Some(first) = task.first else { return HashMap::new() };
    let mut acc: HashMap<String, f64> = HashMap::new();
    let mut alone: HashMap<&str, f64> = HashMap::new();
    for (at, session) in past.sessions.iter().enumerate() {
        let weight = faded(past.sessions.len(), at);
        for file in &session.touched {
            *alone.entry(file).or_default() += weight;
        }
        let Some(place) = session.touched.iter().position(|it| it == first) else { continue };
        for (other, file) in session.touched.iter().enumerate() {
            // What was touched next to it belongs to it more than what came an hour later.
            #[expect(clippy::cast_precision_loss, reason = "distances within a session are small")]
            let near = 1.0 / (1.0 + other.abs_diff(place) as f64 / 8.0);
            *acc.entry(file.clone()).or_default() += weight * near;
        }
    }
    // A file that every session touches says less about this one.
    acc.into_iter()
        .map(|(file, sum)| {
            let n = alone.get(file.as_str()).copied().unwrap_or(1.0);
            (file, sum / n.powf(0.35))
        })
        .collect()
}

fn together_in_commits(_: &Task<'_>, past: &Past<'_>) -> HashMap<String, f64> {
    past.commits.together.iter().cloned().collect()
}

fn alike_commits(_: &Task<'_>, past: &Past<'_>) -> HashMap<String, f64> {
    past.commits.alike.iter().cloned().collect()
}

fn busy(_: &Task<'_>, past: &Past<'_>) -> HashMap<String, f64> {
    past.commits.busy.iter().cloned().collect()
}

/// Files of past sessions whose task has the same rare words.
fn alike_tasks(task: &Task<'_>, past: &Past<'_>) -> HashMap<String, f64> {
    let asked: BTreeSet<String> = words::keywords(task.text).into_iter().collect();
    let known: Vec<BTreeSet<String>> =
        past.sessions.iter().map(|it| words::keywords(&it.task).into_iter().collect()).collect();
    let all = u64::try_from(known.len()).unwrap_or(0);
    let weight_of = |word: &String| {
        let holding = known.iter().filter(|it| it.contains(word)).count();
        words::weight(all, u64::try_from(holding).unwrap_or(0))
    };
    let weights: HashMap<&String, f64> = asked.iter().map(|it| (it, weight_of(it))).collect();
    let mut acc: HashMap<String, f64> = HashMap::new();
    for (session, its) in past.sessions.iter().zip(&known) {
        let shared: f64 = asked.iter().filter(|it| its.contains(*it)).map(|it| weights[it]).sum();
        if shared > 0.0 {
            for file in &session.touched {
                *acc.entry(file.clone()).or_default() += shared * shared;
            }
        }
    }
    acc
}

/// Files whose path or name stands in the task.
fn named_in_text(task: &Task<'_>, past: &Past<'_>) -> HashMap<String, f64> {
    let lower = task.text.to_lowercase();
    let mut acc = HashMap::new();
    for file in past.tree {
        let path = file.to_lowercase();
        let name = path.rsplit('/').next().unwrap_or(&path);
        if lower.contains(&path) {
            acc.insert(file.clone(), 3.0);
        } else if name.len() > 5 && lower.contains(name) {
            acc.insert(file.clone(), 2.0);
        }
    }
    acc
}

/// Files whose path shares rare words with the task and the first file.
fn words_in_path(task: &Task<'_>, past: &Past<'_>) -> HashMap<String, f64> {
    let mut asked: BTreeSet<String> = words::keywords(task.text).into_iter().collect();
    if let Some(first) = task.first {
        let stem = first.rsplit('/').next().unwrap_or(first);
        asked.extend(words::parts(stem.split('.').next().unwrap_or(stem)));
    }
    let parts: Vec<BTreeSet<String>> =
        past.tree.iter().map(|it| words::parts(it).into_iter().collect()).collect();
    let all = u64::try_from(parts.len()).unwrap_or(0);
    let mut acc: HashMap<String, f64> = HashMap::new();
    for word in &asked {
        let holding: Vec<usize> = (0..parts.len()).filter(|it| parts[*it].contains(word)).collect();
        let weight = words::weight(all, u64::try_from(holding.len()).unwrap_or(0));
        for at in holding {
            *acc.entry(past.tree[at].clone()).or_default() += weight;
        }
    }
    acc
}

/// The test of the first file, and its module.
fn near_by(task: &Task<'_>, past: &Past<'_>) -> HashMap<String, f64> {
    let Some(first) = task.first else { return HashMap::new() };
    let mut touched: HashMap<&str, f64> = HashMap::new();
    for file in past.sessions.iter().flat_map(|it| &it.touched) {
        *touched.entry(file).or_default() += 1.0;
    }
    let here = past.modules.of(first);
    let mut acc = HashMap::new();
    for file in past.tree.iter().filter(|it| *it != first) {
        let popular = touched.get(file.as_str()).copied().unwrap_or(0.0) / 50.0;
        if are_twins(file, first) {
            acc.insert(file.clone(), 3.0 + popular);
        } else if past.modules.of(file) == here {
            acc.insert(file.clone(), 1.0 + popular);
        }
    }
    acc
}

fn often_lately(_: &Task<'_>, past: &Past<'_>) -> HashMap<String, f64> {
    let mut acc: HashMap<String, f64> = HashMap::new();
    for (at, session) in past.sessions.iter().enumerate() {
        let weight = faded(past.sessions.len(), at);
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
    fn what_went_together_comes_first() {
        let past = sessions(&[
            ("fix the login", "auth.rs token.rs"),
            ("fix the login again", "auth.rs token.rs auth_test.rs"),
            ("write docs", "readme.md guide.md"),
        ]);
        let tree: Vec<String> = "auth.rs token.rs auth_test.rs readme.md guide.md other.rs"
            .split(' ')
            .map(str::to_owned)
            .collect();
        let past = Past {
            sessions: &past,
            commits: &FromCommits::default(),
            tree: &tree,
            modules: &Modules::default(),
        };
        let task = Task { text: "the login fails", first: Some("auth.rs") };
        let res = prefetch(&task, &past, 3);
        let mut first_two = res[..2].to_vec();
        first_two.sort();
        assert_eq!(first_two, ["auth_test.rs", "token.rs"]);
        assert!(!res.contains(&"auth.rs".to_owned()), "it is open already");
        let named = Task { text: "improve guide.md", first: None };
        assert_eq!(prefetch(&named, &past, 1), ["guide.md"]);
    }

    #[test]
    fn nothing_known_is_nothing_ranked() {
        let past = Past {
            sessions: &[],
            commits: &FromCommits::default(),
            tree: &[],
            modules: &Modules::default(),
        };
        assert!(prefetch(&Task { text: "x", first: Some("a.rs") }, &past, 10).is_empty());
    }
}
