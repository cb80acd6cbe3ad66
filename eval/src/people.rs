//! What people say: the wishes that are heard in the messages of real sessions, by folder of the data.
//!
//! The words and weights of `observe::person` were set on `entireio/cli` alone; the other repositories show
//! how they do elsewhere. No key says which messages are wishes: the share of messages with one is printed,
//! and with `--show N` that many wishes, spread evenly, for a reader to judge.
//!
//! `waylore-eval people --data FOLDER [--show N] [--repo PART]`

use std::collections::BTreeMap;
use std::path::Path;

use model::Event;
use observe::{PersonMoment, PersonWish, Preceding, WishKind, hear_message};

use crate::transcripts::{DataTranscript, read_events, read_manifest};

/// The messages of one repository.
#[derive(Default)]
struct RepoMessages {
    n_sessions: usize,
    n_messages: usize,
    n_with_wish: usize,
    wishes: Vec<PersonWish>,
}

/// Prints the share of messages with a wish, and a sample of the wishes.
pub(crate) fn run(data: &Path) -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let option = |name: &str| args.iter().skip_while(|it| *it != name).nth(1);
    let n_shown: usize = option("--show").and_then(|it| it.parse().ok()).unwrap_or(0);
    let wanted = option("--repo").map_or("", String::as_str);
    if !data.join("transcripts").exists() {
        println!("people: no transcripts in the data folder");
        return Ok(());
    }
    let mut repos: BTreeMap<String, RepoMessages> = BTreeMap::new();
    for transcript in read_manifest(data)? {
        if transcript.repo.contains(wanted) {
            add_session(repos.entry(transcript.repo.clone()).or_default(), &transcript)?;
        }
    }
    println!(
        "repository                        sessions messages with a wish    told  rule correction"
    );
    for (repo, found) in &repos {
        let count = |kind| found.wishes.iter().filter(|it| it.kind == kind).count();
        println!(
            "{repo:<34}{:>7}{:>9}{:>7} {:>4.1} %{:>8}{:>6}{:>11}",
            found.n_sessions,
            found.n_messages,
            found.n_with_wish,
            100.0 * found.n_with_wish as f64 / found.n_messages.max(1) as f64,
            count(WishKind::Told),
            count(WishKind::StandingRule),
            count(WishKind::Correction),
        );
    }
    let wishes: Vec<&PersonWish> = repos.values().flat_map(|it| &it.wishes).collect();
    let step = (wishes.len() / n_shown.max(1)).max(1);
    for wish in wishes.iter().step_by(step).take(n_shown) {
        println!("{:<14}{}", wish.kind.slug(), wish.text.replace('\n', " ⏎ "));
    }
    Ok(())
}

/// Adds the messages of one session, with what the agent had done before each.
fn add_session(acc: &mut RepoMessages, transcript: &DataTranscript) -> anyhow::Result<()> {
    acc.n_sessions += 1;
    let mut moment = PersonMoment { after: Preceding::Nothing, is_first: true };
    for envelope in read_events(transcript)? {
        match &envelope.event {
            Event::UserMessage(message) if !message.interrupts => {
                let wishes = hear_message(message, moment);
                acc.n_messages += 1;
                acc.n_with_wish += usize::from(!wishes.is_empty());
                acc.wishes.extend(wishes);
                moment.is_first = false;
            }
            Event::ToolCall(_) | Event::Reasoning(_) => moment.after = Preceding::Work,
            _ => {}
        }
    }
    Ok(())
}
