//! Observing and learning: cost per event, cost of ending a session, speed of reading transcripts.
//!
//! To *observe* an event is to fold it into the scratchpad, the state of a session. To *finalise* a
//! session is to look for patterns in its scratchpad (sightings), from which memories are learned. A
//! *transcript* is the log that a host, the program that runs an agent, writes of a session.

mod transcript_reading;

use std::fmt::Write as _;
use std::time::Instant;

use model::{
    AgentReasoning, Event, EventEnvelope, ProjectPath, SessionId, SessionStart, TextExcerpt,
    Timestamp, Tool, ToolArgs, ToolCall, ToolResult,
};
use observe::Scratchpad;

use crate::table::{BenchRow, row};
use crate::timing::{format_duration, time_rounds};

pub(crate) fn run() -> anyhow::Result<Vec<BenchRow>> {
    let mut rows =
        vec![time_observe(), time_finalise(), measure_million_events()?, time_hostile_text()];
    rows.push(measure_learning()?);
    rows.extend(transcript_reading::run()?);
    Ok(rows)
}

/// Events of a session that touches `n_files` files: in each turn a tool call, its result, and a
/// message.
fn generate_events(n: usize, n_files: usize) -> Vec<EventEnvelope> {
    let session = SessionId::new(Timestamp(1), [1; 10]);
    let mut acc = Vec::with_capacity(n);
    let mut push = |event: Event| {
        let at = Timestamp(1_000_000 + i64::try_from(acc.len()).unwrap_or(0) * 500);
        acc.push(EventEnvelope { id: format!("e{}", acc.len()), session, at, event });
    };
    push(Event::SessionStart(SessionStart {
        project_root: "/home/user/shop".to_owned(),
        agent: "bench".to_owned(),
        host_session: None,
        session_type: None,
        task: Some("make it fast".to_owned()),
        planned_steps: None,
        phase: None,
        role: None,
        parent: None,
        work_unit: None,
        transcript: None,
    }));
    let mut turn = 0_usize;
    while n_events_after(turn) < n {
        // 7919 is prime: all files are touched, in scattered order.
        let file = (turn * 7919) % n_files;
        let path = ProjectPath::parse(&format!("src/module{}/file{file}.rs", file % 40)).ok();
        let paths: Vec<ProjectPath> = path.into_iter().collect();
        let call_id = format!("c{turn}");
        let GeneratedCall { tool, args, ok, output } = generate_call(turn, paths);
        push(Event::ToolCall(ToolCall {
            call_id: call_id.clone(),
            tool: tool.clone(),
            args,
            step: None,
            planning: false,
        }));
        push(Event::ToolResult(ToolResult {
            call_id,
            tool,
            ok,
            rejected: false,
            duration_ms: Some(40),
            size: Some(2_000),
            excerpt: TextExcerpt::new(output),
            paths: Vec::new(),
            matches: None,
        }));
        let text =
            "All tests pass. Let me look at the next file, which has the totals and a few helpers."
                .to_owned();
        push(Event::Reasoning(AgentReasoning { text, thinking: false, step: None }));
        turn += 1;
    }
    acc.truncate(n);
    acc
}

/// A tool call with its result.
struct GeneratedCall {
    tool: Tool,
    args: ToolArgs,
    ok: bool,
    output: &'static str,
}

/// The tool call of a turn: two reads, an edit, a test, a search and a failed command.
fn generate_call(turn: usize, paths: Vec<ProjectPath>) -> GeneratedCall {
    match turn % 6 {
        0 | 1 => GeneratedCall {
            tool: Tool::Read,
            args: ToolArgs { paths, ..ToolArgs::default() },
            ok: true,
            output: "use crate::a;\nfn b() {}\n",
        },
        2 => {
            let (removed, added) = (Some(format!("r{turn}")), Some(format!("a{turn}")));
            let args = ToolArgs { paths, removed, added, ..ToolArgs::default() };
            GeneratedCall { tool: Tool::Edit, args, ok: true, output: "" }
        }
        3 => {
            let command = Some("cargo test -p shop 2>&1 | tail -20".to_owned());
            let args = ToolArgs { command, ..ToolArgs::default() };
            let output = "test result: ok. 12 passed; 0 failed";
            GeneratedCall { tool: Tool::Shell, args, ok: true, output }
        }
        4 => {
            let query = Some(format!("fn compute_total{}", turn % 50));
            let args = ToolArgs { query, ..ToolArgs::default() };
            GeneratedCall { tool: Tool::Search, args, ok: true, output: "src/a.rs" }
        }
        _ => {
            let command = Some("cargo clippy".to_owned());
            let args = ToolArgs { command, ..ToolArgs::default() };
            let output = "error: unused variable `x`\n --> src/a.rs:3:1";
            GeneratedCall { tool: Tool::Shell, args, ok: false, output }
        }
    }
}

