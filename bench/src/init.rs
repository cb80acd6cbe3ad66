//! `waylore init` in a repository of a thousand files with commits and past sessions, from spawn to
//! exit.
//!
//! All input is generated: files in three languages that import one another, commits that change a
//! few of them, and sessions of Claude Code with reads, edits, failed commands and their fixes.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::process::{waylore_binary, waylore_command};
use crate::table::{BenchRow, row};

const REPOSITORY_FILES: usize = 1_000;
const REPOSITORY_COMMITS: usize = 200;
const PAST_SESSIONS: usize = 100;
/// Tool calls of a session; it has as many results, and half as many messages.
const CALLS_PER_SESSION: usize = 120;
/// Files in one folder.
const FILES_PER_MODULE: usize = 25;

pub(crate) fn run() -> anyhow::Result<Vec<BenchRow>> {
    let binary = waylore_binary()?;
    let dir = tempfile::tempdir()?;
    let home = dir.path().canonicalize()?;
    let root = home.join("shop");
    write_repository(&root, REPOSITORY_FILES, REPOSITORY_COMMITS)?;
    write_sessions(&home, &root)?;
    // Before `init`, so that both read from a warm file cache.
    let (n_bytes, reading) = read_everything(&home)?;
    let init = || {
        let mut command = waylore_command(&binary, &home);
        command.env("HOME", &home).env("WAYLORE_SERVE_START", "false").current_dir(&root);
        command.args(["--json", "init", "--yes"]);
        command
    };
    let start = Instant::now();
    let output = init().stdout(std::process::Stdio::piped()).output()?;
    let took = start.elapsed();
    let report: Value = serde_json::from_slice(&output.stdout).context("`init` prints JSON")?;
    ensure!(
        report["files"] == REPOSITORY_FILES && report["sessions"] == PAST_SESSIONS,
        "not everything was read: {report}"
    );
    ensure!(report["kept"].as_u64() > Some(0), "nothing was learned: {report}");
    let start = Instant::now();
    ensure!(init().status()?.success(), "the second `init` failed");
    let again = start.elapsed();
    let megabytes = n_bytes as f64 / 1e6;
    Ok(vec![
        row(
            format!(
                "`waylore init`: {REPOSITORY_FILES} files, {REPOSITORY_COMMITS} commits, {PAST_SESSIONS} sessions ({megabytes:.0} MB), {} memories kept",
                report["kept"]
            ),
            format!("{:.1} s", took.as_secs_f64()),
            "< 30 s",
            format!("only reading the files: {:.2} s", reading.as_secs_f64()),
        ),
        row("`waylore init` again", format!("{:.1} s", again.as_secs_f64()), "", ""),
    ])
}

/// Path of a file; the languages take turns by folder.
fn file_path(nth: usize) -> String {
    let module = nth / FILES_PER_MODULE;
    let extension = ["rs", "ts", "py"][module % 3];
    format!("src/module{module}/part{nth}.{extension}")
}

