//! What has become of the files a memory speaks of, asked of git and the working tree at the moment
//! of asking. At most a handful of questions to git, and none on the caller's runtime.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use model::{PerMille, ProjectPath, Timestamp};
use recall::stale;
use source::{FileChange, Place};

use super::ask::Hit;
use crate::Engine;
use crate::models::aside;

/// How many commits git is asked about for one context. What lies further down stays as it is.
const COMMITS: usize = 4;

/// What has become of a memory's files.
#[derive(Clone, Debug, Default)]
pub(super) struct Fate {
    /// By their names now; those that are gone by their old ones.
    pub(super) files: Vec<ProjectPath>,
    /// None of them is there any more.
    pub(super) gone: bool,
    /// How much of them is not as it was.
    pub(super) changed: PerMille,
    pub(super) doubts: Vec<String>,
}

/// What is asked about one memory.
struct Subject {
    files: Vec<ProjectPath>,
    /// The project's own memories speak of the project's files; the user's may mean any.
    of_project: bool,
    commit: Option<String>,
    since: Timestamp,
}

impl Engine {
    /// The fate of each hit's files, in the same order.
    pub(super) async fn fates(&self, hits: &[Hit]) -> Vec<Fate> {
        let subject = |it: &Hit| Subject {
            files: it.shown.memory.files.clone(),
            of_project: it.shown.memory.project.is_some(),
            commit: it.shown.memory.commit.clone(),
            since: it.shown.memory.last_touched(),
        };
        let subjects: Vec<Subject> = hits.iter().map(subject).collect();
        let place = self.place.clone();
        aside(move || {
            let head = source::head(&place).commit;
            let mut history = History { place: &place, head, asked: HashMap::new() };
            subjects.into_iter().map(|it| fate(&mut history, it)).collect()
        })
        .await
    }
}

/// What git said so far.
struct History<'a> {
    place: &'a Place,
    head: Option<String>,
    asked: HashMap<String, Option<Vec<FileChange>>>,
}

impl History<'_> {
    /// What changed since a commit; `None` when that is not known.
    fn since(&mut self, commit: Option<&str>) -> Option<&[FileChange]> {
        let commit = commit?;
        if self.head.as_deref() == Some(commit) {
            return Some(&[]);
        }
        let may_ask = self.asked.len() < COMMITS;
        match self.asked.entry(commit.to_owned()) {
            Entry::Occupied(it) => it.into_mut().as_deref(),
            Entry::Vacant(it) if may_ask => {
                it.insert(source::changes(self.place, commit)).as_deref()
            }
            Entry::Vacant(_) => None,
        }
    }
}

fn fate(history: &mut History<'_>, subject: Subject) -> Fate {
    if !subject.of_project || subject.files.is_empty() {
        return Fate { files: subject.files, ..Fate::default() };
    }
    let root = history.place.root.clone();
    let changes = history.since(subject.commit.as_deref());
    let (mut res, mut shares, mut n_there) = (Fate::default(), Vec::new(), 0);
    for file in subject.files {
        let there = source::exists(&root, file.as_str());
        let change = changes.and_then(|it| of(it, file.as_str(), there));
        let now = match change.filter(|it| it.before.is_some() && it.path != file.as_str()) {
            Some(renamed) => ProjectPath::parse(&renamed.path).unwrap_or_else(|_| file.clone()),
            None => file.clone(),
        };
        let is_there = there || (now != file && source::exists(&root, now.as_str()));
        n_there += usize::from(is_there);
        if now != file {
            res.doubts.push(format!("`{file}` is now `{now}`"));
        }
        if !is_there {
            res.doubts.push(format!("`{now}` is gone"));
            shares.push(PerMille::ONE);
            res.files.push(now);
            continue;
        }
        let state = source::state(&root, now.as_str());
        let share = change.map_or(PerMille::ZERO, |it| {
            stale::changed(it.added, it.removed, state.map_or(0, |it| it.n_lines))
        });
        if share > PerMille::ZERO {
            res.doubts.push(format!("{} % of `{now}` changed since", share.get().div_ceil(10)));
        }
        // A fresh checkout is new on disk; where git knows the file has not changed, that is nothing.
        let may_be_newer = changes.is_none() || share > PerMille::ZERO;
        let newer = state.and_then(|it| stale::newer_by(Timestamp(it.modified), subject.since));
        if let Some(days) = newer.filter(|_| may_be_newer) {
            res.doubts.push(format!("`{now}` is {days} days newer: worth a review"));
        }
        shares.push(share);
        res.files.push(now);
    }
    res.gone = n_there == 0;
    res.changed = stale::together(&shares);
    res
}

/// What git says about a file: under its own name while it is there, else under the one it has now.
fn of<'a>(changes: &'a [FileChange], file: &str, there: bool) -> Option<&'a FileChange> {
    let renamed = || changes.iter().find(|it| it.before.as_deref() == Some(file));
    let same = || changes.iter().find(|it| it.path == file);
    if there { same() } else { renamed().or_else(same) }
}
