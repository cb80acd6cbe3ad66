//! `waylore hook`: what a host runs on every event. Fails open, whatever happens.

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::{Heard, Host, Moment};
use serve::client::Silence;

use super::connect::host_name;
use super::{Command, Session};
use crate::config::Settings;
use crate::environment::Environment;
use crate::output::Output;
use crate::{Global, environment};

/// The longest message that is read.
const LONGEST: u64 = 8 << 20;
/// After so long the host goes on without us.
const PATIENCE: Duration = Duration::from_millis(900);
/// So much longer at a moment that is worth it.
const LONGER: Duration = Duration::from_millis(1_500);
static IS_WORTH_IT: AtomicBool = AtomicBool::new(false);
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
    #[arg(value_name = "HOST", value_parser = host_name())]
    host: &'static Host,
    /// Which event it is, for hosts that do not say so in the message
    #[arg(value_name = "EVENT")]
    event: Option<String>,
}

/// How long the daemon may take to answer at a moment.
const fn budget(moment: &Moment) -> Duration {
    Duration::from_millis(match moment {
        Moment::Start { .. } => 500,
        Moment::Prompt { .. } => 2_000,
        Moment::Touched { .. } | Moment::Failed { .. } | Moment::Ran { .. } | Moment::End => 100,
        Moment::Step { .. } | Moment::Other => 50,
    })
}

/// Answers on standard output, if at all. The exit code is always 0: any other would be an error in
/// the eyes of the host, and some would stop the agent.
pub(crate) fn run(args: HookArgs) {
    if environment::is_own() {
        return;
    }
    // A panic is our trouble, not the host's.
    std::panic::set_hook(Box::new(|_| {}));
    std::thread::spawn(|| {
        #[expect(clippy::disallowed_methods, reason = "this waits so that the agent need not")]
        let wait = std::thread::sleep;
        wait(environment::patience().unwrap_or(PATIENCE));
        if IS_WORTH_IT.load(Ordering::Relaxed) {
            wait(LONGER);
        }
        std::process::exit(0);
    });
    let _ = catch_unwind(|| {
        let mut input = Vec::new();
        std::io::stdin().take(LONGEST).read_to_end(&mut input).ok()?;
        if let Some(event) = &args.event {
            input = engine::with_event(input, event);
        }
        attend(args.host, &input)
    });
}

/// Asks whoever serves; where nobody does, answers by itself. What was not taken there is kept for later.
fn attend(host: &'static Host, input: &[u8]) -> Option<()> {
    let heard = host.hear(input)?;
    let environment = Environment::read().ok()?;
    let budget = environment::patience().unwrap_or(budget(&heard.moment));
    IS_WORTH_IT.store(budget > PATIENCE, Ordering::Relaxed);
    let request = serve::client::hook_request(host.name, std::str::from_utf8(input).ok()?);
    let address = serve::Address::of(&environment.data);
    match serve::client::ask(&address, &request, budget) {
        Ok(answer) => {
            say(host, &heard, answer["text"].as_str());
            if serve::is_newer(env!("CARGO_PKG_VERSION"), answer["version"].as_str()?) {
                start(&environment);
            }
        }
        Err(Silence::Nobody) => {
            IS_WORTH_IT.store(false, Ordering::Relaxed);
            let said = catch_unwind(AssertUnwindSafe(|| by_itself(host, &heard))).ok().flatten();
            say(host, &heard, said.as_deref());
            keep(&environment, host, input);
            let starts = !matches!(heard.moment, Moment::Other);
            if !(starts && start(&environment)) && heard.moment == Moment::End {
                learn_later(&heard);
            }
        }
        Err(Silence::Trouble(_)) => keep(&environment, host, input),
    }
    Some(())
}

fn say(host: &Host, heard: &Heard, text: Option<&str>) {
    if let Some(text) = text.filter(|it| !it.is_empty() && it.len() <= MOST) {
        Output::new(&global(None)).line(&host.answer(heard, text));
    }
}

/// Keeps the event for whoever serves next. On a full disk it is lost here; hosts keep logs of their own.
fn keep(environment: &Environment, host: &Host, input: &[u8]) {
    let _ = engine::keep_for_later(
        &environment.data,
        environment.home.as_deref(),
        (host, input),
        environment.now,
    );
}

fn by_itself(host: &'static Host, heard: &Heard) -> Option<String> {
    if matches!(heard.moment, Moment::Other | Moment::End) {
        return None;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().ok()?;
    runtime.block_on(async {
        let global = global(Some(PathBuf::from(&heard.cwd)));
        let output = Output::new(&global);
        let command = Command::Hook(HookArgs { host, event: None });
        let session = Session::open(&global, &output, &command).await.ok()?;
        if session.engine.closed {
            return None;
        }
        // A host with two hooks of ours runs them side by side: the second finds what the first has said.
        let _turn = session.engine.turn(&heard.session).ok()?;
        session.engine.attend(heard).await.ok()?
    })
}

/// Starts the daemon where that is wanted; nobody waits for it. Says whether one was started.
fn start(environment: &Environment) -> bool {
    let wanted = Settings::load(environment).is_ok_and(|it| it.get("serve.start") == "true");
    wanted && cfg!(unix) && environment::start_daemon().is_ok()
}

/// Lets a process of its own learn from what the host has written down; nobody waits for it. A host that
/// does not say where that is keeps it where `learn` looks.
fn learn_later(heard: &Heard) {
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = std::process::Command::new(program);
    command.args(["--quiet", "-C", &heard.cwd, "learn"]);
    if let Some(transcript) = &heard.transcript {
        command.args(["--from", transcript]);
    }
    // Not learned now is learned with the next `waylore learn`.
    let _ = environment::detach(&mut command);
}

fn global(project: Option<PathBuf>) -> Global {
    Global { json: false, project, quiet: true }
}
