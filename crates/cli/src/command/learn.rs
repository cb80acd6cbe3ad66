//! `waylore learn`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::{
    Engine, Kept, KeptHow, Learned, Standing, Strictness, Transcript, TranscriptRead,
    transcripts_in,
};
use serde_json::{Value, json};

use super::Session;
use crate::environment;
use crate::failure::{Failure, Kind};
use crate::output::{BOLD, DIM, GOOD, Output, count, size, visible};
use crate::wire::MemoryWire;

/// Learn from past sessions of coding agents
///
/// Finds what Claude Code, Codex, Copilot CLI, Gemini CLI and OpenCode have kept about this project, goes through it
/// oldest first, and keeps what later sessions will need: errors with what ended them, files that belong together,
/// corrected beliefs, standing wishes, how work is finished. Nothing leaves this machine and no model is
/// asked, unless `learn.ask_model` is set. Learning again changes nothing; what was interrupted goes on where it stopped.
#[derive(clap::Args, Debug)]
pub(crate) struct LearnArgs {
    /// Learn from these transcripts, or those in these folders, instead of looking for them
    #[arg(long, value_name = "PATH", num_args = 1..)]
    from: Vec<PathBuf>,
    /// Show what would be learned from them, starting with an empty notebook, and keep nothing
    #[arg(long)]
    dry_run: bool,
    /// Show what was dropped, too, and why
    #[arg(long)]
    dropped: bool,
}

/// What all sessions together came to.
#[derive(Default)]
pub(super) struct Sum {
    pub(super) n_new: usize,
    pub(super) n_known: usize,
    n_other: usize,
    n_damaged: u64,
    n_waiting: usize,
    bytes: u64,
    /// By memory: later sessions of a run may say it better.
    pub(super) kept: BTreeMap<model::MemoryId, Kept>,
    dropped: BTreeMap<&'static str, usize>,
    /// Memories of earlier runs that later sessions refuted.
    retired: Vec<model::MemoryId>,
}

pub(crate) async fn run(args: LearnArgs, session: &mut Session<'_>) -> anyhow::Result<u8> {
    if args.from.is_empty() && !args.dry_run {
        take_in(session).await?;
    }
    let transcripts = find(&args, session)?;
    let out = session.output;
    if transcripts.is_empty() {
        return Ok(nothing(out));
    }
    let sum = if args.dry_run {
        rehearse(&args, session, &transcripts).await?
    } else {
        session.engine.may_ask = session.settings.get("learn.ask_model") == "true";
        learn_all(&mut session.engine, &args, &transcripts, out).await?
    };
    let mut sum = sum;
    if !args.dry_run {
        for it in session.engine.synthesise_week().await? {
            sum.kept.insert(it.memory.id, it);
        }
    }
    let strictness = session.engine.strictness().await?;
    if out.json {
        let mut json = to_json(&sum, &args);
        json["strictness"] = strictness_json(strictness);
        out.data_json("learned", json);
    } else {
        render(&sum, &args, out);
        say_strictness(strictness, out);
    }
    Ok(0)
}

/// Learns from everything that is found by itself.
pub(super) async fn all_found(session: &mut Session<'_>) -> anyhow::Result<Sum> {
    let args = LearnArgs { from: Vec::new(), dry_run: false, dropped: false };
    if session.environment.home.is_none() {
        return Ok(Sum::default());
    }
    let transcripts = find(&args, session)?;
    learn_all(&mut session.engine, &args, &transcripts, session.output).await
}

fn find(args: &LearnArgs, session: &Session<'_>) -> anyhow::Result<Vec<Transcript>> {
    if !args.from.is_empty() {
        let paths: Vec<PathBuf> =
            args.from.iter().map(|it| session.environment.cwd.join(it)).collect();
        return Ok(transcripts_in(&paths)?);
    }
    let Some(home) = &session.environment.home else {
        let hint = Some("`waylore learn --from <path>` says where they are".to_owned());
        let message = "there is no home directory to look for transcripts in".to_owned();
        return Err(Failure { kind: Kind::Environment, message, hint }.into());
    };
    let mut res = session.engine.transcripts(home, &environment::folder);
    res.extend(session.engine.journals());
    Ok(res)
}

