//! A copy of a repository with its own data folder, opened as a project.

use std::fs;
use std::future::Future;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use engine::{
    CodeWatch, Config, IndexPass, IndexReport, ModelSet, NotebookScope, Project, TaskProgress,
};
use graph::{SourceLanguage, extract_facts, language_of_path};
use source::ChangedFiles;
use store::{DataDir, GraphStore};

use crate::store::BENCH_NOW;

/// A copy in a temporary folder.
pub(super) struct IndexedCopy {
    dir: tempfile::TempDir,
    /// The files that an index reads, sorted by path.
    pub(super) files: Vec<(String, SourceLanguage)>,
    runtime: tokio::runtime::Runtime,
    project: Project,
}

impl IndexedCopy {
    /// Copies the files that an index would read, until they define `n_symbols` symbols.
    pub(super) fn copy_from(root: &Path, n_symbols: usize) -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        let mut files = Vec::new();
        let mut n_defined = 0;
        for (path, _) in source::walk_files(root, &|it| language_of_path(it).is_some()).files {
            let (Some(lang), Ok(bytes)) =
                (language_of_path(&path), source::read_source(root, &path))
            else {
                continue;
            };
            // Extracting is only needed to count.
            if n_symbols < usize::MAX {
                n_defined += 1 + extract_facts(lang, &path, &bytes).defs.len();
            }
            let to = dir.path().join("project").join(&path);
            fs::create_dir_all(to.parent().context("the path has a parent")?)?;
            fs::write(to, bytes)?;
            files.push((path, lang));
            if n_defined >= n_symbols {
                break;
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let project = runtime.block_on(open_project(dir.path()))?;
        Ok(Self { dir, files, runtime, project })
    }

    pub(super) fn root(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    pub(super) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    pub(super) fn index(&mut self, threads: usize) -> anyhow::Result<IndexReport> {
        Ok(self
            .runtime
            .block_on(self.project.code_indexer().index_code(&TaskProgress::default(), threads))?)
    }

    /// Deletes the index, so that the next run is a cold one.
    pub(super) fn reset_index(&mut self) -> anyhow::Result<()> {
        fs::remove_dir_all(self.dir.path().join("data"))?;
        self.project = self.runtime.block_on(open_project(self.dir.path()))?;
        Ok(())
    }

    pub(super) fn store(&mut self) -> anyhow::Result<GraphStore> {
        let notebook =
            self.runtime.block_on(self.project.ensure_notebook(NotebookScope::Project))?;
        let id = notebook.project.context("the folder is a project")?;
        Ok(GraphStore::new(DataDir::new(&self.project.config.data).graph_paths(id), None))
    }

    /// Size of the graph database.
    pub(super) fn database_bytes(&mut self) -> anyhow::Result<u64> {
        Ok(self.store()?.size())
    }

    /// Starts to watch the code, after a first pass over all files.
    pub(super) fn watch(&mut self) -> anyhow::Result<CodeWatch> {
        let mut watch = self.runtime.block_on(self.project.code_indexer().watch_code(1))?;
        self.runtime.block_on(watch.next_pass(&TaskProgress::default()))?;
        Ok(watch)
    }

    /// Indexes the changes that a watcher saw.
    pub(super) fn index_changes(&self, watch: &mut CodeWatch, seen: &ChangedFiles) -> IndexPass {
        let pass = self.block_on(watch.index_changes(seen, &TaskProgress::default()));
        pass.expect("the changed file is readable")
    }

    pub(super) fn append(&self, path: &str, text: &str) {
        let file = fs::File::options().append(true).open(self.root().join(path));
        file.and_then(|mut it| it.write_all(text.as_bytes())).expect("the copy is writable");
    }

    /// Number of symbols that a change of the target affects; 0 if the target is not found.
    pub(super) fn count_impact(&self, target: &str) -> usize {
        self.block_on(self.project.code_graph().impact(target, 3)).map_or(0, |it| it.reached.len())
    }
}

async fn open_project(dir: &Path) -> anyhow::Result<Project> {
    let config = Config {
        data: dir.join("data"),
        key: None,
        home: None,
        types: Vec::new(),
        trusted_servers: Vec::new(),
        models: ModelSet::built_in(),
        random: || [7; 10],
    };
    Ok(Project::open(config, &dir.join("project"), BENCH_NOW).await?)
}

/// Processor time of all threads of this process; `None` where `/proc` does not exist.
pub(super) fn processor_time() -> Option<Duration> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // Field 2 is the program's name in parentheses, which may contain blanks. So the fields are counted
    // from the last parenthesis: 11 are skipped to get to `utime` and `stime`, fields 14 and 15.
    let mut fields = text.rsplit(')').next()?.split_whitespace().skip(11);
    let user_ticks = fields.next()?.parse::<u64>().ok()?;
    let system_ticks = fields.next()?.parse::<u64>().ok()?;
    // A tick is 10 ms: `USER_HZ` is 100 on Linux.
    Some(Duration::from_millis((user_ticks + system_ticks) * 10))
}

/// Peak resident memory of this process in megabytes; `None` where `/proc` does not exist.
pub(super) fn peak_resident_mb() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|it| it.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}
