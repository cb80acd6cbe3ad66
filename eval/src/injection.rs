//! The instruction detector on public prompt injections, and the stricter test of module
//! descriptions on real manifests.
//!
//! The data has texts that instruct their reader (label 1) and texts that only look like it (label
//! 0), each with its source. Each source is split in two halves by the ids: phrases may be chosen
//! after reading half 0, which `--show N` prints; half 1 is only counted. `--manifests FOLDER`
//! counts the descriptions in the manifests below a folder that a model would not get to read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engine::model_text::{self, TextOrigin};
use regex::Regex;
use serde_json::Value;

use crate::data::{check_present, list_files, read_json_lines};
use crate::split_half::question_half;

/// Characters of a wrongly judged text that are shown.
const MAX_SHOWN_CHARS: usize = 300;

/// Texts of one source, and those that the detector took for instructions.
#[derive(Default)]
struct SourceCounts {
    /// By half.
    n_texts: [usize; 2],
    n_detected: [usize; 2],
}

impl SourceCounts {
    fn add(&mut self, half: usize, is_detected: bool) {
        self.n_texts[half] += 1;
        self.n_detected[half] += usize::from(is_detected);
    }
}

pub(crate) fn run(data: &Path) -> anyhow::Result<()> {
    if let Some(folder) = option("--manifests") {
        return count_descriptions(&PathBuf::from(folder));
    }
    let path = data.join("injection/injection.jsonl.gz");
    if !check_present(&path) {
        return Ok(());
    }
    let mut n_left_to_show: usize = option("--show").map_or(Ok(0), |it| it.parse())?;
    let mut counts: BTreeMap<(bool, String), SourceCounts> = BTreeMap::new();
    for row in read_json_lines(&path)? {
        let field = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let is_injection = row["label"].as_i64() == Some(1);
        let (half, text) = (question_half(&field("id")), field("text"));
        let is_detected = model_text::is_withheld(&text, TextOrigin::Unconfirmed);
        counts.entry((is_injection, field("source"))).or_default().add(half, is_detected);
        if is_detected != is_injection && half == 0 && n_left_to_show > 0 {
            n_left_to_show -= 1;
            let shown: String = text.chars().take(MAX_SHOWN_CHARS).collect();
            println!("{} {}: {shown}\n", field("source"), field("kind"));
        }
    }
    for (is_injection, title) in [(true, "instructions found"), (false, "false positives")] {
        println!("{title}, half 0 (read) and half 1 (only counted):");
        let mut total = SourceCounts::default();
        for ((_, source), it) in counts.iter().filter(|it| it.0.0 == is_injection) {
            print_counts(source, it);
            for half in [0, 1] {
                total.n_texts[half] += it.n_texts[half];
                total.n_detected[half] += it.n_detected[half];
            }
        }
        print_counts("all", &total);
    }
    Ok(())
}

/// The value after an option of the command line.
fn option(name: &str) -> Option<String> {
    std::env::args().skip_while(|it| it != name).nth(1)
}

fn print_counts(source: &str, counts: &SourceCounts) {
    let share = |half: usize| {
        let (found, all) = (counts.n_detected[half], counts.n_texts[half]);
        let percent = 100.0 * found as f64 / all.max(1) as f64;
        format!("{found:>4} of {all:>3} ({percent:5.1} %)")
    };
    println!("  {source:<18} {}   {}", share(0), share(1));
}

/// Counts the descriptions in manifests that are not plain enough for a model.
fn count_descriptions(folder: &Path) -> anyhow::Result<()> {
    if !check_present(folder) {
        return Ok(());
    }
    let toml_description = Regex::new(r#"(?m)^description\s*=\s*"((?:[^"\\]|\\.)*)""#)?;
    let (mut n_texts, mut n_withheld) = (0_usize, 0_usize);
    for path in list_files(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_json = name == "package.json" || name == "composer.json";
        if !is_json && name != "Cargo.toml" && name != "pyproject.toml" {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let description = if is_json {
            let manifest: Option<Value> = serde_json::from_str(&text).ok();
            manifest.and_then(|it| it["description"].as_str().map(str::to_owned))
        } else {
            toml_description.captures(&text).map(|it| it[1].to_owned())
        };
        let Some(description) = description.filter(|it| !it.trim().is_empty()) else { continue };
        n_texts += 1;
        if model_text::neutralize_description(&description).is_empty() {
            n_withheld += 1;
            println!("withheld: {description}");
        }
    }
    println!("{n_withheld} of {n_texts} descriptions of manifests are withheld");
    Ok(())
}
