//! `waylore context plan`, `qa`, `recovery` and `spec`: the notes for the stages of a pipeline that runs agents
//! without a person. Each stage has its own kinds of memories, in sections of their own order; the engine
//! knows them by [`PipelineContext`]. Printed by the parent module.

use std::io::Read;
use std::path::PathBuf;

use engine::{ContextBlock, ContextRequest, PipelineContext};

use super::PackingArgs;
use crate::command::CommandContext;
use crate::failure::usage_error;

/// Print the context for planning
///
/// Recipes, dead ends as constraints, effort of similar work, files that change together, recent outcomes.
#[derive(clap::Args, Debug)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    pub(super) stage_args: StageArgs,
}

/// Print the context for testing and review
///
/// Earlier errors, requirements, and observations of the user interface.
#[derive(clap::Args, Debug)]
pub(super) struct QaArgs {
    #[command(flatten)]
    pub(super) stage_args: StageArgs,
}

/// Print the context for a retry
///
/// Unfinished work, failed attempts, dead ends of the last two hours, and fixes of similar errors.
#[derive(clap::Args, Debug)]
pub(super) struct RecoveryArgs {
    #[command(flatten)]
    pub(super) stage_args: StageArgs,
    /// Report of the failure; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    report: Option<String>,
}

/// Print the context for a specification
///
/// Preferences, decisions, patterns, and insights about the modules.
#[derive(clap::Args, Debug)]
pub(super) struct SpecArgs {
    #[command(flatten)]
    pub(super) stage_args: StageArgs,
}

/// Options shared by all stages.
#[derive(clap::Args, Debug)]
pub(super) struct StageArgs {
    /// The task
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// Module of the task; repeatable
    #[arg(short, long, value_name = "NAME")]
    module: Vec<String>,
    /// File of the task; repeatable
    #[arg(short, long, value_name = "PATH")]
    file: Vec<PathBuf>,
    #[command(flatten)]
    packing: PackingArgs,
}

impl RecoveryArgs {
    /// True if the report is read from standard input.
    pub(super) fn reads_input(&self) -> bool {
        self.report.as_deref() == Some("-")
    }

    /// The report, from the argument or standard input.
    pub(super) fn read_report(&self) -> anyhow::Result<String> {
        match self.report.as_deref() {
            Some("-") => {
                let mut report = String::new();
                let read = std::io::stdin().take(MAX_REPORT_BYTES).read_to_string(&mut report);
                read.map_err(|it| {
                    usage_error(format!("the report cannot be read: {it}"), "give it as text")
                })?;
                Ok(report)
            }
            Some(report) => Ok(report.to_owned()),
            None => Ok(String::new()),
        }
    }
}

/// The longest report that is read.
const MAX_REPORT_BYTES: u64 = 1 << 20;

impl StageArgs {
    /// The context of a stage. The packing options come back with it, for the output.
    pub(super) async fn pipeline_context(
        &self,
        pipeline: PipelineContext,
        report: String,
        command: &CommandContext<'_>,
    ) -> anyhow::Result<(ContextBlock, &PackingArgs)> {
        // The phase (kind of work) that the stage implies, unless `--phase` names another.
        let default_phase = pipeline.row().phase;
        let request = ContextRequest {
            task: self.task.clone().unwrap_or_default(),
            modules: self.module.clone(),
            // The stage selects the kinds of memories and their order.
            pipeline: Some(pipeline),
            failure_report: report,
            ..self.packing.context_request(&self.file, default_phase, command)?
        };
        // A notice if new memories could not be embedded, and so are found by keywords only.
        let notice = super::embed_if_searching(&request, command).await;
        let mut context = command.project.injector().pipeline_context(&request).await?;
        context.notices.extend(notice);
        Ok((context, &self.packing))
    }
}
