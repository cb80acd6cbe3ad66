//! Which files a task will need, where past sessions on such work agree; nothing where they do not.
//!
//! `prefetch` ranks whatever there is, for whoever asks. This is said unasked, so that it must be right
//! more often than not: numbers in `docs/reference/eval.md`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::words;

use crate::PastSession;

/// A file that sessions on such work opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    pub path: String,
    /// How many of the sessions on such work did.
    pub sessions: u32,
}

/// What a task will need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Foreseen {
    /// The surest first.
    pub files: Vec<Expected>,
    /// Sessions that were on such work, of those that are known.
    pub alike: u32,
    pub known: u32,
}

/// Sessions on such work that there must be, and of them those that opened a file.
pub const FEWEST: u32 = 3;
const OPENED: u32 = 2;
/// How much of what two tasks say must be the same, and in how many words.
const ALIKE: f64 = 0.12;
const WORDS: usize = 2;
/// What so great a part of the sessions opened is sure; what more than half of them did, only if the
/// task has a word of its path that few paths have.
const SURE: f64 = 0.8;
const LIKELY: f64 = 0.5;
const FEW_PATHS: usize = 3;
const FEW_OF: usize = 15;
/// The most files that are named.
const MOST: usize = 6;
/// The last sessions that are looked at.
const LATEST: usize = 500;

/// Files that sessions on such work opened; those that the task names are known to whoever reads it.
pub fn expected(task: &str, sessions: &[PastSession]) -> Foreseen {
    let sessions = &sessions[sessions.len().saturating_sub(LATEST)..];
    let terms = |it: &str| -> BTreeSet<String> { words::keywords(it).into_iter().collect() };
    let (asked, said): (_, Vec<BTreeSet<String>>) =
        (terms(task), sessions.iter().map(|it| terms(&it.task)).collect());
    let alike = alike(&asked, &said);
    let known = u32::try_from(sessions.len()).unwrap_or(u32::MAX);
    let n_alike = u32::try_from(alike.len()).unwrap_or(u32::MAX);
    let none = Foreseen { files: Vec::new(), alike: n_alike, known };
    if n_alike < FEWEST {
        return none;
    }
    let mut votes: BTreeMap<&str, (f64, u32)> = BTreeMap::new();
    for (at, weight) in &alike {
        for file in sessions[*at].touched.iter().collect::<BTreeSet<_>>() {
            let vote = votes.entry(file).or_default();
            *vote = (vote.0 + weight, vote.1 + 1);
        }
    }
    let all: f64 = alike.iter().map(|it| it.1).sum();
    let paths = rare_words(sessions);
    let has_word = |path: &str| words::parts(path).iter().any(|it| asked.contains(it) && paths(it));
    let is_sure = |path: &str, share: f64| share > SURE || (share > LIKELY && has_word(path));
    let lower = task.to_lowercase();
    let is_named = |path: &str| {
        lower.contains(path.rsplit('/').next().unwrap_or(path).to_lowercase().as_str())
    };
    let mut found: Vec<(f64, Expected)> = votes
        .into_iter()
        .map(|(path, (weight, sessions))| {
            (weight / all, Expected { path: path.to_owned(), sessions })
        })
        .filter(|(share, it)| it.sessions >= OPENED && is_sure(&it.path, *share))
        .filter(|(_, it)| !is_named(&it.path))
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    Foreseen { files: found.into_iter().take(MOST).map(|it| it.1).collect(), ..none }
}

/// Sessions whose task says much the same, by place, with how much they count.
fn alike(asked: &BTreeSet<String>, said: &[BTreeSet<String>]) -> Vec<(usize, f64)> {
    let mut holding: HashMap<&str, u64> = HashMap::new();
    for word in said.iter().flatten() {
        *holding.entry(word).or_default() += 1;
    }
    let n_said = said.len() as u64;
    let weight =
        |word: &String| words::weight(n_said, holding.get(word.as_str()).copied().unwrap_or(0));
    let sum = |words: &BTreeSet<String>| words.iter().map(weight).sum::<f64>();
    let whole = sum(asked);
    let mut acc = Vec::new();
    for (at, its) in said.iter().enumerate() {
        let shared: BTreeSet<String> = asked.intersection(its).cloned().collect();
        let likeness = sum(&shared) / (whole * sum(its)).sqrt().max(f64::MIN_POSITIVE);
        if shared.len() >= WORDS && likeness >= ALIKE {
            acc.push((at, likeness * likeness));
        }
    }
    acc
}

/// Whether a word stands in few of the paths that sessions went over.
fn rare_words(sessions: &[PastSession]) -> impl Fn(&str) -> bool {
    let paths: BTreeSet<&String> = sessions.iter().flat_map(|it| &it.touched).collect();
    let most = FEW_PATHS.max(paths.len() / FEW_OF);
    let mut counts: HashMap<String, usize> = HashMap::new();
    for path in &paths {
        for word in words::parts(path).into_iter().collect::<BTreeSet<_>>() {
            *counts.entry(word).or_default() += 1;
        }
    }
    move |word| counts.get(word).is_some_and(|it| *it <= most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Past sessions as `task: files`, then what is asked.
    fn check(past: &str, task: &str, expect: Expect) {
        let session = |line: &str| {
            let (task, files) = line.split_once(": ").unwrap();
            let touched = files.split(' ').map(str::to_owned).collect();
            PastSession { task: task.to_owned(), touched }
        };
        let sessions: Vec<PastSession> = past.lines().map(session).collect();
        let res = expected(task, &sessions);
        let line = |it: &Expected| format!("{} {}\n", it.path, it.sessions);
        let files: String = res.files.iter().map(line).collect();
        expect.assert_eq(&format!("{} of {} alike\n{files}", res.alike, res.known));
    }

    const PAST: &str = "the login token expires too early: src/auth.rs src/clock.rs README.md
a login token that expires never: src/auth.rs src/clock.rs src/token.rs
write the guide about colours: docs/guide.md README.md
login with an expired token fails: src/auth.rs src/clock.rs src/token.rs
release the next version: CHANGELOG.md Cargo.toml";

    #[test]
    fn files_that_sessions_on_such_work_opened_are_named() {
        check(
            PAST,
            "why does a login token expire at midnight",
            expect![[r"
                3 of 5 alike
                src/auth.rs 3
                src/clock.rs 3
                src/token.rs 2
            "]],
        );
    }

    #[test]
    fn what_the_task_names_is_known() {
        check(
            PAST,
            "the login token in clock.rs expires",
            expect![[r"
                3 of 5 alike
                src/auth.rs 3
                src/token.rs 2
            "]],
        );
    }

    #[test]
    fn other_work_and_one_session_alone_name_nothing() {
        check(
            PAST,
            "what is the boiling point of ethanol",
            expect![[r"
                0 of 5 alike
            "]],
        );
        check(
            PAST,
            "the guide about the colours of the panel",
            expect![[r"
                1 of 5 alike
            "]],
        );
        check("a b: c", "", expect!["0 of 1 alike\n"]);
    }
}
