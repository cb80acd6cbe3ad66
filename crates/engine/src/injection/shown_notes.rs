//! The notes that a session was shown before. Nothing is injected into a session twice, whichever
//! process injects it, unless the host compacted the conversation in between and the agent lost it.
//!
//! The record is `store::ShownLog`, one file per session; `injection_log` keeps the same notes for the
//! user to query. This file opens it for a session, completes
//! requests from it, and converts memories and context blocks to its entries.

use std::collections::HashSet;

use model::{InjectionMoment, MemoryId, ProjectPath};
use store::{ShownEntry, ShownLog};

use super::context_request::{ContextBlock, ContextRequest, SectionChoice};
use super::injection_log::{GivenBlock, log_notes};
use super::recent_files::recent_files;
use crate::{Error, ProjectReader};

/// Opens the shown log of a session. `session` is the id that the host uses for it.
pub(crate) fn open_shown_log(reader: &ProjectReader, session: &str) -> ShownLog {
    ShownLog::for_session(&reader.data_dir(), session, reader.config.key.as_ref())
}

/// Completes a request with what the session was shown before.
pub(super) fn exclude_shown(request: ContextRequest, shown: HashSet<ShownEntry>) -> ContextRequest {
    let expected_errors = if shown.contains(&ShownEntry::ExpectedErrors) {
        SectionChoice::Omit
    } else {
        request.expected_errors
    };
    let (shown_memories, nearby_files) = (shown_memory_ids(&shown), recent_files(&shown));
    ContextRequest { expected_errors, shown_memories, nearby_files, shown_texts: shown, ..request }
}

/// Locks the log against other processes that inject into the same session. Blocks.
pub(crate) fn lock_session(
    reader: &ProjectReader,
    session: &str,
) -> Result<impl Sized + use<>, Error> {
    Ok(open_shown_log(reader, session).lock()?)
}

/// The files a session touched last, the latest first.
pub(crate) fn session_files(reader: &ProjectReader, session: &str) -> Vec<ProjectPath> {
    recent_files(&open_shown_log(reader, session).read_entries())
}

/// Records notes as shown to a session, in its shown log and in the injection log.
pub(super) fn record_block(
    reader: &ProjectReader,
    block: &GivenBlock<'_>,
    entries: &[ShownEntry],
) -> Result<(), Error> {
    open_shown_log(reader, block.session).record(entries)?;
    log_notes(reader, block, entries)
}

/// Records a context block as shown. `host` is empty if the client did not name itself.
pub(crate) fn record_context(
    reader: &ProjectReader,
    session: &str,
    host: &str,
    moment: InjectionMoment,
    context: &ContextBlock,
) -> Result<(), Error> {
    let memory_tokens = &context_memory_tokens(context);
    let block = GivenBlock { session, host, moment, tokens: context.used_tokens, memory_tokens };
    record_block(reader, &block, &context_entries(reader, context))
}

/// Records memories as shown that the session itself asked for, each with its tokens.
pub(crate) fn record_memories(
    reader: &ProjectReader,
    session: &str,
    host: &str,
    memories: &[(MemoryId, u32)],
) -> Result<(), Error> {
    let entries: Vec<ShownEntry> =
        memories.iter().flat_map(|(id, _)| memory_entries(reader, *id)).collect();
    let (moment, tokens) = (InjectionMoment::Request, memories.iter().map(|it| it.1).sum());
    let block = GivenBlock { session, host, moment, tokens, memory_tokens: memories };
    record_block(reader, &block, &entries)
}

/// The tokens of each memory in a context block.
pub(super) fn context_memory_tokens(context: &ContextBlock) -> Vec<(MemoryId, u32)> {
    context.placed.iter().map(|it| (it.hit.rated.memory.id, it.tokens)).collect()
}

/// Marks everything in the session's conversation as lost, so that it may be shown once more.
pub(crate) fn mark_conversation_lost(reader: &ProjectReader, session: &str) -> Result<(), Error> {
    Ok(open_shown_log(reader, session).mark_conversation_lost()?)
}

/// The entries for a memory that is shown now. Learning reads the time to tell if the memory was used
/// afterwards.
pub(super) fn memory_entries(reader: &ProjectReader, id: MemoryId) -> [ShownEntry; 2] {
    [ShownEntry::Memory(id), ShownEntry::MemoryAt { id, at: reader.now }]
}

/// The entries for everything in a context block.
pub(super) fn context_entries(reader: &ProjectReader, context: &ContextBlock) -> Vec<ShownEntry> {
    let mut entries = Vec::new();
    for placed in &context.placed {
        entries.extend(memory_entries(reader, placed.hit.rated.memory.id));
    }
    if !context.expected_errors.is_empty() {
        entries.push(ShownEntry::ExpectedErrors);
    }
    entries.extend(context.shown_entries.iter().cloned());
    entries
}

/// The memories among the entries of a log.
pub(super) fn shown_memory_ids(shown: &HashSet<ShownEntry>) -> HashSet<MemoryId> {
    shown.iter().filter_map(ShownEntry::memory_id).collect()
}
