//! What has become of the files a memory speaks of, asked of git and the working tree at the moment
//! of asking. At most a handful of questions to git, and none on the caller's runtime.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use model::{Anchor, Memory, PerMille, ProjectPath, Timestamp};
use recall::stale;
use source::{FileChange, Place};

use crate::anchor::Outline;
use crate::mind::KeptInMind;
use crate::models::aside;
use crate::{Engine, Shown};

/// How many commits git is asked about for one context. What lies further down stays as it is.
const COMMITS: usize = 4;

/// What has become of a memory's files.
#[derive(Clone, Debug, Default)]
pub(super) struct Fate {
    /// By their names now; those that are gone by their old ones.
    pub(super) files: Vec<ProjectPath>,
    /// None of them is there any more.
    pub(super) gone: bool,
    /// It is bound to symbols, and all of them are gone.
    pub(super) unbound: bool,
    /// How much of them is not as it was.
    pub(super) changed: PerMille,
    pub(super) doubts: Vec<String>,
}

/// What is asked about one memory.
#[derive(Clone)]
struct Subject {
    files: Vec<ProjectPath>,
    /// Symbols of these files that it is bound to.
    anchors: Vec<Anchor>,
    /// The project's own memories speak of the project's files; the user's may mean any.
    of_project: bool,
    commit: Option<String>,
    since: Timestamp,
}

/// Where symbols are now that are no longer where they were, by what they mean.
type Elsewhere = HashMap<String, ProjectPath>;

impl Engine {
    /// The fate of each memory's files, in the same order.
    pub(super) async fn fates(&self, memories: impl Iterator<Item = &Memory>) -> Vec<Fate> {
        let subject = |it: &Memory| Subject {
            files: it.files.clone(),
            anchors: it.anchors.clone(),
            of_project: it.project.is_some(),
            commit: it.commit.clone(),
            since: it.last_touched(),
        };
        let subjects: Vec<Subject> = memories.map(subject).collect();
        let (fates, lost) = self.judged(subjects.clone(), Elsewhere::new()).await;
        if lost.is_empty() {
            return fates;
        }
        let elsewhere = self.elsewhere(&lost).await;
        if elsewhere.is_empty() { fates } else { self.judged(subjects, elsewhere).await.0 }
    }

    /// Holds a memory against what it speaks of: its confidence falls, and the reasons come back.
    pub async fn doubts(&self, shown: &mut Shown) -> Vec<String> {
        let fate = self.fates(std::iter::once(&shown.memory)).await.pop().unwrap_or_default();
        shown.current = stale::lowered(shown.current, fate.changed);
        fate.doubts
    }

    async fn judged(
        &self,
        subjects: Vec<Subject>,
        elsewhere: Elsewhere,
    ) -> (Vec<Fate>, Vec<Anchor>) {
        let (place, kept) = (self.place.clone(), Arc::clone(&self.kept));
        aside(move || {
            let head = source::head(&place).commit;
            let mut history = History {
                place: &place,
                head,
                asked: HashMap::new(),
                kept,
                elsewhere,
                lost: Vec::new(),
            };
            let fates = subjects.into_iter().map(|it| fate(&mut history, it)).collect();
            (fates, history.lost)
        })
        .await
    }

    /// Looks for symbols that are no longer where they were. What was indexed is only a hint: the
    /// symbol must be there now.
    async fn elsewhere(&self, lost: &[Anchor]) -> Elsewhere {
        let mut res = Elsewhere::new();
        // Without an index, what moved is taken for gone.
        let Ok((atlas, _)) = self.atlas().await else { return res };
        let meanings = lost.iter().filter_map(|it| u64::from_str_radix(&it.hash, 16).ok());
        for symbol in atlas.meaning(&meanings.collect()) {
            let hash = format!("{:016x}", symbol.meaning);
            let own_name = |it: &str| it.rsplit('.').next().unwrap_or_default().to_owned();
            let is_it = |it: &&Anchor| {
                it.hash == hash
                    && it.file.as_str() != symbol.path
                    && own_name(&it.symbol) == own_name(&symbol.name)
            };
            let Some(anchor) = lost.iter().find(is_it) else { continue };
            let now = Outline::read(&self.place.root, &symbol.path);
            let is_there = now.and_then(|it| it.hash(&symbol.name)) == Some(hash);
            if let Ok(path) = ProjectPath::parse(&symbol.path)
                && is_there
            {
                res.entry(anchor.hash.clone()).or_insert(path);
            }
        }
        res
    }
}

