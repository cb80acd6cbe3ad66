//! The commands and the MCP server that run in the daemon in place of a process of their own. This crate
//! knows neither: `cli` implements [`CommandService`], and the daemon passes it the open projects.
//!
//! Nothing is done for a caller whose environment does not fit the daemon: it then works alone. A command
//! comes in two steps, so that a caller which loses patience can be sure that nothing was started:
//!
//! ```text
//! → command …   ← ready        checked, nothing is done yet; the caller may still go away
//! → run         ← the output   from here on the caller waits
//! ```

use std::future::Future;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use model::Timestamp;
use serde_json::{Value, json};

use crate::daemon::Daemon;
use crate::os;
use crate::project_pool::ProjectPool;
use crate::wire::{
    CallerFields, CommandReader, CommandRequest, ErrorCode, McpRequest, RequestFailure,
};

/// Stack of a thread that runs a command: that of the main thread on most systems.
const COMMAND_STACK_BYTES: usize = 8 << 20;

/// A command of the command line, as the user typed it.
#[derive(Clone, Debug)]
pub struct CommandCall {
    pub args: Vec<String>,
    /// The working folder of the caller.
    pub folder: PathBuf,
    /// The time of the caller.
    pub now: Timestamp,
    pub reader: CommandReader,
}

/// The facts with which an MCP server starts.
#[derive(Clone, Debug)]
pub struct McpCall {
    /// The folder that the host or the user gave.
    pub folder: Option<PathBuf>,
    pub current_dir: PathBuf,
    pub host_session: Option<String>,
}

/// Both directions of the connection to an MCP client.
pub struct McpConnection {
    pub reader: Box<dyn BufRead + Send>,
    pub writer: Box<dyn Write + Send>,
}

/// A future that stays on its thread.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Runs commands and MCP servers in the daemon.
pub trait CommandService: Send + Sync {
    /// Compares the environment of a caller with that of this process. The error is the reason why the
    /// caller must work alone.
    fn check_environment(&self, environment: &Value) -> Result<(), String>;

    /// Runs a command. An error means that nothing was done and that the caller works alone; errors of the
    /// command itself are part of the result.
    fn run_command(
        &self,
        call: CommandCall,
        projects: ProjectPool,
    ) -> LocalFuture<'_, Result<Value, String>>;

    /// Serves an MCP client until it disconnects.
    fn serve_mcp(
        &self,
        call: McpCall,
        client: McpConnection,
        projects: ProjectPool,
    ) -> LocalFuture<'_, ()>;
}

/// Checks a `command` request. The call is run by [`run_command`].
pub(crate) fn admit_command(
    daemon: &Daemon,
    request: CommandRequest,
) -> Result<CommandCall, RequestFailure> {
    check_caller(daemon, &request.caller)?;
    Ok(CommandCall {
        args: request.args,
        folder: PathBuf::from(request.caller.folder),
        now: Timestamp(request.now),
        reader: request.reader,
    })
}

/// Checks an `mcp` request.
pub(crate) fn admit_mcp(daemon: &Daemon, request: McpRequest) -> Result<McpCall, RequestFailure> {
    check_caller(daemon, &request.caller)?;
    Ok(McpCall {
        folder: request.project.map(PathBuf::from),
        current_dir: PathBuf::from(request.caller.folder),
        host_session: request.host_session,
    })
}

fn check_caller(daemon: &Daemon, caller: &CallerFields) -> Result<(), RequestFailure> {
    let config = &daemon.config;
    let refuse = |what: String| Err(RequestFailure::new(ErrorCode::Refused, what));
    if caller.version != config.version {
        return refuse(format!("this is version {}", config.version));
    }
    if daemon.stop.is_requested() || (config.is_outdated)() {
        return Err(RequestFailure::new(ErrorCode::Stopping, "the daemon is shutting down"));
    }
    let folder = PathBuf::from(&caller.folder);
    if !folder.is_absolute() || os::file_identity(&folder) != caller.folder_identity {
        return refuse(format!("`{}` is another folder for this daemon", caller.folder));
    }
    config.commands.check_environment(&caller.environment).or_else(refuse)
}

/// Runs an admitted command on a thread of its own, because commands read files and wait for them.
pub(crate) async fn run_command(
    daemon: &Arc<Daemon>,
    call: CommandCall,
) -> Result<Value, RequestFailure> {
    if daemon.stop.is_requested() {
        return Err(RequestFailure::new(ErrorCode::Stopping, "the daemon is shutting down"));
    }
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let (service, projects) =
        (Arc::clone(&daemon.config.commands), ProjectPool::new(Arc::clone(daemon)));
    let runtime = tokio::runtime::Handle::current();
    let work = move || {
        // Fails only if the connection was closed meanwhile.
        let _ = sender.send(runtime.block_on(service.run_command(call, projects)));
    };
    let thread = std::thread::Builder::new().stack_size(COMMAND_STACK_BYTES);
    if thread.name("waylore-command".to_owned()).spawn(work).is_err() {
        return Err(RequestFailure::new(ErrorCode::Refused, "no thread could be started"));
    }
    match receiver.await {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(reason)) => Err(RequestFailure::new(ErrorCode::Refused, reason)),
        // The sender was dropped by a panic.
        Err(_) => {
            Err(RequestFailure::new(ErrorCode::Failed, "an internal error ended the command"))
        }
    }
}

/// The answer to an admitted request.
pub(crate) fn ready_json() -> Value {
    json!({ "ready": true })
}
