//! What an agent must know about a file it has just touched. Asked at every step, so it is one visit
//! to each notebook and nothing else: no vectors, no ranking by words, git only when a branch is in
//! question.

use std::collections::HashSet;
use std::sync::PoisonError;

use model::{Memory, MemoryId, Phase, ProjectPath, Timestamp};
use recall::{Purpose, Standing, Without};
use source::Head;
use store::Warnings;
use tokio::task;

use super::ask::PassedOver;
use super::context::weighed;
use crate::{Engine, Error, Notebook, Reach, Shown};

/// How many warnings of one file are looked at, beside those that were shown already.
const LOOKED_AT: usize = 64;
/// How long what git said about branches is believed while the same commit is checked out.
const BELIEVED: i64 = 60_000;

/// What was last said about branches, and when.
#[derive(Clone, Debug)]
pub(crate) struct Branches {
    head: Head,
    asked_at: Timestamp,
    closed: Vec<String>,
}

/// Warnings about files: those that may be said, best first, and why the others may not.
#[derive(Clone, Debug, Default)]
pub struct Warned {
    pub said: Vec<Shown>,
    pub left_out: Vec<(Shown, PassedOver)>,
}

impl Engine {
    /// Live gotchas, error patterns and dead ends of these files that are sure enough and were not
    /// shown yet, best first.
    pub async fn by_file(
        &self,
        files: &[ProjectPath],
        already_shown: &HashSet<MemoryId>,
    ) -> Result<Vec<Shown>, Error> {
        Ok(self.warnings(files, already_shown).await?.said)
    }

    /// As `by_file`, with those that were left out.
    pub(super) async fn warnings(
        &self,
        files: &[ProjectPath],
        already_shown: &HashSet<MemoryId>,
    ) -> Result<Warned, Error> {
        let limit = u32::try_from(LOOKED_AT + already_shown.len()).unwrap_or(u32::MAX);
        // Both notebooks are asked before either is waited for.
        let ask = |notebook: Notebook| {
            let (store, files) = (notebook.store.clone(), files.to_vec());
            (notebook, task::spawn(async move { store.warnings(files, limit).await }))
        };
        let asked: Vec<_> = self.notebooks().into_iter().map(ask).collect();
        let (mut found, mut left_out) = (Vec::new(), Vec::new());
        for (notebook, warnings) in asked {
            let warnings = warnings.await.expect("the store reports errors and does not panic")?;
            for (shown, standing) in self.sift(&notebook, warnings).await? {
                match self.why_not(&shown, already_shown) {
                    Some(why) => left_out.push((shown, why)),
                    None => found.push((shown, standing)),
                }
            }
        }
        let hits = weighed(found, Phase::Implement, Purpose::Step, &Without::default());
        Ok(Warned { said: hits.into_iter().map(|it| it.shown).collect(), left_out })
    }

    /// What concerns this project as it is checked out.
    async fn sift(
        &self,
        notebook: &Notebook,
        warnings: Warnings,
    ) -> Result<Vec<(Shown, Standing)>, Error> {
        let Warnings { mut memories, quiet } = warnings;
        let quiet = quiet.until(self.now);
        if memories.is_empty() {
            return Ok(Vec::new());
        }
        if notebook.reach == Reach::User {
            let excluded = self.excluded().await?;
            memories.retain(|it| !excluded.contains(&it.id));
        }
        if memories.iter().any(|it| it.branch.is_some()) {
            let closed = self.closed_branches().await;
            memories.retain(|it| it.branch.as_ref().is_none_or(|it| !closed.contains(it)));
        }
        let shown = |memory: Memory| {
            let standing = self.standing(&memory, &quiet);
            (Shown { memory, reach: notebook.reach, current: standing.current }, standing)
        };
        Ok(memories.into_iter().map(shown).collect())
    }

    fn why_not(&self, shown: &Shown, already_shown: &HashSet<MemoryId>) -> Option<PassedOver> {
        if already_shown.contains(&shown.memory.id) {
            Some(PassedOver::Shown)
        } else if shown.current < Purpose::Step.row().least {
            Some(PassedOver::Unsure)
        } else if !self.speaks_of_something(&shown.memory) {
            Some(PassedOver::FilesGone)
        } else {
            None
        }
    }

    /// Whether any file it names is there; the user's memories may mean files of any project.
    pub(super) fn speaks_of_something(&self, memory: &Memory) -> bool {
        let there = |it: &ProjectPath| source::exists(&self.place.root, it.as_str());
        memory.project.is_none() || memory.files.is_empty() || memory.files.iter().any(there)
    }

    /// The branches that are not merged into what is checked out, asked of git when the commit
    /// changed or the last answer is old.
    pub(super) async fn closed_branches(&self) -> Vec<String> {
        let head = source::head(&self.place);
        let known = self.branches.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_fresh = |it: &Branches| {
            let age = self.now.since(it.asked_at);
            it.head == head && (0..BELIEVED).contains(&age)
        };
        if let Some(known) = known.filter(is_fresh) {
            return known.closed;
        }
        let closed = self.unmerged().await;
        let said = Branches { head, asked_at: self.now, closed: closed.clone() };
        *self.branches.lock().unwrap_or_else(PoisonError::into_inner) = Some(said);
        closed
    }
}
