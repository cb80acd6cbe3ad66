//! The injection log: which notes were given to which session, at which moment, and how many tokens they
//! took.
//!
//! [`log_notes`] appends to the spool of the project, a file, so that a hook waits for no transaction.
//! [`store_injections`] moves the spool into the notebooks; learning, `purge` and every command that reads
//! the log call it first. The rows of a memory are stored in the notebook of the memory, because `purge`
//! must find them there; all other rows in that of the project. A row names its memory by id and never
//! holds a text.

use std::collections::HashMap;

use model::{InjectionMoment, InjectionTier, MemoryId, NoteSubject, ProjectId};
use store::{InjectionFilter, InjectionRow, ShownEntry, StoreReader, TierTotals};

use crate::export::NO_LIMIT;
use crate::lookup::{MIN_PREFIX_CHARS, find_by_id};
use crate::{Error, Project, ProjectReader};

/// Characters of a session's or host's name that are stored.
const MAX_NAME_CHARS: usize = 200;

/// A block of notes that was given to a session.
pub(super) struct GivenBlock<'a> {
    pub(super) session: &'a str,
    /// The host or client; empty if it is not known.
    pub(super) host: &'a str,
    pub(super) moment: InjectionMoment,
    /// Tokens of the whole block.
    pub(super) tokens: u32,
    /// Tokens of the memories in it, as far as they are known.
    pub(super) memory_tokens: &'a [(MemoryId, u32)],
}

/// Rows of the log, and the totals of the whole project.
#[derive(Clone, Debug)]
pub struct InjectionReport {
    /// Newest first.
    pub rows: Vec<InjectionRow>,
    pub totals: Vec<TierTotals>,
}

/// Appends the notes among `entries` to the spool. Without a project there is no notebook to count in,
/// and nothing is logged.
pub(super) fn log_notes(
    reader: &ProjectReader,
    block: &GivenBlock<'_>,
    entries: &[ShownEntry],
) -> Result<(), Error> {
    let (Some(project), Some(store)) = (reader.state.id(), reader.project_store_reader()) else {
        return Ok(());
    };
    let notes: Vec<(&ShownEntry, NoteSubject, Option<MemoryId>)> =
        entries.iter().filter_map(|it| subject_of(it).map(|(a, b)| (it, a, b))).collect();
    let costs = share_tokens(block, notes.iter().map(|it| it.2));
    let name = |it: &str| it.chars().take(MAX_NAME_CHARS).collect::<String>();
    let mut rows = Vec::new();
    for (((_, subject, memory), tokens), position) in notes.into_iter().zip(costs).zip(0..) {
        rows.push(InjectionRow {
            at: reader.now,
            project,
            session: name(block.session),
            host: name(block.host),
            moment: block.moment,
            tier: tier_of(block.moment, subject),
            subject,
            memory,
            tokens,
            followed: None,
            position,
        });
    }
    Ok(store.injection_spool().append(&rows)?)
}

/// The tier of a note. Predicted files are part of the block for a prompt and have a tier of their own.
pub(super) const fn tier_of(
    moment: InjectionMoment,
    subject: NoteSubject,
) -> Option<InjectionTier> {
    match (moment, subject) {
        (InjectionMoment::Request, _) => None,
        (_, NoteSubject::PredictedFiles) => Some(InjectionTier::Files),
        (InjectionMoment::Start | InjectionMoment::Prompt, _) => Some(InjectionTier::Start),
        (InjectionMoment::File | InjectionMoment::Failure, _) => Some(InjectionTier::ToolResult),
        (InjectionMoment::Step, _) => Some(InjectionTier::Step),
    }
}

