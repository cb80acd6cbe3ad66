//! [`CodeGraph`] and [`CodeIndexer`], the capabilities for the code of a project.
//!
//! `CodeGraph` answers questions and only reads; `CodeIndexer` brings the graph database up to date.
//! Callers get them from `Project::code_graph` and `Project::code_indexer`. Each method calls the
//! function of its topic in `code_index/`.

use model::{Memory, ProjectPath};

use crate::code_index::{follow_up, history_index, index, map, queries, refine};
use crate::{
    AgentSession, CodeChunk, CodeWatch, DependencyReport, Error, FollowUpReport, HistoryReport,
    ImpactReport, IndexFreshness, IndexReport, MapEdit, ModuleMap, NeighbourFile, Project,
    ProjectReader, RefineReport, SymbolInfo, SymbolRoute, TaskProgress,
};

/// Answers questions about the indexed code. Reads only.
#[derive(Clone, Copy)]
pub struct CodeGraph<'a> {
    reader: &'a ProjectReader,
}

impl<'a> CodeGraph<'a> {
    pub(crate) fn new(reader: &'a ProjectReader) -> Self {
        Self { reader }
    }

    /// Finds the symbols that a change of `target` can affect: its transitive users, up to `depth`
    /// edges away. A target is a path, `path:symbol`, `path:line` or a symbol name.
    pub async fn impact(&self, target: &str, depth: u32) -> Result<ImpactReport, Error> {
        queries::query_impact(self.reader, target, depth).await
    }

    /// Finds the symbols that `target` uses, directly or through others, up to `depth` edges away.
    pub async fn dependencies(&self, target: &str, depth: u32) -> Result<DependencyReport, Error> {
        queries::query_dependencies(self.reader, target, depth).await
    }

    /// Lists the files one edge away from the given ones.
    pub async fn neighbours(
        &self,
        paths: &[String],
    ) -> Result<(Vec<NeighbourFile>, IndexFreshness), Error> {
        queries::list_neighbours(self.reader, paths).await
    }

    /// Lists the symbols that a file defines.
    pub async fn symbols(&self, path: &str) -> Result<(Vec<SymbolInfo>, IndexFreshness), Error> {
        queries::list_symbols(self.reader, path).await
    }

    /// Lists the symbols of a name, in all files; none if the name is unknown.
    pub async fn symbols_named(
        &self,
        name: &str,
    ) -> Result<(Vec<SymbolInfo>, IndexFreshness), Error> {
        queries::list_symbols_named(self.reader, name).await
    }

    /// Finds the shortest path of edges from one symbol to another.
    pub async fn route(&self, from: &str, to: &str) -> Result<SymbolRoute, Error> {
        queries::query_route(self.reader, from, to).await
    }

    /// Splits a file into chunks. Reads the file as it is now, indexed or not.
    pub fn chunks(&self, path: &ProjectPath) -> Result<Vec<CodeChunk>, Error> {
        queries::split_file(self.reader, path)
    }

    /// Returns the modules of the project, with the corrections of users applied.
    pub async fn module_map(&self) -> Result<ModuleMap, Error> {
        map::module_map(self.reader).await
    }

    /// Frees the memory of the loaded graph. The next query loads it again.
    pub fn release_graph(&self) {
        queries::release_graph(self.reader);
    }
}

/// Indexes code, git history and the module map.
pub struct CodeIndexer<'a> {
    project: &'a mut Project,
}

impl<'a> CodeIndexer<'a> {
    pub(crate) fn new(project: &'a mut Project) -> Self {
        Self { project }
    }

    /// Brings the code graph up to date, on up to `threads` threads.
    pub async fn index_code(
        &mut self,
        progress: &TaskProgress,
        threads: usize,
    ) -> Result<IndexReport, Error> {
        index::index_code(self.project, progress, threads).await
    }

    /// Starts to watch the project's files; see [`CodeWatch::next_pass`].
    pub async fn watch_code(&mut self, threads: usize) -> Result<CodeWatch, Error> {
        index::watch_code(self.project, threads).await
    }

    /// Merges an index written by a compiler (SCIP) into the graph. `below` is the folder that its
    /// paths are relative to.
    pub async fn refine_code(
        &mut self,
        bytes: Vec<u8>,
        below: &str,
        progress: &TaskProgress,
        threads: usize,
    ) -> Result<RefineReport, Error> {
        refine::refine_code(self.project, bytes, below, progress, threads).await
    }

    /// Reads commits that are new since the last call; reads all again after a rewrite.
    pub async fn index_history(&mut self, progress: &TaskProgress) -> Result<HistoryReport, Error> {
        history_index::index_history(self.project, progress).await
    }

    /// Detects the modules of the indexed code and returns their number.
    pub async fn index_map(&mut self) -> Result<usize, Error> {
        map::detect_modules(self.project).await
    }

    /// Brings history and module map up to date after the code was indexed. Reads only HEAD if
    /// nothing changed.
    pub async fn follow_up(
        &mut self,
        indexed: &IndexReport,
        progress: &TaskProgress,
    ) -> Result<FollowUpReport, Error> {
        follow_up::follow_up(self.project, indexed, progress).await
    }

    /// Records a user's correction of the module map. It survives every new detection.
    pub async fn update_module_map(&mut self, id: &str, edit: MapEdit) -> Result<Memory, Error> {
        map::record_map_edit(self.project, id, edit).await
    }

    /// Records an agent's correction of the module map. It has no effect until a user accepts it.
    pub async fn propose_map(
        &mut self,
        session: &AgentSession,
        id: &str,
        edit: MapEdit,
    ) -> Result<Memory, Error> {
        map::propose_map_edit(self.project, session, id, edit).await
    }
}
