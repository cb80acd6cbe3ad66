//! Facts and things said, against labels that others made; and against windows labelled by hand.
//!
//! The data's list of signals is not ours: most of its seventeen are the facts our signals rest on.

use std::path::Path;

use observe::{RemarkKind, Scratchpad, facts, said, sentences};
use serde_json::{Value, json};

use crate::report::{self, Line};
use crate::{data, transcripts};

/// Formats that the labels cover.
const LABELLED: &[&str] =
    &["claude_code_jsonl", "codex_rollout_jsonl", "copilot_cli_jsonl", "swe_agent_traj"];

pub(crate) fn run(folder: &Path) -> anyhow::Result<()> {
    if !data::is_present(&folder.join("signals/reference_labels.jsonl.gz")) {
        return Ok(());
    }
    let mut rows: Vec<Value> = Vec::new();
    for transcript in transcripts::manifest(folder)? {
        if LABELLED.contains(&transcript.format.as_str()) {
            rows_of(&mut rows, &transcript.id, &transcripts::pad(&transcript)?);
        }
    }
    let output = report::folder()?.join("signals.jsonl");
    let lines: Vec<String> = rows.iter().map(|it| format!("{it}\n")).collect();
    std::fs::write(&output, lines.concat())?;
    let score = report::score(folder, "signals", &output)?;
    println!("signals                       P      R     F1      n");
    for (name, row) in score.as_object().into_iter().flatten().filter(|it| it.1.is_object()) {
        let number = |key: &str| row[key].as_f64().unwrap_or_default();
        println!(
            "  {name:<24} {:>6.1} {:>6.1} {:>6.1} {:>6}",
            number("P"),
            number("R"),
            number("F1"),
            row["n"]
        );
    }
    println!("  macro F1 {} (goal 85)", score["macro_F1"]);
    windows(folder)
}

fn rows_of(acc: &mut Vec<Value>, session: &str, pad: &Scratchpad) {
    let mut push = |signal: &str, key: &str, anchor: &str| {
        acc.push(
            json!({ "session": session, "signal": signal, "key": key, "anchor": [anchor, anchor] }),
        );
    };
    let name = |it: observe::Name| pad.names.text(it);
    let pair = |a, b| {
        let (a, b) = (name(a), name(b));
        if a < b { format!("{a}|{b}") } else { format!("{b}|{a}") }
    };
    for (a, b) in facts::co_accessed(pad).into_keys() {
        push("co_access", &pair(a, b), "");
    }
    for (a, b) in facts::co_edited(pad) {
        push("co_edit", &pair(a, b), "");
    }
    for (signal, files) in [
        ("read_then_edit", facts::read_then_edited(pad)),
        ("read_abandon", facts::read_abandoned(pad)),
        ("re_read", facts::reread(pad)),
        ("edit_churn", facts::churned(pad)),
        ("reread_after_compaction", facts::reread_after_compaction(pad)),
        ("backtrack", facts::undone(pad)),
        ("search_miss", facts::misses(pad)),
        ("search_refine", facts::refined(pad).into_iter().map(|it| it.1).collect()),
    ] {
        for it in files {
            push(signal, &cut(name(it)), "");
        }
    }
    for command in facts::repeated_commands(pad, label_of).into_keys() {
        push("repeated_command", &command.chars().take(120).collect::<String>(), "");
    }
    for query in facts::repeated_searches(pad).into_keys() {
        push("repeated_search", &query, "");
    }
    let tried = |call: u32| {
        let call = &pad.calls[call as usize];
        let command = call.command.map(|it| cut(&label_of(name(it))));
        command.unwrap_or_else(|| {
            pad.touches_of(call).first().map_or(String::new(), |it| name(it.file).to_owned())
        })
    };
    for retry in facts::retries(pad) {
        push("error_retry", &tried(retry.failed), "");
        if retry.fixed {
            push("error_fixed", &tried(retry.failed), "");
        }
    }
    for (failed, _) in facts::fail_then_pass(pad, label_of) {
        push("test_fail_then_pass", &tried(failed).chars().take(120).collect::<String>(), "");
    }
    for it in pad.remarks.iter().filter(|it| it.kind == RemarkKind::Correction) {
        push("self_correction", &it.text, it.event.split('#').next().unwrap_or_default());
    }
    for it in pad.messages.iter().filter(|it| it.corrects || it.interrupts) {
        push("user_correction", &it.text, it.event.split('#').next().unwrap_or_default());
    }
}

/// The labels take a change of folder off the beginning of a command, and one thing off its end: a
/// pipe that shortens the output, or a redirection.
fn label_of(command: &str) -> String {
    let moved = command.strip_prefix("cd ").and_then(|it| it.split_once(" && "));
    let command = moved.map_or(command, |it| it.1);
    let bare = match command.rsplit_once("| ") {
        Some((before, after)) if after.starts_with("tail") || after.starts_with("head") => before,
        _ => command.strip_suffix("2>&1").unwrap_or(command),
    };
    bare.trim_end().to_owned()
}

/// Keys of the labels are cut.
fn cut(text: &str) -> String {
    text.chars().take(160).collect()
}

/// Precision and recall on windows labelled by hand.
fn windows(folder: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(folder.join("signals/adjudicated.jsonl"))?;
    let (mut good, mut told, mut true_ones) = (0_u32, 0_u32, 0_u32);
    for line in text.lines() {
        let row: Value = serde_json::from_str(line)?;
        if row["task"] != "self_correction" {
            continue;
        }
        let wanted = row["label"] == 1 || row["label"] == "1" || row["label"] == true;
        let found =
            sentences(row["text"].as_str().unwrap_or_default()).iter().any(|it| said::revises(it));
        if found && !wanted || !found && wanted {
            println!(
                "  {} {:?}",
                if found { "false alarm" } else { "missed" },
                row["text"].as_str().unwrap_or_default()
            );
        }
        true_ones += u32::from(wanted);
        told += u32::from(found);
        good += u32::from(found && wanted);
    }
    let share = |a: u32, b: u32| f64::from(a) / f64::from(b.max(1));
    report::print(
        "self-corrections, windows labelled by hand",
        &[
            Line { name: "precision", value: share(good, told), unit: "", wanted: "≥ 0.8" },
            Line { name: "recall", value: share(good, true_ones), unit: "", wanted: "≥ 0.5" },
        ],
    );
    Ok(())
}
