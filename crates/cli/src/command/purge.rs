//! `waylore purge`.

use engine::Purged;
use serde_json::json;

use super::Session;
use super::edit;
use super::shared::{begin, begin_everywhere, confirmed, declined, read_all};
use crate::failure::usage;
use crate::output::{Output, count, size};

/// Erase for good: rows, words, vectors, history and backups. Cannot be undone
///
/// Afterwards the whole data folder is searched for what was erased, and the result is printed.
#[derive(clap::Args, Debug)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub(crate) struct PurgeArgs {
    /// The memories to erase
    #[arg(group = "what")]
    ids: Vec<String>,
    /// Everything of this project
    #[arg(long, group = "what")]
    this_project: bool,
    /// Everything of every project, and yours
    #[arg(long, group = "what")]
    everything: bool,
    /// One secret, read from standard input so that it stays out of your shell's history
    #[arg(long, group = "what")]
    secret: bool,
    /// Whatever looks like a secret by today's rules
    #[arg(long, group = "what")]
    secrets: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(crate) async fn run(args: PurgeArgs, mut session: Session<'_>) -> anyhow::Result<u8> {
    let question = if args.everything {
        "Everything Waylore knows, in every project, will be gone.".to_owned()
    } else if args.this_project {
        format!("Everything about `{}` will be gone.", session.engine.project().name())
    } else {
        "This cannot be undone.".to_owned()
    };
    // Reading the secret takes standard input, so there is nobody left to ask; it erases only the secret.
    if !args.secret && !confirmed(args.yes, &question)? {
        return Ok(declined("nothing was erased", session.output));
    }
    if args.everything {
        begin_everywhere("erasing", &session);
    } else {
        begin("erasing and searching", &session);
    }
    // What was being written about them must not outlive them; a secret may stand in any draft.
    if args.secret || args.secrets {
        edit::discard_all(&session);
    }
    for id in &args.ids {
        edit::discard(&session.engine.find(id).await?);
    }
    let output = session.output;
    let res = if args.everything {
        session.engine.purge_everything().await?
    } else if args.this_project {
        session.engine.purge_project().await?
    } else if args.secret {
        let secret = String::from_utf8(read_all(std::io::stdin().lock())?).map_err(|_| {
            usage("the secret is not valid UTF-8", "give it as text on standard input")
        })?;
        session.engine.purge_secret(&secret).await?
    } else if args.secrets {
        session.engine.purge_secrets_found().await?
    } else {
        session.engine.purge_memories(&args.ids).await?
    };
    Ok(render(&res, args.secret || args.secrets, output))
}

fn render(res: &Purged, cleaned: bool, output: &Output) -> u8 {
    let proof = &res.proof;
    let clean = proof.holds();
    if output.json {
        output.data_json("purged", json!({
            "memories": res.memories,
            "proof": { "files": proof.files, "bytes": proof.bytes, "pieces": proof.pieces, "found_in": proof.found_in, "encrypted": proof.encrypted, "inside": proof.inside },
        }));
        return if clean { 0 } else { 3 };
    }
    let verb = if cleaned { "cleaned" } else { "erased for good" };
    output.line(&format!("{} {verb}", count(res.memories.len(), "memory", "memories")));
    let searched = format!(
        "searched {} ({}) for {}",
        count(proof.files, "file", "files"),
        size(proof.bytes),
        count(proof.pieces, "piece of what was erased", "pieces of what was erased"),
    );
    let within = if cleaned { "every database" } else { "every database and backup" };
    if proof.inside {
        output.error(&format!("looked inside {within}: still there"));
    }
    if !proof.found_in.is_empty() {
        output.error(&format!("{searched}: still found in"));
        for path in &proof.found_in {
            output.error_detail(&path.display().to_string());
        }
    }
    if !clean {
        return 3;
    }
    // The bytes of an encrypted file show nothing, and a short text is found anywhere by chance.
    if proof.pieces > 0 && !proof.encrypted {
        output.line(&format!("{searched}: not found anywhere"));
        return 0;
    }
    if proof.pieces == 0 && !res.memories.is_empty() {
        output.say("nothing of it was long enough, or its own, to search the files for; what is inside decides");
    }
    output.line(&format!("looked inside {within}: not there"));
    0
}
