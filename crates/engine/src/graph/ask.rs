//! Questions to the code graph, each with how far its answer can be trusted.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::graph::{
    Atlas, Chunk, EdgeKind, How, Neighbour, NodeId, Reached, Symbol, Target, fingerprint,
};
use model::ProjectPath;
use source::Stamp;
use store::{Filter, GraphStamp};

use super::keep;
use crate::{Engine, Error, Shown};

/// What an answer may lack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Freshness {
    /// Files that were read but whose edges were not found yet.
    pub n_waiting: usize,
    /// Indexing was broken off.
    pub is_partial: bool,
    /// Files of the answer that changed since they were read, or are gone.
    pub changed: Vec<String>,
}

/// Somebody in an answer, and how they come into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    pub symbol: Symbol,
    pub depth: u32,
    pub kind: EdgeKind,
    pub how: How,
    /// Who is in between; the target itself at depth 1.
    pub via: String,
    /// Where it is said, counted from 1.
    pub line: u32,
    pub weight: u16,
}

/// Who would notice a change.
#[derive(Debug)]
pub struct Impact {
    pub targets: Vec<Symbol>,
    pub mentions: Vec<Mention>,
    /// What is remembered about the files of the targets.
    pub memories: Vec<Shown>,
    pub freshness: Freshness,
}

/// What something needs.
#[derive(Debug)]
pub struct Dependency {
    pub targets: Vec<Symbol>,
    pub mentions: Vec<Mention>,
    pub freshness: Freshness,
}

/// An edge with how it was found, and the line where it is said.
pub type Link = (EdgeKind, How, u32);

/// The way from one symbol to another: each step with the edge that leads to it.
#[derive(Debug)]
pub struct Route {
    pub steps: Vec<(Symbol, Option<Link>)>,
    pub freshness: Freshness,
}

/// A graph in memory, and what it was loaded from.
#[derive(Clone)]
pub(crate) struct Charted {
    generation: i64,
    atlas: Arc<Atlas>,
    n_waiting: usize,
}

/// The most memories an answer carries.
const MEMORIES: u32 = 10;

/// How many namesakes are listed when a name has several.
const NAMED: usize = 12;

impl Engine {
    /// Who would notice a change of a file, a symbol or what stands on a line.
    pub async fn impact(&self, target: &str, depth: u32) -> Result<Impact, Error> {
        let (atlas, mut freshness) = self.atlas().await?;
        let nodes = one(&atlas, &freshness, target)?;
        let mentions = mentions(&atlas, &atlas.impact(&nodes, depth), true);
        let targets = symbols(&atlas, &nodes);
        let files: BTreeSet<&str> = targets.iter().map(|it| it.path.as_str()).collect();
        let mut memories = Vec::new();
        for path in &files {
            let Ok(file) = ProjectPath::parse(path) else { continue };
            let filter = Filter { file: Some(file), ..Filter::standing(MEMORIES) };
            memories.extend(self.list(&filter, None).await?);
        }
        let concerned = mentions.iter().map(|it| it.symbol.path.as_str());
        self.check(&mut freshness, files.into_iter().chain(concerned)).await?;
        Ok(Impact { targets, mentions, memories, freshness })
    }

    /// What a file or a symbol needs.
    pub async fn dependencies(&self, target: &str, depth: u32) -> Result<Dependency, Error> {
        let (atlas, mut freshness) = self.atlas().await?;
        let nodes = one(&atlas, &freshness, target)?;
        let mentions = mentions(&atlas, &atlas.dependencies(&nodes, depth), false);
        let targets = symbols(&atlas, &nodes);
        self.check(&mut freshness, targets.iter().map(|it| it.path.as_str())).await?;
        Ok(Dependency { targets, mentions, freshness })
    }

    /// Files one step away from others.
    pub async fn neighbours(&self, paths: &[String]) -> Result<(Vec<Neighbour>, Freshness), Error> {
        let (atlas, mut freshness) = self.atlas().await?;
        let mut files = Vec::new();
        for path in paths {
            let nodes = one(&atlas, &freshness, path)?;
            files.extend(nodes.iter().map(|it| atlas.path(*it).to_owned()));
        }
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        self.check(&mut freshness, files.iter().copied()).await?;
        Ok((atlas.neighbours(&files), freshness))
    }

    /// What a file defines.
    pub async fn symbols(&self, path: &str) -> Result<(Vec<Symbol>, Freshness), Error> {
        let (atlas, mut freshness) = self.atlas().await?;
        let nodes = one(&atlas, &freshness, path)?;
        let path = atlas.path(nodes[0]).to_owned();
        self.check(&mut freshness, std::iter::once(path.as_str())).await?;
        Ok((atlas.symbols(&path).unwrap_or_default(), freshness))
    }

    /// The shortest way from one symbol to another.
    pub async fn route(&self, from: &str, to: &str) -> Result<Route, Error> {
        let (atlas, freshness) = self.atlas().await?;
        let (start, end) = (one(&atlas, &freshness, from)?, one(&atlas, &freshness, to)?);
        let Some(way) = atlas.way(&start, &end) else {
            return Err(Error::nothing(format!("no way leads from `{from}` to `{to}`")));
        };
        let steps =
            way.iter().map(|it| (atlas.symbol(it.node), it.by.map(|it| (it.0, it.1, it.2 + 1))));
        Ok(Route { steps: steps.collect(), freshness })
    }

    /// Files that import one another.
    pub async fn imports(&self) -> Result<Vec<(String, String)>, Error> {
        let (atlas, _) = self.atlas().await?;
        Ok(atlas.imports().into_iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect())
    }