/// What hooks left for this project while nobody served.
async fn take_in(session: &mut Session<'_>) -> anyhow::Result<()> {
    let engine = &mut session.engine;
    for waiting in engine::waiting(&engine.config.data, session.environment.now) {
        if waiting.root.starts_with(&engine.place.root) {
            engine.take_in(&waiting).await?;
        }
    }
    Ok(())
}

/// Learns into a notebook that is thrown away.
async fn rehearse(
    args: &LearnArgs,
    session: &Session<'_>,
    transcripts: &[Transcript],
) -> anyhow::Result<Sum> {
    let suffix = model::MemoryId::new(session.environment.now, environment::random()).short();
    let data = environment::temporary(&format!("rehearsal-{suffix}"));
    let config = engine::Config { data: data.clone(), ..session.engine.config.clone() };
    let mut engine = Engine::open(config, &session.base, session.environment.now).await?;
    let res = learn_all(&mut engine, args, transcripts, session.output).await;
    drop(engine);
    // What cannot be removed lies where the system cleans up; secrets in it are masked.
    let _ = std::fs::remove_dir_all(&data);
    res
}

async fn learn_all(
    engine: &mut Engine,
    args: &LearnArgs,
    transcripts: &[Transcript],
    out: &Output,
) -> anyhow::Result<Sum> {
    let mut sum = Sum::default();
    for (nth, transcript) in transcripts.iter().enumerate() {
        out.tick(&format!(
            "{} of {} transcripts, {}",
            nth + 1,
            transcripts.len(),
            count(sum.kept.len(), "memory", "memories")
        ));
        let read = match engine.read_transcript(transcript) {
            Ok(Some(read)) => read,
            Ok(None) => {
                sum.n_other += 1;
                continue;
            }
            Err(error) => {
                out.warn(&format!("`{}` was left out: {error}", transcript.path.display()));
                sum.n_other += 1;
                continue;
            }
        };
        let TranscriptRead { pad, bytes, damaged, .. } = read;
        sum.bytes += bytes;
        sum.n_damaged += damaged;
        match engine.learn(&pad).await? {
            Some(learned) => {
                engine.close_journal(&learned)?;
                learned.notices.iter().for_each(|it| out.warn(it));
                add(&mut sum, learned, args, out);
            }
            None => sum.n_other += 1,
        }
    }
    out.tick("");
    Ok(sum)
}

fn add(sum: &mut Sum, learned: Learned, args: &LearnArgs, out: &Output) {
    if learned.standing == Standing::Known {
        sum.n_known += 1;
        return;
    }
    sum.n_new += 1;
    sum.n_waiting += usize::from(learned.session.validated.is_none());
    for it in &learned.dropped {
        *sum.dropped.entry(it.why.slug()).or_default() += 1;
        if let Some(content) = it.content.as_ref().filter(|_| args.dropped && !out.json) {
            let line = format!("{DIM}dropped, {}: {}{DIM:#}", it.why, visible(content));
            out.line(&format!("{line} {DIM}({}){DIM:#}", it.detail));
        }
    }
    for id in learned.retired {
        // What this run made and took back again was never there.
        let made_now = sum.kept.remove(&id).is_some_and(|it| it.how == KeptHow::Made);
        if !made_now {
            sum.retired.push(id);
        }
    }
    for it in learned.kept {
        // What was made in this run stays new, however often it was confirmed since.
        let how = sum.kept.get(&it.memory.id).map_or(it.how, |known| match known.how {
            KeptHow::Made => KeptHow::Made,
            _ => it.how,
        });
        sum.kept.insert(it.memory.id, Kept { how, ..it });
    }
}

