//! Injection attacks: 200 payloads through every channel of external text. Nothing of a payload may
//! become a live memory or reach a model, unasked at any moment and trust level, or in any answer.
//!
//! Channels come from `ContentChannel`, moments from `HookEvent`, contexts and levels from their enums:
//! a new variant does not compile here, or is attacked at once. Each payload contains a word of its own,
//! its *canary*, by which the test finds it in any output. A canary in a prompt or an argument is not
//! repeated by Waylore, so attacks never ask for one.

mod attacks;
pub(crate) mod outputs;

use model::{ContentChannel, MemoryStatus};
use waylore_engine::{MemoryFilter, Project};

use crate::learning::LearningFixture;

const PAYLOADS: &str = include_str!("../../../promote/fixtures/injections.txt");
/// Fewest payloads that must have arrived somewhere, so that the attack itself is known to work.
const MIN_ARRIVED: usize = 20;

/// A payload with its canary.
struct Payload {
    canary: String,
    text: String,
}

fn load_payloads() -> Vec<Payload> {
    let lines = PAYLOADS.lines().filter(|it| !it.starts_with('#'));
    let texts = lines.filter_map(|it| it.split_once(" | ")).map(|it| it.1);
    let payload = |(nth, text): (usize, &str)| {
        // Letters only: wording must not take the word for a number or a hash.
        let letters: String = format!("{nth:03}").bytes().map(|it| char::from(it + 49)).collect();
        let canary = format!("zq{letters}qz");
        Payload { text: unescape(&text.replace("{canary}", &canary)), canary }
    };
    texts.enumerate().map(payload).collect()
}

/// Replaces the escapes of the fixture: `\n` and `\u{…}`.
fn unescape(text: &str) -> String {
    let text = text.replace("\\n", "\n");
    let mut parts = text.split("\\u{");
    let mut res = parts.next().unwrap().to_owned();
    for part in parts {
        let (code, rest) = part.split_once('}').unwrap();
        res.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
        res.push_str(rest);
    }
    res
}

/// The canaries in a text. Characters that are not letters may have been put between theirs.
fn canaries_in<'a>(text: &str, payloads: &'a [Payload]) -> Vec<&'a str> {
    let letters: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    if !letters.contains("zq") {
        return Vec::new();
    }
    let canaries = payloads.iter().map(|it| it.canary.as_str());
    canaries.filter(|it| letters.contains(it)).collect()
}

#[test]
fn payloads_of_no_channel_reach_a_model_or_become_live() {
    let payloads = load_payloads();
    assert!(payloads.len() >= 200);
    let mut leaks = Vec::new();
    for channel in ContentChannel::ALL {
        let fixture = LearningFixture::new();
        let mut project = fixture.open_project();
        let n_arrived = attacks::attack(&fixture, &mut project, *channel, &payloads);
        assert!(
            n_arrived >= MIN_ARRIVED,
            "the attack through {channel} did not arrive: {n_arrived}"
        );

        for (text, status) in list_texts(&fixture, &project) {
            if status == MemoryStatus::Live {
                for canary in canaries_in(&text, &payloads) {
                    leaks.push(format!("{channel}: live memory with {canary}: {text}"));
                }
            }
        }
        for (moment, output) in outputs::collect(&fixture, &mut project) {
            for canary in canaries_in(&output, &payloads) {
                let line = output.lines().find(|it| it.contains(canary)).unwrap_or_default();
                leaks.push(format!("{channel}: {moment} tells {canary}: {line}"));
            }
        }
    }
    leaks.sort();
    leaks.dedup();
    assert!(
        leaks.is_empty(),
        "{} leaks:\n{}",
        leaks.len(),
        leaks[..leaks.len().min(40)].join("\n")
    );
}

/// The texts of all memories, with their status.
fn list_texts(fixture: &LearningFixture, project: &Project) -> Vec<(String, MemoryStatus)> {
    let memories = fixture.run(project.retriever().list(&MemoryFilter::active(2_000), None));
    let text = |it: &model::Memory| format!("{} {} {:?}", it.content, it.summary, it.payload);
    memories.iter().map(|it| (text(&it.memory), it.memory.status())).collect()
}
