//! One file per command: help text, arguments, run, render.

mod answer;
mod ask;
mod backup;
mod chunks;
mod code;
mod completions;
mod config;
mod connect;
mod context;
mod deps;
mod doctor;
mod edit;
mod embed;
mod explain;
mod export;
mod flag;
mod forget;
mod history;
pub(crate) mod hook;
mod impact;
mod import;
mod index;
mod init;
mod learn;
mod licenses;
mod list;
mod maintain;
mod map;
pub(crate) mod mcp;
mod neighbours;
mod path;
mod pin;
mod purge;
mod remember;
mod restore;
mod restore_backup;
mod review;
mod search;
pub(crate) mod serve;
mod shared;
mod show;
mod stats;
mod symbols;
mod undo;
mod watch;

use std::path::PathBuf;

use engine::{Notebook, Project};

use crate::GlobalArgs;
use crate::config::Settings;
use crate::environment::Environment;
use crate::failure;
use crate::output::{Output, format_count};
use crate::project::{DamageTolerance, OpenedProject, ProjectFactory};

/// Commands in the order of the help: store, find, change, revert, transfer, code, maintain.
#[derive(clap::Subcommand, Debug)]
pub(crate) enum CliCommand {
    Init(init::InitArgs),
    Remember(remember::RememberArgs),
    Learn(learn::LearnArgs),
    List(list::ListArgs),
    Search(search::SearchArgs),
    Ask(ask::AskArgs),
    Context(context::ContextArgs),
    Show(show::ShowArgs),
    Explain(explain::ExplainArgs),
    Review(review::ReviewArgs),
    Edit(edit::EditArgs),
    Pin(pin::PinArgs),
    Flag(flag::FlagArgs),
    Forget(forget::ForgetArgs),
    Restore(restore::RestoreArgs),
    History(history::HistoryArgs),
    Undo(undo::UndoArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Purge(purge::PurgeArgs),
    Index(index::IndexArgs),
    Watch(watch::WatchArgs),
    Map(map::MapArgs),
    Impact(impact::ImpactArgs),
    Deps(deps::DepsArgs),
    Neighbours(neighbours::NeighboursArgs),
    Symbols(symbols::SymbolsArgs),
    Chunks(chunks::ChunksArgs),
    Path(path::PathArgs),
    Backup(backup::BackupArgs),
    RestoreBackup(restore_backup::RestoreBackupArgs),
    Maintain(maintain::MaintainArgs),
    Embed(embed::EmbedArgs),
    Doctor(doctor::DoctorArgs),
    Stats(stats::StatsArgs),
    Config(config::ConfigArgs),
    Connect(connect::ConnectArgs),
    Disconnect(connect::DisconnectArgs),
    Serve(serve::ServeArgs),
    #[command(hide = true)]
    Hook(hook::HookArgs),
    Mcp(mcp::McpArgs),
    Completions(completions::CompletionsArgs),
    Licenses(licenses::LicensesArgs),
}

impl CliCommand {
    /// True for repair commands, which run despite damage.
    const fn is_repair(&self) -> bool {
        matches!(self, Self::Doctor(_) | Self::RestoreBackup(_) | Self::Purge(_))
            || self.looks_after_settings()
    }

    /// True if the command reports or corrects wrong settings and must run with them.
    const fn looks_after_settings(&self) -> bool {
        match self {
            Self::Doctor(_) => true,
            Self::Config(args) => !args.changes_encryption(),
            _ => false,
        }
    }

    /// True if the command removes or replaces database files.
    const fn replaces_files(&self) -> bool {
        match self {
            Self::Purge(_) | Self::RestoreBackup(_) => true,
            Self::Config(args) => args.changes_encryption(),
            _ => false,
        }
    }

    /// True if Ctrl-C stops the command cleanly.
    pub(crate) const fn is_stoppable(&self) -> bool {
        matches!(self, Self::Index(_) | Self::Watch(_))
    }