fn nothing(out: &Output) -> u8 {
    if out.json {
        out.data_json(
            "learned",
            to_json(
                &Sum::default(),
                &LearnArgs { from: Vec::new(), dry_run: false, dropped: false },
            ),
        );
    } else {
        out.say("no transcripts of this project were found");
        out.hint("`waylore learn --from <path>` says where they are");
    }
    0
}

fn strictness_json(it: Strictness) -> Value {
    json!({ "learned": it.n_learned, "rejected": it.n_rejected, "tighter_per_mille": it.tighter })
}

fn say_strictness(it: Strictness, out: &Output) {
    if it.tighter > 0 {
        out.say(&format!(
            "{} of {} learned memories were rejected here: thresholds are {} % higher until that changes",
            it.n_rejected,
            it.n_learned,
            it.tighter / 10
        ));
    }
}

const fn how_word(how: KeptHow) -> &'static str {
    match how {
        KeptHow::Made => "made",
        KeptHow::Updated => "updated",
        KeptHow::Confirmed => "confirmed",
        KeptHow::Superseded(_) => "supersedes",
    }
}

fn to_json(sum: &Sum, args: &LearnArgs) -> Value {
    let kept: Vec<Value> = sum
        .kept
        .values()
        .map(|it| {
            json!({ "how": how_word(it.how), "signal": it.signal, "memory": MemoryWire::from(&it.memory) })
        })
        .collect();
    json!({
        "sessions": sum.n_new,
        "known": sum.n_known,
        "not_transcripts": sum.n_other,
        "waiting": sum.n_waiting,
        "damaged_lines": sum.n_damaged,
        "bytes": sum.bytes,
        "dry_run": args.dry_run,
        "memories": kept,
        "retired": sum.retired,
        "dropped": sum.dropped,
    })
}

fn render(sum: &Sum, args: &LearnArgs, out: &Output) {
    for it in sum.kept.values() {
        let id = it.memory.id.short();
        let review = if it.memory.flags.needs_review { " · to be reviewed" } else { "" };
        let how = match it.how {
            KeptHow::Made => format!("{GOOD}+{GOOD:#}"),
            KeptHow::Superseded(old) => format!("{GOOD}+{GOOD:#} instead of #{}", old.short()),
            KeptHow::Updated | KeptHow::Confirmed => "~".to_owned(),
        };
        out.line(&format!("{how} {BOLD}#{id}{BOLD:#} {DIM}{}{review}{DIM:#}", it.memory.kind));
        out.line(&format!("  {}", visible(&it.memory.content)));
    }
    for id in &sum.retired {
        out.line(&format!(
            "- {BOLD}#{}{BOLD:#} {DIM}later sessions did otherwise{DIM:#}",
            id.short()
        ));
    }
    let would = if args.dry_run { "would be " } else { "" };
    let mut said = format!(
        "{} learned from ({}); {} {would}kept",
        count(sum.n_new, "session was", "sessions were"),
        size(sum.bytes),
        count(sum.kept.len(), "memory", "memories"),
    );
    if sum.n_known > 0 {
        said.push_str("; ");
        said.push_str(&count(
            sum.n_known,
            "session was known already",
            "sessions were known already",
        ));
    }
    out.say(&said);
    if sum.n_waiting > 0 {
        let of = count(sum.n_waiting, "session has", "sessions have");
        out.say(&format!("{of} nothing yet that speaks for the work; what was seen there waits"));
    }
    if sum.n_damaged > 0 {
        out.warn(&format!(
            "{} left out",
            count(
                usize::try_from(sum.n_damaged).unwrap_or(usize::MAX),
                "damaged line was",
                "damaged lines were"
            )
        ));
    }
    if !sum.kept.is_empty() && !args.dry_run {
        out.hint("`waylore explain <id>` shows what a memory rests on");
    }
}