/// The subject and the memory of an entry; `None` for a record about the session.
fn subject_of(entry: &ShownEntry) -> Option<(NoteSubject, Option<MemoryId>)> {
    match entry {
        ShownEntry::Memory(id) => Some((NoteSubject::Memory, Some(*id))),
        ShownEntry::RecipeStep { recipe, .. } => Some((NoteSubject::RecipeStep, Some(*recipe))),
        ShownEntry::PendingNote { .. } => Some((NoteSubject::RecordedNote, None)),
        ShownEntry::UnconfirmedFix { .. } => Some((NoteSubject::FixSeenOnce, None)),
        ShownEntry::ExpectedErrors => Some((NoteSubject::ExpectedErrors, None)),
        ShownEntry::PredictedFiles => Some((NoteSubject::PredictedFiles, None)),
        ShownEntry::ChangePartner(_) => Some((NoteSubject::ChangePartner, None)),
        ShownEntry::UsualChecks => Some((NoteSubject::UsualChecks, None)),
        ShownEntry::ProjectCommands => Some((NoteSubject::ProjectCommands, None)),
        ShownEntry::ModuleList => Some((NoteSubject::ModuleList, None)),
        ShownEntry::Module(_) => Some((NoteSubject::Module, None)),
        ShownEntry::MemoryAt { .. }
        | ShownEntry::FixAt { .. }
        | ShownEntry::FileTouched { .. }
        | ShownEntry::StepTokens { .. }
        | ShownEntry::Group(_) => None,
    }
}

/// Divides the tokens of a block among its notes, so that the rows add up to the block. A memory has the
/// tokens of its line. The rest (the frame, and sections that are no memory) is divided evenly among
/// the sections, or among all notes if there is no section; what remains goes to the first.
fn share_tokens(
    block: &GivenBlock<'_>,
    memories: impl Iterator<Item = Option<MemoryId>>,
) -> Vec<u32> {
    let known: HashMap<MemoryId, u32> = block.memory_tokens.iter().copied().collect();
    let costs: Vec<Option<u32>> =
        memories.map(|it| it.and_then(|it| known.get(&it).copied())).collect();
    let n_unknown = costs.iter().filter(|it| it.is_none()).count();
    let rest = block.tokens.saturating_sub(costs.iter().flatten().sum());
    let n_shares = if n_unknown > 0 { n_unknown } else { costs.len() };
    let Some(share) = rest.checked_div(u32::try_from(n_shares).unwrap_or(u32::MAX)) else {
        return Vec::new();
    };
    let is_sharing = |it: &Option<u32>| n_unknown == 0 || it.is_none();
    let mut shares: Vec<u32> =
        costs.iter().map(|it| it.unwrap_or(0) + if is_sharing(it) { share } else { 0 }).collect();
    let n_divided = share.saturating_mul(u32::try_from(n_shares).unwrap_or(u32::MAX));
    shares[0] += rest.saturating_sub(n_divided);
    shares
}

/// Moves the spool into the notebooks. Nothing is counted twice: the notebooks ignore a row that they
/// have already, and only what they have is removed from the spool.
pub(crate) async fn store_injections(project: &Project) -> Result<(), Error> {
    let Some(store) = project.project_store_writer().filter(|it| it.reader().exists()) else {
        return Ok(());
    };
    let reader = store.reader();
    let spooled = reader.injection_spool().read()?;
    let user_db = project.user_store_writer();
    let (mut of_project, mut of_user) = (Vec::new(), Vec::new());
    for row in &spooled.rows {
        let Some(id) = row.memory else {
            of_project.push(row.clone());
            continue;
        };
        if reader.memories().get(id).await?.is_some() {
            of_project.push(row.clone());
        } else if has_memory(&user_db.reader(), id).await? {
            of_user.push(row.clone());
        }
        // Else the memory was erased meanwhile, and nothing may name it any more.
    }
    if !of_project.is_empty() {
        store.put_injections(of_project, project.now).await?;
    }
    if !of_user.is_empty() {
        user_db.put_injections(of_user, project.now).await?;
    }
    Ok(reader.injection_spool().remove(&spooled)?)
}

async fn has_memory(store: &StoreReader, id: MemoryId) -> Result<bool, Error> {
    Ok(store.exists() && store.memories().get(id).await?.is_some())
}

