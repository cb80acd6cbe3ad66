//! The report on one learned session, to be read in a minute: a head line, then what was kept, what waits as a
//! candidate, and what was dropped with its reason, each in one or two lines with the words it comes from. Statistics
//! and other sightings without words are counted. `waylore explain SESSION` and `waylore learn --explain` print it.

use std::collections::BTreeMap;

use engine::{Evidence, ExplainedSighting, SessionExplanation, SessionSummary};
use model::{DropReason, MemoryStatus};

use crate::output::{
    BOLD_STYLE, DIM_STYLE, GOOD_STYLE, Output, WARN_STYLE, escape_controls, format_count,
};

/// Characters of a task, a text and a quotation that are shown.
const MAX_TASK_CHARS: usize = 120;
const MAX_TEXT_CHARS: usize = 300;
const MAX_QUOTE_CHARS: usize = 200;
/// Edited files that are named; the others are counted.
const MAX_EDITED_FILES: usize = 8;
/// Columns before the text of an entry: the id of a memory, or a reason and two blanks.
const ENTRY_COLUMNS: usize = 14;

// A longer reason would touch the text.
const _: () = {
    let mut nth = 0;
    while nth < DropReason::ALL.len() {
        assert!(DropReason::ALL[nth].slug().len() < ENTRY_COLUMNS, "a reason needs more columns");
        nth += 1;
    }
};

/// Amount of detail of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportDetail {
    /// Sightings without words are only counted.
    Folded,
    /// Every sighting (`--all`).
    Everything,
}

impl ReportDetail {
    /// The detail requested by the flag `--all`.
    pub(crate) const fn from_all_flag(is_set: bool) -> Self {
        if is_set { Self::Everything } else { Self::Folded }
    }
}

/// The fate of a sighting. The order is that of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SightingGroup {
    Kept,
    Candidate,
    ToReview,
    /// Kept once; the memory is forgotten, deprecated or erased.
    Past,
    Dropped,
    /// Dropped, and without words that a person could judge.
    Counted,
}

impl SightingGroup {
    fn of(sighting: &ExplainedSighting, detail: ReportDetail) -> Self {
        let status = sighting.memory_now.as_ref().map(|it| it.0);
        match (&sighting.dropped, status) {
            (Some(_), _) if sighting.signal.row().textual => Self::Dropped,
            (Some(_), _) if detail == ReportDetail::Everything => Self::Dropped,
            (Some(_), _) => Self::Counted,
            (None, Some(MemoryStatus::Live | MemoryStatus::Stale)) => Self::Kept,
            (None, Some(MemoryStatus::Candidate)) => Self::Candidate,
            (None, Some(MemoryStatus::NeedsReview | MemoryStatus::Tainted)) => Self::ToReview,
            (None, Some(MemoryStatus::Deleted | MemoryStatus::Deprecated) | None) => Self::Past,
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Candidate => "candidates",
            Self::ToReview => "to review",
            Self::Past => "kept, and gone since",
            Self::Dropped => "dropped",
            Self::Counted => "counted",
        }
    }
}

/// Prints the report on a session.
pub(crate) fn print_session(explanation: &SessionExplanation, detail: ReportDetail, out: &Output) {
    print_head(explanation, out);
    let mut groups: BTreeMap<SightingGroup, Vec<&ExplainedSighting>> = BTreeMap::new();
    for sighting in &explanation.sightings {
        groups.entry(SightingGroup::of(sighting, detail)).or_default().push(sighting);
    }
    let counted = groups.remove(&SightingGroup::Counted).unwrap_or_default();
    for (group, sightings) in &groups {
        let entries = distinct_entries(sightings);
        out.print_line(&format!(
            "{BOLD_STYLE}{}{BOLD_STYLE:#} {DIM_STYLE}{}{DIM_STYLE:#}",
            group.title(),
            entries.len()
        ));
        for (sighting, n) in entries {
            print_entry(sighting, n, *group, out);
        }
    }
    print_counts(&counted, out);
    if explanation.sightings.is_empty() {
        out.print_line("nothing was seen that could be learned");
    }
}

/// The head: task, kind, length, whether the work holds, edited files.
fn print_head(explanation: &SessionExplanation, out: &Output) {
    let session = &explanation.session;
    let task = model::clean_label(&session.task, MAX_TASK_CHARS);
    out.print_line(&format!(
        "session {BOLD_STYLE}#{}{BOLD_STYLE:#}  {}",
        session.id.short(),
        escape_controls(if task.is_empty() { "(no task)" } else { &task })
    ));
    let validation = session.validation_basis.map_or("not validated yet", |it| it.description());
    out.print_line(&format!(
        "  {DIM_STYLE}{}, {}, {}; {validation} · {}, {}{DIM_STYLE:#}",
        session.kind,
        session.outcome,
        format_effort(session),
        session.agent,
        session.ended.format_minute()
    ));
    if let Some(external) = &session.external {
        out.print_line(&format!(
            "  {WARN_STYLE}text from outside:{WARN_STYLE:#} {}",
            escape_controls(external)
        ));
    }
    // Files that were only read say little about a session.
    let edited: Vec<&str> =
        explanation.files.iter().filter(|it| it.edits > 0).map(|it| it.path.as_str()).collect();
    if !edited.is_empty() {
        let named = &edited[..edited.len().min(MAX_EDITED_FILES)];
        let more = match edited.len() - named.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        out.print_line(&format!(
            "  {DIM_STYLE}edited{DIM_STYLE:#} {}{more}",
            escape_controls(&named.join(", "))
        ));
    }
}

