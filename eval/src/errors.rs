//! Recurring errors: how many of those that come again a short outlook at the start of a session covers.
//!
//! Prequential: for each session only what was met before it began. Ours is what `waylore context start`
//! says after the sessions before were learned as `waylore learn` learns them. Beside it, in the same
//! run, the obvious baseline: the most frequent errors so far, one a line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use engine::Occasion;
use model::Phase;
use observe::{MAX_OUTLOOK, Stumble};
use serde_json::{Value, json};

use crate::learning::Desk;
use crate::{data, report, transcripts};

pub(crate) fn run(folder: &Path) -> anyhow::Result<()> {
    let rows_file = folder.join("errors/recurring_errors.jsonl.gz");
    if !data::is_present(&rows_file) {
        return Ok(());
    }
    let wanted: BTreeSet<String> = data::rows(&rows_file)?
        .iter()
        .map(|it| it["repo"].as_str().unwrap_or_default().to_owned())
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let (mut ours, mut baseline): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    for repo in &wanted {
        let mut desk = runtime.block_on(Desk::new())?;
        let mut known: Vec<Stumble> = Vec::new();
        for it in transcripts::manifest(folder)?.iter().filter(|it| it.repo == *repo) {
            desk.engine.set_now(it.start);
            let occasion = Occasion::of(Phase::Implement);
            let outlook = runtime.block_on(desk.engine.context_start(&occasion))?.outlook;
            ours.push(json!({ "session": it.id, "injected": outlook }));
            baseline.push(json!({ "session": it.id, "injected": most_frequent(&known, it.start) }));
            known.append(&mut transcripts::pad(it)?.stumbles);
            runtime.block_on(desk.learn(it))?;
        }
    }
    let coverage = |name: &str, rows: &[Value]| -> anyhow::Result<f64> {
        let output = report::folder()?.join(format!("errors-{name}.jsonl"));
        let lines: Vec<String> = rows.iter().map(|it| format!("{it}\n")).collect();
        std::fs::write(&output, lines.concat())?;
        Ok(report::score(folder, "errors", &output)?["coverage"].as_f64().unwrap_or_default())
    };
    let (ours, baseline) = (coverage("ours", &ours)?, coverage("baseline", &baseline)?);
    report::print(
        "recurring errors covered by 600 characters at the start",
        &[
            report::Line { name: "ours", value: ours, unit: "%", wanted: "≥ 80" },
            report::Line { name: "most frequent so far", value: baseline, unit: "%", wanted: "" },
            report::Line { name: "above it", value: ours - baseline, unit: "", wanted: "≥ 12" },
        ],
    );
    Ok(())
}

fn most_frequent(known: &[Stumble], now: model::Timestamp) -> String {
    let mut counts: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for it in known.iter().filter(|it| it.at < now) {
        *counts.entry((&it.head, &it.beginning)).or_default() += 1;
    }
    let mut order: Vec<_> = counts.into_iter().collect();
    order.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut acc = String::new();
    for ((head, beginning), _) in order {
        let line = format!("{head}: {beginning}\n");
        if acc.len() + line.len() > MAX_OUTLOOK {
            break;
        }
        acc.push_str(&line);
    }
    acc
}