    /// True if the command writes memories, so that a backup may be due.
    const fn changes_memories(&self) -> bool {
        matches!(
            self,
            Self::Remember(_)
                | Self::Edit(_)
                | Self::Pin(_)
                | Self::Flag(_)
                | Self::Forget(_)
                | Self::Restore(_)
                | Self::Undo(_)
                | Self::Import(_)
                | Self::Learn(_)
                | Self::Init(_)
                | Self::Review(_)
                | Self::Map(_)
        )
    }
}

/// Most memories that a command embeds after its output.
const IN_PASSING: usize = 64;

/// Everything a command works with.
pub(crate) struct CommandSession<'a> {
    pub(crate) environment: Environment,
    pub(crate) settings: Settings,
    pub(crate) project: Project,
    /// The working folder, against which relative paths are resolved.
    pub(crate) base: PathBuf,
    pub(crate) output: &'a Output,
}

impl<'a> CommandSession<'a> {
    /// Opens the project. Repair commands tolerate damage.
    async fn open(
        global: &GlobalArgs,
        output: &'a Output,
        command: &CliCommand,
    ) -> anyhow::Result<Self> {
        let environment = Environment::read()?;
        let factory = if command.looks_after_settings() {
            let (mut factory, model_error) = ProjectFactory::with_wrong_settings(&environment);
            // `config` reports wrong models by itself.
            if matches!(command, CliCommand::Doctor(_)) {
                factory.settings.problems.extend(model_error.map(|it| it.to_string()));
            }
            factory
        } else {
            ProjectFactory::new(&environment)?
        };
        let folder = match command {
            CliCommand::Index(args) => args.path.as_deref(),
            _ => None,
        };
        let base = environment.working_folder(folder.or(global.project.as_deref()));
        let tolerance =
            if command.is_repair() { DamageTolerance::Registry } else { DamageTolerance::None };
        let opened = factory.open(&base, environment.now, tolerance).await?;
        let OpenedProject { project: engine, settings, registry_error } = opened;
        if let Some(error) = registry_error {
            output.warn(&format!("the registry of projects cannot be read, so this project is not recognised: {error}"));
            if let Some(hint) = failure::way_out(&error) {
                output.hint(&hint);
            }
        }
        if let Some(recognition) = engine.recognition() {
            output.say(&format!(
                "this is `{}`: {}",
                engine.project_state().name(),
                recognition.why.reading()
            ));
        }
        Ok(Self { environment, settings, project: engine, base, output })
    }

    /// Reports damage found while running; damage turns success into exit code 3.
    fn close(&self, notebooks: &[Notebook], code: u8) -> u8 {
        let complaints = self.project.maintenance().damage_messages(notebooks);
        for complaint in &complaints {
            self.output.warn(complaint);
        }
        if complaints.is_empty() {
            return code;
        }
        self.output.hint("`waylore doctor` checks everything and says what can be repaired");
        3
    }
}