/// Steps, tokens and errors of a session. A host that reports no tokens leaves them out.
fn format_effort(session: &SessionSummary) -> String {
    let count = |n: u64, one: &str, many: &str| {
        format_count(usize::try_from(n).unwrap_or(usize::MAX), one, many)
    };
    let mut parts = vec![count(session.steps.into(), "step", "steps")];
    if session.tokens > 0 {
        parts.push(count(session.tokens, "token", "tokens"));
    }
    parts.push(count(session.retries.into(), "error", "errors"));
    parts.join(", ")
}

/// The sightings without repetitions, each with the number of equal ones.
fn distinct_entries<'a>(
    sightings: &[&'a ExplainedSighting],
) -> Vec<(&'a ExplainedSighting, usize)> {
    let mut acc: Vec<(&ExplainedSighting, usize)> = Vec::new();
    for sighting in sightings {
        let is_same = |it: &&mut (&ExplainedSighting, usize)| {
            it.0.signal == sighting.signal
                && it.0.evidence == sighting.evidence
                && (it.0.memory, &it.0.dropped) == (sighting.memory, &sighting.dropped)
        };
        match acc.iter_mut().find(is_same) {
            Some(entry) => entry.1 += 1,
            None => acc.push((sighting, 1)),
        }
    }
    acc
}

/// One entry: the id or the reason with the text, then the words that it comes from.
fn print_entry(sighting: &ExplainedSighting, n: usize, group: SightingGroup, out: &Output) {
    let times = if n > 1 { format!(" ({n} times)") } else { String::new() };
    let text = entry_text(sighting);
    let (label, style, detail) = match (&sighting.dropped, sighting.memory) {
        (Some((reason, detail)), _) => {
            (reason.slug().to_owned(), DIM_STYLE, format!(" ({detail})"))
        }
        (None, Some(memory)) => (format!("#{}", memory.short()), GOOD_STYLE, String::new()),
        (None, None) => (String::new(), GOOD_STYLE, String::new()),
    };
    let style = if group == SightingGroup::Candidate { WARN_STYLE } else { style };
    out.print_row(
        ENTRY_COLUMNS + 2,
        &format!(
            "  {style}{label:<ENTRY_COLUMNS$}{style:#}{}{times}{DIM_STYLE}{}{DIM_STYLE:#}",
            escape_controls(&model::clean_label(&text, MAX_TEXT_CHARS)),
            escape_controls(&detail)
        ),
    );
    let origin = entry_origin(sighting, &text);
    out.print_row(
        ENTRY_COLUMNS + 2,
        &format!("  {:<ENTRY_COLUMNS$}{DIM_STYLE}{}{DIM_STYLE:#}", "", escape_controls(&origin)),
    );
}

/// The text of an entry: that of the memory, of the claim, or the evidence.
fn entry_text(sighting: &ExplainedSighting) -> String {
    match (&sighting.memory_now, &sighting.evidence) {
        // A dropped sighting can name the memory that it repeats; its own words are then what matters.
        (Some((_, content)), _) if sighting.dropped.is_none() => content.clone(),
        (_, Evidence::Claim(claim)) => claim.text.clone(),
        _ => sighting.evidence.summary_line(),
    }
}

/// The origin of an entry: who said it in which words, and what came of it.
fn entry_origin(sighting: &ExplainedSighting, text: &str) -> String {
    let tainted = if sighting.tainted { ", after text from outside" } else { "" };
    let (who, quote, outcome) = match &sighting.evidence {
        Evidence::Claim(claim) => {
            (claim.source.speaker(), claim.quote.clone(), claim.outcome.clone())
        }
        evidence => (sighting.signal.slug(), evidence.summary_line(), None),
    };
    let mut origin = format!("{who}{tainted}");
    // The words are not repeated if they are the text itself.
    if !quote.is_empty() && quote != text {
        origin.push_str(": “");
        origin.push_str(&model::clean_label(&quote, MAX_QUOTE_CHARS));
        origin.push('”');
    }
    if let Some(outcome) = outcome {
        origin.push_str("; then ");
        origin.push_str(&outcome);
    }
    origin
}

/// One line with the number of sightings that are not listed, by signal.
fn print_counts(counted: &[&ExplainedSighting], out: &Output) {
    if counted.is_empty() {
        return;
    }
    let mut by_signal: BTreeMap<&str, usize> = BTreeMap::new();
    for sighting in counted {
        *by_signal.entry(sighting.signal.slug()).or_default() += 1;
    }
    let counts: Vec<String> = by_signal.iter().map(|(signal, n)| format!("{n} {signal}")).collect();
    out.print_line(&format!(
        "{BOLD_STYLE}counted{BOLD_STYLE:#} {DIM_STYLE}{}: {} (--all lists them){DIM_STYLE:#}",
        counted.len(),
        counts.join(", ")
    ));
}
