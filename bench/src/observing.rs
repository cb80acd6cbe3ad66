//! Observing and learning: what each event costs, what a session's end costs, how fast transcripts are read.

mod reading;

use std::fmt::Write as _;
use std::time::Instant;

use model::{
    Envelope, Event, Excerpt, ProjectPath, Reasoning, SessionId, SessionStart, Timestamp, Tool,
    ToolArgs, ToolCall, ToolResult,
};
use observe::Scratchpad;

use crate::clock::{show, times};
use crate::table::{Row, row};

pub(crate) fn run() -> anyhow::Result<Vec<Row>> {
    let mut rows = vec![per_event(), finalise(), million()?, hostile()];
    rows.push(learn()?);
    rows.extend(reading::run()?);
    Ok(rows)
}

/// Events of a session that touches `n_files` files: a call, its answer, and now and then a word.
fn events(n: usize, n_files: usize) -> Vec<Envelope> {
    let session = SessionId::new(Timestamp(1), [1; 10]);
    let mut acc = Vec::with_capacity(n);
    let mut push = |event: Event| {
        let at = Timestamp(1_000_000 + i64::try_from(acc.len()).unwrap_or(0) * 500);
        acc.push(Envelope { id: format!("e{}", acc.len()), session, at, event });
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
    while acc_len(turn) < n {
        let file = (turn * 7919) % n_files;
        let path = ProjectPath::parse(&format!("src/module{}/file{file}.rs", file % 40)).ok();
        let paths: Vec<ProjectPath> = path.into_iter().collect();
        let call_id = format!("c{turn}");
        let (tool, args, ok, text) = match turn % 6 {
            0 | 1 => (
                Tool::Read,
                ToolArgs { paths, ..ToolArgs::default() },
                true,
                "use crate::a;\nfn b() {}\n",
            ),
            2 => {
                let (removed, added) = (Some(format!("r{turn}")), Some(format!("a{turn}")));
                (Tool::Edit, ToolArgs { paths, removed, added, ..ToolArgs::default() }, true, "")
            }
            3 => {
                let command = Some("cargo test -p shop 2>&1 | tail -20".to_owned());
                (
                    Tool::Shell,
                    ToolArgs { command, ..ToolArgs::default() },
                    true,
                    "test result: ok. 12 passed; 0 failed",
                )
            }
            4 => {
                let query = Some(format!("fn compute_total{}", turn % 50));
                (Tool::Search, ToolArgs { query, ..ToolArgs::default() }, true, "src/a.rs")
            }
            _ => {
                let command = Some("cargo clippy".to_owned());
                (
                    Tool::Shell,
                    ToolArgs { command, ..ToolArgs::default() },
                    false,
                    "error: unused variable `x`\n --> src/a.rs:3:1",
                )
            }
        };
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
            excerpt: Excerpt::new(text),
            paths: Vec::new(),
            matches: None,
        }));
        let text =
            "All tests pass. Let me look at the next file, which has the totals and a few helpers."
                .to_owned();
        push(Event::Reasoning(Reasoning { text, step: None }));
        turn += 1;
    }
    acc.truncate(n);
    acc
}

/// Events there are after so many turns.
const fn acc_len(turns: usize) -> usize {
    1 + turns * 3
}

fn per_event() -> Row {
    let measure = |n_files: usize| {
        let all = events(60_000, n_files);
        let mut pad = Scratchpad::new();
        for it in &all[..20_000] {
            pad.observe(it);
        }
        times(36_000, |round| pad.observe(&all[20_000 + round % 40_000]))
    };
    let (few, many) = (measure(200), measure(10_000));
    row(
        "observe an event, 10,000 files seen",
        many.both(),
        "< 2 µs p50, < 50 µs p99",
        format!("200 files seen: {}", many.against(&few)),
    )
}

fn finalise() -> Row {
    let mut pad = Scratchpad::new();
    for it in &events(10_000, 200) {
        pad.observe(it);
    }
    let res = times(50, |_| {
        std::hint::black_box((
            observe::sightings(&pad, &observe::Modules::default()),
            observe::session(&pad),
        ));
    });
    row("finalise a session of 10,000 events", res.both(), "< 10 ms", "")
}

