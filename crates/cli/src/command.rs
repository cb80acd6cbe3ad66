//! The commands, one file each: help text, arguments, `run`, output. [`run`] opens the project, runs the
//! command, and reports damage of the databases that was found meanwhile.
//!
//! A project has up to two *notebooks*, databases of memories: its own, and that of the user, which applies
//! to all projects. The *registry* is the list of known projects.

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
mod grouped_help;
pub(crate) mod handover;
mod history;
pub(crate) mod hook;
mod impact;
mod import;
mod index;
mod init;
mod injections;
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
mod query_output;
mod remember;
mod restore;
mod restore_backup;
mod review;
mod search;
pub(crate) mod serve;
mod session_report;
mod shared;
mod show;
mod stats;
mod symbols;
mod undo;
mod version;
mod watch;

pub(crate) use grouped_help::with_grouped_help;

use std::path::PathBuf;

use engine::{Notebook, Project};

use crate::GlobalArgs;
use crate::config::Settings;
use crate::environment::Environment;
use crate::failure::{self, FailureKind};
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
    Injections(injections::InjectionsArgs),
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
    Version(version::VersionArgs),
}

impl CliCommand {
    // The catch-all arms below are for the ordinary commands: they need valid settings and intact data,
    // and leave the database files in place.

    /// True for repair commands, which run although the registry or the settings are damaged.
    const fn is_repair(&self) -> bool {
        match self {
            Self::Doctor(_) | Self::RestoreBackup(_) | Self::Purge(_) => true,
            // Wrong settings can be corrected despite damage, but damaged data must not be converted.
            Self::Config(args) => !args.changes_encryption(),
            _ => false,
        }
    }

