//! `waylore hook`: run by a host (the program that runs an agent) at every event of a session. It fails open:
//! if a step fails, it prints nothing and exits with 0.
//!
//! The way of an event: parse the message on standard input; send it to the daemon (answered by
//! `serve::requests::hook`), which selects the notes to inject and records the event in the *journal* of
//! the session; print the text of the reply in the format of the host. If no daemon runs, this process selects
//! the text itself, stores the message in the *inbox*, from which the next daemon takes it over, and starts a
//! daemon. It also answers alone while the daemon hangs; only the first hook waits for that one.

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::{HookEvent, HookMessage, Host, Injection, SessionSource};
use serve::client::ClientError;

use super::connect::host_parser;
use super::serve::start_daemon_if_wanted;
use crate::config::Settings;
use crate::environment::{self, Environment};
use crate::output::Output;
use crate::project::{DamageTolerance, ProjectFactory};

/// Longest message read from standard input, in bytes.
const MAX_MESSAGE_BYTES: u64 = 8 << 20;
/// Time after which this process exits without an answer. Most events have a shorter limit of their own
/// ([`daemon_timeout`]); this one also covers what may hang before, such as standard input.
const PROCESS_TIMEOUT: Duration = Duration::from_millis(900);
/// Time added to [`PROCESS_TIMEOUT`] at an event whose own limit is longer: a prompt. The sum of 2,400 ms
/// leaves time to print after the 2,000 ms of the daemon.
const EXTRA_PROCESS_TIMEOUT: Duration = Duration::from_millis(1_500);
/// True if the extra time applies. Set once the event is known, read by the guard thread when the first
/// time is over.
static HAS_EXTRA_TIME: AtomicBool = AtomicBool::new(false);
/// Longest text injected, in bytes. Hosts move a longer answer into a file that models do not open.
/// It is dropped instead of truncated, because half a block of notes has no end.
const MAX_INJECTED_BYTES: usize = 9_000;

/// Answer an event of an agent's host
///
/// Run by the host, with the event on standard input. Prints the notes worth knowing at this event,
/// or nothing; never fails and never waits long.
#[derive(clap::Args, Debug)]
pub(crate) struct HookArgs {
    /// The host that calls
    #[arg(value_name = "HOST", value_parser = host_parser())]
    host: &'static Host,
    /// Name of the event, for hosts whose messages lack it
    #[arg(value_name = "EVENT")]
    event: Option<String>,
}

/// Time that the daemon may take to answer an event: long where the user waits anyway, short between
/// the steps of an agent.
const fn daemon_timeout(event: &HookEvent) -> Duration {
    Duration::from_millis(match event {
        HookEvent::SessionStart { .. } => 500,
        // The prompt is embedded for the search, perhaps by a provider.
        HookEvent::Prompt { .. } => 2_000,
        HookEvent::FilesTouched { .. }
        | HookEvent::CallFailed { .. }
        | HookEvent::CommandEnded { .. }
        | HookEvent::SessionEnd => 100,
        HookEvent::StepEnded { .. } | HookEvent::Other => 50,
    })
}

/// Reads the message and prints the answer, if any. The exit code is always 0: hosts treat any
/// other as an error, and some stop the agent.
pub(crate) fn run(args: HookArgs) {
    // Agents that we start ourselves, for example to reword memories, must not be observed.
    if environment::started_by_waylore() {
        return;
    }
    // The message of a panic would appear in the host's output.
    std::panic::set_hook(Box::new(|_| {}));
    start_guard_thread();
    // Neither a panic nor `None`, a step that failed, is reported.
    let _ = catch_unwind(|| {
        let mut input = Vec::new();
        std::io::stdin().take(MAX_MESSAGE_BYTES).read_to_end(&mut input).ok()?;
        let message = args.host.parse_message(&input, args.event.as_deref())?;
        handle_message(args.host, &message)
    });
}

/// Ends this process when its time is over, whatever it does then.
fn start_guard_thread() {
    std::thread::spawn(|| {
        #[expect(clippy::disallowed_methods, reason = "this thread limits how long the host waits")]
        let sleep = std::thread::sleep;
        sleep(environment::hook_timeout().unwrap_or(PROCESS_TIMEOUT));
        if HAS_EXTRA_TIME.load(Ordering::Relaxed) {
            sleep(EXTRA_PROCESS_TIMEOUT);
        }
        std::process::exit(0);
    });
}

