//! `waylore mcp`: the server for the Model Context Protocol, by which an agent calls our tools. The server itself
//! is the crate `mcp`; this file gives it the folder, the clock and the function that opens a project. It talks
//! to one client over standard input and output, or with `--http` to many, which must send a token.
//!
//! Over standard input and output the daemon is the server, if it can be: see `mcp/relay.rs`.

mod client_session;
mod relay;

use std::io::BufReader;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::{Project, write_private_file};
use mcp::{HttpConfig, LineReader, LineWriter, OpenFuture, OpenedProject, serve_http, serve_lines};
use relay::{Relay, RelayConfig};
use serve::wire::McpRequest;

use super::handover::caller_fields;
use crate::GlobalArgs;
use crate::environment::{self, Environment};
use crate::failure::{self, CliFailure, FailureKind};
use crate::output::Output;
use crate::project::{DamageTolerance, ProjectFactory};

/// Run the server for the Model Context Protocol
///
/// On standard input and output for hosts that start it; with --http for clients that connect. The project is given by
/// -C, CLAUDE_PROJECT_DIR, the roots of the client, or the current folder.
#[derive(clap::Args, Debug)]
pub(crate) struct McpArgs {
    /// Serve HTTP at this loopback address, path /mcp; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,
}

/// The file in the data folder that holds the token of `--http`.
const TOKEN_FILE: &str = "mcp-token";

/// Serves until the client disconnects.
pub(crate) fn run(args: &McpArgs, global: &GlobalArgs, output: &Output) -> anyhow::Result<u8> {
    // An agent that we ask a question needs no tools, and is not observed.
    if environment::started_by_waylore() {
        return Ok(0);
    }
    let environment = Environment::read()?;
    // `None`: the server takes the roots that the client names, or else `current_dir`.
    let folder = global.project.clone().or_else(environment::project_dir);
    let folder = folder.map(|it| environment.cwd.join(it));
    let Some(address) = args.http else {
        return serve_standard_streams(environment, folder);
    };
    let config = server_config(&environment, folder, None);
    let (token, token_location) = http_token(&environment)?;
    // The callback outlives the borrowed output.
    let owned_output = Output::with_modes(output.json, output.quiet);
    let ready = Box::new(move |address: SocketAddr| {
        owned_output.say(&format!("serving at http://{address}/mcp"));
        let hint = "clients send `Authorization: Bearer …`; the token is in";
        owned_output.hint(&format!("{hint} {token_location}"));
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(serve_http(config, HttpConfig { address, token, ready }));
    served.map_err(|error| CliFailure {
        kind: FailureKind::Usage,
        message: error.to_string(),
        hint: Some("`--http 127.0.0.1:0` picks a free port".to_owned()),
    })?;
    Ok(0)
}

/// Serves standard input and output: through the daemon, as long as there is one, or in this process.
fn serve_standard_streams(environment: Environment, folder: Option<PathBuf>) -> anyhow::Result<u8> {
    let host_session = environment::host_session();
    let config = server_config(&environment, folder.clone(), host_session.clone());
    let (incoming, outgoing): (LineReader, LineWriter) =
        match connect_relay(environment, folder, host_session) {
            None => (Box::new(BufReader::new(std::io::stdin())), Box::new(std::io::stdout())),
            Some(relay) => match relay.run() {
                None => return Ok(0),
                Some(takeover) => takeover.into_streams(),
            },
        };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve_lines(config, incoming, outgoing)).map_err(anyhow::Error::msg)?;
    Ok(0)
}

/// A relay to the daemon; `None` if this process must be the server.
fn connect_relay(
    environment: Environment,
    folder: Option<PathBuf>,
    host_session: Option<String>,
) -> Option<Relay> {
    if environment::is_daemon_off() {
        return None;
    }
    let project = match folder {
        Some(folder) => Some(folder.to_str()?.to_owned()),
        None => None,
    };
    let caller = caller_fields(&environment)?;
    let request = McpRequest { caller, project, host_session };
    Relay::connect(RelayConfig { environment, request })
}

/// The configuration of a server in this process.
fn server_config(
    environment: &Environment,
    folder: Option<PathBuf>,
    host_session: Option<String>,
) -> mcp::Config {
    mcp::Config {
        open: Arc::new(open_for_server),
        now: environment::now,
        random: environment::random_bytes,
        folder,
        current_dir: environment.cwd.clone(),
        // Over HTTP many sessions share the process, so none of them can be the one of the environment.
        host_session,
    }
}

/// Opens the project when the server needs it. The environment is read again, because the server may
/// have been running for long.
fn open_for_server(folder: PathBuf) -> OpenFuture {
    Box::pin(async move {
        let opened = match Environment::read() {
            Ok(environment) => open_with_policy(&environment, &folder).await,
            Err(error) => Err(error),
        };
        let owned = opened.map(|it| OpenedProject::Owned(Box::new(it)));
        owned.map_err(|it| failure::format_error(&it))
    })
}

/// Opens the project of a folder as a command would, with its policy.
async fn open_with_policy(environment: &Environment, folder: &Path) -> anyhow::Result<Project> {
    let factory = ProjectFactory::new(environment)?;
    Ok(factory.open(folder, environment.now, DamageTolerance::None).await?.project)
}

/// The HTTP token and its location: from the environment, or created once in a private file.
fn http_token(environment: &Environment) -> anyhow::Result<(String, String)> {
    if let Some(token) = environment::mcp_token() {
        return Ok((token, "WAYLORE_MCP_TOKEN".to_owned()));
    }
    let path = environment.data.join(TOKEN_FILE);
    let location = format!("`{}`", path.display());
    match std::fs::read_to_string(&path) {
        Ok(token) => Ok((token.trim().to_owned(), location)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let token = environment::random_key();
            write_private_file(&path, token.as_bytes()).map_err(engine::Error::from)?;
            Ok((token, location))
        }
        Err(error) => Err(CliFailure {
            kind: FailureKind::Environment,
            message: format!("the token in {location} cannot be read: {error}"),
            hint: Some("set WAYLORE_MCP_TOKEN, or remove the file to have a new one".to_owned()),
        }
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use engine::MemoryState;
    use model::TrustLevel;

    use super::*;

    #[test]
    fn a_server_follows_the_policy_of_its_project() {
        let dir = tempfile::tempdir().unwrap();
        let folder_in_dir = |name: &str| dir.path().join(name);
        let environment = Environment {
            home: Some(dir.path().to_owned()),
            data: folder_in_dir("data"),
            config: folder_in_dir("config"),
            cwd: folder_in_dir("shop"),
            now: model::Timestamp(1_700_000_000_000),
        };
        let folder = environment.cwd.clone();
        std::fs::create_dir(&folder).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut project = open_with_policy(&environment, &folder).await.unwrap();
            assert_eq!(project.policy.injection.level, TrustLevel::Standard);
            assert!(!project.policy.injection.on_trial);
            // The settings of the project, stored in its notebook, apply from the next opening on.
            for (key, value) in [
                ("trust.level", "cautious"),
                ("trial.enabled", "true"),
                ("memory.enabled", "false"),
            ] {
                project.set_setting(key, Some(value)).await.unwrap();
            }
            let project = open_with_policy(&environment, &folder).await.unwrap();
            assert_eq!(project.policy.injection.level, TrustLevel::Cautious);
            assert!(project.policy.injection.on_trial);
            assert_eq!(project.policy.memory, MemoryState::Disabled);
        });
    }
}
