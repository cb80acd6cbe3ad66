//! Opens a project: the one place where environment, settings and policy meet.
//!
//! Commands, the daemon and the MCP server all open projects here, so they cannot differ in what
//! they allow. The *policy* is what a project lets memory do: whether it is enabled, whether learning may
//! call a text model, and how much is injected into sessions. It follows from the settings of the user (a
//! file and the environment) and those of the project, which are stored in its database. The *registry* is
//! the list of known projects, by which a moved folder is recognised.

use std::path::Path;

use engine::{Config, ModelSet, Project, ProjectPolicy};
use model::Timestamp;

use crate::config::Settings;
use crate::environment::{self, Environment};
use crate::models;

/// Damage that opening a project tolerates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DamageTolerance {
    /// None: any damage is an error.
    None,
    /// Unreadable settings of the project. For the daemon, which reads them again before each piece
    /// of work.
    ProjectSettings,
    /// An unreadable registry as well. For the commands that repair it.
    Registry,
}

/// Everything needed to open projects, read from environment and settings once.
#[derive(Clone)]
pub(crate) struct ProjectFactory {
    pub(crate) config: Config,
    /// The user's settings, without those of any project.
    pub(crate) settings: Settings,
}

/// An open project with its settings.
pub(crate) struct OpenedProject {
    pub(crate) project: Project,
    /// The user's settings with those of the project on top.
    pub(crate) settings: Settings,
    /// The reason why the registry could not be read. The project is then treated as new.
    pub(crate) registry_error: Option<engine::Error>,
}

impl ProjectFactory {
    pub(crate) fn new(environment: &Environment) -> anyhow::Result<Self> {
        let settings = Settings::load(environment)?;
        let key = settings.encryption_key(environment)?;
        let models = models::plan_models(&settings)?.build_models(&settings, environment);
        Ok(Self { config: engine_config(environment, &settings, key, models), settings })
    }

    /// A factory for commands that show or correct the settings. Invalid values and a missing key are
    /// added to `settings.problems` instead of failing. Settings of models that do not fit together are
    /// returned as an error beside the factory, which then has the built-in model: the caller decides
    /// whether to report them.
    pub(crate) fn with_wrong_settings(environment: &Environment) -> (Self, Option<anyhow::Error>) {
        let mut settings = Settings::load_tolerantly(environment);
        let key = settings.encryption_key(environment).unwrap_or_else(|error| {
            settings.problems.push(error.to_string());
            None
        });
        let (models, model_error) = match models::plan_models(&settings) {
            Ok(plan) => (plan.build_models(&settings, environment), None),
            Err(error) => (ModelSet::built_in(), Some(error)),
        };
        (Self { config: engine_config(environment, &settings, key, models), settings }, model_error)
    }

    /// Opens the project of a folder, reads the settings stored for it and sets its policy.
    pub(crate) async fn open(
        &self,
        folder: &Path,
        now: Timestamp,
        tolerance: DamageTolerance,
    ) -> Result<OpenedProject, engine::Error> {
        // Opens despite a damaged registry; whether that is tolerated is decided here.
        let (mut project, registry_error) =
            Project::open_for_repair(self.config.clone(), folder, now).await?;
        let registry_error = match (registry_error, tolerance) {
            (None, _) => None,
            (Some(error), DamageTolerance::Registry) => Some(error),
            (Some(error), DamageTolerance::None | DamageTolerance::ProjectSettings) => {
                return Err(error);
            }
        };
        let stored = match (project.project_settings().await, tolerance) {
            (Ok(stored), _) => stored,
            (Err(error), DamageTolerance::None) => return Err(error),
            // The project then has the settings of the user.
            (Err(_), DamageTolerance::ProjectSettings | DamageTolerance::Registry) => Vec::new(),
        };
        let settings = self.settings.clone().with_project(&stored);
        project.set_policy(settings.project_policy());
        Ok(OpenedProject { project, settings, registry_error })
    }

    /// The policy of a project that has these settings stored, as pairs of key and value.
    pub(crate) fn policy(&self, stored: &[(String, String)]) -> ProjectPolicy {
        self.settings.clone().with_project(stored).project_policy()
    }
}

fn engine_config(
    environment: &Environment,
    settings: &Settings,
    key: Option<engine::EncryptionKey>,
    models: ModelSet,
) -> Config {
    Config {
        data: environment.data.clone(),
        key,
        home: environment.home.clone(),
        types: settings.types.clone(),
        trusted_servers: settings.trusted_servers(),
        models,
        random: environment::random_bytes,
    }
}
