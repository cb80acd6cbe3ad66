//! `waylore learn`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::{
    JudgingStrictness, LearnedMemory, LearnedSession, LessonEffect, LessonState, ParsedTranscript,
    Project, ProjectPolicy, Transcript, transcripts_at_paths,
};
use serde_json::{Value, json};

use super::CommandSession;
use crate::environment;
use crate::failure::{CliFailure, FailureKind};
use crate::output::{
    BOLD_STYLE, DIM_STYLE, GOOD_STYLE, Output, escape_controls, format_count, format_size,
};
use crate::wire::MemoryWire;

/// Learn from past sessions of coding agents
///
/// Finds the sessions of Claude Code, Codex, Copilot CLI, Gemini CLI and OpenCode for this project, reads them oldest
/// first, and keeps what later sessions need: errors with their fixes, files that change together, corrected beliefs,
/// preferences, steps that finish work. Nothing leaves this machine and no model is called unless `learn.ask_model`
/// is set. Learning again changes nothing; an interrupted run continues where it stopped.
#[derive(clap::Args, Debug)]
pub(crate) struct LearnArgs {
    /// Read these transcripts or folders instead of searching for sessions
    #[arg(long, value_name = "PATH", num_args = 1..)]
    from: Vec<PathBuf>,
    /// Show what would be learned into an empty notebook; writes nothing
    #[arg(long)]
    dry_run: bool,
    /// Also show dropped candidates with their reasons
    #[arg(long)]
    dropped: bool,
}

/// Totals over all sessions.
#[derive(Default)]
pub(super) struct LearnTotals {
    pub(super) n_new: usize,
    pub(super) n_known: usize,
    n_other: usize,
    n_damaged: u64,
    n_waiting: usize,
    bytes: u64,
    /// By memory id: later sessions of a run may update it.
    pub(super) kept: BTreeMap<model::MemoryId, LearnedMemory>,
    dropped: BTreeMap<&'static str, usize>,
    /// Memories of earlier runs that later sessions refuted.
    retired: Vec<model::MemoryId>,
}

