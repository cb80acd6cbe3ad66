//! The world a script lives in: folders, a clock, and the names of its memories.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use engine::{
    BuiltInEmbedder, Config, EmbeddingSource, Error, ImportRecord, MemoryState, ModelSet, Project,
    ProjectPolicy, TextGenerator,
};
use model::{DAY_MS, MemoryId, Timestamp};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::clean::clean;
use crate::line::Line;
use crate::random::{id_bytes, seed_ids};
use crate::verbs;

/// When every script begins: 2026-11-15.
const BEGINNING: Timestamp = Timestamp(1_794_700_800_000);
/// What passes between two commands.
const MINUTE: i64 = 60_000;

/// Everything a script can touch.
pub struct World {
    dir: TempDir,
    runtime: Runtime,
    pub now: Timestamp,
    pub(crate) machine: String,
    pub(crate) place: String,
    pub(crate) cwd: PathBuf,
    names: Vec<MemoryId>,
    pub(crate) parcel: Vec<ImportRecord>,
    complaints: Vec<String>,
    /// Who embeds, reranks and writes.
    pub models: ModelSet,
}

impl World {
    /// A fresh world; the seed decides the ids. One world at a time on a thread.
    pub fn new(seed: u64) -> Self {
        seed_ids(seed);
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let mut res = Self {
            dir: tempfile::tempdir().expect("a temporary folder can be made"),
            runtime: runtime.expect("a runtime can be made"),
            now: BEGINNING,
            machine: "desk".to_owned(),
            place: String::new(),
            cwd: PathBuf::new(),
            names: Vec::new(),
            parcel: Vec::new(),
            complaints: Vec::new(),
            models: models(None),
        };
        res.go("shop");
        res
    }

    /// Plays a script and returns what was answered.
    pub fn play(&mut self, script: &str) -> String {
        script.lines().map(|it| self.line(it)).collect()
    }

    /// Plays one line.
    pub fn line(&mut self, text: &str) -> String {
        let Some(line) = Line::read(text) else {
            return String::new();
        };
        let mut acc = Vec::new();
        let res = verbs::run(self, &line, &mut acc);
        if let Err(error) = res {
            acc.extend(crate::print::error(&error));
        }
        acc.extend(self.complaints.drain(..).map(|it| format!("! {it}")));
        let lines: String = acc.into_iter().map(|it| it + "\n").collect();
        clean(&lines, &self.top().to_string_lossy(), &self.names)
    }

    /// Opens the engine a minute later and does something with it.
    pub fn with<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Project) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (res, complaints) = self.wait(async |engine| {
            let mut engine = engine?;
            let res = work(&mut engine).await;
            Ok::<_, Error>((res, engine.maintenance().damage_messages(&engine.notebooks())))
        })?;
        self.complaints.extend(complaints);
        res
    }

    /// The same for what uses the engine up.
    pub(crate) fn wait<T>(&mut self, work: impl AsyncFnOnce(Result<Project, Error>) -> T) -> T {
        self.now = self.now.plus_millis(MINUTE);
        let (config, start, now) = (self.config(), self.cwd.clone(), self.now);
        self.runtime.block_on(async {
            let mut engine = Project::open(config, &start, now).await;
            if let Ok(engine) = &mut engine {
                let off = |it: &(String, String)| it.0 == "memory.enabled" && it.1 == "false";
                let is_off = engine.project_settings().await.is_ok_and(|it| it.iter().any(off));
                let memory = if is_off { MemoryState::Disabled } else { MemoryState::Enabled };
                engine.set_policy(ProjectPolicy { memory, ..engine.policy });
            }
            work(engine).await
        })
    }

    fn config(&self) -> Config {
        let home = Some(self.top().join("code"));
        Config {
            data: self.data(),
            key: None,
            home,
            types: Vec::new(),
            models: self.models.clone(),
            random: id_bytes,
        }
    }

    /// The data folder of this machine.
    pub fn data(&self) -> PathBuf {
        self.top().join("data").join(&self.machine)
    }

    /// Canonical, since that is how paths come back.
    pub(crate) fn top(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).expect("the folder is there")
    }

    /// The folder of a project.
    pub(crate) fn folder(&self, place: &str) -> PathBuf {
        self.top().join("code").join(place)
    }

    /// Goes to a project, and founds it if need be.
    pub(crate) fn go(&mut self, place: &str) {
        place.clone_into(&mut self.place);
        self.cwd = self.folder(place);
        fs::create_dir_all(&self.cwd).expect("a folder can be made");
    }

    pub(crate) fn sleep(&mut self, days: i64) {
        self.now = self.now.plus_millis(days * DAY_MS);
    }

    /// The name of a memory; one never seen before gets the next.
    pub fn name(&mut self, id: MemoryId) -> String {
        let at = self.names.iter().position(|it| *it == id).unwrap_or_else(|| {
            self.names.push(id);
            self.names.len() - 1
        });
        format!("m{}", at + 1)
    }

    /// What a script means by an id: a name, or whatever else it says.
    pub fn id(&self, word: &str) -> String {
        let nth = word.strip_prefix('m').and_then(|it| it.parse::<usize>().ok());
        let known = nth.and_then(|it| self.names.get(it.wrapping_sub(1)));
        known.map_or_else(|| word.to_owned(), MemoryId::to_string)
    }

    /// The memories there have been, in the order of their names.
    pub fn ids(&self) -> &[MemoryId] {
        &self.names
    }
}

/// The built-in model, loaded once for all worlds of a process, and perhaps somebody who writes.
pub fn models(generator: Option<TextGenerator>) -> ModelSet {
    static MODELS: OnceLock<BuiltInEmbedder> = OnceLock::new();
    let embedder = MODELS.get_or_init(BuiltInEmbedder::new).clone();
    ModelSet::new(EmbeddingSource::BuiltIn(embedder), None, generator)
}
