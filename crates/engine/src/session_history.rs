//! The session history capability: past sessions, their transcripts and journals, and predictions
//! from them. [`crate::Project`] hands it out; the functions are in `learn/`.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use model::{MemoryId, SessionId};
use source::Transcript;

use crate::learn::{
    self, ClaimSighting, Explanation, JournalState, JudgingStrictness, ParsedTranscript,
    PreparedQuestion, SessionSummary, SiblingNotes,
};
use crate::{Error, ProjectReader};

/// Reads transcripts, journals and learned sessions. Writes nothing.
pub struct SessionHistory<'a> {
    reader: &'a ProjectReader,
}

impl<'a> SessionHistory<'a> {
    pub(crate) fn new(reader: &'a ProjectReader) -> Self {
        Self { reader }
    }

    /// Lists the learned sessions, in the order they ended.
    pub async fn learned_sessions(&self) -> Result<Vec<SessionSummary>, Error> {
        learn::learned_sessions(self.reader).await
    }

    /// Explains a memory, a finding or a session, given its id or a prefix of its short id.
    pub async fn explain(&self, id: &str) -> Result<Explanation, Error> {
        learn::explain(self.reader, id).await
    }

    /// Returns the claims that a memory comes from, oldest first.
    pub async fn claims_of_memory(&self, memory: MemoryId) -> Result<Vec<ClaimSighting>, Error> {
        learn::claims_of_memory(self.reader, memory).await
    }

    /// Returns how strictly candidates are judged, and the counts that decide it.
    pub async fn strictness(&self) -> Result<JudgingStrictness, Error> {
        learn::strictness(self.reader).await
    }

    /// Returns whether this version of the program has failed to learn a session before.
    pub fn has_failed_before(&self, session: SessionId) -> bool {
        learn::has_failed_before(self.reader, session)
    }

    /// Returns whether the host is still writing the transcript of a session; learning would then
    /// miss the last calls.
    pub fn is_transcript_being_written(&self, session: SessionId) -> bool {
        learn::is_transcript_being_written(self.reader, session)
    }

    /// Returns the notes that the siblings of a running session have recorded so far, oldest
    /// session first. Siblings are subagents of the same parent.
    pub fn sibling_notes(&self, session: SessionId) -> Result<SiblingNotes, Error> {
        learn::sibling_notes(self.reader, session)
    }

    /// Ranks files by how likely a task touches them. `first_file` is a file the task starts from.
    pub async fn rank_task_files(
        &self,
        task: &str,
        first_file: Option<&str>,
        limit: usize,
    ) -> Result<Vec<String>, Error> {
        learn::rank_task_files(self.reader, task, first_file, limit).await
    }

    /// Returns the tokens of reading a file in full, for those of the files where it is far above
    /// average.
    pub async fn read_costs(&self, files: &[String]) -> Result<BTreeMap<String, u64>, Error> {
        learn::read_costs(self.reader, files).await
    }

    /// Lists the transcripts that hosts store for this project, oldest first. Hosts store them
    /// below `home`, or where one of their environment variables (`variable` reads one) points.
    pub fn host_transcripts(
        &self,
        home: &Path,
        variable: &dyn Fn(&str) -> Option<PathBuf>,
    ) -> Vec<Transcript> {
        learn::host_transcripts(self.reader, home, variable)
    }

    /// Composes what a language model would be shown about a session; `None` if the file is not a
    /// transcript.
    pub async fn prepare_question(
        &self,
        transcript: &Transcript,
    ) -> Result<Option<PreparedQuestion>, Error> {
        learn::asking::prepare_question(self.reader, transcript).await
    }

    /// Reads a transcript into a scratchpad; `None` if the file is not a transcript.
    pub fn read_transcript(
        &self,
        transcript: &Transcript,
    ) -> Result<Option<ParsedTranscript>, Error> {
        learn::read_transcript(self.reader, transcript)
    }

    /// Lists the journalled sessions with their state.
    pub fn list_journals(&self) -> Vec<JournalState> {
        learn::list_journals(self.reader)
    }

    /// Returns the ids of the events in a session's journal.
    pub fn journalled_event_ids(&self, session: SessionId) -> HashSet<String> {
        learn::journalled_event_ids(self.reader, session)
    }

    /// Lists the journals of this project as transcripts to learn from.
    pub fn journal_transcripts(&self) -> Vec<Transcript> {
        learn::journal_transcripts(self.reader)
    }
}
