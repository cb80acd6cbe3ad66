//! `waylore context plan`, `qa`, `recovery` and `spec`: what the stages of a pipeline are told.

use std::io::Read;
use std::path::PathBuf;

use engine::{Context, Occasion, Pipeline};

use super::PackingArgs;
use crate::command::Session;
use crate::failure::usage;

/// Print what should be known before a plan is made
///
/// Recipes, dead ends as constraints, how long such work took, what changes along, recent outcomes.
#[derive(clap::Args, Debug)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    pub(super) about: AboutArgs,
}

/// Print what should be verified before work is called done
///
/// Errors that came before, requirements, and what was seen in the user interface.
#[derive(clap::Args, Debug)]
pub(super) struct QaArgs {
    #[command(flatten)]
    pub(super) about: AboutArgs,
}

/// Print what should be known before a second attempt
///
/// Where the work stands, what failed, what was tried within the last two hours, and what ended such
/// errors before.
#[derive(clap::Args, Debug)]
pub(super) struct RecoveryArgs {
    #[command(flatten)]
    pub(super) about: AboutArgs,
    /// What said that the work failed; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    report: Option<String>,
}

/// Print what should be known before it is written down what is wanted
///
/// Preferences, decisions, patterns, and what the modules are for.
#[derive(clap::Args, Debug)]
pub(super) struct SpecArgs {
    #[command(flatten)]
    pub(super) about: AboutArgs,
}

/// What the work is about.
#[derive(clap::Args, Debug)]
pub(super) struct AboutArgs {
    /// What is about to be done
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// A module it concerns; may be given again
    #[arg(short, long, value_name = "NAME")]
    module: Vec<String>,
    /// A file it concerns; may be given again
    #[arg(short, long, value_name = "PATH")]
    file: Vec<PathBuf>,
    #[command(flatten)]
    packing: PackingArgs,
}

impl RecoveryArgs {
    /// The report, as it was given.
    pub(super) fn report(&self) -> anyhow::Result<String> {
        match self.report.as_deref() {
            Some("-") => {
                let mut res = String::new();
                std::io::stdin().take(LONGEST).read_to_string(&mut res).map_err(|it| {
                    usage(format!("the report cannot be read: {it}"), "give it as text")
                })?;
                Ok(res)
            }
            given => Ok(given.unwrap_or_default().to_owned()),
        }
    }
}

/// The longest report that is read.
const LONGEST: u64 = 1 << 20;

impl AboutArgs {
    pub(super) async fn context(
        &self,
        pipeline: Pipeline,
        report: String,
        session: &Session<'_>,
    ) -> anyhow::Result<(Context, &PackingArgs)> {
        let usual = pipeline.row().phase;
        let occasion = Occasion {
            task: self.task.clone().unwrap_or_default(),
            modules: self.module.clone(),
            pipeline: Some(pipeline),
            report,
            ..self.packing.occasion(&self.file, usual, session)?
        };
        Ok((session.engine.context_pipeline(&occasion).await?, &self.packing))
    }
}
