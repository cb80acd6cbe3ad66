//! `waylore learn`: reads transcripts of past sessions, oldest first, and learns from each. Prints the memories
//! kept, and on request the dropped candidates.
//!
//! A *transcript* is the record of a session that its host (Claude Code, Codex …) keeps; a *journal* is our own,
//! written by hooks. The *inbox* holds hook messages that came while no daemon ran. From a session come
//! *candidates* for memories: each is kept, or dropped with a reason. Findings of a session count once its
//! work is *validated*, for example by a commit. A memory is *retired* if later sessions contradict it.

mod asking;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engine::{
    Explanation, JudgingStrictness, LearnedMemory, LearnedSession, LessonEffect, LessonState,
    ParsedTranscript, Project, ProjectPolicy, Transcript, TranscriptTrust, transcript_trust,
    transcripts_at_paths,
};
use model::MemoryStatus;
use serde_json::{Value, json};

use super::CommandContext;
use super::explain::explanation_json;
use super::session_report::{ReportDetail, print_session};
use super::shared::status_note;
use crate::environment;
use crate::failure::{CliFailure, FailureKind};
use crate::output::{
    BOLD_STYLE, DIM_STYLE, GOOD_STYLE, Output, escape_controls, format_count, format_size,
};
use crate::reader::{EVIDENCE_IS_UNFILTERED, readable_content, readable_text, refuse_agent};
use crate::wire::MemoryWire;

/// Learn from past sessions of coding agents
///
/// Finds the sessions of Claude Code, Codex, Copilot CLI, Gemini CLI and OpenCode for this project, reads them oldest
/// first, and keeps what later sessions need: errors with their fixes, files that change together, corrected beliefs,
/// preferences, steps that finish work. Nothing leaves this machine and no model is called unless `learn.ask_model`
/// is set or `--ask` is given. Learning again changes nothing; an interrupted run continues where it stopped.
#[derive(clap::Args, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent flags of the command line")]
pub(crate) struct LearnArgs {
    /// Read these transcripts or folders instead of searching for sessions
    #[arg(long, value_name = "PATH", num_args = 1..)]
    from: Vec<PathBuf>,
    /// Trust transcripts outside the folders of the hosts; otherwise what they teach waits for your review
    #[arg(long, requires = "from")]
    trust: bool,
    /// Show what would be learned into an empty notebook; writes nothing
    #[arg(long)]
    dry_run: bool,
    /// Also show dropped candidates with their reasons
    #[arg(long)]
    dropped: bool,
    /// Also ask the language model of `learn.model` what each session taught; with --dry-run, print what it
    /// would be sent
    #[arg(long)]
    ask: bool,
    /// Explain each session: what was kept, what waits, what was dropped and why
    #[arg(long)]
    explain: bool,
    /// With --explain, also list the sightings without words
    #[arg(short, long, requires = "explain")]
    all: bool,
    /// Wait until hosts have written out the sessions that are ending; used by hooks
    #[arg(long, hide = true)]
    wait: bool,
}

/// Totals over all sessions.
#[derive(Default)]
pub(super) struct LearnTotals {
    /// Sessions learned from now.
    pub(super) n_new: usize,
    /// Sessions learned from earlier.
    pub(super) n_known: usize,
    /// Files that are no readable transcript of this project.
    n_other: usize,
    /// Sessions that could not be learned; `doctor` lists them with their reasons.
    pub(super) n_failed: usize,
    /// Unreadable lines of the transcripts, which were skipped.
    n_damaged_lines: u64,
    /// New sessions whose work is not validated yet.
    n_unvalidated: usize,
    /// Size of the transcripts.
    bytes: u64,
    /// Memories of this run by their id: a later session may update the memory of an earlier one.
    pub(super) kept: BTreeMap<model::MemoryId, LearnedMemory>,
    /// Number of dropped candidates by reason.
    dropped: BTreeMap<&'static str, usize>,
    /// With `--explain` and `--json`, one report per session.
    explained: Vec<Value>,
    /// The result of asking a model; `None` without `--ask`.
    asked: Option<asking::AskTotals>,
    /// Memories of earlier runs that later sessions refuted.
    retired: Vec<model::MemoryId>,
}

