//! `waylore context files`: predicts the files of a task, so that an agent opens them first. The engine ranks them.

use std::path::PathBuf;

use serde_json::json;

use crate::command::CommandContext;
use crate::output::escape_controls;

/// Predict the files of a task, most likely first
///
/// From past sessions, commits, the words of the task and the neighbours of a known file. Empty if nothing is known.
#[derive(clap::Args, Debug)]
pub(super) struct FilesArgs {
    /// The task
    #[arg(long, value_name = "TEXT")]
    task: String,
    /// A file that is already known
    #[arg(short, long, value_name = "PATH")]
    file: Option<PathBuf>,
    /// Most files to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
}

/// Prints the predicted files of a task, and a hint for each that is expensive to read.
pub(super) async fn run(args: &FilesArgs, command: &CommandContext<'_>) -> anyhow::Result<u8> {
    let (project, out) = (&command.project, command.output);
    let known_file = match &args.file {
        Some(path) => Some(project.project_path(path, &command.base)?),
        None => None,
    };
    let known_file = known_file.as_ref().map(model::ProjectPath::as_str);
    let history = project.session_history();
    let files = history.rank_task_files(&args.task, known_file, args.limit).await?;
    let costs = history.read_costs(&files).await?;
    if out.json {
        out.print_json("files", json!({ "files": files, "costs": costs }));
    } else {
        for it in &files {
            out.print_line(&escape_controls(it));
        }
        for (file, tokens) in &costs {
            out.hint(&format!(
                "reading `{}` whole costs about {tokens} tokens",
                escape_controls(file)
            ));
        }
    }
    Ok(u8::from(files.is_empty()))
}
