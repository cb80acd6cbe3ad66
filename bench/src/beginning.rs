//! The first day: `waylore init` in a repository of a thousand files with a past, from spawn to exit.
//!
//! Everything is made here: files in three languages that import one another, commits that change a few
//! of them, and sessions of Claude Code that read, edit, search, fail and mend.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::process::{binary, command};
use crate::table::{Row, row};

const FILES: usize = 1_000;
const COMMITS: usize = 200;
const SESSIONS: usize = 100;
/// Calls in a session; as many answers, and half as many words.
const CALLS: usize = 120;
/// Files of one module.
const IN_MODULE: usize = 25;

pub(crate) fn run() -> anyhow::Result<Vec<Row>> {
    let binary = binary()?;
    let dir = tempfile::tempdir()?;
    let home = dir.path().canonicalize()?;
    let root = home.join("shop");
    repository(&root)?;
    sessions(&home, &root)?;
    let (n_bytes, reading) = read(&home)?;
    let init = || {
        let mut res = command(&binary, &home);
        res.env("HOME", &home).env("WAYLORE_SERVE_START", "false").current_dir(&root);
        res.args(["--json", "init", "--yes"]);
        res
    };
    let start = Instant::now();
    let said = init().stdout(std::process::Stdio::piped()).output()?;
    let took = start.elapsed();
    let known: Value = serde_json::from_slice(&said.stdout).context("init answers in JSON")?;
    ensure!(known["files"] == FILES && known["sessions"] == SESSIONS, "all is read: {known}");
    ensure!(known["kept"].as_u64() > Some(0), "something is learned: {known}");
    let start = Instant::now();
    ensure!(init().status()?.success(), "init again");
    let again = start.elapsed();
    let megabytes = n_bytes as f64 / 1e6;
    Ok(vec![
        row(
            format!(
                "`waylore init`: {FILES} files, {COMMITS} commits, {SESSIONS} sessions ({megabytes:.0} MB), {} memories kept",
                known["kept"]
            ),
            format!("{:.1} s", took.as_secs_f64()),
            "< 30 s",
            format!("only reading the files: {:.2} s", reading.as_secs_f64()),
        ),
        row("`waylore init` again", format!("{:.1} s", again.as_secs_f64()), "", ""),
    ])
}

/// A module and a name in it; the languages take turns by module.
fn place(nth: usize) -> String {
    let (module, ending) = (nth / IN_MODULE, ["rs", "ts", "py"][nth / IN_MODULE % 3]);
    format!("src/module{module}/part{nth}.{ending}")
}

fn source(nth: usize, revision: usize) -> String {
    let first = nth / IN_MODULE * IN_MODULE;
    let other = first + (nth * 7 + 3) % IN_MODULE;
    let mut acc = match place(nth).rsplit_once('.').map_or("", |it| it.1) {
        "rs" => format!("use crate::module{}::part{other}::total{other}_0;\n\n", nth / IN_MODULE),
        "ts" => format!("import {{ total{other}_0 }} from './part{other}';\n\n"),
        _ => format!("from .part{other} import total{other}_0\n\n"),
    };
    for function in 0..6 {
        let (name, call) = (format!("total{nth}_{function}"), format!("total{other}_0"));
        let _ = match place(nth).rsplit_once('.').map_or("", |it| it.1) {
            "rs" => writeln!(
                acc,
                "/// Adds up what part {nth} holds.\npub fn {name}(items: &[u64]) -> u64 {{\n    let mut sum = {revision};\n    for it in items {{\n        sum += it * {call}(&[]);\n    }}\n    sum\n}}\n"
            ),
            "ts" => writeln!(
                acc,
                "/** Adds up what part {nth} holds. */\nexport function {name}(items: number[]): number {{\n  let sum = {revision};\n  for (const it of items) {{\n    sum += it * {call}([]);\n  }}\n  return sum;\n}}\n"
            ),
            _ => writeln!(
                acc,
                "def {name}(items):\n    \"\"\"Adds up what part {nth} holds.\"\"\"\n    total = {revision}\n    for it in items:\n        total += it * {call}([])\n    return total\n"
            ),
        };
    }
    acc
}

