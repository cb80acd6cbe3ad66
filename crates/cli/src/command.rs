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

use engine::{Config, Engine, Key, Notebook};

use crate::Global;
use crate::config::Settings;
use crate::environment::{self, Environment};
use crate::failure;
use crate::models;
use crate::output::{Output, count};

/// In the order of a day: keep, find, change, take back, carry, know the code, look after.
#[derive(clap::Subcommand, Debug)]
pub(crate) enum Command {
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

impl Command {
    /// Whether the command is there to mend: damage does not keep it out.
    const fn mends(&self) -> bool {
        matches!(self, Self::Doctor(_) | Self::RestoreBackup(_) | Self::Purge(_))
            || self.looks_after_settings()
    }

    /// Whether the command says or corrects what is wrong with the settings, so that they need not
    /// be right.
    const fn looks_after_settings(&self) -> bool {
        match self {
            Self::Doctor(_) => true,
            Self::Config(args) => !args.converts(),
            _ => false,
        }
    }

    /// Whether the command takes files away or puts others in their place.
    const fn replaces_files(&self) -> bool {
        match self {
            Self::Purge(_) | Self::RestoreBackup(_) => true,
            Self::Config(args) => args.converts(),
            _ => false,
        }
    }

    /// Whether Ctrl-C ends the command in order.
    pub(crate) const fn is_stoppable(&self) -> bool {
        matches!(self, Self::Index(_) | Self::Watch(_))
    }

    /// Whether the command writes memories, so that a backup may be due afterwards.
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

/// How many memories a command gives their vectors after its answer.
const IN_PASSING: usize = 64;

/// What a command works with.
pub(crate) struct Session<'a> {
    pub(crate) environment: Environment,
    pub(crate) settings: Settings,
    pub(crate) engine: Engine,
    /// The folder the command works in, against which paths of the project are read.
    pub(crate) base: PathBuf,
    pub(crate) output: &'a Output,
}

impl<'a> Session<'a> {
    /// Opens what a command works with. Who comes to mend is let in past damage.
    async fn open(global: &Global, output: &'a Output, command: &Command) -> anyhow::Result<Self> {
        let environment = Environment::read()?;
        let to_mend = command.mends();
        let (mut settings, key) = if command.looks_after_settings() {
            let mut settings = Settings::load_anyway(&environment);
            let key = settings.key(&environment);
            let key = key.unwrap_or_else(|it| {
                settings.problems.push(it.to_string());
                None::<Key>
            });
            (settings, key)
        } else {
            let settings = Settings::load(&environment)?;
            let key = settings.key(&environment)?;
            (settings, key)
        };
        let models = match models::plan(&settings) {
            Ok(plan) => plan.models(),
            Err(error) if command.looks_after_settings() => {
                if matches!(command, Command::Doctor(_)) {
                    settings.problems.push(error.to_string());
                }
                engine::Models::built_in()
            }
            Err(error) => return Err(error),
        };
        let config = Config {
            data: environment.data.clone(),
            key,
            home: environment.home.clone(),
            types: settings.types.clone(),
            models,
            random: environment::random,
        };
        let folder = match command {
            Command::Index(args) => args.path.as_deref(),
            _ => None,
        };
        let base = environment.start(folder.or(global.project.as_deref()));
        let (mut engine, trouble) = Engine::open_anyway(config, &base, environment.now).await?;
        if let Some(trouble) = trouble {
            if !to_mend {
                return Err(trouble.into());
            }
            output.warn(&format!("the registry of projects cannot be read, so this project is not recognised: {trouble}"));
            if let Some(hint) = failure::way_out(&trouble) {
                output.hint(&hint);
            }
        }
        if let Some(recognised) = engine.recognised() {
            output.say(&format!(
                "this is `{}`: {}",
                engine.project().name(),
                recognised.why.reading()
            ));
        }
        let stored = match engine.project_settings().await {
            Err(_) if to_mend => Vec::new(),
            other => other?,
        };
        let settings = settings.with_project(&stored);
        engine.closed = settings.get("memory.enabled") == "false";
        engine.manners = settings.manners();
        Ok(Self { environment, settings, engine, base, output })
    }

