//! History: earlier sessions, their logs, and predictions made from them.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use model::SessionId;
use source::Transcript;

use crate::learn::{
    self, Explanation, JournalState, JudgingStrictness, ParsedTranscript, SessionSummary,
    SiblingNote,
};
use crate::{Error, ProjectReader};

/// Reads logs, journals and learned sessions, and predicts from them. Reads only.
pub struct SessionHistory<'a> {
    reader: &'a ProjectReader,
}

impl<'a> SessionHistory<'a> {
    pub(crate) fn new(reader: &'a ProjectReader) -> Self {
        Self { reader }
    }

    /// The learned sessions, in the order they ended.
    pub async fn learned_sessions(&self) -> Result<Vec<SessionSummary>, Error> {
        learn::learned_sessions(self.reader).await
    }

    /// Explains a memory or a session, given its id or a prefix of its short id.
    pub async fn explain(&self, id: &str) -> Result<Explanation, Error> {
        learn::explain(self.reader, id).await
    }

    /// The strictness with which candidates are judged, and the counts it follows from.
    pub async fn strictness(&self) -> Result<JudgingStrictness, Error> {
        learn::strictness(self.reader).await
    }

    /// Notes recorded so far by the siblings of a running session, oldest session first.
    pub fn sibling_notes(&self, session: SessionId) -> Result<Vec<SiblingNote>, Error> {
        learn::sibling_notes(self.reader, session)
    }

    /// Ranks files by how likely a task touches them. `first` is a file the task starts from.
    pub async fn rank_task_files(
        &self,
        task: &str,
        first: Option<&str>,
        limit: usize,
    ) -> Result<Vec<String>, Error> {
        learn::rank_task_files(self.reader, task, first, limit).await
    }

    /// The tokens that reading each file in full costs, for files far above average.
    pub async fn read_costs(&self, files: &[String]) -> Result<BTreeMap<String, u64>, Error> {
        learn::read_costs(self.reader, files).await
    }

    /// The transcripts that hosts store for this project, oldest first. `home` and `variable` say
    /// where hosts store them.
    pub fn host_transcripts(
        &self,
        home: &Path,
        variable: &dyn Fn(&str) -> Option<PathBuf>,
    ) -> Vec<Transcript> {
        learn::host_transcripts(self.reader, home, variable)
    }

    /// Reads a transcript into a scratchpad; `None` if the file is not a transcript.
    pub fn read_transcript(
        &self,
        transcript: &Transcript,
    ) -> Result<Option<ParsedTranscript>, Error> {
        learn::read_transcript(self.reader, transcript)
    }

    /// The journalled sessions and their state.
    pub fn list_journals(&self) -> Vec<JournalState> {
        learn::list_journals(self.reader)
    }

    /// The ids of the events in a session's journal.
    pub fn journalled_event_ids(&self, session: SessionId) -> HashSet<String> {
        learn::journalled_event_ids(self.reader, session)
    }

    /// The journals of this project, as transcripts to learn from.
    pub fn journal_transcripts(&self) -> Vec<Transcript> {
        learn::journal_transcripts(self.reader)
    }
}