pub(crate) async fn run(
    command: CliCommand,
    global: &GlobalArgs,
    output: &Output,
) -> anyhow::Result<u8> {
    match &command {
        CliCommand::Completions(args) => return completions::run(args, output),
        CliCommand::Licenses(_) => return Ok(licenses::run(output)),
        CliCommand::Connect(args) => return connect::connect_host(args, global, output),
        CliCommand::Disconnect(args) => return connect::disconnect_host(args, global, output),
        _ => {}
    }
    if command.replaces_files() {
        // A daemon with open files would go on using the old ones.
        ::serve::client::stop_daemon(&::serve::DaemonAddress::for_data_dir(
            &Environment::read()?.data,
        ));
    }
    let changes = command.changes_memories();
    let mut session = CommandSession::open(global, output, &command).await?;
    let code = match command {
        CliCommand::Remember(args) => remember::run(args, &mut session).await,
        CliCommand::Init(args) => init::run(args, &mut session).await,
        CliCommand::Review(args) => review::run(args, &mut session).await,
        CliCommand::Learn(args) => learn::run(args, &mut session).await,
        CliCommand::List(args) => list::run(args, &session).await,
        CliCommand::Search(args) => search::run(args, &session).await,
        CliCommand::Ask(args) => ask::run(args, &session).await,
        CliCommand::Context(args) => context::run(args, &session).await,
        CliCommand::Show(args) => show::run(args, &session).await,
        CliCommand::Explain(args) => explain::run(args, &session).await,
        CliCommand::Edit(args) => edit::run(args, &mut session).await,
        CliCommand::Pin(args) => pin::run(args, &mut session).await,
        CliCommand::Flag(args) => flag::run(args, &mut session).await,
        CliCommand::Forget(args) => forget::run(args, &mut session).await,
        CliCommand::Restore(args) => restore::run(args, &mut session).await,
        CliCommand::History(args) => history::run(args, &session).await,
        CliCommand::Undo(args) => undo::run(args, &mut session).await,
        CliCommand::Export(args) => export::run(args, &session).await,
        CliCommand::Import(args) => import::run(args, &mut session).await,
        CliCommand::Purge(args) => return purge::run(args, session).await,
        CliCommand::Index(args) => index::run(args, &mut session).await,
        CliCommand::Watch(args) => watch::run(args, &mut session).await,
        CliCommand::Map(args) => map::run(args, &mut session).await,
        CliCommand::Impact(args) => impact::run(args, &session).await,
        CliCommand::Deps(args) => deps::run(args, &session).await,
        CliCommand::Neighbours(args) => neighbours::run(args, &session).await,
        CliCommand::Symbols(args) => symbols::run(args, &session).await,
        CliCommand::Chunks(args) => chunks::run(&args, &session),
        CliCommand::Path(args) => path::run(args, &session).await,
        CliCommand::Backup(args) => backup::run(args, &session).await,
        // The damaged database was replaced, so earlier findings no longer apply.
        CliCommand::RestoreBackup(args) => return restore_backup::run(args, &mut session),
        CliCommand::Maintain(args) => maintain::run(args, &session).await,
        CliCommand::Embed(args) => embed::run(args, &session).await,
        CliCommand::Doctor(args) => return doctor::run(args, &session).await,
        CliCommand::Stats(args) => stats::run(args, &session).await,
        CliCommand::Config(args) => return config::run(args, session).await,
        CliCommand::Completions(_)
        | CliCommand::Licenses(_)
        | CliCommand::Connect(_)
        | CliCommand::Disconnect(_)
        | CliCommand::Serve(_)
        | CliCommand::Hook(_)
        | CliCommand::Mcp(_) => {
            unreachable!("answered before anything was opened")
        }
    }?;
    let code = session.close(&session.project.notebooks(), code);
    if changes && code == 0 {
        // The output is complete; a failed backup is a warning only.
        let every = session.settings.get_number("backup.every_days");
        if let Err(error) = session.project.maintenance().backup_if_due(every).await {
            output.warn(&format!("the backup failed: {error}"));
        }
        embed_in_passing(&session).await;
    }
    Ok(code)
}

/// Embeds new memories after the output. Failures are warnings, because embedding is retried later.
/// If memory is disabled, no text of the project is sent to a provider.
async fn embed_in_passing(session: &CommandSession<'_>) {
    if session.project.is_memory_disabled() || session.settings.get("embeddings.at_once") == "false"
    {
        return;
    }
    match session.project.embedding_indexer().embed_missing(IN_PASSING).await {
        Ok(it) if it.n_missing > 0 => session.output.hint(&format!(
            "{} no vector of the configured model yet; `waylore embed` computes them",
            format_count(it.n_missing, "memory has", "memories have")
        )),
        Ok(_) => {}
        Err(error) => {
            session.output.warn(&format!(
                "the new memory has no vector and is found by keywords only: {error}"
            ));
            session.output.hint("`waylore embed` computes it later");
        }
    }
}