    /// Says what damage was met while answering; damage turns success into a finding.
    fn close(&self, notebooks: &[Notebook], code: u8) -> u8 {
        let complaints = self.engine.complaints(notebooks);
        for complaint in &complaints {
            self.output.warn(complaint);
        }
        if complaints.is_empty() {
            return code;
        }
        self.output.hint("`waylore doctor` examines everything and says what can be mended");
        3
    }
}

pub(crate) async fn run(command: Command, global: &Global, output: &Output) -> anyhow::Result<u8> {
    match &command {
        Command::Completions(args) => return completions::run(args, output),
        Command::Licenses(_) => return Ok(licenses::run(output)),
        Command::Connect(args) => return connect::connect(args, global, output),
        Command::Disconnect(args) => return connect::disconnect(args, global, output),
        _ => {}
    }
    if command.replaces_files() {
        // Whoever has them open would go on with what was there before.
        ::serve::client::stop(&::serve::Address::of(&Environment::read()?.data));
    }
    let changes = command.changes_memories();
    let mut session = Session::open(global, output, &command).await?;
    let code = match command {
        Command::Remember(args) => remember::run(args, &mut session).await,
        Command::Init(args) => init::run(args, &mut session).await,
        Command::Review(args) => review::run(args, &mut session).await,
        Command::Learn(args) => learn::run(args, &mut session).await,
        Command::List(args) => list::run(args, &session).await,
        Command::Search(args) => search::run(args, &session).await,
        Command::Ask(args) => ask::run(args, &session).await,
        Command::Context(args) => context::run(args, &session).await,
        Command::Show(args) => show::run(args, &session).await,
        Command::Explain(args) => explain::run(args, &session).await,
        Command::Edit(args) => edit::run(args, &session).await,
        Command::Pin(args) => pin::run(args, &session).await,
        Command::Flag(args) => flag::run(args, &mut session).await,
        Command::Forget(args) => forget::run(args, &session).await,
        Command::Restore(args) => restore::run(args, &session).await,
        Command::History(args) => history::run(args, &session).await,
        Command::Undo(args) => undo::run(args, &session).await,
        Command::Export(args) => export::run(args, &session).await,
        Command::Import(args) => import::run(args, &mut session).await,
        Command::Purge(args) => return purge::run(args, session).await,
        Command::Index(args) => index::run(args, &mut session).await,
        Command::Watch(args) => watch::run(args, &mut session).await,
        Command::Map(args) => map::run(args, &mut session).await,
        Command::Impact(args) => impact::run(args, &session).await,
        Command::Deps(args) => deps::run(args, &session).await,
        Command::Neighbours(args) => neighbours::run(args, &session).await,
        Command::Symbols(args) => symbols::run(args, &session).await,
        Command::Chunks(args) => chunks::run(&args, &session),
        Command::Path(args) => path::run(args, &session).await,
        Command::Backup(args) => backup::run(args, &session).await,
        // What was damaged is no longer there.
        Command::RestoreBackup(args) => return restore_backup::run(args, &mut session),
        Command::Maintain(args) => maintain::run(args, &session).await,
        Command::Embed(args) => embed::run(args, &session).await,
        Command::Doctor(args) => return doctor::run(args, &session).await,
        Command::Stats(args) => stats::run(args, &session).await,
        Command::Config(args) => return config::run(args, session).await,
        Command::Completions(_)
        | Command::Licenses(_)
        | Command::Connect(_)
        | Command::Disconnect(_)
        | Command::Serve(_)
        | Command::Hook(_)
        | Command::Mcp(_) => {
            unreachable!("answered before anything was opened")
        }
    }?;
    let code = session.close(&session.engine.notebooks(), code);
    if changes && code == 0 {
        // The answer is out; a backup that cannot be made now is said, and does not unmake it.
        let every = session.settings.number("backup.every_days");
        if let Err(error) = session.engine.backup_if_due(every).await {
            output.warn(&format!("no backup could be made: {error}"));
        }
        embed_in_passing(&session).await;
    }
    Ok(code)
}

/// Gives what was written its vectors. The answer is out: what cannot be done now is said, and is done
/// later. Where memory is turned off, nothing of the project is sent anywhere.
async fn embed_in_passing(session: &Session<'_>) {
    if session.engine.closed || session.settings.get("embeddings.at_once") == "false" {
        return;
    }
    match session.engine.embed_few(IN_PASSING).await {
        Ok(it) if it.left > 0 => session.output.hint(&format!(
            "{} no vector by the model in use yet; `waylore embed` makes them",
            count(it.left, "memory has", "memories have")
        )),
        Ok(_) => {}
        Err(error) => {
            session.output.warn(&format!("what was written is found by its words alone: {error}"));
            session.output.hint("`waylore embed` makes up for it later");
        }
    }
}
