//! A project that learns from the transcripts of the data folder, through the engine.

use std::path::{Path, PathBuf};

use engine::{Config, LearnedSession, ModelSet, Project};
use model::Timestamp;

use crate::transcripts::{self, DataTranscript};

/// A project in a temporary folder.
pub(crate) struct LearningProject {
    pub(crate) project: Project,
    sessions: PathBuf,
    _dir: tempfile::TempDir,
}

impl LearningProject {
    pub(crate) async fn new() -> anyhow::Result<Self> {
        Self::at(None).await
    }

    /// A project whose files are those of a clone; its data is temporary.
    pub(crate) async fn at(clone: Option<&Path>) -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        let (empty, sessions) = (dir.path().join("project"), dir.path().join("sessions"));
        std::fs::create_dir(&empty)?;
        let project = clone.unwrap_or(&empty).to_owned();
        std::fs::create_dir(&sessions)?;
        let config = Config {
            data: dir.path().join("data"),
            key: None,
            home: None,
            types: Vec::new(),
            trusted_servers: Vec::new(),
            models: ModelSet::built_in(),
            random: next_random_bytes,
        };
        let project = Project::open(config, &project, Timestamp(1)).await?;
        Ok(Self { project, sessions, _dir: dir })
    }

    /// Learns a transcript as `waylore learn --from` does, at the time of its first event.
    pub(crate) async fn learn_transcript(
        &mut self,
        it: &DataTranscript,
    ) -> anyhow::Result<Option<LearnedSession>> {
        let path = self.sessions.join(format!("{}.jsonl", it.id.replace('/', "_")));
        // The engine reads uncompressed files only.
        std::fs::write(&path, transcripts::read_bytes(it)?)?;
        self.project.set_now(it.start);
        let transcript = engine::Transcript::of_file(path.clone());
        let learned = match self.project.session_history().read_transcript(&transcript)? {
            Some(read) => self.project.learner().learn_session(&read.pad).await?,
            None => None,
        };
        std::fs::remove_file(path)?;
        Ok(learned)
    }
}

/// Distinct bytes, the same in every run.
fn next_random_bytes() -> [u8; 10] {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut bytes = [0; 10];
    bytes[2..].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    bytes
}
