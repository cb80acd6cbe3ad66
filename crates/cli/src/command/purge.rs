//! `waylore purge`: erases memories for good and prints the proof, which has two parts: a search of all files in
//! the data folder for *pieces* of the erased text, and a query of every database for it. The search of files
//! proves nothing if they are encrypted, or if the text is too short or too common to give a piece; then the query
//! alone counts.

use engine::{NotebookScope, PurgeReport};
use model::Memory;
use serde_json::json;

use super::CommandContext;
use super::edit;
use super::shared::{
    confirm_or_fail, format_summary, read_all, report_declined, report_start,
    report_start_everywhere,
};
use crate::failure::{FailureKind, usage_error};
use crate::output::{Output, format_count, format_size};
use crate::reader::{CHANGES_ARE_THE_USERS, refuse_agent};

/// Erase memories for good: rows, index, vectors, history and backups. Cannot be undone
///
/// Afterwards the data folder is searched for the erased text, and the result is printed.
#[derive(clap::Args, Debug)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub(crate) struct PurgeArgs {
    /// Memories to erase
    #[arg(group = "what")]
    ids: Vec<String>,
    /// Everything of this project
    #[arg(long, group = "what")]
    this_project: bool,
    /// Everything of every project, and yours
    #[arg(long, group = "what")]
    everything: bool,
    /// One secret, read from standard input so that it stays out of the shell history
    #[arg(long, group = "what")]
    secret: bool,
    /// Everything that the current rules detect as a secret
    #[arg(long, group = "what")]
    secrets: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// Memories with a secret that are named before the question; the others are counted.
const MAX_NAMED_MEMORIES: usize = 20;

pub(crate) async fn run(args: PurgeArgs, mut command: CommandContext<'_>) -> anyhow::Result<u8> {
    refuse_agent(CHANGES_ARE_THE_USERS, "the user can run `waylore purge` in a terminal")?;
    let question = if args.everything {
        "All memories of all projects will be erased.".to_owned()
    } else if args.this_project {
        format!("All memories of `{}` will be erased.", command.project.project_state().name())
    } else {
        "This cannot be undone.".to_owned()
    };
    say_what_goes(&args, &command).await?;
    // With `--secret` the secret occupies standard input, so the user cannot be asked. Memories stay then;
    // only the secret in them is erased.
    if !args.secret && !confirm_or_fail(args.yes, &question)? {
        return Ok(report_declined("nothing was erased", command.output));
    }
    if args.everything {
        report_start_everywhere("erasing", &command);
    } else {
        report_start("erasing and searching", &command);
    }
    // Drafts are texts that `edit` rejected. A secret may be in any of them.
    let only_secrets = args.secret || args.secrets;
    if only_secrets {
        edit::discard_all_drafts(&command);
    }
    // Drafts of erased memories. An unknown id fails here, before any memory is erased.
    for id in &args.ids {
        edit::discard_draft(&command.project.retriever().find_by_id(id).await?);
    }
    let output = command.output;
    let report = if args.everything {
        command.project.purge_everything().await?
    } else if args.this_project {
        command.project.purge_project().await?
    } else if args.secret {
        let secret = String::from_utf8(read_all(std::io::stdin().lock())?).map_err(|_| {
            usage_error("the secret is not valid UTF-8", "give it as text on standard input")
        })?;
        command.project.maintenance().purge_secret(&secret).await?
    } else if args.secrets {
        command.project.maintenance().purge_secrets_found().await?
    } else {
        command.project.maintenance().purge_memories(&args.ids).await?
    };
    Ok(render(&report, only_secrets, output))
}