/// The slowest of what listens, on the worst of texts.
fn hostile() -> Row {
    type Listener = (&'static str, fn(&str));
    const LISTENERS: &[Listener] = &[
        ("self-correction", |it| drop(std::hint::black_box(observe::said::corrections(it)))),
        ("dead end", |it| drop(std::hint::black_box(observe::said::gives_up(it)))),
        ("causal statement", |it| drop(std::hint::black_box(observe::said::causal(it)))),
        ("a person's wish", |it| drop(std::hint::black_box(observe::said::wish(it)))),
        ("a person's correction", |it| _ = std::hint::black_box(observe::said::corrects(it))),
        ("sentences", |it| drop(std::hint::black_box(observe::sentences(it)))),
        ("failure", |it| drop(std::hint::black_box(observe::failure("make", it)))),
        ("shell command", |it| drop(std::hint::black_box(observe::shell::deeds(it)))),
    ];
    const PIECES: &[&str] = &[
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
    let mut worst: Option<(&str, &str, crate::clock::Times)> = None;
    for (name, listen) in LISTENERS {
        for piece in PIECES {
            let text = piece.repeat((64 << 10) / piece.len());
            let took = times(20, |_| listen(&text));
            if worst.as_ref().is_none_or(|it| took.p50() > it.2.p50()) {
                worst = Some((name, piece, took));
            }
        }
    }
    let (name, piece, took) = worst.expect("there are listeners");
    row(
        format!("64 KiB of hostile text, the slowest of {} × {}", LISTENERS.len(), PIECES.len()),
        took.both(),
        "< 1 ms",
        format!("{name}, {piece:?}"),
    )
}

fn million() -> anyhow::Result<Row> {
    // In parts, and the parts are there before: what is measured is the scratchpad, not the events.
    let mut part = events(50_000, 10_000);
    let ids: Vec<String> = part.iter().map(|it| it.id.clone()).collect();
    for it in &mut part {
        it.id.reserve(8);
    }
    let before = resident()?;
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
    let grown = resident()?.saturating_sub(before);
    std::hint::black_box(&pad);
    Ok(row(
        format!("a million events ({})", show(took)),
        format!("{} MB resident more", grown / 1_000_000),
        "≤ 50 MB",
        format!(
            "the events themselves: {} MB as lines",
            part.iter().map(|it| it.line().len()).sum::<usize>() * 20 / 1_000_000
        ),
    ))
}

/// Bytes of this process in memory.
pub(super) fn resident() -> anyhow::Result<usize> {
    let text = std::fs::read_to_string("/proc/self/statm")?;
    let pages: usize = text.split_whitespace().nth(1).unwrap_or("0").parse()?;
    Ok(pages * 4096)
}

/// A transcript as a host keeps it, read, folded, judged and written.
fn learn() -> anyhow::Result<Row> {
    let dir = tempfile::tempdir()?;
    let mut bytes = 0;
    let mut paths = Vec::new();
    for session in 0..8_u32 {
        let text = transcript(session);
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
            models: engine::Models::built_in(),
            random,
        };
        let mut engine = engine::Engine::open(config, &project, Timestamp(1)).await?;
        for it in engine::transcripts_in(&paths)? {
            if let Some(read) = engine.read_transcript(&it)? {
                engine.learn(&read.pad).await?;
            }
        }
        anyhow::Ok(())
    })?;
    let took = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let mut lines = 0_usize;
    for path in &paths {
        let text = std::fs::read(path)?;
        lines += text
            .split(|it| *it == b'\n')
            .filter(|it| serde_json::from_slice::<serde_json::Value>(it).is_ok())
            .count();
    }
    let parsing = start.elapsed().as_secs_f64();
    std::hint::black_box(lines);
    Ok(row(
        format!("learn from {} MB of transcripts", bytes / 1_000_000),
        format!("{:.0} MB/s", bytes as f64 / 1e6 / took),
        "≥ 20 MB/s",
        format!("only parsing the JSON: {:.0} MB/s", bytes as f64 / 1e6 / parsing),
    ))
}

/// Distinct bytes; which ones does not matter.
fn random() -> [u8; 10] {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut res = [0; 10];
    res[2..].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    res
}

fn transcript(session: u32) -> String {
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
