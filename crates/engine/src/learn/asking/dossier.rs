//! The dossier of a session: everything a language model is shown to decide what the session taught. Pure.
//!
//! Two parts come from the session: first the person's words, as whole as the budget allows, and then what
//! happened, in order: failures with what ended them, plans that were accepted, conclusions of the agent
//! with what came of them, commits, and the last text of each turn. Every line that a claim may quote has a
//! number. The rest (final state, rules, known memories) is for orientation and has none.
//!
//! ```text
//! SESSION of claude_code: 5 tool calls, 1 files edited, 1 failures. Step numbers count tool calls.
//!
//! PERSON
//! [1] task: Fix the flaky upload test
//!     (then edited upload/main_test.go)
//! [2] step 5, refusing a call: never force-push here, open a pull request
//!     (the call: go test ./...)
//!
//! WHAT HAPPENED, IN ORDER
//! [3] failed, step 0: go test ./upload
//! [4] error: dial tcp 127.0.0.1:9000: connect: connection refused ⏎ FAIL upload
//! [5] then worked, step 2: go test ./upload
//!     (between them ran `docker compose up -d minio`)
//! [6] agent, step 5: The container is now started in `TestMain`, and the whole suite passes.
//!
//! STATE AT THE END
//! - files edited: upload/main_test.go
//! - last run of `go test ./...`: passed
//! ```
//!
//! Each kind of line has a budget of tokens, and the best lines of a kind fill it. Lines after the first
//! text from outside the project are marked, except a person's: a claim that rests on one is never live.

mod conclusions;
mod failures;
mod final_state;
mod person;
#[cfg(test)]
mod tests;
mod timeline;

use std::fmt::Write as _;

use model::{ContentChannel, Memory, QuoteSource};
use observe::{Scratchpad, SessionOverview};
use promote::DossierLine;

use super::session_texts::SessionTexts;
use timeline::Timeline;

/// Most tokens of a dossier, by the estimate that all budgets use.
const MAX_DOSSIER_TOKENS: u32 = 8_000;
/// Tokens of the rules and of the known memories.
const RULES_TOKENS: u32 = 600;
const KNOWN_TOKENS: u32 = 300;
/// Tokens of a number and a label.
const LABEL_TOKENS: u32 = 12;
/// The longest rule or memory that is listed, in characters.
const MAX_LISTED_CHARS: usize = 240;

/// A dossier: the text for the model, and the lines that its answer may quote.
#[derive(Clone, Debug)]
pub(super) struct SessionDossier {
    pub(super) text: String,
    pub(super) lines: Vec<DossierLine>,
    /// Moments that may teach something: interventions of the person, failures, sentences of accepted
    /// plans, and conclusions of the agent.
    pub(super) n_moments: usize,
    pub(super) n_tokens: u32,
}

/// The material that is not in the session itself.
#[derive(Clone, Debug, Default)]
pub(super) struct DossierContext {
    /// Rules of the repository, most relevant first.
    pub(super) rules: Vec<String>,
    /// Memories about the same files and words.
    pub(super) known: Vec<Memory>,
}

/// A group of lines that stay together, such as a failing command, its error, and the working command.
#[derive(Clone, Debug)]
struct DossierItem {
    kind: ItemKind,
    /// Position among the events of the session.
    order: u32,
    /// Rank among the items of the same kind, of which the best fill its budget. Each kind has a scale of
    /// its own.
    worth: i32,
    parts: Vec<ItemPart>,
    /// What came of it, in our words; not quotable.
    aside: String,
    /// What happened afterwards bears it out.
    confirmed: bool,
}

/// One quotable line.
#[derive(Clone, Debug)]
struct ItemPart {
    label: String,
    text: String,
}

/// Kinds of items, from the one that is needed most to the first that is dropped from a dossier that is too
/// long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ItemKind {
    Person,
    Failure,
    Plan,
    Conclusion,
    Commit,
    Closing,
}

