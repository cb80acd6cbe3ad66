//! State of a script: folders, the fake clock, and the names of its memories. The commands in
//! `commands/` read and change it.
//!
//! All folders lie in one temporary directory: `code/PROJECT` holds the files of a project,
//! `data/MACHINE` the data folder of a machine. A world begins on the machine `desk` in the project
//! `shop`.

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

use crate::commands::{self, all_files};
use crate::normalise::normalise_output;
use crate::random::{id_bytes, seed_ids};
use crate::script_line::ScriptLine;

/// Start time of every script: 2026-11-15.
const START_TIME: Timestamp = Timestamp(1_794_700_800_000);
/// Time between two commands.
const MILLIS_BETWEEN_COMMANDS: i64 = 60_000;

/// Folders, clock and memory names of one script.
pub struct TestWorld {
    dir: TempDir,
    runtime: Runtime,
    /// Time of the last command.
    pub now: Timestamp,
    /// Name of the current machine.
    pub(crate) machine: String,
    /// Name of the current project.
    pub(crate) project: String,
    pub(crate) cwd: PathBuf,
    /// Memories in the order in which the output first named them: the first is `m1`.
    names: Vec<MemoryId>,
    /// Records of the import file, which `export` and `foreign` fill and `import` reads.
    pub(crate) import_records: Vec<ImportRecord>,
    /// Damage that the last command met, for the end of its output.
    damage_messages: Vec<String>,
    /// Models for embedding, reranking and text generation.
    pub models: ModelSet,
}

impl TestWorld {
    /// Creates a world; the seed determines the ids. A thread may use only one world at a time.
    pub fn new(seed: u64) -> Self {
        seed_ids(seed);
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let mut res = Self {
            dir: tempfile::tempdir().expect("a temporary folder can be made"),
            runtime: runtime.expect("a runtime can be made"),
            now: START_TIME,
            machine: "desk".to_owned(),
            project: String::new(),
            cwd: PathBuf::new(),
            names: Vec::new(),
            import_records: Vec::new(),
            damage_messages: Vec::new(),
            models: shared_models(None),
        };
        res.enter_project("shop");
        res
    }

    /// Runs a script and returns its output.
    pub fn run_script(&mut self, script: &str) -> String {
        script.lines().map(|it| self.run_line(it)).collect()
    }

    /// Runs one line.
    pub fn run_line(&mut self, text: &str) -> String {
        let Some(line) = ScriptLine::parse(text) else {
            return String::new();
        };
        let mut acc = Vec::new();
        let res = commands::run(self, &line, &mut acc);
        if let Err(error) = res {
            acc.extend(crate::output::error_lines(&error));
        }
        acc.extend(self.damage_messages.drain(..).map(|it| format!("! {it}")));
        let lines: String = acc.into_iter().map(|it| it + "\n").collect();
        normalise_output(&lines, &self.root_folder().to_string_lossy(), &self.names)
    }

    /// Opens the project a minute later, runs `work` on it, and collects damage messages.
    pub fn with_project<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Project) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (res, damage_messages) = self.with_opened_project(async |project| {
            let mut project = project?;
            let res = work(&mut project).await;
            Ok::<_, Error>((res, project.maintenance().damage_messages(&project.notebooks())))
        })?;
        self.damage_messages.extend(damage_messages);
        res
    }

    /// Like `with_project`, for work that consumes the project. Damage messages are not collected.
    pub(crate) fn with_opened_project<T>(
        &mut self,
        work: impl AsyncFnOnce(Result<Project, Error>) -> T,
    ) -> T {
        self.now = self.now.plus_millis(MILLIS_BETWEEN_COMMANDS);
        let (config, start, now) = (self.config(), self.cwd.clone(), self.now);
        self.runtime.block_on(async {
            let mut project = Project::open(config, &start, now).await;
            if let Ok(project) = &mut project {
                // The command line applies this setting; scripts run below it and do so themselves.
                let disables = |it: &(String, String)| it.0 == "memory.enabled" && it.1 == "false";
                let is_disabled =
                    project.project_settings().await.is_ok_and(|it| it.iter().any(disables));
                let memory = if is_disabled { MemoryState::Disabled } else { MemoryState::Enabled };
                project.set_policy(ProjectPolicy { memory, ..project.policy });
            }
            work(project).await
        })
    }

    fn config(&self) -> Config {
        let home = Some(self.root_folder().join("code"));
        Config {
            data: self.data_folder(),
            key: None,
            home,
            types: Vec::new(),
            trusted_servers: Vec::new(),
            models: self.models.clone(),
            random: id_bytes,
        }
    }

    /// Data folder of the current machine.
    pub fn data_folder(&self) -> PathBuf {
        self.root_folder().join("data").join(&self.machine)
    }

    /// Files of the data folder that contain a text.
    pub fn files_with(&self, text: &str) -> Vec<String> {
        let contains_text =
            |bytes: Vec<u8>| bytes.windows(text.len()).any(|it| it == text.as_bytes());
        let found = all_files(&self.data_folder()).into_iter();
        let found = found.filter(|it| std::fs::read(it).is_ok_and(contains_text));
        found.map(|it| it.to_string_lossy().into_owned()).collect()
    }

    /// Root of the temporary directory. Canonical, because the engine returns canonical paths.
    pub(crate) fn root_folder(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).expect("the folder is there")
    }

    /// Folder of a project.
    pub(crate) fn project_folder(&self, project: &str) -> PathBuf {
        self.root_folder().join("code").join(project)
    }

    /// Changes to a project and creates its folder if necessary.
    pub(crate) fn enter_project(&mut self, project: &str) {
        project.clone_into(&mut self.project);
        self.cwd = self.project_folder(project);
        fs::create_dir_all(&self.cwd).expect("a folder can be made");
    }

    pub(crate) fn advance_days(&mut self, days: i64) {
        self.now = self.now.plus_millis(days * DAY_MS);
    }

    /// Name of a memory. A memory that has none yet gets the next one.
    pub fn name_of(&mut self, id: MemoryId) -> String {
        let index = self.names.iter().position(|it| *it == id).unwrap_or_else(|| {
            self.names.push(id);
            self.names.len() - 1
        });
        format!("m{}", index + 1)
    }

    /// Resolves the id in a script: a memory name, otherwise the word itself.
    pub fn resolve_id(&self, word: &str) -> String {
        let number = word.strip_prefix('m').and_then(|it| it.parse::<usize>().ok());
        let known = number.and_then(|it| self.names.get(it.wrapping_sub(1)));
        known.map_or_else(|| word.to_owned(), MemoryId::to_string)
    }

    /// Ids of all named memories, in the order of their names.
    pub fn memory_ids(&self) -> &[MemoryId] {
        &self.names
    }
}

/// The built-in model, loaded once per process, with an optional text generator.
pub fn shared_models(generator: Option<TextGenerator>) -> ModelSet {
    static MODELS: OnceLock<BuiltInEmbedder> = OnceLock::new();
    let embedder = MODELS.get_or_init(BuiltInEmbedder::new).clone();
    ModelSet::new(EmbeddingSource::BuiltIn(embedder), None, generator)
}