/// The text of a file: an import of another file and six functions that call it. The revision is a
/// number in each function, so that commits change them.
fn source_text(nth: usize, revision: usize) -> String {
    let module = nth / FILES_PER_MODULE;
    let path = file_path(nth);
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    // A file of the same folder, so that modules are connected.
    let other = module * FILES_PER_MODULE + (nth * 7 + 3) % FILES_PER_MODULE;
    let mut acc = match extension {
        "rs" => {
            format!("use crate::module{module}::part{other}::total{other}_0;\n\n")
        }
        "ts" => format!("import {{ total{other}_0 }} from './part{other}';\n\n"),
        _ => format!("from .part{other} import total{other}_0\n\n"),
    };
    for function in 0..6 {
        let (name, call) = (format!("total{nth}_{function}"), format!("total{other}_0"));
        let _ = match extension {
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

/// Writes the files and commits; each commit changes three files of one folder.
pub(crate) fn write_repository(
    root: &Path,
    n_files: usize,
    n_commits: usize,
) -> anyhow::Result<()> {
    for nth in 0..n_files {
        write_file(&root.join(file_path(nth)), &source_text(nth, 0))?;
    }
    write_file(
        &root.join("AGENTS.md"),
        "# Shop\n\n- Never push to main without a review\n- Prices are whole cents\n",
    )?;
    run_git(root, &["init", "-q"])?;
    run_git(root, &["add", "-A"])?;
    run_git(root, &["commit", "-qm", "begin"])?;
    for commit in 1..n_commits {
        let module = commit * 13 % (n_files / FILES_PER_MODULE);
        for step in 0..3 {
            let nth = module * FILES_PER_MODULE + (commit * 5 + step * 7) % FILES_PER_MODULE;
            write_file(&root.join(file_path(nth)), &source_text(nth, commit))?;
        }
        run_git(root, &["commit", "-qam", &format!("module{module}: change how totals add up")])?;
    }
    Ok(())
}

fn run_git(root: &Path, args: &[&str]) -> anyhow::Result<()> {
    let output = Command::new("git")
        // Independent of the settings of the user; no garbage collection in between.
        .args(["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"])
        .args(args)
        .current_dir(root)
        .output()?;
    ensure!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

fn write_sessions(home: &Path, root: &Path) -> anyhow::Result<()> {
    // Claude Code names the folder of a project after its path, with dashes.
    let folder_name: String = root
        .to_string_lossy()
        .chars()
        .map(|it| if it.is_ascii_alphanumeric() { it } else { '-' })
        .collect();
    let folder = home.join(".claude/projects").join(folder_name);
    for nth in 0..PAST_SESSIONS {
        write_file(
            &folder.join(format!("00000000-0000-4000-8000-{nth:012}.jsonl")),
            &session_transcript(nth, root),
        )?;
    }
    Ok(())
}

/// A session about one folder: a request, then rounds of reading, editing, a failed command and its
/// fix.
pub(crate) fn session_transcript(nth: usize, root: &Path) -> String {
    let module = nth * 3 % (REPOSITORY_FILES / FILES_PER_MODULE);
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
    for call in 0..CALLS_PER_SESSION {
        let file = module * FILES_PER_MODULE + (call * 11 + nth) % FILES_PER_MODULE;
        let path = root.join(file_path(file)).display().to_string();
        let ToolCall { name, input, ok, output } = tool_call(nth, call, file, &path);
        let id = format!("toolu_{nth}_{call}");
        // Half of the calls come with a thought.
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
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "is_error": !ok, "content": output }] }),
        );
    }
    acc
}

/// A tool call of a session with its result.
struct ToolCall {
    name: &'static str,
    input: Value,
    ok: bool,
    output: String,
}

/// The tool call number `call` in session `nth`: two reads, an edit, a failed command, its fix, a test.
fn tool_call(nth: usize, call: usize, file: usize, path: &str) -> ToolCall {
    let module = file / FILES_PER_MODULE;
    let bash = |command: String, ok: bool, output: String| ToolCall {
        name: "Bash",
        input: json!({ "command": command }),
        ok,
        output,
    };
    match call % 6 {
        0 | 1 => ToolCall {
            name: "Read",
            input: json!({ "file_path": path }),
            ok: true,
            output: source_text(file, nth),
        },
        2 => ToolCall {
            name: "Edit",
            input: json!({
                "file_path": path,
                "old_string": format!("let mut sum = {nth};"),
                "new_string": format!("let mut sum = {};", nth + 1),
            }),
            ok: true,
            output: "The file has been updated.".to_owned(),
        },
        3 => {
            let error = format!("module{module} is not built; run make build-module{module} first");
            bash(
                format!("make check-module{module}"),
                false,
                format!("Exit code 2\nerror: {error}"),
            )
        }
        4 => bash(format!("make build-module{module}"), true, "built".to_owned()),
        _ => bash("cargo test".to_owned(), true, "test result: ok. 12 passed; 0 failed".to_owned()),
    }
}

/// Baseline: reads all input files.
fn read_everything(home: &Path) -> anyhow::Result<(u64, std::time::Duration)> {
    let (mut n_bytes, start) = (0, Instant::now());
    let mut pending: Vec<PathBuf> = vec![home.join("shop/src"), home.join(".claude")];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                pending.push(path);
            } else {
                n_bytes += fs::read(path)?.len() as u64;
            }
        }
    }
    Ok((n_bytes, start.elapsed()))
}

fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(path, text)?)
}
