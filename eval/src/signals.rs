//! Facts and statements in transcripts, against the labels of the data, and self-corrections
//! against windows labelled by hand.
//!
//! The signals of the data are not the product's. Pairs of files come from the facts that the product's
//! signals use, corrections from its statements and messages. The other facts (`facts.rs`) exist only
//! here, so the score shows how faithful the scratchpad is, not how well the product detects signals.

use std::path::Path;

use observe::facts::{co_accessed, co_edited};
use observe::{Scratchpad, StatementKind, split_sentences, statements};
use serde_json::{Value, json};

use crate::report::{self, MetricLine};
use crate::{data, facts, transcripts};

/// Transcript formats that the labels cover.
const LABELLED_FORMATS: &[&str] =
    &["claude_code_jsonl", "codex_rollout_jsonl", "copilot_cli_jsonl", "swe_agent_traj"];

pub(crate) fn run(folder: &Path) -> anyhow::Result<()> {
    if !data::check_present(&folder.join("signals/reference_labels.jsonl.gz")) {
        return Ok(());
    }
    let mut rows: Vec<Value> = Vec::new();
    for transcript in transcripts::read_manifest(folder)? {
        if LABELLED_FORMATS.contains(&transcript.format.as_str()) {
            add_label_rows(&mut rows, &transcript.id, &transcripts::read_scratchpad(&transcript)?);
        }
    }
    let output = report::write_json_lines("signals.jsonl", &rows)?;
    let score = report::run_scorer(folder, "signals", &output)?;
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
    score_windows(folder)
}

/// Adds one row per fact of a session, keyed as the labels are.
fn add_label_rows(acc: &mut Vec<Value>, session: &str, pad: &Scratchpad) {
    // Only statements have an anchor in the labels; facts are matched by key.
    let mut push = |signal: &str, key: &str| acc.push(label_row(session, signal, key, ""));
    let name = |it: observe::StringId| pad.strings.text(it);
    let pair = |a, b| {
        let (a, b) = (name(a), name(b));
        // Pairs in the labels are unordered.
        if a < b { format!("{a}|{b}") } else { format!("{b}|{a}") }
    };
    for (a, b) in co_accessed(pad).into_keys() {
        push("co_access", &pair(a, b));
    }
    for (a, b) in co_edited(pad) {
        push("co_edit", &pair(a, b));
    }
    for (signal, files) in [
        ("read_then_edit", facts::read_then_edited(pad)),
        ("read_abandon", facts::read_abandoned(pad)),
        ("re_read", facts::reread_files(pad)),
        ("edit_churn", facts::churned_files(pad)),
        ("reread_after_compaction", facts::reread_after_compaction(pad)),
        ("backtrack", facts::files_with_reverted_edits(pad)),
        ("search_miss", facts::missed_searches(pad)),
        ("search_refine", facts::refined_searches(pad).into_iter().map(|it| it.1).collect()),
    ] {
        for it in files {
            push(signal, &cut_key(name(it)));
        }
    }
    for command in facts::repeated_commands(pad, normalise_command).into_keys() {
        push("repeated_command", &command.chars().take(120).collect::<String>());
    }
    for query in facts::repeated_searches(pad).into_keys() {
        push("repeated_search", &query);
    }
    // The key of a retry is its command, or the first file of a call without one.
    let attempt = |call: u32| {
        let call = &pad.calls[call as usize];
        let command = call.command.map(|it| cut_key(&normalise_command(name(it))));
        command.unwrap_or_else(|| {
            pad.touches_of_call(call).first().map_or(String::new(), |it| name(it.file).to_owned())
        })
    };
    for retry in facts::find_retries(pad) {
        push("error_retry", &attempt(retry.failed_call));
        if retry.succeeded {
            push("error_fixed", &attempt(retry.failed_call));
        }
    }
    for (failed, _) in facts::fail_then_pass(pad, normalise_command) {
        push("test_fail_then_pass", &attempt(failed).chars().take(120).collect::<String>());
    }
    add_statement_rows(acc, session, pad);
}

/// Adds one row per correction by the agent or the user, anchored at its event.
fn add_statement_rows(acc: &mut Vec<Value>, session: &str, pad: &Scratchpad) {
    let mut push = |signal: &str, key: &str, anchor: &str| {
        acc.push(label_row(session, signal, key, anchor));
    };
    // An event id ends with `#n` if the event was split; the labels have the id of the line.
    for it in pad.statements.iter().filter(|it| it.kind == StatementKind::Correction) {
        push("self_correction", &it.text, it.event.split('#').next().unwrap_or_default());
    }
    for it in pad.messages.iter().filter(|it| it.is_objection || it.is_interrupt) {
        push("user_correction", &it.text, it.event.split('#').next().unwrap_or_default());
    }
}

/// A row for the scorer.
fn label_row(session: &str, signal: &str, key: &str, anchor: &str) -> Value {
    json!({ "session": session, "signal": signal, "key": key, "anchor": [anchor, anchor] })
}

/// Normalises a command as the labels do: without a change of folder at the beginning, and without
/// a pipe that shortens the output, or a redirection, at the end.
fn normalise_command(command: &str) -> String {
    let after_cd = command.strip_prefix("cd ").and_then(|it| it.split_once(" && "));
    let command = after_cd.map_or(command, |it| it.1);
    let without_tail = match command.rsplit_once("| ") {
        Some((before, after)) if after.starts_with("tail") || after.starts_with("head") => before,
        _ => command.strip_suffix("2>&1").unwrap_or(command),
    };
    without_tail.trim_end().to_owned()
}

/// Cuts a key to the length of the keys in the labels.
fn cut_key(text: &str) -> String {
    text.chars().take(160).collect()
}

/// Precision and recall on windows labelled by hand.
fn score_windows(folder: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(folder.join("signals/adjudicated.jsonl"))?;
    let (mut n_right, mut n_found, mut n_labelled) = (0_u32, 0_u32, 0_u32);
    for line in text.lines() {
        let row: Value = serde_json::from_str(line)?;
        if row["task"] != "self_correction" {
            continue;
        }
        // The label occurs as a number, a string and a boolean.
        let is_labelled = row["label"] == 1 || row["label"] == "1" || row["label"] == true;
        let is_found = split_sentences(row["text"].as_str().unwrap_or_default())
            .iter()
            .any(|it| statements::is_correction(it));
        if is_found && !is_labelled || !is_found && is_labelled {
            println!(
                "  {} {:?}",
                if is_found { "false alarm" } else { "missed" },
                row["text"].as_str().unwrap_or_default()
            );
        }
        n_labelled += u32::from(is_labelled);
        n_found += u32::from(is_found);
        n_right += u32::from(is_found && is_labelled);
    }
    let share = |a: u32, b: u32| f64::from(a) / f64::from(b.max(1));
    report::print_metrics(
        "self-corrections, windows labelled by hand",
        &[
            MetricLine {
                name: "precision",
                value: share(n_right, n_found),
                unit: "",
                goal: "≥ 0.8",
            },
            MetricLine {
                name: "recall",
                value: share(n_right, n_labelled),
                unit: "",
                goal: "≥ 0.5",
            },
        ],
    );
    Ok(())
}
