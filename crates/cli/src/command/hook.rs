//! `waylore hook`: what a host runs on every event. Fails open, whatever happens.

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Duration;

use engine::{Heard, Moment, hear, hook_answer};

use super::{Command, Session};
use crate::output::Output;
use crate::{Global, environment};

/// The longest message that is read.
const LONGEST: u64 = 8 << 20;
/// After so long the host goes on without us.
const PATIENCE: Duration = Duration::from_millis(900);
/// The longest answer, in bytes: beyond, hosts put it into a file that nobody opens. What is longer is
/// not said: half a block would not end.
const MOST: usize = 9_000;

/// Answer an event of an agent's host
///
/// Run by the host, with the event on standard input. Says what is worth knowing at this moment, or
/// nothing; never fails and never waits.
#[derive(clap::Args, Debug)]
pub(crate) struct HookArgs {
    /// Who calls
    #[arg(value_name = "HOST")]
    host: Host,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Host {
    ClaudeCode,
}

/// Answers on standard output, if at all. The exit code is always 0: any other would be an error in
/// the eyes of the host, and some would stop the agent.
pub(crate) fn run(args: HookArgs) {
    let Host::ClaudeCode = args.host;
    // A panic is our trouble, not the host's.
    std::panic::set_hook(Box::new(|_| {}));
    std::thread::spawn(|| {
        #[expect(clippy::disallowed_methods, reason = "this waits so that the agent need not")]
        std::thread::sleep(PATIENCE);
        std::process::exit(0);
    });
    let said = catch_unwind(|| {
        let heard = listen()?;
        let runtime = tokio::runtime::Builder::new_current_thread().build().ok()?;
        let said = catch_unwind(AssertUnwindSafe(|| runtime.block_on(answer(&heard)))).ok()??;
        Some((heard.event, said))
    });
    if let Ok(Some((event, text))) = said
        && text.len() <= MOST
    {
        Output::new(&global(None)).line(&hook_answer(&event, &text));
    }
}

fn listen() -> Option<Heard> {
    let mut input = Vec::new();
    std::io::stdin().take(LONGEST).read_to_end(&mut input).ok()?;
    hear(&input)
}

async fn answer(heard: &Heard) -> Option<String> {
    if heard.moment == Moment::Other {
        return None;
    }
    if heard.moment == Moment::End {
        learn_later(heard);
        return None;
    }
    let global = global(Some(PathBuf::from(&heard.cwd)));
    let output = Output::new(&global);
    let command = Command::Hook(HookArgs { host: Host::ClaudeCode });
    let session = Session::open(&global, &output, &command).await.ok()?;
    if session.engine.closed {
        return None;
    }
    session.engine.attend(heard).await.ok()?
}

/// Lets a process of its own learn from what the host has written down; nobody waits for it.
fn learn_later(heard: &Heard) {
    if let (Some(transcript), Ok(program)) = (&heard.transcript, std::env::current_exe()) {
        let mut command = std::process::Command::new(program);
        command.args(["--quiet", "-C", &heard.cwd, "learn", "--from", transcript]);
        // Not learned now is learned with the next `waylore learn`.
        let _ = environment::detach(&mut command);
    }
}

fn global(project: Option<PathBuf>) -> Global {
    Global { json: false, project, quiet: true }
}