impl LearnTotals {
    /// Number of kept memories; candidates are none yet.
    pub(super) fn n_kept(&self) -> usize {
        let is_candidate = |it: &&LearnedMemory| it.memory.status() == MemoryStatus::Candidate;
        self.kept.values().filter(|it| !is_candidate(it)).count()
    }
}

pub(crate) async fn run(args: LearnArgs, command: &mut CommandContext<'_>) -> anyhow::Result<u8> {
    refuse_agent_options(&args)?;
    // Sessions in the inbox become journals, which `find_transcripts` finds below.
    if args.from.is_empty() && !args.dry_run {
        import_inbox(command).await?;
    }
    let transcripts = find_transcripts(&args, command)?;
    if args.wait {
        wait_for_hosts(&transcripts);
    }
    let out = command.output;
    if transcripts.is_empty() {
        return Ok(report_nothing_found(out));
    }
    if args.ask && args.dry_run {
        return asking::print_questions(command, &transcripts).await;
    }
    if args.ask && command.settings.get("learn.model") == "off" {
        return Err(asking::no_model_error());
    }
    let totals = if args.dry_run {
        dry_run(&args, command, &transcripts).await?
    } else {
        // Only this command may call the text model, and only if the settings allow it.
        let llm = command.settings.llm_access();
        command.project.set_policy(ProjectPolicy { llm, ..command.project.policy });
        let mut totals = learn_all(&mut command.project, &args, &transcripts, out).await?;
        // Runs at most once a week, here or in the daemon.
        command.project.learner().consolidate_week().await?;
        if args.ask {
            totals.asked = Some(asking::ask_about_all(command, &transcripts).await?);
        }
        totals
    };
    // Learning becomes stricter where the user rejected many learned memories.
    let strictness = command.project.session_history().strictness().await?;
    if out.json {
        let mut body = to_json(&totals, &args);
        body["strictness"] = strictness_json(strictness);
        body["asked"] = totals.asked.as_ref().map_or(Value::Null, asking::AskTotals::to_json);
        out.print_json("learned", body);
    } else {
        render(&totals, &args, out);
        if let Some(asked) = &totals.asked {
            asked.render(&args, out);
        }
        say_strictness(strictness, out);
    }
    Ok(0)
}

/// Fails if an agent uses an option that vouches for transcripts or prints them.
fn refuse_agent_options(args: &LearnArgs) -> anyhow::Result<()> {
    if args.trust {
        refuse_agent(
            "trust in a transcript is the user's",
            "the user can run `waylore learn --trust` in a terminal",
        )?;
    }
    if args.dry_run {
        refuse_agent(
            EVIDENCE_IS_UNFILTERED,
            "the user can run `waylore learn --dry-run` in a terminal",
        )?;
    }
    Ok(())
}

/// Learns from all sessions that are found, for `init`.
pub(super) async fn learn_from_all_hosts(
    command: &mut CommandContext<'_>,
) -> anyhow::Result<LearnTotals> {
    // Without a home directory no host has transcripts; `init` goes on without them.
    if command.environment.home.is_none() {
        return Ok(LearnTotals::default());
    }
    let args = LearnArgs::default();
    let transcripts = find_transcripts(&args, command)?;
    learn_all(&mut command.project, &args, &transcripts, command.output).await
}

/// The transcripts at the given paths; otherwise those of all hosts and our own journals.
fn find_transcripts(
    args: &LearnArgs,
    command: &CommandContext<'_>,
) -> anyhow::Result<Vec<Transcript>> {
    if !args.from.is_empty() {
        let paths: Vec<PathBuf> =
            args.from.iter().map(|it| command.environment.cwd.join(it)).collect();
        let (home, root) = (command.environment.home.as_deref(), &command.project.place.root);
        let trust = |path: &Path| {
            if args.trust {
                TranscriptTrust::Own
            } else {
                transcript_trust(home, &environment::folder_variable, root, path)
            }
        };
        let key = command.project.config.key.as_ref();
        return Ok(transcripts_at_paths(&paths, key, &trust)?);
    }
    let Some(home) = &command.environment.home else {
        let hint = Some("`waylore learn --from <path>` reads them from elsewhere".to_owned());
        let message = "there is no home directory to look for transcripts in".to_owned();
        return Err(CliFailure { kind: FailureKind::Environment, message, hint }.into());
    };
    let mut res =
        command.project.session_history().host_transcripts(home, &environment::folder_variable);
    res.extend(command.project.session_history().journal_transcripts());
    Ok(res)
}

