//! `waylore mcp`: what agents ask by themselves, through the Model Context Protocol.

use std::io::BufReader;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::{Config, Engine, write_private};
use mcp::{HttpConfig, Opening, serve_http, serve_lines};

use crate::config::Settings;
use crate::environment::{self, Environment};
use crate::failure::{self, Failure, Kind};
use crate::output::Output;
use crate::{Global, models};

/// Serve agents through the Model Context Protocol
///
/// On standard input and output, for hosts that start it; with --http for those that connect. The project
/// is that of -C, of CLAUDE_PROJECT_DIR, of the folder the host names, or of the current folder.
#[derive(clap::Args, Debug)]
pub(crate) struct McpArgs {
    /// Serve at this address of this machine instead, path /mcp; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,
}

/// The file in the data folder that holds the token of `--http`.
const TOKEN: &str = "mcp-token";

/// Serves until the host is gone.
pub(crate) fn run(args: &McpArgs, global: &Global, output: &Output) -> anyhow::Result<u8> {
    let environment = Environment::read()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let folder = global.project.clone().or_else(environment::project_dir);
    let config = mcp::Config {
        open: Arc::new(opening),
        now: environment::now,
        random: environment::random,
        folder: folder.map(|it| environment.cwd.join(it)),
        cwd: environment.cwd.clone(),
        // Over HTTP, many conversations share one process.
        host_session: environment::host_session().filter(|_| args.http.is_none()),
    };
    let Some(address) = args.http else {
        let incoming = Box::new(BufReader::new(std::io::stdin()));
        let served = runtime.block_on(serve_lines(config, incoming, Box::new(std::io::stdout())));
        served.map_err(anyhow::Error::msg)?;
        return Ok(0);
    };
    let (token, place) = token(&environment)?;
    let told = Output { json: output.json, quiet: output.quiet };
    let ready = Box::new(move |address: SocketAddr| {
        told.say(&format!("serving at http://{address}/mcp"));
        told.hint(&format!("clients send `Authorization: Bearer …`; the token is in {place}"));
    });
    let served = runtime.block_on(serve_http(config, HttpConfig { address, token, ready }));
    served.map_err(|error| Failure {
        kind: Kind::Usage,
        message: error.to_string(),
        hint: Some("`--http 127.0.0.1:0` takes a free port of this machine".to_owned()),
    })?;
    Ok(0)
}

fn opening(folder: PathBuf) -> Opening {
    Box::pin(async move { open(&folder).await.map_err(|it| failure::told(&it)) })
}

/// Opens the engine as a command would.
async fn open(folder: &Path) -> anyhow::Result<Engine> {
    let environment = Environment::read()?;
    let settings = Settings::load(&environment)?;
    let config = Config {
        data: environment.data.clone(),
        key: settings.key(&environment)?,
        home: environment.home.clone(),
        types: settings.types.clone(),
        models: models::plan(&settings)?.models(),
        random: environment::random,
    };
    let mut engine = Engine::open(config, folder, environment.now).await?;
    let stored = engine.project_settings().await?;
    engine.closed = settings.with_project(&stored).get("memory.enabled") == "false";
    Ok(engine)
}

/// The token clients must show, and where it is: what the person chose, else one made once and kept where
/// only they can read it.
fn token(environment: &Environment) -> anyhow::Result<(String, String)> {
    if let Some(token) = environment::mcp_token() {
        return Ok((token, "WAYLORE_MCP_TOKEN".to_owned()));
    }
    let path = environment.data.join(TOKEN);
    let place = format!("`{}`", path.display());
    match std::fs::read_to_string(&path) {
        Ok(token) => Ok((token.trim().to_owned(), place)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let token = environment::fresh_key();
            write_private(&path, token.as_bytes()).map_err(engine::Error::from)?;
            Ok((token, place))
        }
        Err(error) => Err(Failure {
            kind: Kind::Environment,
            message: format!("the token in {place} cannot be read: {error}"),
            hint: Some("set WAYLORE_MCP_TOKEN, or remove the file to have a new one".to_owned()),
        }
        .into()),
    }
}