/// Sends the message to the daemon, or answers in this process if none runs. A message that the daemon
/// did not take goes to the inbox. `None` only means that a step failed; the caller ignores it.
fn handle_message(host: &Host, message: &HookMessage) -> Option<()> {
    let environment = Environment::read().ok()?;
    let timeout = environment::hook_timeout().unwrap_or(daemon_timeout(&message.event));
    HAS_EXTRA_TIME.store(timeout > PROCESS_TIMEOUT, Ordering::Relaxed);
    let request = serve::client::format_hook_request(host.name, message)?;
    let address = serve::DaemonAddress::for_data_dir(&environment.data);
    match serve::client::send_hook_request(&address, &request, timeout) {
        Ok(answer) => {
            print_answer(host, message, answer["text"].as_str());
            // A daemon of an older version steps down for a new one.
            if serve::is_newer(env!("CARGO_PKG_VERSION"), answer["version"].as_str()?) {
                start_daemon_if_wanted(&environment);
            }
        }
        Err(ClientError::NotRunning) => {
            answer_alone(&environment, host, message);
            // Nothing is ever injected at other events, so none of them needs a daemon.
            let needs_daemon = !matches!(message.event, HookEvent::Other);
            let has_started = needs_daemon && start_daemon_if_wanted(&environment);
            // A daemon learns from the ended session; without one, a process of its own does.
            if !has_started && message.event == HookEvent::SessionEnd {
                start_learning(message);
            }
        }
        // It takes the message from the inbox when it is back.
        Err(ClientError::Hanging) => answer_alone(&environment, host, message),
        // The daemon did not answer in time, or failed. It may have journalled the message or not; the
        // journal drops repetitions.
        Err(ClientError::TimedOut | ClientError::Failed(_)) => {
            store_message_in_inbox(&environment, host, message);
        }
    }
    Some(())
}

/// Answers in this process and stores the message in the inbox.
fn answer_alone(environment: &Environment, host: &Host, message: &HookMessage) {
    // No extra time here: this process opens the project and the models first, which may take
    // long, and the host waits for it.
    HAS_EXTRA_TIME.store(false, Ordering::Relaxed);
    // A panic must not keep the message from the inbox.
    let select = AssertUnwindSafe(|| select_text_locally(environment, message));
    // `None` after a panic, too.
    let text = catch_unwind(select).unwrap_or(None);
    print_answer(host, message, text.as_deref());
    store_message_in_inbox(environment, host, message);
}

/// Prints the text in the format of the host; nothing if there is none or if it is too long.
fn print_answer(host: &Host, message: &HookMessage, text: Option<&str>) {
    let Some(text) = text else { return };
    if text.is_empty() || text.len() > MAX_INJECTED_BYTES {
        return;
    }
    let output = Output::with_modes(false, true);
    // Safe although the answer is JSON for most hosts: `print_line` replaces control characters, and
    // strings in JSON contain none, only their escapes.
    output.print_line(&host.render_answer(message, text));
}

/// Stores the events of a message in the inbox, from which the next daemon or `learn` takes them.
/// On a full disk they are lost here; the host's own transcript still has them. Without the key of
/// encrypted data nothing is stored.
fn store_message_in_inbox(environment: &Environment, host: &Host, message: &HookMessage) {
    let key = Settings::load(environment).and_then(|it| it.encryption_key(environment));
    let Ok(key) = key else { return };
    let _ = engine::store_in_inbox(
        &environment.data,
        key.as_ref(),
        environment.home.as_deref(),
        (host, message),
        environment.now,
    );
}

/// Selects the text to inject in this process, as the daemon would.
fn select_text_locally(environment: &Environment, message: &HookMessage) -> Option<String> {
    // Nothing is ever injected at these events.
    if matches!(message.event, HookEvent::Other | HookEvent::SessionEnd) {
        return None;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().ok()?;
    runtime.block_on(async {
        let folder = environment.working_folder(Some(Path::new(&message.cwd)));
        let factory = ProjectFactory::new(environment).ok()?;
        let opened = factory.open(&folder, environment.now, DamageTolerance::None).await.ok()?;
        let mut project = opened.project;
        if project.is_memory_disabled() {
            return None;
        }
        // Fails open like every step: the session's transcript holds the wish, and learning keeps it.
        let kept = project.editor().keep_told(message).await.unwrap_or(None);
        if project.injector().has_search_text(message) {
            // A failure to embed is no reason to inject nothing.
            project.embedding_indexer().embed_new_memories().await;
        }
        // A host that has our hook twice in its settings runs both side by side: the lock lets the second
        // see what the first has shown, so that it adds nothing.
        let _lock = project.injector().lock_session(&message.host_session).ok()?;
        let injection = project.injector().inject(message).await.ok();
        let withheld = injection.as_ref().map(Injection::withheld).unwrap_or_default();
        if !withheld.is_empty() {
            // Fails open, too: the next event finds the same files missing.
            let _ = project.editor().flag_missing_references(&withheld).await;
        }
        engine::join_blocks(kept, injection.and_then(Injection::into_text))
    })
}

/// Starts a process that learns from the ended session, without waiting for it.
fn start_learning(message: &HookMessage) {
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = std::process::Command::new(program);
    command.args(["--quiet", "-C", &message.cwd, "learn", "--wait"]);
    match &message.source {
        // The host itself names the file, wherever it keeps its sessions.
        SessionSource::HostTranscript { path } => _ = command.args(["--trust", "--from", path]),
        // `--from` a database would learn the sessions of other projects. Without it `learn` looks
        // in the places where hosts keep their sessions, and in the journals.
        SessionSource::HostDatabase { .. } | SessionSource::JournalOnly => {}
    }
    // If it fails, the next `waylore learn` finds the session.
    let _ = environment::spawn_detached(&mut command);
}
