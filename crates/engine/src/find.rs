//! Looking things up: by id, by filter, by words. Reads the project's notebook and the user's.

use model::{Memory, MemoryId, PerMille, ProjectPath, RelationTarget, current_confidence};
use store::Filter;

use crate::correct::EXCLUDE;
use crate::{Engine, Error, Notebook, Reach};

/// A memory and the notebook it lies in.
#[derive(Clone)]
pub struct Found {
    pub notebook: Notebook,
    pub memory: Memory,
}

/// A memory as it is shown: with what it is worth now.
#[derive(Clone, Debug)]
pub struct Shown {
    pub memory: Memory,
    pub reach: Reach,
    pub current: PerMille,
}

/// The shortest prefix of a short id that is looked up; fewer characters are surely a slip.
const SHORTEST: usize = 4;

impl Engine {
    /// The memory a person means by an id: a whole one, or the beginning of the short form.
    pub async fn find(&self, id: &str) -> Result<Found, Error> {
        let asked = id.trim().trim_start_matches('#').to_ascii_lowercase();
        let whole: Option<MemoryId> = asked.parse().ok();
        if whole.is_none()
            && (asked.len() < SHORTEST || !asked.bytes().all(|it| it.is_ascii_hexdigit()))
        {
            let hint =
                "an id is 8 hexadecimal characters (at least 4 of them); `waylore list` shows them";
            return Err(Error::refused(format!("`{id}` is not the id of a memory"), hint));
        }
        let mut found = Vec::new();
        for notebook in self.notebooks() {
            let memories = match whole {
                Some(whole) => notebook.store.get(whole).await?.into_iter().collect(),
                None => notebook.store.by_short(asked.clone()).await?,
            };
            found.extend(
                memories.into_iter().map(|memory| Found { notebook: notebook.clone(), memory }),
            );
        }
        match found.len() {
            0 => Err(Error::NotFound { id: id.to_owned() }),
            1 => Ok(found.remove(0)),
            _ => {
                let matches = found.iter().map(|it| it.memory.id.to_string()).collect();
                Err(Error::Ambiguous { id: id.to_owned(), matches })
            }
        }
    }

    /// Memories that pass the filter, newest first, the project's before the user's.
    pub async fn list(&self, filter: &Filter, reach: Option<Reach>) -> Result<Vec<Shown>, Error> {
        let mut res = Vec::new();
        let excluded = self.excluded().await?;
        for notebook in self.within(reach) {
            let mut memories = notebook.store.list(from_the_top(filter, excluded.len())).await?;
            memories.retain(|it| notebook.reach == Reach::Project || !excluded.contains(&it.id));
            res.extend(self.shown(&notebook, memories).await?);
        }
        Ok(page(res, filter))
    }

    /// Adds what each memory is worth at this moment.
    pub async fn shown(
        &self,
        notebook: &Notebook,
        memories: Vec<Memory>,
    ) -> Result<Vec<Shown>, Error> {
        if memories.is_empty() {
            return Ok(Vec::new());
        }
        let quiet = self.quiet(&notebook.store).await?;
        let show = |memory: Memory| {
            let current = current_confidence(&memory, &self.config.types, self.now, &quiet);
            Shown { current, reach: notebook.reach, memory }
        };
        Ok(memories.into_iter().map(show).collect())
    }

    /// The memories that `memory` points at and that are no longer here: they were erased, or never came.
    pub async fn gone(&self, memory: &Memory) -> Result<Vec<MemoryId>, Error> {
        let mut res = Vec::new();
        for relation in &memory.relations {
            let RelationTarget::Memory(id) = relation.target else { continue };
            let mut found = false;
            for notebook in self.notebooks() {
                found |= notebook.store.get(id).await?.is_some();
            }
            if !found {
                res.push(id);
            }
        }
        Ok(res)
    }

    /// Memories of the user that do not apply in this project.
    pub(crate) async fn excluded(&self) -> Result<Vec<MemoryId>, Error> {
        let Some(store) = self.project_store().filter(store::Store::exists) else {
            return Ok(Vec::new());
        };
        let settings = store.settings().await?;
        Ok(settings.iter().filter_map(|it| it.0.strip_prefix(EXCLUDE)?.parse().ok()).collect())
    }

    pub(crate) fn within(&self, reach: Option<Reach>) -> Vec<Notebook> {
        let mut res = self.notebooks();
        res.retain(|it| reach.is_none_or(|reach| reach == it.reach));
        res
    }
}

/// The filter with which every notebook is asked: pages are cut from all of them together.
fn from_the_top(filter: &Filter, n_excluded: usize) -> Filter {
    let n_excluded = u32::try_from(n_excluded).unwrap_or(u32::MAX);
    let limit = filter.offset.saturating_add(filter.limit).saturating_add(n_excluded);
    Filter { offset: 0, limit, ..filter.clone() }
}

fn page<T>(all: Vec<T>, filter: &Filter) -> Vec<T> {
    let whole = |it: u32| usize::try_from(it).unwrap_or(usize::MAX);
    all.into_iter().skip(whole(filter.offset)).take(whole(filter.limit)).collect()
}

/// A full-text expression of quoted terms: nothing a person types can be an operator.
pub(crate) fn expression(terms: &[String], joined: &str) -> String {
    let quoted: Vec<String> =
        terms.iter().map(|it| format!("\"{}\"", it.replace('"', "\"\""))).collect();
    quoted.join(joined)
}

/// The terms that occur in the memory: in its text, its tags or the names of its files. Parts of an
/// identifier stand in it as they are.
pub(crate) fn shared(terms: &[String], memory: &Memory) -> Vec<String> {
    let mut text = memory.content.to_lowercase();
    for it in
        memory.tags.iter().map(String::as_str).chain(memory.files.iter().map(ProjectPath::as_str))
    {
        text.push(' ');
        text.push_str(&it.to_lowercase());
    }
    terms.iter().filter(|it| text.contains(it.as_str())).cloned().collect()
}