    /// A file in pieces. Read as it is now, indexed or not.
    pub fn chunks(&self, path: &ProjectPath) -> Result<Vec<Chunk>, Error> {
        let bytes = source::contents(&self.place.root, path.as_str());
        let bytes = bytes.map_err(|why| {
            Error::refused(
                format!("`{path}` cannot be cut: {}", why.reading()),
                "name a source file of this project",
            )
        })?;
        Ok(::graph::chunks(path.as_str(), &bytes))
    }

    /// The graph as it is kept. Whoever asks again before it changed does not wait for it again.
    pub(crate) async fn atlas(&self) -> Result<(Arc<Atlas>, Freshness), Error> {
        let Some(store) = self.near_store() else {
            return Err(Error::refused(
                "the code of this project is not indexed yet",
                "`waylore index` reads it",
            ));
        };
        // Asked before the rest: what comes meanwhile makes the next one load again.
        let generation = store.generation().await?;
        let is_partial = store.state("whole").await?.as_deref() != Some("1");
        let known = lock(&self.charted).clone().filter(|it| it.generation == generation);
        let Charted { atlas, n_waiting, .. } = if let Some(it) = known {
            it
        } else {
            let (atlas, n_waiting) = keep::atlas(&store).await?;
            let res = Charted { generation, atlas: Arc::new(atlas), n_waiting };
            *lock(&self.charted) = Some(res.clone());
            res
        };
        Ok((atlas, Freshness { n_waiting, is_partial, changed: Vec::new() }))
    }

    /// Lets go of the graph; the next question loads it again.
    pub fn release_graph(&self) {
        *lock(&self.charted) = None;
    }

    /// Looks whether the files of an answer are still what they were.
    async fn check(
        &self,
        freshness: &mut Freshness,
        paths: impl Iterator<Item = &str>,
    ) -> Result<(), Error> {
        let paths: BTreeSet<&str> = paths.collect();
        let Some(store) = self.near_store() else { return Ok(()) };
        let paths = paths.into_iter().map(str::to_owned).collect();
        for it in store.stamps_of(paths).await? {
            if !is_still(&self.place.root, &it) {
                freshness.changed.push(it.path);
            }
        }
        Ok(())
    }
}

/// Nothing that could fail is done while it is held.
fn lock(charted: &Mutex<Option<Charted>>) -> MutexGuard<'_, Option<Charted>> {
    charted.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a file is what was read. Where its stamp cannot tell, its content does.
fn is_still(root: &Path, read: &GraphStamp) -> bool {
    let Some(now) = source::stamp(root, &read.path) else { return false };
    let then = Stamp { size: read.size, modified: read.modified };
    let same =
        || source::contents(root, &read.path).is_ok_and(|it| fingerprint(&it)[..] == read.hash);
    let is_told = then.modified != 0 && now.modified != 0;
    if is_told { then == now } else { then.size == now.size && same() }
}

/// What a text names; a name that several bear is refused with all of them, unless they are one
/// symbol in several pieces.
fn one(atlas: &Atlas, freshness: &Freshness, text: &str) -> Result<Vec<NodeId>, Error> {
    let found = match atlas.find(text) {
        Target::Found(nodes) => nodes,
        Target::NoSymbol { path } => {
            let what = format!("`{path}` defines nothing that is called so: `{text}`");
            return Err(Error::refused(
                what,
                format!("`waylore symbols {path}` lists what it defines"),
            ));
        }
        Target::Nothing => {
            let what = format!("no file or symbol of the index is called `{text}`");
            let hint = if freshness.is_partial {
                "the index is not complete; `waylore index` goes on where it was broken off"
            } else {
                "name it as `path`, `path:symbol`, `path:line` or `symbol`; `waylore index` reads what is new"
            };
            return Err(Error::refused(what, hint));
        }
    };
    let names: Vec<String> = found.iter().map(|it| label(&atlas.symbol(*it))).collect();
    let distinct: BTreeSet<&String> = names.iter().collect();
    if distinct.len() > 1 {
        let names: Vec<&str> = distinct.iter().take(NAMED).map(|it| it.as_str()).collect();
        let more = distinct.len().saturating_sub(names.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let what = format!("`{text}` names {} symbols: {}{more}", distinct.len(), names.join(", "));
        return Err(Error::refused(what, "name one of them as `path:symbol`"));
    }
    Ok(found)
}

fn symbols(atlas: &Atlas, nodes: &[NodeId]) -> Vec<Symbol> {
    nodes.iter().map(|it| atlas.symbol(*it)).collect()
}

/// `path:name`, or the path alone.
fn label(symbol: &Symbol) -> String {
    if symbol.name.is_empty() {
        symbol.path.clone()
    } else {
        format!("{}:{}", symbol.path, symbol.name)
    }
}

/// What was reached, for people. A file that is named only because it imports says nothing new when
/// somebody inside it was reached as well.
fn mentions(atlas: &Atlas, reached: &[Reached], upwards: bool) -> Vec<Mention> {
    let inside: HashSet<&str> = reached
        .iter()
        .filter(|it| it.kind != EdgeKind::ImportsSymbol)
        .map(|it| atlas.path(it.node))
        .collect();
    let is_news = |it: &&Reached| {
        !(upwards && it.kind == EdgeKind::ImportsSymbol && inside.contains(atlas.path(it.node)))
    };
    let mention = |it: &Reached| Mention {
        symbol: atlas.symbol(it.node),
        depth: it.depth,
        kind: it.kind,
        how: it.how,
        via: label(&atlas.symbol(it.via)),
        line: it.line + 1,
        weight: it.weight,
    };
    reached.iter().filter(is_news).map(mention).collect()
}
