//! Failure episodes: a command that failed, its error, and what ended it.

use observe::{CallState, ErrorOccurrence, shell};

use super::super::session_texts::SessionTexts;
use super::timeline::{Timeline, list_files};
use super::{DossierItem, ItemKind, ItemPart, one_line};

/// The longest command and error, in characters.
const MAX_COMMAND_CHARS: usize = 160;
const MAX_ERROR_CHARS: usize = 240;
/// Steps after the last failure in which a command must succeed to count as the end of the episode.
const MAX_STEPS_TO_END: u32 = 80;

/// A command that failed, until the same command head succeeded.
struct FailureEpisode {
    first: u32,
    last: u32,
    n_failures: u32,
    /// The call that ended it.
    ended_by: Option<u32>,
}

/// One item per failure episode.
pub(super) fn failure_items(timeline: &Timeline<'_>, texts: &SessionTexts) -> Vec<DossierItem> {
    let episodes = find_episodes(timeline);
    episodes.iter().filter_map(|it| episode_item(timeline, texts, it)).collect()
}

fn find_episodes(timeline: &Timeline<'_>) -> Vec<FailureEpisode> {
    // Open episodes by the head of their command: few at any time.
    let mut open: Vec<(String, FailureEpisode)> = Vec::new();
    let mut acc = Vec::new();
    for (nth, call) in timeline.pad.calls.iter().enumerate() {
        let number = u32::try_from(nth).unwrap_or(u32::MAX);
        let head = shell::command_head(&timeline.command(number));
        if head.is_empty() || call.state == CallState::Rejected {
            continue;
        }
        let position = open.iter().position(|it| it.0 == head);
        if call.has_failed() {
            if let Some(position) = position {
                let episode = &mut open[position].1;
                (episode.last, episode.n_failures) = (number, episode.n_failures + 1);
            } else {
                let (first, last) = (number, number);
                let episode = FailureEpisode { first, last, n_failures: 1, ended_by: None };
                open.push((head, episode));
            }
        } else if call.has_succeeded()
            && let Some(position) = position
        {
            let (_, mut episode) = open.remove(position);
            episode.ended_by = Some(number).filter(|it| it - episode.last <= MAX_STEPS_TO_END);
            acc.push(episode);
        }
    }
    acc.extend(open.into_iter().map(|it| it.1));
    acc.sort_by_key(|it| it.first);
    acc
}

fn episode_item(
    timeline: &Timeline<'_>,
    texts: &SessionTexts,
    episode: &FailureEpisode,
) -> Option<DossierItem> {
    let failed = timeline.command(episode.first);
    let error = describe_error(timeline, texts, episode.first)?;
    let label = match episode.n_failures {
        1 => format!("failed, step {}", episode.first),
        n => format!("failed {n} times, steps {} to {}", episode.first, episode.last),
    };
    let mut parts = vec![
        ItemPart { label, text: one_line(&failed, MAX_COMMAND_CHARS) },
        ItemPart { label: "error".to_owned(), text: error },
    ];
    let aside = match episode.ended_by {
        None => "never succeeded in this session".to_owned(),
        Some(end) => {
            let worked = timeline.command(end);
            let label = format!("then worked, step {end}");
            parts.push(ItemPart { label, text: one_line(&worked, MAX_COMMAND_CHARS) });
            describe_end(timeline, episode, end, worked == failed)
        }
    };
    let call = &timeline.pad.calls[episode.first as usize];
    // Several tries cost the most; a search or listing without a match is hardly a failure.
    let n_tries = i32::try_from(episode.n_failures.min(6)).unwrap_or(6);
    let is_trivial = call.n_touches > 0 || is_search(&failed);
    let worth =
        10 + 3 * n_tries + 8 * i32::from(episode.ended_by.is_some()) - 20 * i32::from(is_trivial);
    let confirmed = episode.ended_by.is_some();
    Some(DossierItem { kind: ItemKind::Failure, order: call.order, worth, parts, aside, confirmed })
}

fn is_search(command: &str) -> bool {
    let program = command.split_whitespace().next().unwrap_or_default();
    matches!(program, "grep" | "rg" | "ls" | "find" | "cat" | "head" | "test" | "which" | "diff")
}

/// The line that names the error, and the two lines after it; `None` for a call without output.
fn describe_error(timeline: &Timeline<'_>, texts: &SessionTexts, call: u32) -> Option<String> {
    let output = texts.calls.get(&call).map(|it| it.output.as_str()).unwrap_or_default();
    let found = timeline.pad.errors.iter().find(|it| it.call == call);
    let line = found.map(|it: &ErrorOccurrence| it.display_line.trim());
    let mut lines = output.lines().map(str::trim).filter(|it| !it.is_empty());
    let text = match line {
        Some(line) => {
            // The line may be shortened, so it is found by its beginning.
            let start = &line[..line.floor_char_boundary(40)];
            let after: Vec<&str> =
                lines.skip_while(|it| !it.contains(start)).skip(1).take(2).collect();
            std::iter::once(line).chain(after).collect::<Vec<_>>().join(" ⏎ ")
        }
        None => lines.next()?.to_owned(),
    };
    Some(one_line(&text, MAX_ERROR_CHARS))
}

/// Describes the steps between the last failure and the success.
fn describe_end(
    timeline: &Timeline<'_>,
    episode: &FailureEpisode,
    end: u32,
    is_same_command: bool,
) -> String {
    let between = episode.last + 1..end;
    let mut edited: Vec<String> = Vec::new();
    for (number, file) in &timeline.edits {
        if between.contains(number) && !edited.iter().any(|it| it == file) {
            edited.push((*file).to_owned());
        }
    }
    let commands: Vec<String> = between
        .clone()
        .filter(|it| timeline.pad.calls[*it as usize].has_succeeded())
        .map(|it| timeline.command(it))
        .filter(|it| !it.is_empty() && !is_search(it))
        .collect();
    let mut acc = Vec::new();
    if !is_same_command {
        acc.push("the command is another".to_owned());
    }
    if !edited.is_empty() {
        acc.push(format!("between them edits of {}", list_files(&edited)));
    }
    if let Some(last) = commands.last().filter(|_| edited.is_empty()) {
        acc.push(format!("between them ran `{}`", one_line(last, 100)));
    }
    if acc.is_empty() {
        acc.push("passed when repeated".to_owned());
    }
    acc.join("; ")
}
