//! A project that learns from the transcripts of the data folder, through the product's own path.

use std::path::PathBuf;

use engine::{Config, Engine, Learned, Models};
use model::Timestamp;

use crate::transcripts::{self, Transcript};

pub(crate) struct Desk {
    pub(crate) engine: Engine,
    sessions: PathBuf,
    _dir: tempfile::TempDir,
}

impl Desk {
    pub(crate) async fn new() -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        let (project, sessions) = (dir.path().join("project"), dir.path().join("sessions"));
        std::fs::create_dir(&project)?;
        std::fs::create_dir(&sessions)?;
        let config = Config {
            data: dir.path().join("data"),
            key: None,
            home: None,
            types: Vec::new(),
            models: Models::built_in(),
            random,
        };
        let engine = Engine::open(config, &project, Timestamp(1)).await?;
        Ok(Self { engine, sessions, _dir: dir })
    }

    /// Learns a transcript as `waylore learn --from` does, at the moment it began.
    pub(crate) async fn learn(&mut self, it: &Transcript) -> anyhow::Result<Option<Learned>> {
        let path = self.sessions.join(format!("{}.jsonl", it.id.replace('/', "_")));
        std::fs::write(&path, transcripts::bytes(it)?)?;
        self.engine.set_now(it.start);
        let transcript = engine::Transcript { path: path.clone(), subagent: None, session: None };
        let learned = match self.engine.read_transcript(&transcript)? {
            Some(read) => self.engine.learn(&read.pad).await?,
            None => None,
        };
        std::fs::remove_file(path)?;
        Ok(learned)
    }
}

/// Distinct bytes; which ones does not matter.
fn random() -> [u8; 10] {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut res = [0; 10];
    res[2..].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    res
}
