//! Drafts about errors: the command, the message, and what ended it.

use model::{ErrorPattern, Kind, Payload, ProjectPath};

use super::{Draft, Seen, list};
use crate::fingerprint::is_generic;
use crate::said;

pub(super) fn fixed(key: &str, seen: &[Seen]) -> Option<Draft> {
    if key.starts_with("missing ") {
        return moved(seen);
    }
    let last = &seen.last()?.evidence;
    let (command, message) = (last.command.as_deref()?, last.message.as_deref()?);
    let (fix, files) = fix(seen)?;
    let content = format!("`{command}` fails with “{message}”. {fix}");
    let payload = Payload::ErrorPattern(ErrorPattern {
        fingerprint: key.to_owned(),
        tool: "shell".to_owned(),
        message: last.normalised.clone().unwrap_or_else(|| message.to_owned()),
        resolution: Some(fix),
    });
    Some(Draft::new(Kind::ErrorPattern, content).about(files).with(payload))
}

/// What ended it, in words; the latest session that knows decides.
fn fix(seen: &[Seen]) -> Option<(String, Vec<ProjectPath>)> {
    // A variant of the command that worked, with nothing edited in between, is the plainest fix there is.
    for it in seen.iter().rev().map(|it| &it.evidence).filter(|it| it.files.is_empty()) {
        let (failed, worked) = (it.command.as_deref()?, it.worked.as_deref());
        if let Some(worked) = worked.filter(|worked| is_variant(failed, worked)) {
            return Some((format!("What worked: `{worked}`."), Vec::new()));
        }
    }
    // What the agent said about it, when its edit then ended the error.
    let edited = seen
        .iter()
        .rev()
        .map(|it| &it.evidence)
        .filter(|it| it.worked.is_some() && !it.files.is_empty());
    for it in edited {
        let message = it.message.as_deref().unwrap_or_default();
        if is_generic(message) {
            continue;
        }
        if let Some(reason) = it.text.as_deref().map(unnumbered).filter(|it| explains(it, message))
        {
            let reason = sentence(reason);
            return Some((
                format!("{reason} It was fixed in {}.", list(&it.files)),
                it.files.clone(),
            ));
        }
    }
    None
}

/// Whether one command is the other with other options or paths: then these are what made it work.
fn is_variant(failed: &str, worked: &str) -> bool {
    let (a, b): (Vec<&str>, Vec<&str>) = (failed.split(' ').collect(), worked.split(' ').collect());
    let loose = |it: &&str| it.starts_with('-') || it.contains(['/', '.']);
    let lost: Vec<&str> = a.iter().copied().filter(|it| !b.contains(it)).collect();
    let won: Vec<&str> = b.iter().copied().filter(|it| !a.contains(it)).collect();
    lost.iter().all(loose)
        && won.iter().any(loose)
        && won.len() <= 3
        && a.len() - lost.len() >= 2
        && worked.len() <= 120
        && !worked.contains(['|', ';'])
        && !["/Users/", "/home/", "/tmp/", "&&"].iter().any(|it| worked.contains(it))
}

/// A sentence without the number or dash of a list before it.
fn unnumbered(text: &str) -> &str {
    let bare = text.trim_start_matches(|it: char| {
        it.is_ascii_digit() || matches!(it, '.' | '-' | ' ' | '*' | ')')
    });
    if bare.len() + 6 >= text.len() { bare } else { text }
}

/// Whether a reply to an error says why, and not only what will be done next or what stands there already.
fn explains(reply: &str, message: &str) -> bool {
    let lower = reply.to_ascii_lowercase();
    let plans = [
        "let me",
        "i'll",
        "i need",
        "now ",
        "good",
        "great",
        "i see",
        "looking",
        "i was",
        "there ",
        "these ",
        "the test is",
        "the tests are",
        "i ",
        "we ",
    ];
    let words: Vec<&str> = lower.split_whitespace().filter(|it| it.len() > 3).collect();
    let known = words.iter().filter(|it| message.to_ascii_lowercase().contains(**it)).count();
    !plans.iter().any(|it| lower.starts_with(it))
        && !reply.ends_with([':', '?'])
        && known * 10 < words.len() * 6
        && said::fact_in(reply).is_some()
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!']) { text.to_owned() } else { format!("{text}.") }
}

fn moved(seen: &[Seen]) -> Option<Draft> {
    let [wrong, right] = &seen.last()?.evidence.files[..] else { return None };
    let content = format!("There is no `{wrong}`; the file is `{right}`.");
    Some(Draft::new(Kind::Gotcha, content).about(vec![right.clone()]))
}

/// Only beside an error: a command that runs long and then fails should be run in the background.
pub(super) fn slow(seen: &[Seen]) -> Option<Draft> {
    let last = &seen.last()?.evidence;
    let command = last.command.as_deref()?;
    let minutes = last.number.div_ceil(60);
    let content = format!(
        "`{command}` runs for about {minutes} minutes before it fails; run it with a time limit, or a part of it first."
    );
    Some(Draft::new(Kind::Gotcha, content))
}
