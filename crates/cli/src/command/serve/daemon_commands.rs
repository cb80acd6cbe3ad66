//! Commands that run in the daemon, for a process that handed them over (see `handover.rs`). They are the same
//! functions, on a project that the daemon has open; their output is recorded and printed by that process.

use std::pin::Pin;
use std::sync::Arc;

use clap::FromArgMatches as _;
use engine::Project;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serve::{
    CommandCall, CommandService, LentProject, LocalFuture, McpCall, McpConnection, ProjectPool,
};

use crate::CliArgs;
use crate::caller::CallerEnvironment;
use crate::command::{CommandContext, run_opened};
use crate::environment::{self, Environment};
use crate::failure;
use crate::models::{self, ModelPlan};
use crate::output::{Output, OutputPiece};
use crate::project::ProjectFactory;
use crate::reader::set_reader_of_thread;

/// The result of a command, sent to the process that handed it over.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CommandResult {
    /// Exit code.
    pub(crate) code: u8,
    pub(crate) output: Vec<OutputPiece>,
}

/// Runs commands with the settings and the environment of the daemon.
pub(super) struct DaemonCommands {
    environment: Environment,
    factory: ProjectFactory,
    own: CallerEnvironment,
    plan: ModelPlan,
}

impl DaemonCommands {
    pub(super) fn new(environment: Environment, factory: ProjectFactory) -> anyhow::Result<Self> {
        let own = CallerEnvironment::read(&environment);
        let plan = models::plan_models(&factory.settings)?;
        Ok(Self { environment, factory, own, plan })
    }

    async fn run(&self, call: CommandCall, projects: ProjectPool) -> Result<CommandResult, String> {
        set_reader_of_thread(call.reader);
        let cli = parse_arguments(&call.args)?;
        let environment =
            Environment { cwd: call.folder, now: call.now, ..self.environment.clone() };
        let base = environment.working_folder(cli.global.project.as_deref());
        let mut lent = projects.lend(&base, call.now).await?;
        lent.require_same_place(&base)?;
        // A process reports the damage that it finds itself, not that which others found before.
        if !lent.project.findings(&lent.project.notebooks()).is_empty() {
            return Err("damage was found in this project".to_owned());
        }
        let settings = self.factory.settings.clone().with_project(&lent.stored_settings);
        lent.project.set_policy(settings.project_policy());
        let output = Output::recorder(&cli.global);
        let project = lent.project.clone();
        let mut command = CommandContext { environment, settings, project, base, output: &output };
        // Once, as for a command that works alone: the first one at the new location stores it.
        if lent.is_newly_opened {
            command.announce_recognition();
        }
        let result = run_opened(cli.command, &mut command).await;
        lent.give_back(&command.project).await;
        let code = result.unwrap_or_else(|error| failure::report_error(&error, &output));
        Ok(CommandResult { code, output: output.take_recording() })
    }
}

impl CommandService for DaemonCommands {
    fn check_environment(&self, environment: &Value) -> Result<(), String> {
        match self.own.find_difference(environment, &self.plan) {
            None => Ok(()),
            Some(part) => Err(format!("the daemon has another environment: {part}")),
        }
    }

    fn run_command(
        &self,
        call: CommandCall,
        projects: ProjectPool,
    ) -> LocalFuture<'_, Result<Value, String>> {
        Box::pin(async move { Ok(json!(Box::pin(self.run(call, projects)).await?)) })
    }

    fn serve_mcp(
        &self,
        call: McpCall,
        client: McpConnection,
        projects: ProjectPool,
    ) -> LocalFuture<'_, ()> {
        let factory = self.factory.clone();
        let open: mcp::ProjectOpener = Arc::new(move |folder| {
            let (factory, projects) = (factory.clone(), projects.clone());
            Box::pin(async move {
                // The exit of the daemon ends the connection, and the relay asks the next server.
                if projects.is_stopping() {
                    std::future::pending::<()>().await;
                }
                let mut lent = projects.lend(&folder, environment::now()).await?;
                lent.project.set_policy(factory.policy(&lent.stored_settings));
                Ok(mcp::OpenedProject::Borrowed(Box::new(ServerProject(lent))))
            })
        });
        let config = mcp::Config {
            open,
            now: environment::now,
            random: environment::random_bytes,
            folder: call.folder,
            current_dir: call.current_dir,
            host_session: call.host_session,
        };
        Box::pin(async move {
            // An error means that the client cannot be served; the connection ends.
            let _ = mcp::serve_lines(config, client.reader, client.writer).await;
        })
    }
}

/// A project of the daemon in a call of an MCP client.
struct ServerProject(LentProject);

impl mcp::BorrowedProject for ServerProject {
    fn project(&mut self) -> &mut Project {
        &mut self.0.project
    }

    fn give_back(self: Box<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move { self.0.give_back(&self.0.project).await })
    }
}

/// Parses the arguments as the process of the user did.
fn parse_arguments(args: &[String]) -> Result<CliArgs, String> {
    let words = std::iter::once("waylore").chain(args.iter().map(String::as_str));
    let matches = crate::command_tree().try_get_matches_from(words);
    let cli = matches.and_then(|it| CliArgs::from_arg_matches(&it)).map_err(|it| it.to_string())?;
    if cli.command.runs_in_daemon() { Ok(cli) } else { Err("this command works alone".to_owned()) }
}