/// Waits for transcripts that their hosts are still writing.
fn wait_for_hosts(transcripts: &[Transcript]) {
    let is_pending = |it: &&Transcript| engine::is_being_written(&it.path);
    // Only the files that are being written now are read again.
    let mut pending: Vec<&Transcript> = transcripts.iter().filter(is_pending).collect();
    while !pending.is_empty() {
        #[expect(clippy::disallowed_methods, reason = "the host does not tell when it is done")]
        std::thread::sleep(engine::TRANSCRIPT_POLL_INTERVAL);
        pending.retain(is_pending);
    }
}

/// Imports messages that hooks stored for this project while no daemon ran.
async fn import_inbox(command: &mut CommandContext<'_>) -> anyhow::Result<()> {
    let project = &mut command.project;
    let key = project.config.key.clone();
    let waiting = engine::list_inbox(&project.config.data, key.as_ref(), command.environment.now);
    for inbox_session in waiting {
        if inbox_session.root.starts_with(&project.place.root) {
            project.session_journal().import_inbox_session(&inbox_session).await?;
        }
    }
    Ok(())
}

/// Learns into a temporary notebook: an empty project in another data folder, removed afterwards.
async fn dry_run(
    args: &LearnArgs,
    command: &CommandContext<'_>,
    transcripts: &[Transcript],
) -> anyhow::Result<LearnTotals> {
    // A unique name: a dry run of another process must not be disturbed.
    let suffix = model::MemoryId::new(command.environment.now, environment::random_bytes()).short();
    let data = environment::temporary_path(&format!("rehearsal-{suffix}"));
    let config = engine::Config { data: data.clone(), ..command.project.config.clone() };
    let mut project = Project::open(config, &command.base, command.environment.now).await?;
    let totals = learn_all(&mut project, args, transcripts, command.output).await;
    // Close the databases before their folder is removed.
    drop(project);
    // If removal fails, the system cleans its temporary folder; secrets in it are masked.
    let _ = std::fs::remove_dir_all(&data);
    totals
}

/// Learns from the transcripts in their order, oldest first.
async fn learn_all(
    project: &mut Project,
    args: &LearnArgs,
    transcripts: &[Transcript],
    out: &Output,
) -> anyhow::Result<LearnTotals> {
    let mut totals = LearnTotals::default();
    for (index, transcript) in transcripts.iter().enumerate() {
        out.print_progress(&format!(
            "{} of {} transcripts, {}",
            index + 1,
            transcripts.len(),
            format_count(totals.n_kept(), "memory", "memories")
        ));
        let parsed = match project.session_history().read_transcript(transcript) {
            Ok(Some(parsed)) => parsed,
            // A transcript of another project, or no transcript at all.
            Ok(None) => {
                totals.n_other += 1;
                continue;
            }
            // One unreadable file does not stop the others.
            Err(error) => {
                out.warn(&format!("`{}` was skipped: {error}", transcript.path.display()));
                totals.n_other += 1;
                continue;
            }
        };
        // The scratchpad is the state of the session, folded from its events.
        let ParsedTranscript { pad: scratchpad, n_bytes, n_damaged_lines, .. } = parsed;
        totals.bytes += n_bytes;
        totals.n_damaged_lines += n_damaged_lines;
        let learned = match project.learner().learn_session(&scratchpad).await {
            // One session that cannot be learned does not stop the others.
            Err(error @ engine::Error::SessionFailed { .. }) => {
                out.warn(&format!("{error}; `waylore doctor` lists it"));
                totals.n_failed += 1;
                continue;
            }
            result => result?,
        };
        match learned {
            Some(learned) => {
                // The journal of a learned session is no longer needed.
                project.session_journal().close(&learned)?;
                for notice in &learned.notices {
                    out.warn(notice);
                }
                if args.explain && learned.state != LessonState::Unchanged {
                    explain_session(&mut totals, project, learned.session.id, args, out).await?;
                }
                add_session(&mut totals, learned, args, out);
            }
            // A transcript without a session in it.
            None => totals.n_other += 1,
        }
    }
    out.print_progress("");
    Ok(totals)
}

