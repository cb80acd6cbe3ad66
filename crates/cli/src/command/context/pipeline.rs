//! `waylore context plan`, `qa`, `recovery` and `spec`: contexts of pipeline stages.

use std::io::Read;
use std::path::PathBuf;

use engine::{ContextBlock, ContextRequest, PipelineContext};

use super::PackingArgs;
use crate::command::CommandSession;
use crate::failure::usage_error;

/// Print the context for planning
///
/// Recipes, dead ends as constraints, effort of similar work, files that change together, recent outcomes.
#[derive(clap::Args, Debug)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    pub(super) about: AboutArgs,
}

/// Print the context for testing and review
///
/// Earlier errors, requirements, and observations of the user interface.
#[derive(clap::Args, Debug)]
pub(super) struct QaArgs {
    #[command(flatten)]
    pub(super) about: AboutArgs,
}

/// Print the context for a retry
///
/// Unfinished work, failed attempts, dead ends of the last two hours, and fixes of similar errors.
#[derive(clap::Args, Debug)]
pub(super) struct RecoveryArgs {
    #[command(flatten)]
    pub(super) about: AboutArgs,
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
    pub(super) about: AboutArgs,
}

/// Options shared by all stages.
#[derive(clap::Args, Debug)]
pub(super) struct AboutArgs {
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
    /// The report, from the argument or standard input.
    pub(super) fn read_report(&self) -> anyhow::Result<String> {
        match self.report.as_deref() {
            Some("-") => {
                let mut res = String::new();
                std::io::stdin().take(MAX_REPORT_BYTES).read_to_string(&mut res).map_err(|it| {
                    usage_error(format!("the report cannot be read: {it}"), "give it as text")
                })?;
                Ok(res)
            }
            given => Ok(given.unwrap_or_default().to_owned()),
        }
    }
}

/// The longest report that is read.
const MAX_REPORT_BYTES: u64 = 1 << 20;

impl AboutArgs {
    pub(super) async fn pipeline_context(
        &self,
        pipeline: PipelineContext,
        report: String,
        session: &CommandSession<'_>,
    ) -> anyhow::Result<(ContextBlock, &PackingArgs)> {
        let usual = pipeline.row().phase;
        let request = ContextRequest {
            task: self.task.clone().unwrap_or_default(),
            modules: self.module.clone(),
            pipeline: Some(pipeline),
            failure_report: report,
            ..self.packing.context_request(&self.file, usual, session)?
        };
        let notice = super::embed_before(&request, session).await;
        let mut context = session.project.injector().pipeline_context(&request).await?;
        context.notices.extend(notice);
        Ok((context, &self.packing))
    }
}