/// What git said so far, and what files define.
struct History<'a> {
    place: &'a Place,
    head: Option<String>,
    asked: HashMap<String, Option<Vec<FileChange>>>,
    kept: Arc<KeptInMind>,
    elsewhere: Elsewhere,
    /// Symbols that are not where they were.
    lost: Vec<Anchor>,
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
    let changes = history.since(subject.commit.as_deref()).map(<[FileChange]>::to_vec);
    let changes = changes.as_deref();
    let (mut res, mut shares, mut n_there) = (Fate::default(), Vec::new(), 0);
    let (mut n_bound, mut n_lost) = (0, 0);
    for file in subject.files {
        let there = source::exists(&root, file.as_str());
        let change = changes.and_then(|it| of(it, file.as_str(), there));
        let now = match change.filter(|it| it.before.is_some() && it.path != file.as_str()) {
            Some(renamed) => ProjectPath::parse(&renamed.path).unwrap_or_else(|_| file.clone()),
            None => file.clone(),
        };
        let is_there = there || (now != file && source::exists(&root, now.as_str()));
        if now != file {
            res.doubts.push(format!("`{file}` is now `{now}`"));
        }
        let bound: Vec<&Anchor> = subject.anchors.iter().filter(|it| it.file == file).collect();
        if let Some(held) = held(history, &now, &bound, &mut res.doubts) {
            // Symbols say more than lines: the rest of the file may change as it likes.
            let moved = held.moved.filter(|_| !is_there || bound.len() == 1);
            n_there += usize::from(is_there || moved.is_some());
            (n_bound, n_lost) = (n_bound + bound.len(), n_lost + held.n_lost);
            shares.push(held.changed);
            res.files.push(moved.unwrap_or(now));
            continue;
        }
        n_there += usize::from(is_there);
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
    res.unbound = n_bound > 0 && n_lost == n_bound;
    res.changed = stale::together(&shares);
    res
}

/// What has become of the symbols of one file.
struct HeldTo {
    changed: PerMille,
    /// How many are nowhere.
    n_lost: usize,
    /// Where the last of them is now, when that is another file.
    moved: Option<ProjectPath>,
}

/// `None` when the memory is bound to no symbol of the file.
fn held(
    history: &mut History<'_>,
    file: &ProjectPath,
    anchors: &[&Anchor],
    doubts: &mut Vec<String>,
) -> Option<HeldTo> {
    let (mut shares, mut moved, mut n_lost) = (Vec::new(), None, 0);
    for anchor in anchors {
        let symbol = &anchor.symbol;
        let now = history.kept.meaning(&history.place.root, file.as_str(), symbol);
        let share = match now {
            Some(hash) if hash == anchor.hash => PerMille::ZERO,
            Some(_) => {
                doubts.push(format!("`{symbol}` in `{file}` changed since"));
                PerMille::ONE
            }
            None => {
                history.lost.push((*anchor).clone());
                moved = history.elsewhere.get(&anchor.hash).cloned().or(moved);
                let (doubt, share) = if let Some(path) = history.elsewhere.get(&anchor.hash) {
                    (format!("`{symbol}` is now in `{path}`"), PerMille::ZERO)
                } else {
                    n_lost += 1;
                    (format!("`{symbol}` is gone from `{file}`"), PerMille::ONE)
                };
                doubts.push(doubt);
                share
            }
        };
        shares.push(share);
    }
    (!shares.is_empty()).then(|| HeldTo { changed: stale::together(&shares), n_lost, moved })
}

/// What git says about a file: under its own name while it is there, else under the one it has now.
fn of<'a>(changes: &'a [FileChange], file: &str, there: bool) -> Option<&'a FileChange> {
    let renamed = || changes.iter().find(|it| it.before.as_deref() == Some(file));
    let same = || changes.iter().find(|it| it.path == file);
    if there { same() } else { renamed().or_else(same) }
}