/// Prints the report on a session that was just learned, or keeps it for the JSON.
async fn explain_session(
    totals: &mut LearnTotals,
    project: &Project,
    session: model::SessionId,
    args: &LearnArgs,
    out: &Output,
) -> anyhow::Result<()> {
    let explanation = project.session_history().explain(&session.to_string()).await?;
    let Explanation::Session(explanation) = explanation else { return Ok(()) };
    if out.json {
        totals.explained.push(explanation_json(&explanation));
    } else {
        out.print_progress("");
        print_session(&explanation, ReportDetail::from_all_flag(args.all), out);
        out.print_line("");
    }
    Ok(())
}

/// Adds the result of one session to the totals. With `--dropped`, prints its dropped candidates.
fn add_session(totals: &mut LearnTotals, learned: LearnedSession, args: &LearnArgs, out: &Output) {
    if learned.state == LessonState::Unchanged {
        totals.n_known += 1;
        return;
    }
    totals.n_new += 1;
    totals.n_unvalidated += usize::from(learned.session.validation_basis.is_none());
    for candidate in &learned.dropped {
        *totals.dropped.entry(candidate.reason.slug()).or_default() += 1;
        // Without enough evidence a candidate has no text yet.
        if let Some(content) = &candidate.content
            && args.dropped
            && !out.json
        {
            let (reason, detail) = (candidate.reason, &candidate.detail);
            let content = escape_controls(&readable_text(content));
            out.print_line(&format!(
                "{DIM_STYLE}dropped, {reason}: {content}{DIM_STYLE:#} {DIM_STYLE}({detail}){DIM_STYLE:#}"
            ));
        }
    }
    for id in learned.retired {
        // A memory created and retired in the same run is reported neither as kept nor as retired.
        let kept = totals.kept.remove(&id);
        let was_created_now = kept.is_some_and(|it| it.effect == LessonEffect::Created);
        if !was_created_now {
            totals.retired.push(id);
        }
    }
    for learned_memory in learned.memories {
        let id = learned_memory.memory.id;
        // A memory created in this run is reported as new even if a later session confirmed it.
        let effect = match totals.kept.get(&id) {
            Some(earlier) if earlier.effect == LessonEffect::Created => LessonEffect::Created,
            Some(_) | None => learned_memory.effect,
        };
        totals.kept.insert(id, LearnedMemory { effect, ..learned_memory });
    }
}

/// Reports that there are no transcripts; in JSON with the same fields as a run, all zero.
fn report_nothing_found(out: &Output) -> u8 {
    if out.json {
        let args = LearnArgs::default();
        out.print_json("learned", to_json(&LearnTotals::default(), &args));
    } else {
        out.say("no transcripts of this project were found");
        out.hint("`waylore learn --from <path>` reads them from elsewhere");
    }
    0
}

fn strictness_json(strictness: JudgingStrictness) -> Value {
    json!({
        "learned": strictness.n_learned,
        "rejected": strictness.n_rejected,
        "tighter_per_mille": strictness.tightening,
    })
}

/// Reports that learning is stricter in this project, if it is.
fn say_strictness(strictness: JudgingStrictness, out: &Output) {
    if strictness.tightening > 0 {
        // Per mille to per cent.
        let percent = strictness.tightening / 10;
        out.say(&format!(
            "{} of {} learned memories were rejected here: thresholds are {percent} % higher until that changes",
            strictness.n_rejected, strictness.n_learned
        ));
    }
}

/// The word for an effect in JSON.
const fn effect_word(effect: LessonEffect) -> &'static str {
    match effect {
        LessonEffect::Created => "made",
        LessonEffect::Updated => "updated",
        LessonEffect::Confirmed => "confirmed",
        LessonEffect::Promoted => "promoted",
        LessonEffect::Superseded(_) => "supersedes",
    }
}

