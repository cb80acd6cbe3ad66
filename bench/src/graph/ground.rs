//! A copy of a repository with a data folder of its own, and an engine in it.

use std::fs;
use std::future::Future;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use engine::{CodeWatch, Config, Engine, Indexed, Models, Pass, Progress, Reach};
use graph::{Lang, extract, language};
use source::Seen;
use store::{DataDir, GraphStore};

use crate::store::NOW;

pub(super) struct Ground {
    dir: tempfile::TempDir,
    /// What an index reads, in the order of the paths.
    pub(super) files: Vec<(String, Lang)>,
    runtime: tokio::runtime::Runtime,
    engine: Engine,
}

impl Ground {
    /// Copies what an index would read, until so many symbols are there.
    pub(super) fn copied(root: &Path, n_symbols: usize) -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        let mut files = Vec::new();
        let mut n_met = 0;
        for (path, _) in source::files(root, &|it| language(it).is_some()).files {
            let (Some(lang), Ok(bytes)) = (language(&path), source::contents(root, &path)) else {
                continue;
            };
            if n_symbols < usize::MAX {
                n_met += 1 + extract(lang, &path, &bytes).defs.len();
            }
            let to = dir.path().join("project").join(&path);
            fs::create_dir_all(to.parent().context("a file is in a folder")?)?;
            fs::write(to, bytes)?;
            files.push((path, lang));
            if n_met >= n_symbols {
                break;
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let engine = runtime.block_on(open(dir.path()))?;
        Ok(Self { dir, files, runtime, engine })
    }

    pub(super) fn root(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    pub(super) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    pub(super) fn index(&mut self, threads: usize) -> anyhow::Result<Indexed> {
        Ok(self.runtime.block_on(self.engine.index_code(&Progress::default(), threads))?)
    }

    /// Forgets what was indexed: the next index is a cold one.
    pub(super) fn forget(&mut self) -> anyhow::Result<()> {
        fs::remove_dir_all(self.dir.path().join("data"))?;
        self.engine = self.runtime.block_on(open(self.dir.path()))?;
        Ok(())
    }

    pub(super) fn store(&mut self) -> anyhow::Result<GraphStore> {
        let notebook = self.runtime.block_on(self.engine.notebook(Reach::Project))?;
        let id = notebook.project.context("the folder is a project")?;
        Ok(GraphStore::new(DataDir::new(&self.engine.config.data).graph(id), None))
    }

    /// Bytes of what is kept of the code.
    pub(super) fn size(&mut self) -> anyhow::Result<u64> {
        Ok(self.store()?.size())
    }

    pub(super) fn watch(&mut self) -> anyhow::Result<CodeWatch> {
        let mut res = self.runtime.block_on(self.engine.watch_code(1))?;
        self.runtime.block_on(res.next(&Progress::default()))?;
        Ok(res)
    }

    /// Brings the graph up to date in what was seen.
    pub(super) fn look_at(&self, watch: &mut CodeWatch, seen: &Seen) -> Pass {
        let pass = self.wait(watch.look_at(seen, &Progress::default()));
        pass.expect("a file that was written just now can be read")
    }

    pub(super) fn append(&self, path: &str, text: &str) {
        let file = fs::File::options().append(true).open(self.root().join(path));
        file.and_then(|mut it| it.write_all(text.as_bytes())).expect("the copy is ours");
    }

    /// How many would notice a change of what stands there; 0 where it cannot be said.
    pub(super) fn impact(&self, target: &str) -> usize {
        self.wait(self.engine.impact(target, 3)).map_or(0, |it| it.mentions.len())
    }
}

async fn open(dir: &Path) -> anyhow::Result<Engine> {
    let config = Config {
        data: dir.join("data"),
        key: None,
        home: None,
        types: Vec::new(),
        models: Models::built_in(),
        random: || [7; 10],
    };
    Ok(Engine::open(config, &dir.join("project"), NOW).await?)
}

/// What all threads of this process have used so far; nothing where the system does not say.
pub(super) fn processor() -> Option<Duration> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = text.rsplit(')').next()?.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

/// The most memory this process ever had, in megabytes; nothing where the system does not say.
pub(super) fn peak() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|it| it.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}