    /// True if the command reports or corrects wrong settings and must run with them.
    const fn handles_wrong_settings(&self) -> bool {
        match self {
            Self::Doctor(_) => true,
            // To convert the data, the key must be known, and the settings name it.
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

    /// True if a running daemon can run the command: questions about memories and code, and short changes of
    /// a notebook. All others read the terminal or standard input, work for long, replace or write files, or
    /// need no project.
    pub(crate) fn runs_in_daemon(&self) -> bool {
        match self {
            Self::Remember(args) => !args.reads_input(),
            Self::Search(args) => !args.reads_input(),
            Self::Ask(args) => !args.reads_input(),
            Self::Context(args) => !args.reads_input(),
            Self::Edit(args) => !args.reads_input(),
            Self::Map(args) => !args.changes_map(),
            Self::List(_)
            | Self::Show(_)
            | Self::Explain(_)
            | Self::Pin(_)
            | Self::Flag(_)
            | Self::Forget(_)
            | Self::Restore(_)
            | Self::History(_)
            | Self::Injections(_)
            | Self::Undo(_)
            | Self::Impact(_)
            | Self::Deps(_)
            | Self::Neighbours(_)
            | Self::Symbols(_)
            | Self::Path(_)
            | Self::Stats(_) => true,
            Self::Init(_)
            | Self::Learn(_)
            | Self::Review(_)
            | Self::Export(_)
            | Self::Import(_)
            | Self::Purge(_)
            | Self::Index(_)
            | Self::Watch(_)
            | Self::Chunks(_)
            | Self::Backup(_)
            | Self::RestoreBackup(_)
            | Self::Maintain(_)
            | Self::Embed(_)
            | Self::Doctor(_)
            | Self::Config(_)
            | Self::Connect(_)
            | Self::Disconnect(_)
            | Self::Serve(_)
            | Self::Hook(_)
            | Self::Mcp(_)
            | Self::Completions(_)
            | Self::Licenses(_)
            | Self::Version(_) => false,
        }
    }

    /// True if running the command once more does no harm: it changes no memory, or has an idempotency key.
    pub(crate) fn is_repeatable(&self) -> bool {
        match self {
            Self::Remember(args) => args.has_key(),
            _ => !self.changes_memories(),
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

/// Most memories for which a command computes vectors after its output, while the user waits for the
/// prompt. `waylore embed` computes the others.
const MAX_EMBEDDED_AFTER_OUTPUT: usize = 64;

/// Everything a command works with. The parameter of the commands is called `command`.
pub(crate) struct CommandContext<'a> {
    pub(crate) environment: Environment,
    pub(crate) settings: Settings,
    pub(crate) project: Project,
    /// The working folder, against which relative paths are resolved.
    pub(crate) base: PathBuf,
    pub(crate) output: &'a Output,
}

impl<'a> CommandContext<'a> {
    /// Reads environment and settings and opens the project. Repair commands tolerate damage.
    async fn open(
        global: &GlobalArgs,
        output: &'a Output,
        subcommand: &CliCommand,
    ) -> anyhow::Result<Self> {
        let environment = Environment::read()?;
        let factory = if subcommand.handles_wrong_settings() {
            let (mut factory, model_error) = ProjectFactory::with_wrong_settings(&environment);
            // `doctor` reports wrong models with the other problems. `config` checks the models itself,
            // where it needs them.
            if matches!(subcommand, CliCommand::Doctor(_)) {
                factory.settings.problems.extend(model_error.map(|it| it.to_string()));
            }
            factory
        } else {
            ProjectFactory::new(&environment)?
        };
        // `index DIR` is the only command with a folder of its own.
        let folder = match subcommand {
            CliCommand::Index(args) => args.path.as_deref(),
            _ => None,
        };
        let base = environment.working_folder(folder.or(global.project.as_deref()));
        let tolerance =
            if subcommand.is_repair() { DamageTolerance::Registry } else { DamageTolerance::None };
        let opened = factory.open(&base, environment.now, tolerance).await?;
        let OpenedProject { project, settings, registry_error } = opened;
        // Only for repair commands, which go on without the registry.
        if let Some(error) = registry_error {
            output.warn(&format!("the registry of projects cannot be read, so this project is not recognised: {error}"));
            if let Some(hint) = failure::engine_hint(&error) {
                output.hint(&hint);
            }
        }
        let res = Self { environment, settings, project, base, output };
        res.announce_recognition();
        Ok(res)
    }

    /// Names the project that the folder was recognised as, if it has moved or is a clone.
    pub(crate) fn announce_recognition(&self) {
        if let Some(recognition) = self.project.recognition() {
            self.output.say(&format!(
                "this is `{}`: {}",
                self.project.project_state().name(),
                recognition.why.reading()
            ));
        }
    }

    /// Reports damage found while running; damage turns any exit code into 3.
    fn close(&self, notebooks: &[Notebook], code: u8) -> u8 {
        let messages = self.project.maintenance().damage_messages(notebooks);
        for message in &messages {
            self.output.warn(message);
        }
        if messages.is_empty() {
            return code;
        }
        self.output.hint("`waylore doctor` checks everything and says what can be repaired");
        FailureKind::Environment as u8
    }
}

/// Runs a command and returns its exit code. `purge` and `config` take the context by value, because they
/// close and replace its databases; nothing is left to check after them.
pub(crate) async fn run(
    subcommand: CliCommand,
    global: &GlobalArgs,
    output: &Output,
) -> anyhow::Result<u8> {
    // Commands without a project.
    match &subcommand {
        CliCommand::Completions(args) => return completions::run(args, output),
        CliCommand::Licenses(_) => return Ok(licenses::run(output)),
        CliCommand::Version(_) => return Ok(version::run(output)),
        CliCommand::Connect(args) => return connect::connect_host(args, global, output),
        CliCommand::Disconnect(args) => return connect::disconnect_host(args, global, output),
        _ => {}
    }
    if subcommand.replaces_files() {
        // A daemon with open files would go on using the old ones. `::serve` is the crate with the daemon,
        // `serve` the command of that name.
        let data_dir = Environment::read()?.data;
        ::serve::client::stop_daemon(&::serve::DaemonAddress::for_data_dir(&data_dir));
    }
    let mut command = CommandContext::open(global, output, &subcommand).await?;
    match subcommand {
        CliCommand::Purge(args) => purge::run(args, command).await,
        CliCommand::Config(args) => config::run(args, command).await,
        // The damaged database was replaced, so earlier findings no longer apply.
        CliCommand::RestoreBackup(args) => restore_backup::run(args, &mut command),
        // Reports damage itself.
        CliCommand::Doctor(args) => doctor::run(args, &command).await,
        subcommand => {
            let code = run_opened(subcommand, &mut command).await?;
            // Also by commands that only read, where they can write: they may have read the whole index. The
            // output is complete, and a failure costs only time, at the next command. The daemon saves
            // snapshots in the background.
            let _ = command.project.embedding_indexer().save_index_snapshots().await;
            Ok(code)
        }
    }
}

/// Runs an ordinary command on an open project, in this process or in the daemon, and what follows it: the
/// report of damage, the backup and the vectors of new memories.
pub(crate) async fn run_opened(
    subcommand: CliCommand,
    command: &mut CommandContext<'_>,
) -> anyhow::Result<u8> {
    let changes_memories = subcommand.changes_memories();
    let code = run_subcommand(subcommand, command).await?;
    let code = command.close(&command.project.notebooks(), code);
    if changes_memories && code == 0 {
        // The output is complete; a failed backup is a warning only.
        let every_days = command.settings.get_number("backup.every_days");
        if let Err(error) = command.project.maintenance().backup_if_due(every_days).await {
            command.output.warn(&format!("the backup failed: {error}"));
        }
        embed_after_output(command).await;
    }
    Ok(code)
}

async fn run_subcommand(
    subcommand: CliCommand,
    command: &mut CommandContext<'_>,
) -> anyhow::Result<u8> {
    match subcommand {
        CliCommand::Remember(args) => remember::run(args, command).await,
        CliCommand::Init(args) => init::run(args, command).await,
        CliCommand::Review(args) => review::run(args, command).await,
        CliCommand::Learn(args) => learn::run(args, command).await,
        CliCommand::List(args) => list::run(args, command).await,
        CliCommand::Search(args) => search::run(args, command).await,
        CliCommand::Ask(args) => ask::run(args, command).await,
        CliCommand::Context(args) => context::run(args, command).await,
        CliCommand::Show(args) => show::run(args, command).await,
        CliCommand::Explain(args) => explain::run(args, command).await,
        CliCommand::Edit(args) => edit::run(args, command).await,
        CliCommand::Pin(args) => pin::run(args, command).await,
        CliCommand::Flag(args) => flag::run(args, command).await,
        CliCommand::Forget(args) => forget::run(args, command).await,
        CliCommand::Restore(args) => restore::run(args, command).await,
        CliCommand::History(args) => history::run(args, command).await,
        CliCommand::Injections(args) => injections::run(args, command).await,
        CliCommand::Undo(args) => undo::run(args, command).await,
        CliCommand::Export(args) => export::run(args, command).await,
        CliCommand::Import(args) => import::run(args, command).await,
        CliCommand::Index(args) => index::run(args, command).await,
        CliCommand::Watch(args) => watch::run(args, command).await,
        CliCommand::Map(args) => map::run(args, command).await,
        CliCommand::Impact(args) => impact::run(args, command).await,
        CliCommand::Deps(args) => deps::run(args, command).await,
        CliCommand::Neighbours(args) => neighbours::run(args, command).await,
        CliCommand::Symbols(args) => symbols::run(args, command).await,
        CliCommand::Chunks(args) => chunks::run(&args, command),
        CliCommand::Path(args) => path::run(args, command).await,
        CliCommand::Backup(args) => backup::run(args, command).await,
        CliCommand::Maintain(args) => maintain::run(args, command).await,
        CliCommand::Embed(args) => embed::run(args, command).await,
        CliCommand::Stats(args) => stats::run(args, command).await,
        CliCommand::Purge(_)
        | CliCommand::Config(_)
        | CliCommand::RestoreBackup(_)
        | CliCommand::Doctor(_)
        | CliCommand::Completions(_)
        | CliCommand::Licenses(_)
        | CliCommand::Version(_)
        | CliCommand::Connect(_)
        | CliCommand::Disconnect(_)
        | CliCommand::Serve(_)
        | CliCommand::Hook(_)
        | CliCommand::Mcp(_) => {
            unreachable!("`run` answers these")
        }
    }
}

/// Embeds new memories after the output. Failures are warnings, because embedding is retried later.
/// If memory is disabled, no text of the project is sent to a provider.
async fn embed_after_output(command: &CommandContext<'_>) {
    if command.project.is_memory_disabled() || command.settings.get("embeddings.at_once") == "false"
    {
        return;
    }
    match command.project.embedding_indexer().embed_missing(MAX_EMBEDDED_AFTER_OUTPUT).await {
        Ok(it) if it.n_missing > 0 => command.output.hint(&format!(
            "{} no vector of the configured model yet; `waylore embed` computes them",
            format_count(it.n_missing, "memory has", "memories have")
        )),
        Ok(_) => {}
        Err(error) => {
            command.output.warn(&format!(
                "the new memory has no vector and is found by keywords only: {error}"
            ));
            command.output.hint("`waylore embed` computes it later");
        }
    }
}