fn to_json(totals: &LearnTotals, args: &LearnArgs) -> Value {
    let memory_json = |it: &LearnedMemory| {
        json!({
            "how": effect_word(it.effect),
            "signal": it.signal,
            "memory": MemoryWire::from(&it.memory),
        })
    };
    let kept: Vec<Value> = totals.kept.values().map(memory_json).collect();
    json!({
        "sessions": totals.n_new,
        "known": totals.n_known,
        "not_transcripts": totals.n_other,
        "failed": totals.n_failed,
        "waiting": totals.n_unvalidated,
        "damaged_lines": totals.n_damaged_lines,
        "bytes": totals.bytes,
        "dry_run": args.dry_run,
        "memories": kept,
        "retired": totals.retired,
        "dropped": totals.dropped,
        // Empty without `--explain`.
        "explained": totals.explained,
    })
}

/// Prints one paragraph per memory (`+` new, `^` once a candidate, `~` changed, `-` retired) and a summary.
fn render(totals: &LearnTotals, args: &LearnArgs, out: &Output) {
    let (candidates, kept): (Vec<&LearnedMemory>, Vec<&LearnedMemory>) =
        totals.kept.values().partition(|it| it.memory.status() == MemoryStatus::Candidate);
    // The reports on the sessions have listed them already.
    for it in kept.iter().filter(|_| !args.explain) {
        render_learned(it, out);
    }
    for id in &totals.retired {
        out.print_line(&format!(
            "- {BOLD_STYLE}#{}{BOLD_STYLE:#} {DIM_STYLE}contradicted by later sessions{DIM_STYLE:#}",
            id.short()
        ));
    }
    let would = if args.dry_run { "would be " } else { "" };
    let mut summary = format!(
        "{} learned from ({}); {} {would}kept",
        format_count(totals.n_new, "session was", "sessions were"),
        format_size(totals.bytes),
        format_count(kept.len(), "memory", "memories"),
    );
    if !candidates.is_empty() {
        summary.push_str(", ");
        summary.push_str(&format_count(candidates.len(), "candidate waits", "candidates wait"));
    }
    if totals.n_known > 0 {
        summary.push_str("; ");
        summary.push_str(&format_count(
            totals.n_known,
            "session was known already",
            "sessions were known already",
        ));
    }
    out.say(&summary);
    if totals.n_unvalidated > 0 {
        let sessions = format_count(totals.n_unvalidated, "session", "sessions");
        out.say(&format!("{sessions} not validated yet: the findings are held"));
    }
    if totals.n_damaged_lines > 0 {
        out.warn(&format!(
            "{} left out",
            format_count(
                usize::try_from(totals.n_damaged_lines).unwrap_or(usize::MAX),
                "damaged line was",
                "damaged lines were"
            )
        ));
    }
    if !candidates.is_empty() && !args.dry_run {
        out.hint("`waylore review` shows the candidates; no agent is told of them before");
    }
    if !kept.is_empty() && !args.dry_run {
        out.hint("`waylore explain <id>` shows the evidence of a memory");
    }
}

fn render_learned(it: &LearnedMemory, out: &Output) {
    let id = it.memory.id.short();
    let review = status_note(it.memory.status()).map(|it| format!(" · {it}")).unwrap_or_default();
    let sign = match it.effect {
        LessonEffect::Created => format!("{GOOD_STYLE}+{GOOD_STYLE:#}"),
        LessonEffect::Superseded(old) => {
            format!("{GOOD_STYLE}+{GOOD_STYLE:#} instead of #{}", old.short())
        }
        LessonEffect::Promoted => format!("{GOOD_STYLE}^{GOOD_STYLE:#}"),
        LessonEffect::Updated | LessonEffect::Confirmed => "~".to_owned(),
    };
    out.print_line(&format!(
        "{sign} {BOLD_STYLE}#{id}{BOLD_STYLE:#} {DIM_STYLE}{}{review}{DIM_STYLE:#}",
        it.memory.kind
    ));
    out.print_line(&format!("  {}", escape_controls(&readable_content(&it.memory))));
}