/// Number of events after so many turns: the start, and three per turn.
const fn n_events_after(turns: usize) -> usize {
    1 + turns * 3
}

fn time_observe() -> BenchRow {
    let measure = |n_files: usize| {
        let all = generate_events(60_000, n_files);
        let mut pad = Scratchpad::new();
        // Fill the scratchpad first: the cost must not grow with what it holds.
        for it in &all[..20_000] {
            pad.observe(it);
        }
        time_rounds(36_000, |round| pad.observe(&all[20_000 + round % 40_000]))
    };
    // The cost per event must not depend on the number of files seen.
    let (few, many) = (measure(200), measure(10_000));
    row(
        "observe an event, 10,000 files seen",
        many.format_p50_p99(),
        "< 2 µs p50, < 50 µs p99",
        format!("200 files seen: {}", many.format_against(&few)),
    )
}

fn time_finalise() -> BenchRow {
    let mut pad = Scratchpad::new();
    for it in &generate_events(10_000, 200) {
        pad.observe(it);
    }
    let measured = time_rounds(50, |_| {
        std::hint::black_box((
            observe::detect_sightings(&pad, &observe::ModuleLookup::default()),
            observe::summarise_session(&pad),
        ));
    });
    row("finalise a session of 10,000 events", measured.format_p50_p99(), "< 10 ms", "")
}

