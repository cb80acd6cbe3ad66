//! A project that holds one corpus, written and searched through the engine.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use engine::{
    Config, DisabledStages, ImportOptions, ImportRecord, MemoryFilter, ModelSet, NotebookScope,
    OnSecret, Project, RecordOutcome, RelevanceVerdict, SearchPurpose, SearchQuery, TaskProgress,
};
use model::{
    Actor, HybridTimestamp, MAX_CONTENT, Memory, MemoryFlags, MemoryId, MemoryKind, MemoryScope,
    MemorySource, MemoryType, PerMille, ProjectPath, SessionId, SoftStates, Timestamp,
    UsageCounters, Visibility,
};

use crate::corpus::{CorpusDocument, CorpusQuery, RetrievalCorpus};

/// Documents ranked for the scorer.
const MAX_RANKED_DOCS: u32 = 60;

/// Setup of the project that holds a corpus.
pub(super) struct EvalSetup {
    /// Repository whose code and history are indexed; an empty folder without one.
    pub(super) repo: Option<PathBuf>,
    pub(super) recent_file: RecentFile,
}

/// The file passed as recently used with a query.
#[derive(Clone, Copy)]
pub(super) enum RecentFile {
    Nothing,
    /// The first file that the task will change.
    File,
    /// The first test file that the task will change.
    Test,
}

impl RecentFile {
    pub(super) fn parse(word: Option<&str>) -> anyhow::Result<Self> {
        match word {
            None => Ok(Self::Nothing),
            Some("file") => Ok(Self::File),
            Some("test") => Ok(Self::Test),
            Some(other) => anyhow::bail!("--recent-file takes `file` or `test`, not `{other}`"),
        }
    }

    fn files_for(self, query: &CorpusQuery) -> Vec<ProjectPath> {
        let file = match self {
            Self::Nothing => None,
            Self::File => query.file.as_ref(),
            Self::Test => query.test_file.as_ref(),
        };
        file.and_then(|it| ProjectPath::parse(it).ok()).into_iter().collect()
    }
}

/// A project that holds one corpus.
pub(super) struct CorpusProject<'a> {
    pub(super) corpus: &'a RetrievalCorpus,
    project: Project,
    recent_file: RecentFile,
    n_imported: usize,
    /// Documents of each memory: documents with the same text become one memory.
    documents_of: HashMap<MemoryId, Vec<String>>,
    _dir: Option<tempfile::TempDir>,
}

impl<'a> CorpusProject<'a> {
    /// Opens a project. With a folder to keep it in, memories of an earlier run are reused; not if
    /// documents arrive between queries, because then the earlier run holds documents of the
    /// future.
    pub(super) async fn new(
        corpus: &'a RetrievalCorpus,
        keep: Option<PathBuf>,
        setup: &EvalSetup,
    ) -> anyhow::Result<Self> {
        let sees_all = corpus.queries.iter().all(|it| it.n_visible_docs >= corpus.docs.len());
        // A temporary folder is deleted when the project is dropped.
        let (dir, home) = if let Some(folder) = keep.filter(|_| sees_all) {
            (None, folder)
        } else {
            let dir = tempfile::tempdir()?;
            let home = dir.path().to_owned();
            (Some(dir), home)
        };
        let root = setup.repo.clone().unwrap_or_else(|| home.join("project"));
        std::fs::create_dir_all(&root)?;
        let config = Config {
            data: home.join("data"),
            key: None,
            home: None,
            types: Vec::new(),
            trusted_servers: Vec::new(),
            models: ModelSet::built_in(),
            random: next_random_bytes,
        };
        let now = corpus.docs.first().map_or(Timestamp(0), |it| it.written_at);
        let mut project = Project::open(config, &root, now).await?;
        if setup.repo.is_some() {
            project.code_indexer().index_code(&TaskProgress::default(), 2).await?;
            project.code_indexer().index_history(&TaskProgress::default()).await?;
        }
        Ok(Self {
            corpus,
            project,
            recent_file: setup.recent_file,
            n_imported: 0,
            documents_of: HashMap::new(),
            _dir: dir,
        })
    }

