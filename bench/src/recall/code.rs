//! A repository to look around in: every file calls some others and one that all call, and commits
//! change files together.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

/// How many others a file calls.
pub(super) const CALLED: usize = 6;
const COMMITTED: u32 = 4;

/// Writes `src/file0.rs` and so on, and a history of four commits to each file.
pub(super) fn write(root: &Path, n_files: u32) -> anyhow::Result<()> {
    fs::create_dir(root.join("src"))?;
    let modules: Vec<String> = (0..n_files).map(|it| format!("pub mod file{it};\n")).collect();
    fs::write(root.join("src/lib.rs"), modules.concat())?;
    for nth in 0..n_files {
        fs::write(root.join(format!("src/file{nth}.rs")), source(nth, n_files))?;
    }
    history(root, n_files)
}

/// The files that one calls; the first is called by everybody.
fn called(nth: u32, n_files: u32) -> impl Iterator<Item = u32> {
    let others = [0, nth + 1, nth + 2, nth * 7 + 3, nth * 31 + 11, nth * 101 + 5, nth / 2];
    others.map(|it| it % n_files).into_iter().filter(move |it| *it != nth)
}

fn source(nth: u32, n_files: u32) -> String {
    let mut acc = String::new();
    for other in called(nth, n_files) {
        let _ = writeln!(acc, "use crate::file{other}::total{other};");
    }
    let _ = writeln!(acc, "\npub fn total{nth}(items: &[u64]) -> u64 {{\n    let mut sum = 0;");
    for other in called(nth, n_files) {
        let _ = writeln!(acc, "    sum += total{other}(items);");
    }
    acc.push_str("    sum\n}\n");
    acc
}

/// Made by one process: as many commits as there are files would take minutes otherwise.
fn history(root: &Path, n_files: u32) -> anyhow::Result<()> {
    let mut stream = String::new();
    for commit in 0..n_files {
        let at = 1_700_000_000 + commit * 600;
        let _ = writeln!(
            stream,
            "commit refs/heads/main\ncommitter bench <bench@localhost> {at} +0000\ndata 6\nchange"
        );
        for step in 0..COMMITTED {
            // The next two go along every time, the others now and then.
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
    git(root, &["init", "-q", "-b", "main"], "")?;
    git(root, &["fast-import", "--quiet"], &stream)
}

fn git(root: &Path, args: &[&str], input: &str) -> anyhow::Result<()> {
    let mut command = Command::new("git");
    command.args(args).current_dir(root).stdin(Stdio::piped());
    let mut child = command.spawn().context("git is needed for this")?;
    child.stdin.take().context("it was asked for")?.write_all(input.as_bytes())?;
    ensure!(child.wait()?.success(), "git {args:?} fails");
    Ok(())
}