/// The slowest text detector on the worst of texts. Detectors search what agents and users write for
/// statements worth remembering; a text that repeats one of their keywords is the most work.
fn time_hostile_text() -> BenchRow {
    type TextDetector = (&'static str, fn(&str));
    const TEXT_DETECTORS: &[TextDetector] = &[
        ("self-correction", |it| drop(std::hint::black_box(observe::statements::corrections(it)))),
        ("dead end", |it| drop(std::hint::black_box(observe::statements::dead_ends(it)))),
        ("causal statement", |it| {
            drop(std::hint::black_box(observe::statements::causal_statements(it)));
        }),
        ("a user's wish", |it| {
            let moment = observe::PersonMoment { after: observe::Preceding::Work, is_first: false };
            drop(std::hint::black_box(observe::hear_person(it, moment)));
        }),
        ("a user's correction", |it| {
            _ = std::hint::black_box(observe::is_objection(it));
        }),
        ("sentences", |it| drop(std::hint::black_box(observe::split_sentences(it)))),
        ("failure", |it| drop(std::hint::black_box(observe::recognise_error("make", it)))),
        ("shell command", |it| drop(std::hint::black_box(observe::shell::find_effects(it)))),
    ];
    const HOSTILE_PIECES: &[&str] = &[
        "wait, ",
        "actually, ",
        "`",
        ". ",
        "a.b.c.",
        "whenever i touch ",
        "await ",
        "no, ",
        "\n",
        "i was wrong about ",
        "…",
        "```\n",
        "this approach won't work ",
        "\"'$(",
        "a && ",
        "t ",
        "aaaaaaaaaa. ",
    ];
    let mut worst: Option<(&str, &str, crate::timing::SampleTimes)> = None;
    for (name, detect) in TEXT_DETECTORS {
        for piece in HOSTILE_PIECES {
            // 64 KiB is the longest text that is analysed (`MAX_TEXT`).
            let text = piece.repeat((64 << 10) / piece.len());
            let took = time_rounds(20, |_| detect(&text));
            if worst.as_ref().is_none_or(|(_, _, slowest)| took.p50() > slowest.p50()) {
                worst = Some((name, piece, took));
            }
        }
    }
    let (name, piece, took) = worst.expect("there are detectors");
    row(
        format!(
            "64 KiB of hostile text, the slowest of {} × {}",
            TEXT_DETECTORS.len(),
            HOSTILE_PIECES.len()
        ),
        took.format_p50_p99(),
        "< 1 ms",
        format!("{name}, {piece:?}"),
    )
}

fn measure_million_events() -> anyhow::Result<BenchRow> {
    // The events are allocated before and reused in rounds: the growth measured is the
    // scratchpad's.
    let mut part = generate_events(50_000, 10_000);
    let ids: Vec<String> = part.iter().map(|it| it.id.clone()).collect();
    for it in &mut part {
        // Ids grow by the number of the round; no allocation may fall into the measurement.
        it.id.reserve(8);
    }
    let before = resident_bytes()?;
    let mut pad = Scratchpad::new();
    let mut took = std::time::Duration::ZERO;
    for round in 0..20 {
        for (it, id) in part.iter_mut().zip(&ids) {
            it.id.clear();
            let _ = write!(it.id, "{round}-{id}");
        }
        let start = Instant::now();
        for it in &part {
            pad.observe(it);
        }
        took += start.elapsed();
    }
    let grown = resident_bytes()?.saturating_sub(before);
    std::hint::black_box(&pad);
    Ok(row(
        format!("a million events ({})", format_duration(took)),
        format!("{} MB resident more", grown / 1_000_000),
        "≤ 50 MB",
        format!(
            "the events themselves: {} MB as lines",
            part.iter().map(|it| it.to_line().len()).sum::<usize>() * 20 / 1_000_000
        ),
    ))
}

/// Resident memory of this process in bytes.
pub(super) fn resident_bytes() -> anyhow::Result<usize> {
    let text = std::fs::read_to_string("/proc/self/statm")?;
    let pages: usize = text.split_whitespace().nth(1).unwrap_or("0").parse()?;
    Ok(pages * 4096)
}

/// Learns from transcripts of a host: reading, observing, deciding and writing.
fn measure_learning() -> anyhow::Result<BenchRow> {
    let dir = tempfile::tempdir()?;
    let mut bytes = 0;
    let mut paths = Vec::new();
    for session in 0..8_u32 {
        let text = generate_transcript(session);
        bytes += text.len();
        let path = dir.path().join(format!("{session}.jsonl"));
        std::fs::write(&path, text)?;
        paths.push(path);
    }
    let project = dir.path().join("project");
    std::fs::create_dir(&project)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let start = Instant::now();
    runtime.block_on(async {
        let config = engine::Config {
            data: dir.path().join("data"),
            key: None,
            home: None,
            types: Vec::new(),
            trusted_servers: Vec::new(),
            models: engine::ModelSet::built_in(),
            random: next_random_bytes,
        };
        let mut opened = engine::Project::open(config, &project, Timestamp(1)).await?;
        for transcript in
            engine::transcripts_at_paths(&paths, None, &|_| engine::TranscriptTrust::Own)?
        {
            if let Some(read) = opened.session_history().read_transcript(&transcript)? {
                opened.learner().learn_session(&read.pad).await?;
            }
        }
        anyhow::Ok(())
    })?;
    let took = start.elapsed().as_secs_f64();

    // Baseline: parsing the same lines as JSON.
    let start = Instant::now();
    for path in &paths {
        let text = std::fs::read(path)?;
        for line in text.split(|it| *it == b'\n') {
            let _ = std::hint::black_box(serde_json::from_slice::<serde_json::Value>(line));
        }
    }
    let parsing = start.elapsed().as_secs_f64();
    Ok(row(
        format!("learn from {} MB of transcripts", bytes / 1_000_000),
        format!("{:.0} MB/s", bytes as f64 / 1e6 / took),
        "≥ 20 MB/s",
        format!("only parsing the JSON: {:.0} MB/s", bytes as f64 / 1e6 / parsing),
    ))
}

/// Distinct bytes, the same in every run.
fn next_random_bytes() -> [u8; 10] {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut bytes = [0; 10];
    bytes[2..].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    bytes
}

/// A session of Claude Code as JSON lines.
fn generate_transcript(session: u32) -> String {
    let mut acc = String::new();
    let file =
        "fn total(items: &[Item]) -> u64 {\\n    items.iter().map(|it| it.price).sum()\\n}\\n"
            .repeat(60);
    for turn in 0..1_000_u32 {
        let head = format!(
            "\"sessionId\":\"019a0000-0000-7000-8000-00000000{session:04}\",\"cwd\":\"/home/user/shop\",\"timestamp\":\"2026-01-{:02}T10:{:02}:{:02}Z\"",
            session + 1,
            turn / 60 % 60,
            turn % 60
        );
        let path = format!("/home/user/shop/src/f{}.rs", turn * 7 % 90);
        let (name, input) = match turn % 4 {
            0 => ("Read", format!("{{\"file_path\":\"{path}\"}}")),
            1 => (
                "Edit",
                format!(
                    "{{\"file_path\":\"{path}\",\"old_string\":\"{file}\",\"new_string\":\"x{turn}\"}}"
                ),
            ),
            2 => ("Bash", "{\"command\":\"cargo test\"}".to_owned()),
            _ => ("Grep", "{\"pattern\":\"compute_total\"}".to_owned()),
        };
        let _ = writeln!(
            acc,
            "{{\"type\":\"assistant\",\"uuid\":\"a{turn}\",{head},\"message\":{{\"id\":\"m{turn}\",\"content\":[{{\"type\":\"text\",\"text\":\"Now the next one.\"}},{{\"type\":\"tool_use\",\"id\":\"t{turn}\",\"name\":\"{name}\",\"input\":{input}}}]}}}}"
        );
        let _ = writeln!(
            acc,
            "{{\"type\":\"user\",\"uuid\":\"u{turn}\",{head},\"message\":{{\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{turn}\",\"content\":\"{file}\"}}]}}}}"
        );
    }
    acc
}