/// Says what will be erased, before the question: the memories by their summaries, or the counts.
async fn say_what_goes(args: &PurgeArgs, command: &CommandContext<'_>) -> anyhow::Result<()> {
    let out = command.output;
    for id in &args.ids {
        let found = command.project.retriever().find_by_id(id).await?;
        out.say(&format!(
            "will be erased: {}",
            format_summary(&found.memory, &command.settings.types)
        ));
    }
    if args.this_project || args.everything {
        // Damaged data can be erased, too; then there is nothing to count.
        let stats = command.project.maintenance().stats().await.unwrap_or_default();
        for notebook in &stats {
            let is_project = notebook.scope == NotebookScope::Project;
            if !is_project && !args.everything {
                continue;
            }
            let n: u64 = notebook.memories.iter().map(|it| it.count).sum();
            let name = if is_project { command.project.project_state().name() } else { "yours" };
            out.say(&format!(
                "will be erased: {name}, {} in all states and {}",
                format_count(usize::try_from(n).unwrap_or(usize::MAX), "memory", "memories"),
                format_count(notebook.backups.len(), "backup", "backups"),
            ));
        }
    }
    if args.secrets {
        say_secrets_found(command).await?;
    }
    if args.everything {
        let n_projects = command.project.data_dir().list_projects().len();
        out.say(&format!(
            "will be erased: {} in all",
            format_count(n_projects, "project", "projects")
        ));
    }
    Ok(())
}

/// Names the memories that hold a secret, each with the secret masked.
async fn say_secrets_found(command: &CommandContext<'_>) -> anyhow::Result<()> {
    let out = command.output;
    let mut n_found = 0;
    for scope in [NotebookScope::Project, NotebookScope::User] {
        // An export masks every text, and lists the memories in which it had to.
        let export = command.project.maintenance().export(scope).await?;
        let has_secret = |it: &&Memory| export.redacted.contains(&it.id);
        for memory in export.memories.iter().filter(has_secret) {
            n_found += 1;
            if n_found <= MAX_NAMED_MEMORIES {
                let summary = format_summary(memory, &command.settings.types);
                out.say(&format!("will be cleaned: {summary}"));
            }
        }
    }
    if n_found > MAX_NAMED_MEMORIES {
        out.say(&format!("will be cleaned: {} more", n_found - MAX_NAMED_MEMORIES));
    }
    if n_found == 0 {
        out.say("no memory holds a secret; logs, journals and backups are cleaned");
    }
    Ok(())
}

/// Prints the report and returns the exit code, which is not 0 if erased text was found afterwards.
/// `only_secrets` means that memories stay, without the secrets in them.
fn render(report: &PurgeReport, only_secrets: bool, output: &Output) -> u8 {
    let proof = &report.proof;
    // Neither part of the proof found anything.
    let is_proven = proof.holds();
    let code = if is_proven { 0 } else { FailureKind::Environment as u8 };
    if output.json {
        let proof = json!({
            "files": proof.files,
            "bytes": proof.bytes,
            "pieces": proof.pieces,
            "found_in": proof.found_in,
            "encrypted": proof.is_encrypted,
            "inside": proof.found_in_database,
        });
        output.print_json("purged", json!({ "memories": report.memories, "proof": proof }));
        return code;
    }
    let verb = if only_secrets { "cleaned" } else { "erased for good" };
    let memories = format_count(report.memories.len(), "memory", "memories");
    output.print_line(&format!("{memories} {verb}"));
    let searched = format!(
        "searched {} ({}) for {}",
        format_count(proof.files, "file", "files"),
        format_size(proof.bytes),
        format_count(proof.pieces, "piece of the erased text", "pieces of the erased text"),
    );
    let within = if only_secrets { "every database" } else { "every database and backup" };
    if proof.found_in_database {
        output.error(&format!("looked inside {within}: still there"));
    }
    if !proof.found_in.is_empty() {
        output.error(&format!("{searched}: still found in"));
        for path in &proof.found_in {
            output.error_detail(&path.display().to_string());
        }
    }
    if !is_proven {
        return code;
    }
    // The search of files is meaningful: there were pieces to search for, in readable files.
    if proof.pieces > 0 && !proof.is_encrypted {
        output.print_line(&format!("{searched}: not found anywhere"));
        return code;
    }
    // Otherwise the query of the databases is the proof.
    if proof.pieces == 0 && !report.memories.is_empty() {
        output.say("the erased text is too short or too common to search files for; the databases were checked");
    }
    output.print_line(&format!("looked inside {within}: not there"));
    code
}
