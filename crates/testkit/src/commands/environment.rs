//! Commands that change files, folders, machines and time, and those that look at or damage files
//! of the data folder.

use std::fs;
use std::process::Command;

use engine::Error;

use super::ScriptLine;
use super::change::agent_batch;
use crate::TestWorld;

/// Longest pause between two writes of `active-days`. Decay counts days in use, and a notebook
/// counts as in use if its last write is recent.
const DAYS_BETWEEN_WRITES: i64 = 10;

/// Advances by days without use.
pub(super) fn days(world: &mut TestWorld, line: &ScriptLine) {
    world.advance_days(line.word(0).parse().expect("days are counted"));
}

/// Advances by days with sessions, often enough for the notebooks to count as in use.
pub(super) fn active_days(
    world: &mut TestWorld,
    line: &ScriptLine,
    _: &mut Vec<String>,
) -> Result<(), Error> {
    let mut remaining: i64 = line.word(0).parse().expect("days are counted");
    while remaining > 0 {
        world.advance_days(remaining.min(DAYS_BETWEEN_WRITES));
        remaining -= DAYS_BETWEEN_WRITES;
        // A write without changes is enough for a notebook to count as in use.
        let batch = agent_batch(world.now, Vec::new());
        world.with_project(async |project| {
            for notebook in project.notebooks() {
                project.notebook_writer(&notebook).apply(batch.clone()).await?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

pub(super) fn project(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    world.enter_project(line.word(0));
    // For a project at a new location the output shows how it was recognised.
    let why =
        world.with_project(async |project| Ok(project.recognition().map(|it| it.why.reading())))?;
    acc.extend(why.map(str::to_owned));
    Ok(())
}

pub(super) fn cd(world: &mut TestWorld, line: &ScriptLine) {
    world.cwd = world.project_folder(&world.project).join(line.word(0));
    fs::create_dir_all(&world.cwd).expect("a folder can be made");
}

pub(super) fn machine(world: &mut TestWorld, line: &ScriptLine) {
    line.word(0).clone_into(&mut world.machine);
}

/// Moves the folder of a project.
pub(super) fn rename(world: &mut TestWorld, line: &ScriptLine) {
    let (from, to) = (world.project_folder(line.word(0)), world.project_folder(line.word(1)));
    fs::rename(from, to).expect("a folder can be moved");
}

/// Writes a file, with its text repeated `--times`.
pub(super) fn write(world: &mut TestWorld, line: &ScriptLine) {
    let path = world.cwd.join(line.word(0));
    let folder = path.parent().expect("a file lies in a folder");
    let text = line.text_from(1).repeat(line.number_option("times").unwrap_or(1) as usize);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, text))
        .expect("a file can be written");
    set_modified(world, line.word(0), 0);
}

pub(super) fn delete(world: &mut TestWorld, line: &ScriptLine) {
    fs::remove_file(world.cwd.join(line.word(0))).expect("a file can be removed");
}

/// Sets the modification time of a file to some days after now: it becomes newer than all memories.
pub(super) fn newer(world: &mut TestWorld, line: &ScriptLine) {
    set_modified(world, line.word(0), line.word(1).parse().expect("days are counted"));
}

/// Sets the modification time, counted from the clock of the script, not of the system.
fn set_modified(world: &TestWorld, path: &str, days_from_now: i64) {
    let time = world.now.plus_millis(days_from_now * model::DAY_MS).0.unsigned_abs();
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(time);
    let file = fs::File::options().append(true).open(world.cwd.join(path));
    file.and_then(|it| it.set_modified(time)).expect("a file can be touched");
}

/// Copies the folder of a project with everything in it.
pub(super) fn copy(world: &mut TestWorld, line: &ScriptLine) {
    let (from, to) = (world.project_folder(line.word(0)), world.project_folder(line.word(1)));
    for path in all_files(&from) {
        let copy = to.join(path.strip_prefix(&from).expect("it lies below"));
        let folder = copy.parent().expect("a file lies in a folder");
        fs::create_dir_all(folder).expect("a folder can be made");
        fs::copy(&path, &copy).expect("a file can be copied");
    }
}

/// Creates a repository with one commit in the current folder, on a branch of that name.
pub(super) fn git(world: &mut TestWorld, line: &ScriptLine) {
    run_git(world, &["init", "-q", "-b", line.word(0)]);
    run_git(world, &["commit", "-q", "--allow-empty", "-m", "begin"]);
}

/// Commits everything below the current folder.
pub(super) fn commit(world: &mut TestWorld, _: &ScriptLine) {
    run_git(world, &["add", "-A", "."]);
    run_git(world, &["commit", "-q", "--allow-empty", "-m", "next"]);
}

/// Switches to a branch and creates it if necessary.
pub(super) fn branch(world: &mut TestWorld, line: &ScriptLine) {
    let name = line.word(0);
    let lookup =
        git_command(world, &["rev-parse", "-q", "--verify", &format!("refs/heads/{name}")])
            .stdout(std::process::Stdio::null())
            .status();
    let exists = lookup.expect("git can be run").success();
    if exists {
        run_git(world, &["checkout", "-q", name]);
    } else {
        run_git(world, &["checkout", "-q", "-b", name]);
    }
}

pub(super) fn merge(world: &mut TestWorld, line: &ScriptLine) {
    run_git(world, &["merge", "-q", "--no-edit", line.word(0)]);
}

fn run_git(world: &TestWorld, args: &[&str]) {
    let status = git_command(world, args).status().expect("git can be run");
    assert!(status.success(), "git {args:?}");
}

/// A git command in the current folder, independent of the user's configuration and the time.
fn git_command(world: &TestWorld, args: &[&str]) -> Command {
    let mut git = Command::new("git");
    for who in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{who}_NAME"), "Ada")
            .env(format!("GIT_{who}_EMAIL"), "ada@example.com")
            .env(format!("GIT_{who}_DATE"), "1700000000 +0000");
    }
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    git.arg("-C").arg(&world.cwd).args(args);
    git
}

/// Creates a foreign file in the project's data folder, or with `--user` in the root of the data folder.
pub(super) fn create_stray_file(
    world: &mut TestWorld,
    line: &ScriptLine,
    _: &mut Vec<String>,
) -> Result<(), Error> {
    let data = world.data_folder();
    let dir = world.with_project(async |project| {
        let own_notebook = project.notebooks().into_iter().find(|it| it.project.is_some());
        let own_dir = own_notebook
            .filter(|_| !line.has_switch("user"))
            .map(|it| it.store.paths().dir.clone());
        Ok(own_dir.unwrap_or(data))
    })?;
    fs::write(dir.join(line.word(0)), "not ours").expect("a file can be written");
    Ok(())
}

/// Reports whether a file created by `stray-file` still exists.
#[expect(clippy::unnecessary_wraps, reason = "the signature of all project commands")]
pub(super) fn file_exists(
    world: &mut TestWorld,
    line: &ScriptLine,
    acc: &mut Vec<String>,
) -> Result<(), Error> {
    let has_name = |it: &std::path::PathBuf| it.file_name().is_some_and(|it| it == line.word(0));
    let exists = all_files(&world.data_folder()).iter().any(has_name);
    acc.push(if exists { "there" } else { "gone" }.to_owned());
    Ok(())
}

/// Changes the text of a memory directly in its database file: one bit of its first byte, wherever
/// the text occurs.
pub(super) fn damage(
    world: &mut TestWorld,
    line: &ScriptLine,
    _: &mut Vec<String>,
) -> Result<(), Error> {
    let id = world.resolve_id(line.word(0));
    let found = world.with_project(async |project| project.retriever().find_by_id(&id).await)?;
    let text = found.memory.content.into_bytes();
    for path in all_files(&found.notebook.store.paths().dir) {
        let mut bytes = fs::read(&path).expect("a file can be read");
        let positions: Vec<usize> = bytes
            .windows(text.len())
            .enumerate()
            .filter(|it| it.1 == text)
            .map(|it| it.0)
            .collect();
        for position in &positions {
            bytes[*position] ^= 1;
        }
        // Backups stay intact: tests restore from them.
        if !positions.is_empty() && path.parent().is_some_and(|it| !it.ends_with("backups")) {
            fs::write(&path, bytes).expect("a file can be written");
        }
    }
    Ok(())
}

/// Every file below a folder.
pub(crate) fn all_files(root: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut res = Vec::new();
    let mut todo = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { todo.push(path) } else { res.push(path) }
        }
    }
    res.sort();
    res
}
