//! Growth with the notebook: the same work with 1,000, 10,000 and 100,000 memories, by the built binary.
//!
//! A row shows how many times longer it takes than with 1,000. Processor time is measured where a process
//! runs to its end, because it depends less on what else the machine does; it has the resolution of the
//! kernel's clock ticks. The memories are short notes with the word distribution of natural language;
//! their vectors are generated, because embedding so many texts would take hours.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::Context;
use engine::{Config, ModelSet, NotebookScope, Project};
use model::Memory;
use serde_json::{Value, json};
use store::DataDir;

use crate::bench_project::{BenchProject, DaemonConnection};
use crate::init::session_transcript;
use crate::recall::{memory_embedding, mix_hash, zipf_word};
use crate::store::{BENCH_NOW, fill, generated_memory};
use crate::table::{BenchRow, row};
use crate::timing::{collect_rounds, format_duration};

/// Sizes of the notebooks; the first is the baseline of the others.
const NOTEBOOK_SIZES: &[u32] = &[1_000, 10_000, 100_000];
const MEMORIES_PER_BATCH: usize = 2_000;
/// Length of a note, as people and agents write them.
const NOTE_BYTES: usize = 93;
/// Files of the project, whatever the size of the notebook.
const PROJECT_FILES: u32 = 1_000;
/// One memory in this many is pinned.
const PINNED_ONE_IN: u32 = 500;
const LEARNED_SESSIONS: usize = 20;
/// Runs of a command, of which the best counts.
const COMMAND_RUNS: usize = 5;
/// Requests to the daemon.
const REQUESTS: usize = 200;
/// Length of a clock tick of the kernel (`USER_HZ` is 100 on every platform of Linux).
const MILLIS_PER_TICK: u64 = 10;

/// The measurements of one size.
struct Measured {
    n: u32,
    values: Vec<MeasuredValue>,
}

struct MeasuredValue {
    what: String,
    goal: &'static str,
    value: f64,
    text: String,
}

impl Measured {
    fn add(&mut self, what: impl Into<String>, goal: &'static str, value: Duration) {
        let text = format_duration(value);
        self.values.push(MeasuredValue {
            what: what.into(),
            goal,
            value: value.as_secs_f64(),
            text,
        });
    }

    fn add_number(&mut self, what: &str, goal: &'static str, value: f64, unit: &str) {
        let text = format!("{value:.1}{unit}");
        self.values.push(MeasuredValue { what: what.to_owned(), goal, value, text });
    }
}

pub(crate) fn run() -> anyhow::Result<Vec<BenchRow>> {
    let all = NOTEBOOK_SIZES.iter().map(|n| measure(*n)).collect::<anyhow::Result<Vec<_>>>()?;
    let (first, last) = (all.first().context("a size")?, all.last().context("a size")?);
    let mut rows = Vec::new();
    for (nth, base) in first.values.iter().enumerate() {
        let texts: Vec<String> =
            all.iter().map(|it| format!("{}: {}", it.n, it.values[nth].text)).collect();
        let factor = last.values[nth].value / base.value.max(f64::MIN_POSITIVE);
        rows.push(row(
            base.what.clone(),
            texts.join(", "),
            last.values[nth].goal,
            format!("{factor:.1} × with {} × the memories", last.n / first.n),
        ));
    }
    Ok(rows)
}

/// Everything that is measured for one size.
fn measure(n: u32) -> anyhow::Result<Measured> {
    let fixture = BenchProject::new()?;
    let mut acc = Measured { n, values: Vec::new() };
    let bytes = fill_notebook(&fixture, n)?;
    acc.add_number("disk, each note", "≤ 2.5 KB", bytes as f64 / f64::from(n) / 1024.0, " KB");

    // The first command reads the whole index and leaves a snapshot of it.
    let first = command_time(&fixture, &["search", "which window does the limiter use"])?;
    acc.add("first `search` of the notebook, processor time", "", first);
    acc.add(
        "`search`, processor time",
        "< 120 ms",
        best_time(&fixture, |_| {
            vec!["search".to_owned(), "which window does the limiter use".to_owned()]
        })?,
    );
    acc.add(
        "`remember`, processor time",
        "< 120 ms",
        best_time(&fixture, |run| {
            vec!["remember".to_owned(), format!("Queue {run} of the importer is drained at night")]
        })?,
    );
    measure_daemon(&mut acc, &fixture)?;
    acc.add(
        "`doctor`, processor time",
        "< 1 s",
        best_time(&fixture, |_| vec!["doctor".to_owned()])?,
    );
    let (bytes, learned) = learn(&fixture)?;
    let what = format!("`learn`, {LEARNED_SESSIONS} sessions ({} MB), processor time", bytes >> 20);
    acc.add(what, "< 6 s", learned);
    Ok(acc)
}

