//! Generated repository with neighbouring files: every file calls some others and one hub, and
//! commits change files together.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

/// Other files that a file calls.
pub(super) const CALLS_PER_FILE: usize = 6;
const FILES_PER_COMMIT: u32 = 4;

/// Writes `src/file0.rs` and so on, and a history with about four commits per file.
pub(super) fn write_repository(root: &Path, n_files: u32) -> anyhow::Result<()> {
    fs::create_dir(root.join("src"))?;
    let modules: Vec<String> = (0..n_files).map(|it| format!("pub mod file{it};\n")).collect();
    fs::write(root.join("src/lib.rs"), modules.concat())?;
    for nth in 0..n_files {
        fs::write(root.join(format!("src/file{nth}.rs")), source_text(nth, n_files))?;
    }
    write_history(root, n_files)
}

/// The files that a file calls. The first file is the hub that all call.
fn called_files(nth: u32, n_files: u32) -> impl Iterator<Item = u32> {
    let others = [0, nth + 1, nth + 2, nth * 7 + 3, nth * 31 + 11, nth * 101 + 5, nth / 2];
    others.map(|it| it % n_files).into_iter().filter(move |it| *it != nth)
}

fn source_text(nth: u32, n_files: u32) -> String {
    let mut acc = String::new();
    for other in called_files(nth, n_files) {
        let _ = writeln!(acc, "use crate::file{other}::total{other};");
    }
    let _ = writeln!(acc, "\npub fn total{nth}(items: &[u64]) -> u64 {{\n    let mut sum = 0;");
    for other in called_files(nth, n_files) {
        let _ = writeln!(acc, "    sum += total{other}(items);");
    }
    acc.push_str("    sum\n}\n");
    acc
}

/// Writes as many commits as there are files, with one `git fast-import`: a process per commit
/// would take minutes.
fn write_history(root: &Path, n_files: u32) -> anyhow::Result<()> {
    let mut stream = String::new();
    for commit in 0..n_files {
        // Ten minutes apart, in order.
        let at = 1_700_000_000 + commit * 600;
        let _ = writeln!(
            stream,
            "commit refs/heads/main\ncommitter bench <bench@localhost> {at} +0000\ndata 6\nchange"
        );
        for step in 0..FILES_PER_COMMIT {
            // Two files of a commit are always the same group; the others vary.
            let nth = if step < 2 { commit / 3 * 3 + step } else { commit * 13 + step * 17 };
            let text = format!("{commit}\n");
            let _ = writeln!(
                stream,
                "M 100644 inline src/file{}.rs\ndata {}\n{text}",
                nth % n_files,
                text.len()
            );
        }
    }
    run_git(root, &["init", "-q", "-b", "main"], "")?;
    run_git(root, &["fast-import", "--quiet"], &stream)
}

fn run_git(root: &Path, args: &[&str], input: &str) -> anyhow::Result<()> {
    let mut command = Command::new("git");
    command.args(args).current_dir(root).stdin(Stdio::piped());
    let mut child = command.spawn().context("git is not installed")?;
    child.stdin.take().context("the pipe was requested")?.write_all(input.as_bytes())?;
    ensure!(child.wait()?.success(), "git {args:?} failed");
    Ok(())
}