    /// Imports documents until the first `n_docs` are stored, as memories a user vouches for.
    pub(super) async fn import_documents(&mut self, n_docs: usize) -> anyhow::Result<()> {
        let n_docs = n_docs.min(self.corpus.docs.len());
        if n_docs <= self.n_imported {
            return Ok(());
        }
        let new_docs = &self.corpus.docs[self.n_imported..n_docs];
        let (mut records, mut record_docs) = (Vec::new(), Vec::new());
        for (nth, doc) in (self.n_imported..).zip(new_docs) {
            for (at, part) in split_document(&doc.text).into_iter().enumerate() {
                let memory = Ok(Box::new(document_memory(doc, part, id_suffix(nth, at))));
                records.push(ImportRecord { at: records.len() + 1, memory });
                record_docs.push(doc.id.clone());
            }
        }
        let options = ImportOptions {
            file: "corpus".to_owned(),
            scope: NotebookScope::Project,
            is_vouched: true,
            skip_invalid: true,
            on_secret: OnSecret::Redact,
            dry_run: false,
        };
        let imported = self.project.editor().import(records, options).await?;
        let refused: Vec<usize> = imported.problems.iter().map(|it| it.at).collect();
        let mut at = 0;
        // Outcomes skip the refused records, which are listed by their position from 1.
        for outcome in imported.outcomes {
            at += 1;
            while refused.contains(&at) {
                at += 1;
            }
            let (RecordOutcome::Added(id)
            | RecordOutcome::Duplicate(id)
            | RecordOutcome::Erased(id)) = outcome;
            self.documents_of.entry(id).or_default().push(record_docs[at - 1].clone());
        }
        self.project.embedding_indexer().embed_all(&TaskProgress::default()).await?;
        self.n_imported = n_docs;
        Ok(())
    }

    pub(super) async fn search(
        &mut self,
        query: &CorpusQuery,
        disabled: &DisabledStages,
    ) -> anyhow::Result<(Vec<String>, RelevanceVerdict)> {
        // Recency is judged from the time of the question.
        self.project.set_now(query.at);
        let question = SearchQuery {
            text: query.text.clone(),
            files: self.recent_file.files_for(query),
            filter: MemoryFilter::active(MAX_RANKED_DOCS),
            scope: None,
            phase: None,
            purpose: SearchPurpose::Search,
            disabled_stages: disabled.clone(),
        };
        let answer = self.project.retriever().search(&question).await?;
        let mut ids: Vec<String> = Vec::new();
        for hit in answer.hits {
            // The best memory of a document gives its rank.
            for id in self.documents_of.get(&hit.rated.memory.id).into_iter().flatten() {
                if !ids.contains(id) {
                    ids.push(id.clone());
                }
            }
        }
        Ok((ids, answer.verdict))
    }
}

/// Splits a document that is too long for one memory, between paragraphs, lines or words.
fn split_document(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    while rest.len() > MAX_CONTENT {
        let limit = rest.floor_char_boundary(MAX_CONTENT);
        let head = &rest[..limit];
        // Not in the first half, which would make very short parts.
        let cut =
            ["\n\n", "\n", " "].iter().find_map(|it| head.rfind(it).filter(|at| *at > limit / 2));
        let (part, more) = rest.split_at(cut.unwrap_or(limit));
        parts.push(part);
        rest = more.trim_start();
    }
    parts.push(rest);
    parts
}

fn document_memory(doc: &CorpusDocument, text: &str, tail: [u8; 10]) -> Memory {
    let session = |it: u64| {
        let mut bytes = [0; 10];
        bytes[2..].copy_from_slice(&it.to_be_bytes());
        SessionId::new(doc.written_at, bytes)
    };
    Memory {
        id: MemoryId::new(doc.written_at, tail),
        project: None,
        kind: MemoryType::Core(MemoryKind::ModuleInsight),
        // An observed message of the agent is worth less than a statement of the user.
        source: if doc.is_by_agent {
            MemorySource::ObserverInferred
        } else {
            MemorySource::UserTaught
        },
        scope: MemoryScope::Global,
        visibility: Visibility::Personal,
        content: text.to_owned(),
        summary: String::new(),
        citation: String::new(),
        confidence: PerMille::new(900),
        tags: Vec::new(),
        files: doc.files.iter().filter_map(|it| ProjectPath::parse(it).ok()).collect(),
        modules: Vec::new(),
        anchors: Vec::new(),
        work_unit: None,
        session: doc.session.map(session),
        provenance: Vec::new(),
        commit: None,
        branch: None,
        relations: Vec::new(),
        half_life_days: None,
        // The user vouches for the import, so its memories are active at once.
        flags: MemoryFlags { user_verified: true, ..MemoryFlags::default() },
        states: SoftStates::default(),
        payload: None,
        created_by: Actor::User,
        created_at: doc.written_at,
        updated_at: doc.written_at,
        version: 0,
        hlc: HybridTimestamp::default(),
        counters: UsageCounters::default(),
    }
}

/// The random part of an id: the same in every run, distinct for every part of a document.
fn id_suffix(doc: usize, part: usize) -> [u8; 10] {
    let mut hasher = DefaultHasher::new();
    (doc, part).hash(&mut hasher);
    let mut bytes = [0; 10];
    bytes[2..].copy_from_slice(&hasher.finish().to_be_bytes());
    bytes
}

/// Distinct bytes, the same in every run.
fn next_random_bytes() -> [u8; 10] {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut bytes = [0; 10];
    bytes[2..].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    bytes
}