impl ItemKind {
    const ALL: [Self; 6] =
        [Self::Person, Self::Failure, Self::Plan, Self::Conclusion, Self::Commit, Self::Closing];

    /// The source of a claim that quotes such an item.
    const fn source(self) -> QuoteSource {
        match self {
            Self::Person => QuoteSource::Person,
            Self::Failure => QuoteSource::Failure,
            Self::Plan => QuoteSource::Plan,
            Self::Conclusion | Self::Closing => QuoteSource::Agent,
            Self::Commit => QuoteSource::Commit,
        }
    }

    /// Tokens of all items of the kind together.
    const fn token_budget(self) -> u32 {
        match self {
            Self::Person => 2_300,
            Self::Failure => 1_300,
            Self::Plan => 600,
            Self::Conclusion => 1_500,
            Self::Commit => 250,
            Self::Closing => 800,
        }
    }

    /// Returns whether items of the kind may teach something. The last text of a turn and a commit only
    /// repeat what happened before them.
    const fn may_teach(self) -> bool {
        !matches!(self, Self::Commit | Self::Closing)
    }
}

/// Composes the dossier of a session.
pub(super) fn compose_dossier(
    session: &SessionOverview,
    pad: &Scratchpad,
    texts: &SessionTexts,
    context: &DossierContext,
) -> SessionDossier {
    let timeline = Timeline::new(pad, texts);
    let mut items = person::person_items(&timeline, texts);
    // The first message of the person is the task. It is found before the budgets, which may drop it.
    let task_order = items.first().map(|it| it.order);
    items.extend(failures::failure_items(&timeline, texts));
    items.extend(conclusions::plan_items(&timeline, texts));
    items.extend(conclusions::agent_items(&timeline, texts));
    items.extend(timeline.commit_items());
    let mut items = within_budgets(items);
    drop_repeated_asides(&mut items);

    let is_task = |it: &DossierItem| it.kind == ItemKind::Person && Some(it.order) == task_order;
    let n_moments = items.iter().filter(|it| it.kind.may_teach() && !is_task(it)).count();
    let state = final_state::describe_state(session, &timeline);
    loop {
        let (text, lines) = format_dossier(session, pad, &items, &state, context);
        let n_tokens = recall::estimate_tokens(&text);
        // The budgets leave room for the headings in all but the oddest sessions.
        if n_tokens <= MAX_DOSSIER_TOKENS {
            return SessionDossier { text, lines, n_moments, n_tokens };
        }
        let Some(position) = least_needed(&items) else {
            return SessionDossier { text, lines, n_moments, n_tokens };
        };
        items.remove(position);
    }
}

/// The position of the item to drop first: the least of the kind that is needed least.
fn least_needed(items: &[DossierItem]) -> Option<usize> {
    let rank = |it: &DossierItem| (it.kind, std::cmp::Reverse(it.worth));
    // Of equals the earlier one goes: `max_by_key` takes the last.
    (0..items.len()).rev().max_by_key(|position| rank(&items[*position]))
}

/// The best items of each kind that fit its budget, in their order.
fn within_budgets(items: Vec<DossierItem>) -> Vec<DossierItem> {
    let mut acc = Vec::new();
    for kind in ItemKind::ALL {
        let mut ranked: Vec<DossierItem> =
            items.iter().filter(|it| it.kind == kind).cloned().collect();
        // Of equals the later one: more had happened before it.
        ranked.sort_by_key(|it| std::cmp::Reverse((it.worth, it.order)));
        let mut left = kind.token_budget();
        for item in ranked {
            let cost = item_tokens(&item);
            if cost <= left {
                left -= cost;
                acc.push(item);
            }
        }
    }
    acc.sort_by_key(|it| (it.order, it.kind != ItemKind::Person));
    acc
}

