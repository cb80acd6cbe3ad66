//! Which files a task will touch, from what sessions and commits touched before.

use std::collections::BTreeMap;

use ::graph::History;
use model::{Kind, Payload, ProjectPath, Status};
use observe::{Foreseen, FromCommits, Modules, Past, PastSession, Task};
use store::{Filter, Store};

use crate::{Engine, Error, Reach};

/// Memories about one module that are looked at.
const HABITS: u32 = 10;

impl Engine {
    /// Files ranked by how likely a task touches them; `first` is one that is at hand.
    pub async fn files_for(
        &self,
        task: &str,
        first: Option<&str>,
        limit: usize,
    ) -> Result<Vec<String>, Error> {
        let mut sessions = self.past_sessions().await?;
        let modules = self.modules().await?;
        sessions.extend(self.habits(first, &modules).await?);
        let commits = from_commits(&self.past().await?, task, first);
        let tree = source::tracked(&self.place).unwrap_or_default();
        let past = Past { sessions: &sessions, commits: &commits, tree: &tree, modules: &modules };
        let mut res = observe::prefetch(&Task { text: task, first }, &past, limit * 2);
        // What is gone since cannot be opened.
        res.retain(|it| source::exists(&self.place.root, it));
        res.truncate(limit);
        Ok(res)
    }

    /// Files that past sessions on such work agree on, those that are still there.
    pub(crate) async fn foreseen(&self, task: &str) -> Result<Foreseen, Error> {
        let mut res = observe::expected(task, &self.past_sessions().await?);
        res.files.retain(|it| source::exists(&self.place.root, &it.path));
        Ok(res)
    }

    async fn past_sessions(&self) -> Result<Vec<PastSession>, Error> {
        let Some(store) = self.project_store().filter(Store::exists) else { return Ok(Vec::new()) };
        let known = store.touched_by_all().await?;
        Ok(known.into_iter().map(|(task, touched)| PastSession { task, touched }).collect())
    }

    /// What reading each of these files whole costs, in tokens, where sessions paid far more than usual.
    pub async fn read_costs(&self, files: &[String]) -> Result<BTreeMap<String, u64>, Error> {
        let kind = Some(Kind::ContextCost.slug().to_owned());
        let mut acc = BTreeMap::new();
        for file in files {
            let (file, statuses) = (ProjectPath::parse(file).ok(), vec![Status::Live]);
            let filter = Filter { kind: kind.clone(), file, statuses, ..Filter::standing(1) };
            for shown in self.list(&filter, Some(Reach::Project)).await? {
                if let Some(Payload::ContextCost(it)) = &shown.memory.payload {
                    acc.insert(it.module.clone(), it.avg_tokens);
                }
            }
        }
        Ok(acc)
    }

    /// What live memories say is opened together in the module of a file: as good as one more session,
    /// and all there is where they came from elsewhere.
    async fn habits(
        &self,
        first: Option<&str>,
        modules: &Modules,
    ) -> Result<Vec<PastSession>, Error> {
        let Some(first) = first else { return Ok(Vec::new()) };
        // What was learned before there was a map is kept under the folder.
        let mut names = vec![modules.of(first), observe::module_of(first)];
        names.dedup();
        names.retain(|it| !it.is_empty());
        let mut acc = Vec::new();
        for name in names {
            let kind = Some(Kind::PrefetchPattern.slug().to_owned());
            let (module, statuses) = (Some(name.to_owned()), vec![Status::Live]);
            let filter = Filter { kind, module, statuses, ..Filter::standing(HABITS) };
            for shown in self.list(&filter, Some(Reach::Project)).await? {
                let Some(Payload::PrefetchPattern(it)) = &shown.memory.payload else { continue };
                let files = it.always.iter().chain(&it.often).map(ToString::to_string);
                let touched = std::iter::once(first.to_owned()).chain(files).collect();
                acc.push(PastSession { task: String::new(), touched });
            }
        }
        Ok(acc)
    }
}

/// What the history says about a task.
fn from_commits(history: &History, task: &str, first: Option<&str>) -> FromCommits {
    let file = first.and_then(|it| history.file(it));
    let ties = file.and_then(|file| history.ties(|it| it == file).remove(&file));
    let together = ties.map(|it| it.together).unwrap_or_default();
    FromCommits {
        together: together.into_iter().map(|it| (it.path, f64::from(it.strength))).collect(),
        alike: history.alike(task),
        busy: history.busy(),
    }
}
