//! Recurring errors: the share of them that the list of expected errors at the start of a session
//! covers.
//!
//! Prequential (Dawid 1984): for each session only what happened before it began. Measured is the
//! output of `waylore context start` after the earlier sessions were learned as `waylore learn`
//! learns them. The baseline in the same run is the most frequent errors so far, one per line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use engine::ContextRequest;
use model::Phase;
use observe::{FailedCall, MAX_EXPECTED_ERRORS_BYTES};
use serde_json::{Value, json};

use crate::learning::LearningProject;
use crate::{data, report, transcripts};

pub(crate) fn run(folder: &Path) -> anyhow::Result<()> {
    let rows_file = folder.join("errors/recurring_errors.jsonl.gz");
    if !data::check_present(&rows_file) {
        return Ok(());
    }
    let repos: BTreeSet<String> = data::read_json_lines(&rows_file)?
        .iter()
        .map(|it| it["repo"].as_str().unwrap_or_default().to_owned())
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let (mut expected, mut baseline): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    for repo in &repos {
        // Each repository has a project of its own: nothing is learned across them.
        let mut learning = runtime.block_on(LearningProject::new())?;
        let mut known: Vec<FailedCall> = Vec::new();
        for transcript in transcripts::read_manifest(folder)?.iter().filter(|it| it.repo == *repo) {
            learning.project.set_now(transcript.start);
            let request = ContextRequest::new(Phase::Implement);
            let expected_errors = runtime
                .block_on(learning.project.injector().start_context(&request))?
                .expected_errors;
            expected.push(json!({ "session": transcript.id, "injected": expected_errors }));
            // Both lists are made before the session is learned.
            baseline.push(json!({ "session": transcript.id, "injected": most_frequent_errors(&known, transcript.start) }));
            known.append(&mut transcripts::read_scratchpad(transcript)?.failed_calls);
            runtime.block_on(learning.learn_transcript(transcript))?;
        }
    }
    let coverage = |name: &str, rows: &[Value]| -> anyhow::Result<f64> {
        let output = report::write_json_lines(&format!("errors-{name}.jsonl"), rows)?;
        Ok(report::run_scorer(folder, "errors", &output)?["coverage"].as_f64().unwrap_or_default())
    };
    let (expected, baseline) = (coverage("ours", &expected)?, coverage("baseline", &baseline)?);
    report::print_metrics(
        "recurring errors covered by 600 characters at the start",
        &[
            report::MetricLine { name: "ours", value: expected, unit: "%", goal: "≥ 80" },
            report::MetricLine {
                name: "most frequent so far",
                value: baseline,
                unit: "%",
                goal: "",
            },
            report::MetricLine {
                name: "above it",
                value: expected - baseline,
                unit: "",
                goal: "≥ 12",
            },
        ],
    );
    Ok(())
}

/// The baseline: as many lines as the list of expected errors may have bytes.
fn most_frequent_errors(known: &[FailedCall], now: model::Timestamp) -> String {
    let mut counts: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for failure in known.iter().filter(|it| it.at < now) {
        *counts.entry((&failure.head, &failure.message)).or_default() += 1;
    }
    let mut order: Vec<_> = counts.into_iter().collect();
    order.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut acc = String::new();
    for ((head, beginning), _) in order {
        let line = format!("{head}: {beginning}\n");
        // The same number of bytes as the measured list, so that both have the same chance.
        if acc.len() + line.len() > MAX_EXPECTED_ERRORS_BYTES {
            break;
        }
        acc.push_str(&line);
    }
    acc
}