pub(crate) async fn run(args: LearnArgs, session: &mut CommandSession<'_>) -> anyhow::Result<u8> {
    if args.from.is_empty() && !args.dry_run {
        take_in(session).await?;
    }
    let transcripts = find_transcripts(&args, session)?;
    let out = session.output;
    if transcripts.is_empty() {
        return Ok(report_nothing_found(out));
    }
    let sum = if args.dry_run {
        dry_run(&args, session, &transcripts).await?
    } else {
        let llm = session.settings.llm_access();
        session.project.set_policy(ProjectPolicy { llm, ..session.project.policy });
        learn_all(&mut session.project, &args, &transcripts, out).await?
    };
    let mut sum = sum;
    if !args.dry_run {
        for it in session.project.learner().synthesise_week().await? {
            sum.kept.insert(it.memory.id, it);
        }
    }
    let strictness = session.project.session_history().strictness().await?;
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

/// Learns from all sessions that are found.
pub(super) async fn all_found(session: &mut CommandSession<'_>) -> anyhow::Result<LearnTotals> {
    let args = LearnArgs { from: Vec::new(), dry_run: false, dropped: false };
    if session.environment.home.is_none() {
        return Ok(LearnTotals::default());
    }
    let transcripts = find_transcripts(&args, session)?;
    learn_all(&mut session.project, &args, &transcripts, session.output).await
}

fn find_transcripts(
    args: &LearnArgs,
    session: &CommandSession<'_>,
) -> anyhow::Result<Vec<Transcript>> {
    if !args.from.is_empty() {
        let paths: Vec<PathBuf> =
            args.from.iter().map(|it| session.environment.cwd.join(it)).collect();
        return Ok(transcripts_at_paths(&paths)?);
    }
    let Some(home) = &session.environment.home else {
        let hint = Some("`waylore learn --from <path>` reads them from elsewhere".to_owned());
        let message = "there is no home directory to look for transcripts in".to_owned();
        return Err(CliFailure { kind: FailureKind::Environment, message, hint }.into());
    };
    let mut res =
        session.project.session_history().host_transcripts(home, &environment::folder_variable);
    res.extend(session.project.session_history().journal_transcripts());
    Ok(res)
}

/// Imports messages that hooks stored for this project while no daemon ran.
async fn take_in(session: &mut CommandSession<'_>) -> anyhow::Result<()> {
    let engine = &mut session.project;
    for waiting in engine::list_inbox(&engine.config.data, session.environment.now) {
        if waiting.root.starts_with(&engine.place.root) {
            engine.session_journal().import_inbox_session(&waiting).await?;
        }
    }
    Ok(())
}

/// Learns into a temporary notebook.
async fn dry_run(
    args: &LearnArgs,
    session: &CommandSession<'_>,
    transcripts: &[Transcript],
) -> anyhow::Result<LearnTotals> {
    let suffix = model::MemoryId::new(session.environment.now, environment::random_bytes()).short();
    let data = environment::temporary_path(&format!("rehearsal-{suffix}"));
    let config = engine::Config { data: data.clone(), ..session.project.config.clone() };
    let mut engine = Project::open(config, &session.base, session.environment.now).await?;
    let res = learn_all(&mut engine, args, transcripts, session.output).await;
    drop(engine);
    // If removal fails, the system cleans its temporary folder; secrets in it are masked.
    let _ = std::fs::remove_dir_all(&data);
    res
}

async fn learn_all(
    engine: &mut Project,
    args: &LearnArgs,
    transcripts: &[Transcript],
    out: &Output,
) -> anyhow::Result<LearnTotals> {
    let mut sum = LearnTotals::default();
    for (nth, transcript) in transcripts.iter().enumerate() {
        out.print_progress(&format!(
            "{} of {} transcripts, {}",
            nth + 1,
            transcripts.len(),
            format_count(sum.kept.len(), "memory", "memories")
        ));
        let read = match engine.session_history().read_transcript(transcript) {
            Ok(Some(read)) => read,
            Ok(None) => {
                sum.n_other += 1;
                continue;
            }
            Err(error) => {
                out.warn(&format!("`{}` was skipped: {error}", transcript.path.display()));
                sum.n_other += 1;
                continue;
            }
        };
        let ParsedTranscript { pad, n_bytes: bytes, n_damaged_lines: damaged, .. } = read;
        sum.bytes += bytes;
        sum.n_damaged += damaged;
        match engine.learner().learn_session(&pad).await? {
            Some(learned) => {
                engine.session_journal().close(&learned)?;
                learned.notices.iter().for_each(|it| out.warn(it));
                add_session(&mut sum, learned, args, out);
            }
            None => sum.n_other += 1,
        }
    }
    out.print_progress("");
    Ok(sum)
}

fn add_session(sum: &mut LearnTotals, learned: LearnedSession, args: &LearnArgs, out: &Output) {
    if learned.state == LessonState::Unchanged {
        sum.n_known += 1;
        return;
    }
    sum.n_new += 1;
    sum.n_waiting += usize::from(learned.session.validation_basis.is_none());
    for it in &learned.dropped {
        *sum.dropped.entry(it.reason.slug()).or_default() += 1;
        if let Some(content) = it.content.as_ref().filter(|_| args.dropped && !out.json) {
            let line = format!(
                "{DIM_STYLE}dropped, {}: {}{DIM_STYLE:#}",
                it.reason,
                escape_controls(content)
            );
            out.print_line(&format!("{line} {DIM_STYLE}({}){DIM_STYLE:#}", it.detail));
        }
    }
    for id in learned.retired {
        // A memory created and retired in the same run is not reported.
        let made_now = sum.kept.remove(&id).is_some_and(|it| it.effect == LessonEffect::Created);
        if !made_now {
            sum.retired.push(id);
        }
    }
    for it in learned.memories {
        // A memory created in this run is reported as new even if it was confirmed later.
        let how = sum.kept.get(&it.memory.id).map_or(it.effect, |known| match known.effect {
            LessonEffect::Created => LessonEffect::Created,
            _ => it.effect,
        });
        sum.kept.insert(it.memory.id, LearnedMemory { effect: how, ..it });
    }
}

fn report_nothing_found(out: &Output) -> u8 {
    if out.json {
        out.data_json(
            "learned",
            to_json(
                &LearnTotals::default(),
                &LearnArgs { from: Vec::new(), dry_run: false, dropped: false },
            ),
        );
    } else {
        out.say("no transcripts of this project were found");
        out.hint("`waylore learn --from <path>` reads them from elsewhere");
    }
    0
}

fn strictness_json(it: JudgingStrictness) -> Value {
    json!({ "learned": it.n_learned, "rejected": it.n_rejected, "tighter_per_mille": it.tightening })
}

fn say_strictness(it: JudgingStrictness, out: &Output) {
    if it.tightening > 0 {
        out.say(&format!(
            "{} of {} learned memories were rejected here: thresholds are {} % higher until that changes",
            it.n_rejected,
            it.n_learned,
            it.tightening / 10
        ));
    }
}

const fn how_word(how: LessonEffect) -> &'static str {
    match how {
        LessonEffect::Created => "made",
        LessonEffect::Updated => "updated",
        LessonEffect::Confirmed => "confirmed",
        LessonEffect::Superseded(_) => "supersedes",
    }
}