fn repository(root: &Path) -> anyhow::Result<()> {
    for nth in 0..FILES {
        put(&root.join(place(nth)), &source(nth, 0))?;
    }
    put(
        &root.join("AGENTS.md"),
        "# Shop\n\n- Never push to main without a review\n- Prices are whole cents\n",
    )?;
    git(root, &["init", "-q"])?;
    git(root, &["add", "-A"])?;
    git(root, &["commit", "-qm", "begin"])?;
    for commit in 1..COMMITS {
        let module = commit * 13 % (FILES / IN_MODULE);
        for step in 0..3 {
            let nth = module * IN_MODULE + (commit * 5 + step * 7) % IN_MODULE;
            put(&root.join(place(nth)), &source(nth, commit))?;
        }
        git(root, &["commit", "-qam", &format!("module{module}: change how totals add up")])?;
    }
    Ok(())
}

fn git(root: &Path, args: &[&str]) -> anyhow::Result<()> {
    let said = Command::new("git")
        .args(["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"])
        .args(args)
        .current_dir(root)
        .output()?;
    ensure!(said.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&said.stderr));
    Ok(())
}

fn sessions(home: &Path, root: &Path) -> anyhow::Result<()> {
    let dashed: String = root
        .to_string_lossy()
        .chars()
        .map(|it| if it.is_ascii_alphanumeric() { it } else { '-' })
        .collect();
    let folder = home.join(".claude/projects").join(dashed);
    for nth in 0..SESSIONS {
        put(&folder.join(format!("00000000-0000-4000-8000-{nth:012}.jsonl")), &session(nth, root))?;
    }
    Ok(())
}

/// A session in one module: it is asked for a change, and each round of it reads, edits, fails, mends.
fn session(nth: usize, root: &Path) -> String {
    let module = nth * 3 % (FILES / IN_MODULE);
    let day = 1 + nth % 28;
    let mut acc = String::new();
    let mut n_lines = 0_usize;
    let mut line = |kind: &str, message: Value| {
        n_lines += 1;
        let (minute, second) = (n_lines / 60 % 60, n_lines % 60);
        let record = json!({
            "type": kind, "sessionId": format!("00000000-0000-4000-8000-{nth:012}"), "cwd": root,
            "uuid": format!("{nth}-{n_lines}"), "timestamp": format!("2026-06-{day:02}T10:{minute:02}:{second:02}.000Z"),
            "message": message,
        });
        let _ = writeln!(acc, "{record}");
    };
    line(
        "user",
        json!({ "role": "user", "content": format!("change how module{module} adds up its totals, task {nth}") }),
    );
    for call in 0..CALLS {
        let file = module * IN_MODULE + (call * 11 + nth) % IN_MODULE;
        let path = root.join(place(file)).display().to_string();
        let (name, input, ok, said) = match call % 6 {
            0 | 1 => ("Read", json!({ "file_path": path }), true, source(file, nth)),
            2 => (
                "Edit",
                json!({ "file_path": path, "old_string": format!("let mut sum = {nth};"), "new_string": format!("let mut sum = {};", nth + 1) }),
                true,
                "The file has been updated.".to_owned(),
            ),
            3 => (
                "Bash",
                json!({ "command": format!("make check-module{module}") }),
                false,
                format!(
                    "Exit code 2\nerror: module{module} is not built; run make build-module{module} first"
                ),
            ),
            4 => (
                "Bash",
                json!({ "command": format!("make build-module{module}") }),
                true,
                "built".to_owned(),
            ),
            _ => (
                "Bash",
                json!({ "command": "cargo test" }),
                true,
                "test result: ok. 12 passed; 0 failed".to_owned(),
            ),
        };
        let id = format!("toolu_{nth}_{call}");
        if call % 2 == 0 {
            let text = format!("Let me look at part {file} and how module{module} adds up.");
            line(
                "assistant",
                json!({ "id": format!("m{call}t"), "role": "assistant", "content": [{ "type": "thinking", "thinking": text }] }),
            );
        }
        line(
            "assistant",
            json!({ "id": format!("m{call}"), "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": name, "input": input }] }),
        );
        line(
            "user",
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "is_error": !ok, "content": said }] }),
        );
    }
    acc
}

/// Reads everything there is, as the least that could be done.
fn read(home: &Path) -> anyhow::Result<(u64, std::time::Duration)> {
    let (mut n_bytes, start) = (0, Instant::now());
    let mut todo: Vec<PathBuf> = vec![home.join("shop/src"), home.join(".claude")];
    while let Some(folder) = todo.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                todo.push(path);
            } else {
                n_bytes += fs::read(path)?.len() as u64;
            }
        }
    }
    Ok((n_bytes, start.elapsed()))
}

fn put(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(path, text)?)
}
