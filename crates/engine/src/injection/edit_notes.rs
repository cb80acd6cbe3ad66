//! Notes at an edit that are computed from the git history and from sessions, and stored nowhere: the files
//! that usually change with the edited one, and the checks that usually run before a commit.
//!
//! Told right after the edit, because that is the only event with which every host names an edited file,
//! and early enough to act on. A partner is named once per session and only if the session has not touched
//! it; the checks are named once, at the first edit. `hook_injection` adds the lines to the warnings
//! about the files. Each is one line with its counts.
//!
//! ```text
//! 9 of 11 commits that changed `src/api.rs` changed `web/wire.ts` as well; this session has not touched it.
//! `make lint` and `make test` ran before the commit in 9 of 11 sessions.
//! ```

use std::collections::HashSet;

use agents::{HookMessage, find_host};
use model::{PerMille, ProjectPath, TrustLevel};
use observe::{Scratchpad, UsualChecks, is_source_and_dependent};
use store::ShownEntry;

use crate::blocking::run_blocking;
use crate::learn::usual_checks;
use crate::model_text::{self, TextOrigin, is_withheld};
use crate::rules::rules_read_by_host;
use crate::{Error, ProjectReader};

/// Commits that must have changed both files: fewer may be one piece of work.
const MIN_SHARED_COMMITS: u32 = 5;
/// Share of the commits of the edited file that must have changed the partner, in per mille.
const MIN_SHARE_PER_MILLE: u32 = 750;
/// Partners that are named at one event, and in one session.
const MAX_PARTNERS_PER_EVENT: usize = 2;
const MAX_PARTNERS_PER_SESSION: usize = 6;

/// A computed note with the entry that records it as shown.
pub(super) type ComputedNote = (String, ShownEntry);

/// Computes the notes for the files that the event edited; none if it edited none.
pub(super) async fn compute_edit_notes(
    reader: &ProjectReader,
    message: &HookMessage,
    level: TrustLevel,
    shown: &HashSet<ShownEntry>,
) -> Result<Vec<ComputedNote>, Error> {
    let (edited, touched) = files_of_event(reader, message);
    if edited.is_empty() {
        return Ok(Vec::new());
    }
    let mut acc = Vec::new();
    let earlier = shown.iter().filter_map(|it| match it {
        ShownEntry::FileTouched { path, .. } => Some(path.clone()),
        _ => None,
    });
    let touched: HashSet<ProjectPath> = touched.into_iter().chain(earlier).collect();
    for file in &edited {
        add_partners(reader, &mut acc, file, level, &touched, shown).await?;
    }
    if !shown.contains(&ShownEntry::UsualChecks)
        && let Some(checks) = usual_checks(reader).await?
        && !is_in_rules(reader, message, &checks)
    {
        acc.push((format_checks(&checks), ShownEntry::UsualChecks));
    }
    // A path or a command may read like an instruction.
    acc.retain(|(text, _)| !is_withheld(text, TextOrigin::Unconfirmed));
    let line = |text: String| format!("- {}", model_text::neutralize_foreign_text(&text));
    Ok(acc.into_iter().map(|(text, entry)| (line(text), entry)).collect())
}

/// The files that the calls of an event edited, and all files that they touched. The events of the message
/// say what each call was, for every host alike; only calls that succeeded count as edits.
fn files_of_event(
    reader: &ProjectReader,
    message: &HookMessage,
) -> (Vec<ProjectPath>, Vec<ProjectPath>) {
    let (mut edited, mut touched) = (Vec::new(), Vec::new());
    // A program that is no host names files without saying what it did with them.
    let Some(host) = message.host.and_then(find_host) else { return (edited, touched) };
    let root = reader.place.root.to_string_lossy();
    let mut pad = Scratchpad::new();
    for event in host.build_journal_events(message, Some(&root), reader.now) {
        pad.observe(&event);
    }
    for call in &pad.calls {
        for touch in pad.touches_of_call(call) {
            let Ok(path) = ProjectPath::parse(pad.strings.text(touch.file)) else { continue };
            if touch.is_write && call.has_succeeded() && !edited.contains(&path) {
                edited.push(path.clone());
            }
            touched.push(path);
        }
    }
    (edited, touched)
}

/// Adds the files that usually change with an edited one and that the session has not touched.
async fn add_partners(
    reader: &ProjectReader,
    acc: &mut Vec<ComputedNote>,
    edited: &ProjectPath,
    level: TrustLevel,
    touched: &HashSet<ProjectPath>,
    shown: &HashSet<ShownEntry>,
) -> Result<(), Error> {
    // Without an index there are no counts, and reading the log of git takes too long here.
    let Some(graph) = reader.graph_reader() else { return Ok(()) };
    let Some(history) = graph.file_history_of(edited.as_str().to_owned()).await? else {
        return Ok(());
    };
    let n_told = shown.iter().filter(|it| matches!(it, ShownEntry::ChangePartner(_))).count();
    for partner in history::decode_partners(&history.co_changed).unwrap_or_default() {
        let is_full =
            acc.len() >= MAX_PARTNERS_PER_EVENT || n_told + acc.len() >= MAX_PARTNERS_PER_SESSION;
        if is_full {
            break;
        }
        let Ok(path) = ProjectPath::parse(&partner.path) else { continue };
        let entry = ShownEntry::ChangePartner(path.clone());
        let share = partner.n_commits * 1000 / history.n_commits.max(1);
        let is_supported = partner.n_commits >= MIN_SHARED_COMMITS && share >= MIN_SHARE_PER_MILLE;
        // The share stands for the confidence that the trust level asks for.
        let is_trusted =
            PerMille::new(u16::try_from(share).unwrap_or(1000)) > level.row().confidence_above;
        let is_known = touched.contains(&path)
            || shown.contains(&entry)
            || acc.iter().any(|(_, it)| *it == entry);
        if !is_supported
            || !is_trusted
            || is_known
            || !is_source_and_dependent(edited.as_str(), path.as_str())
            // Last, because it runs git and reads the file.
            || !is_maintained_by_hand(reader, edited, &path).await
        {
            continue;
        }
        let text = format!(
            "{} of {} commits that changed `{edited}` changed `{path}` as well; this session has not touched it.",
            partner.n_commits, history.n_commits
        );
        acc.push((text, entry));
    }
    Ok(())
}

/// Returns whether both files are part of the default branch, and people write the partner. A pair on a
/// branch that was never merged is a single piece of work.
async fn is_maintained_by_hand(
    reader: &ProjectReader,
    edited: &ProjectPath,
    partner: &ProjectPath,
) -> bool {
    let (place, edited, partner) = (reader.place.clone(), edited.clone(), partner.clone());
    run_blocking(move || {
        source::read_source(&place.root, partner.as_str()).is_ok()
            && source::are_on_default_branch(&place, &[edited.as_str(), partner.as_str()])
    })
    .await
}

/// Returns whether the rule files that the host reads by itself name all of the checks.
fn is_in_rules(reader: &ProjectReader, message: &HookMessage, checks: &UsualChecks) -> bool {
    let rules = rules_read_by_host(reader, message.host);
    checks.commands.iter().all(|command| rules.iter().any(|it| it.contains(command.as_str())))
}

fn format_checks(checks: &UsualChecks) -> String {
    let quoted: Vec<String> = checks.commands.iter().map(|it| format!("`{it}`")).collect();
    let commands = match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    };
    let UsualChecks { n_sessions, n_committing, .. } = checks;
    format!("{commands} ran before the commit in {n_sessions} of {n_committing} sessions.")
}