fn to_json(sum: &LearnTotals, args: &LearnArgs) -> Value {
    let kept: Vec<Value> = sum
        .kept
        .values()
        .map(|it| {
            json!({ "how": how_word(it.effect), "signal": it.signal, "memory": MemoryWire::from(&it.memory) })
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

fn render(sum: &LearnTotals, args: &LearnArgs, out: &Output) {
    for it in sum.kept.values() {
        let id = it.memory.id.short();
        let review = if it.memory.flags.needs_review { " · needs review" } else { "" };
        let how = match it.effect {
            LessonEffect::Created => format!("{GOOD_STYLE}+{GOOD_STYLE:#}"),
            LessonEffect::Superseded(old) => {
                format!("{GOOD_STYLE}+{GOOD_STYLE:#} instead of #{}", old.short())
            }
            LessonEffect::Updated | LessonEffect::Confirmed => "~".to_owned(),
        };
        out.print_line(&format!(
            "{how} {BOLD_STYLE}#{id}{BOLD_STYLE:#} {DIM_STYLE}{}{review}{DIM_STYLE:#}",
            it.memory.kind
        ));
        out.print_line(&format!("  {}", escape_controls(&it.memory.content)));
    }
    for id in &sum.retired {
        out.print_line(&format!(
            "- {BOLD_STYLE}#{}{BOLD_STYLE:#} {DIM_STYLE}contradicted by later sessions{DIM_STYLE:#}",
            id.short()
        ));
    }
    let would = if args.dry_run { "would be " } else { "" };
    let mut said = format!(
        "{} learned from ({}); {} {would}kept",
        format_count(sum.n_new, "session was", "sessions were"),
        format_size(sum.bytes),
        format_count(sum.kept.len(), "memory", "memories"),
    );
    if sum.n_known > 0 {
        said.push_str("; ");
        said.push_str(&format_count(
            sum.n_known,
            "session was known already",
            "sessions were known already",
        ));
    }
    out.say(&said);
    if sum.n_waiting > 0 {
        let of = format_count(sum.n_waiting, "session has", "sessions have");
        out.say(&format!("{of} not validated yet; their findings are held"));
    }
    if sum.n_damaged > 0 {
        out.warn(&format!(
            "{} left out",
            format_count(
                usize::try_from(sum.n_damaged).unwrap_or(usize::MAX),
                "damaged line was",
                "damaged lines were"
            )
        ));
    }
    if !sum.kept.is_empty() && !args.dry_run {
        out.hint("`waylore explain <id>` shows the evidence of a memory");
    }
}