/// Records in both notebooks which memories a session followed.
pub(crate) async fn judge_injections(
    project: &Project,
    session: &str,
    followed: &[MemoryId],
) -> Result<(), Error> {
    let Some(id) = project.state.id() else { return Ok(()) };
    let session: String = session.chars().take(MAX_NAME_CHARS).collect();
    for notebook in project.notebooks() {
        let writer = project.notebook_writer(&notebook);
        writer.judge_injections(id, session.clone(), followed.to_vec()).await?;
    }
    Ok(())
}

/// Lists the log of this project, newest first, of one session or one memory if these are given. A session
/// is named by the host's id or by Waylore's.
pub(crate) async fn list_injections(
    reader: &ProjectReader,
    session: Option<&str>,
    memory: Option<&str>,
    limit: u32,
) -> Result<InjectionReport, Error> {
    let mut report = InjectionReport { rows: Vec::new(), totals: Vec::new() };
    let Some(project) = reader.state.id() else { return Ok(report) };
    let memory = match memory {
        Some(id) => Some(find_by_id(reader, id).await?.memory.id),
        None => None,
    };
    // The log has the host's names of sessions only, so those that Waylore's id means are found by reading all.
    let n_read = if session.is_some() { NO_LIMIT } else { limit };
    for notebook in reader.notebooks() {
        let filter =
            InjectionFilter { project: Some(project), session: None, memory, limit: n_read };
        let mut rows = notebook.store.injections().list(filter).await?;
        rows.retain(|row| session.is_none_or(|it| is_session_named(&row.session, it)));
        report.rows.extend(rows);
    }
    report.rows.sort_by_key(|it| std::cmp::Reverse(it.at));
    report.rows.truncate(limit as usize);
    report.totals = injection_totals(reader, project).await?;
    Ok(report)
}

/// Returns whether a word names the session that its host calls `host_name`: that name, Waylore's id, or a
/// beginning or the end of the id.
fn is_session_named(host_name: &str, word: &str) -> bool {
    let id = agents::derive_session_id(host_name).to_string().replace('-', "");
    let part = word.trim_start_matches('#').replace('-', "").to_ascii_lowercase();
    let is_part = part.len() >= MIN_PREFIX_CHARS && (id.starts_with(&part) || id.ends_with(&part));
    host_name == word || is_part
}

/// Sums the log of a project by tier, over both notebooks.
pub(crate) async fn injection_totals(
    reader: &ProjectReader,
    project: ProjectId,
) -> Result<Vec<TierTotals>, Error> {
    let mut sums: Vec<TierTotals> = Vec::new();
    for notebook in reader.notebooks() {
        for part in notebook.store.injections().totals_by_tier(project).await? {
            match sums.iter_mut().find(|it| it.tier == part.tier) {
                Some(sum) => {
                    sum.notes += part.notes;
                    sum.tokens += part.tokens;
                    sum.judged += part.judged;
                    sum.followed += part.followed;
                }
                None => sums.push(part),
            }
        }
    }
    // In the order of the tiers; what agents asked for comes last.
    sums.sort_by_key(|it| {
        InjectionTier::ALL.iter().position(|tier| Some(*tier) == it.tier).unwrap_or(usize::MAX)
    });
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use model::Timestamp;

    use super::*;

    #[test]
    fn the_tokens_of_the_notes_add_up_to_the_block() {
        let id = |n: u8| MemoryId::new(Timestamp(1), [n; 10]);
        let memory_tokens = [(id(1), 20), (id(2), 30)];
        let block = |tokens| GivenBlock {
            session: "s",
            host: "",
            moment: InjectionMoment::Prompt,
            tokens,
            memory_tokens: &memory_tokens,
        };
        let both = [Some(id(1)), Some(id(2))];
        assert_eq!(share_tokens(&block(65), both.into_iter()), [28, 37]);
        let with_sections = [Some(id(1)), Some(id(2)), None, None];
        assert_eq!(share_tokens(&block(65), with_sections.into_iter()), [21, 30, 7, 7]);
        assert!(share_tokens(&block(65), [].into_iter()).is_empty());
    }
}