/// Leaves an aside that several items in a row share at the last of them.
fn drop_repeated_asides(items: &mut [DossierItem]) {
    for nth in 1..items.len() {
        let (before, rest) = items.split_at_mut(nth);
        if let (Some(item), Some(next)) = (before.last_mut(), rest.first())
            && item.aside == next.aside
            && item.kind == next.kind
        {
            item.aside.clear();
        }
    }
}

fn item_tokens(item: &DossierItem) -> u32 {
    let parts: u32 =
        item.parts.iter().map(|it| recall::estimate_tokens(&it.text) + LABEL_TOKENS).sum();
    parts + recall::estimate_tokens(&item.aside)
}

/// Writes the items, numbered, and what is known beside them.
fn format_dossier(
    session: &SessionOverview,
    pad: &Scratchpad,
    items: &[DossierItem],
    state: &str,
    context: &DossierContext,
) -> (String, Vec<DossierLine>) {
    let mut text = final_state::describe_session(session);
    let mut lines = Vec::new();
    let (person, rest): (Vec<&DossierItem>, Vec<&DossierItem>) =
        items.iter().partition(|it| it.kind == ItemKind::Person);
    text.push_str("\n\nPERSON\n");
    for item in person {
        add_item(&mut text, &mut lines, pad, item);
    }
    text.push_str("\nWHAT HAPPENED, IN ORDER\n");
    for item in rest {
        add_item(&mut text, &mut lines, pad, item);
    }
    add_section(&mut text, "STATE AT THE END", state);
    add_section(&mut text, "RULES OF THE REPOSITORY", &list_texts(&context.rules, RULES_TOKENS));
    // With their ids, by which a claim can replace one.
    let known: Vec<String> =
        context.known.iter().map(|it| format!("#{} {}", it.id.short(), it.content)).collect();
    add_section(&mut text, "KNOWN ALREADY", &list_texts(&known, KNOWN_TOKENS));
    (text, lines)
}

fn add_item(text: &mut String, lines: &mut Vec<DossierLine>, pad: &Scratchpad, item: &DossierItem) {
    let source = item.kind.source();
    // A person's words are theirs, whatever the agent read before. In a record from elsewhere, they may
    // be invented like everything else.
    let is_untrusted_transcript =
        pad.external.as_ref().is_some_and(|it| it.channel == ContentChannel::Transcript);
    let is_own_word = source == QuoteSource::Person && !is_untrusted_transcript;
    let tainted = pad.is_tainted(item.order) && !is_own_word;
    let mark = if tainted { " (external)" } else { "" };
    for part in &item.parts {
        let n = u32::try_from(lines.len() + 1).unwrap_or(u32::MAX);
        let _ = writeln!(text, "[{n}] {}{mark}: {}", part.label, part.text);
        lines.push(DossierLine {
            n,
            source,
            text: part.text.clone(),
            tainted,
            confirmed: item.confirmed,
        });
    }
    if !item.aside.is_empty() {
        let _ = writeln!(text, "    ({})", item.aside);
    }
}

fn add_section(text: &mut String, title: &str, body: &str) {
    if !body.is_empty() {
        let _ = write!(text, "\n{title}\n{}\n", body.trim_end());
    }
}

/// As many of the texts as fit, one per line.
fn list_texts(texts: &[String], max_tokens: u32) -> String {
    let (mut acc, mut left) = (String::new(), max_tokens);
    for text in texts {
        let line = format!("- {}\n", one_line(text, MAX_LISTED_CHARS));
        let cost = recall::estimate_tokens(&line);
        if cost <= left {
            left -= cost;
            acc.push_str(&line);
        }
    }
    acc
}

/// A text on one line, cut at a limit.
fn one_line(text: &str, max_chars: usize) -> String {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match folded.char_indices().nth(max_chars) {
        // Cut between words, if there is a blank nearby.
        Some((end, _)) => {
            let cut = folded[..end].rfind(' ').filter(|it| end - it < 40).unwrap_or(end);
            format!("{} …", &folded[..cut])
        }
        None => folded,
    }
}