/// Fills the notebook of the project and returns the size of its database.
fn fill_notebook(fixture: &BenchProject, n: u32) -> anyhow::Result<u64> {
    for file in 0..PROJECT_FILES {
        let path = fixture.root.join(format!("src/file{file}.rs"));
        fs::create_dir_all(path.parent().context("a file has a folder")?)?;
        fs::write(path, "fn check() {}\n")?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let data = fixture.home.join("data");
    let config = Config {
        data: data.clone(),
        key: None,
        home: None,
        types: Vec::new(),
        trusted_servers: Vec::new(),
        models: ModelSet::built_in(),
        random: || [7; 10],
    };
    let database = runtime.block_on(async {
        let mut project = Project::open(config, &fixture.root, BENCH_NOW).await?;
        let notebook = project.ensure_notebook(NotebookScope::Project).await?;
        let store = project.notebook_writer(&notebook);
        let numbers: Vec<u32> = (0..n).collect();
        for batch in numbers.chunks(MEMORIES_PER_BATCH) {
            let memories = batch.iter().map(|it| Memory { project: notebook.project, ..note(*it) });
            let ids = fill(&store, memories.collect()).await;
            let embedded = ids.into_iter().zip(batch.iter().copied()).map(memory_embedding);
            store.put_vectors(embedded.collect()).await?;
        }
        let id = notebook.project.context("the project is registered")?;
        anyhow::Ok(DataDir::new(&data).project_paths(id).database())
    })?;
    // The handles are closed, so the log is merged.
    drop(runtime);
    Ok(fs::metadata(database)?.len())
}

/// A short note about one of the files.
fn note(n: u32) -> Memory {
    let mut content = String::new();
    let mut at = 0;
    while content.len() < NOTE_BYTES {
        content.push_str(&zipf_word(mix_hash(n, at)));
        content.push(' ');
        at += 1;
    }
    content.truncate(NOTE_BYTES);
    let content = content.trim_end().to_owned();
    let file = format!("src/file{}.rs", n % PROJECT_FILES);
    let mut memory = generated_memory(n);
    memory.flags.pinned = n.is_multiple_of(PINNED_ONE_IN);
    memory.files = model::ProjectPath::parse(&file).into_iter().collect();
    Memory {
        summary: content.clone(),
        citation: content.chars().take(40).collect(),
        content,
        ..memory
    }
}

fn measure_daemon(acc: &mut Measured, fixture: &BenchProject) -> anyhow::Result<()> {
    let search = |text: &str| json!({ "id": 1, "request": "search", "project": fixture.root, "query": text });
    let mut first = Duration::MAX;
    for _ in 0..COMMAND_RUNS {
        let daemon = fixture.start_daemon()?;
        let mut connection = daemon.connect()?;
        let started = Instant::now();
        ask(&mut connection, &search("which window does the limiter use"))?;
        first = first.min(started.elapsed());
        daemon.wait_until_idle()?;
        daemon.terminate()?;
    }
    acc.add("first search of a daemon, the best", "< 120 ms", first);

    let daemon = fixture.start_daemon()?;
    let mut connection = daemon.connect()?;
    ask(&mut connection, &search("which window does the limiter use"))?;
    daemon.wait_until_idle()?;
    let searched = collect_rounds(REQUESTS, |round| {
        let words: Vec<String> = (0..4)
            .map(|at| zipf_word(mix_hash(u32::try_from(round).unwrap_or(0) * 37 + 11, at * 3)))
            .collect();
        let started = Instant::now();
        ask(&mut connection, &search(&words.join(" ")))?;
        Ok(started.elapsed())
    })?;
    acc.add("search over the socket, p50", "", searched.p50());
    let ratio = searched.p99().as_secs_f64() / searched.p50().as_secs_f64();
    acc.add_number("search over the socket, p99 as a multiple of p50", "≤ 2", ratio, " ×");
    let mut request_time = |request: &dyn Fn(usize) -> Value| -> anyhow::Result<Duration> {
        let before = own_ticks(daemon.child.id())?;
        for round in 0..REQUESTS {
            ask(&mut connection, &request(round))?;
        }
        let ticks = own_ticks(daemon.child.id())? - before;
        Ok(Duration::from_millis(ticks * MILLIS_PER_TICK) / u32::try_from(REQUESTS)?)
    };
    let start = request_time(
        &|_| json!({ "id": 1, "request": "session_context", "project": fixture.root }),
    )?;
    acc.add("session start over the socket, processor time", "< 25 ms", start);
    let files = request_time(&|round| {
        let file = format!("src/file{}.rs", round % 90);
        json!({ "id": 1, "request": "file_context", "project": fixture.root, "files": [file] })
    })?;
    acc.add("`file_context` over the socket, processor time", "< 2 ms", files);
    daemon.terminate()?;
    Ok(())
}

fn ask(connection: &mut DaemonConnection, request: &Value) -> anyhow::Result<()> {
    let answer = connection.request(request)?;
    anyhow::ensure!(!answer["ok"].is_null(), "{request}: {answer}");
    Ok(())
}

/// Learns from generated sessions; returns their size and the processor time.
fn learn(fixture: &BenchProject) -> anyhow::Result<(u64, Duration)> {
    let folder = fixture.home.with_file_name("sessions");
    fs::create_dir_all(&folder)?;
    let mut bytes = 0;
    for nth in 0..LEARNED_SESSIONS {
        let transcript = session_transcript(nth, &fixture.root);
        bytes += transcript.len() as u64;
        fs::write(folder.join(format!("00000000-0000-4000-8000-{nth:012}.jsonl")), transcript)?;
    }
    let folder = folder.display().to_string();
    Ok((bytes, command_time(fixture, &["learn", "--trust", "--from", &folder])?))
}

/// The shortest processor time of several runs.
fn best_time(
    fixture: &BenchProject,
    args: impl Fn(usize) -> Vec<String>,
) -> anyhow::Result<Duration> {
    let mut best = Duration::MAX;
    for run in 0..COMMAND_RUNS {
        let args = args(run);
        best =
            best.min(command_time(fixture, &args.iter().map(String::as_str).collect::<Vec<_>>())?);
    }
    Ok(best)
}

/// The processor time of a command, user and system.
fn command_time(fixture: &BenchProject, args: &[&str]) -> anyhow::Result<Duration> {
    let before = children_ticks()?;
    let output = fixture.command(args).stderr(Stdio::piped()).output()?;
    // Findings have an exit code of their own; the work is done all the same.
    anyhow::ensure!(
        output.status.code().is_some_and(|it| it <= 1),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(Duration::from_millis((children_ticks()? - before) * MILLIS_PER_TICK))
}

/// Processor time of all children that have ended, in clock ticks.
fn children_ticks() -> anyhow::Result<u64> {
    // `cutime` and `cstime`.
    sum_ticks("self", 16)
}

/// Processor time of a running process, in clock ticks.
fn own_ticks(pid: u32) -> anyhow::Result<u64> {
    // `utime` and `stime`.
    sum_ticks(&pid.to_string(), 14)
}

/// The sum of two fields of `/proc/…/stat`, counted from 1 as in its manual page.
fn sum_ticks(process: &str, field: usize) -> anyhow::Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name of the program is in parentheses and may hold spaces.
    let (_, fields) = stat.rsplit_once(')').context("`/proc` has the format of Linux")?;
    let ticks =
        |nth: usize| fields.split_whitespace().nth(nth).and_then(|it| it.parse::<u64>().ok());
    // The first field after the name is the third.
    Ok(ticks(field - 3).context("user time")? + ticks(field - 2).context("system time")?)
}
