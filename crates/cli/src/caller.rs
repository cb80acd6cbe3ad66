//! The parts of the environment that decide the results of a command: the folders, the settings in
//! variables, the keys of providers, and the settings folders of hosts. A command runs in the daemon only if
//! they are the same there.
//!
//! Values are sent as fingerprints, which are compared and not stored.

use std::collections::{BTreeMap, BTreeSet};

use engine::{HOSTS, SETTINGS};
use model::fingerprint_text;
use serde_json::{Value, json};

use crate::environment::{self, Environment};
use crate::models::{self, ModelPlan};

/// Names of the parts that are not one variable each.
const FOLDERS: &str = "folders";
const HOST_FOLDERS: &str = "host folders";
const OLLAMA_HOST: &str = "OLLAMA_HOST";
/// Settings that decide when a daemon runs, and no result.
const DAEMON_SETTINGS: &str = "serve.";

/// Fingerprints of the parts that are present, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallerEnvironment(BTreeMap<String, String>);

impl CallerEnvironment {
    /// Reads the environment of this process.
    pub(crate) fn read(environment: &Environment) -> Self {
        let mut parts = BTreeMap::new();
        let mut add = |name: &str, value: &str| {
            parts.insert(name.to_owned(), fingerprint_text(value));
        };
        let Environment { home, data, config, .. } = environment;
        add(FOLDERS, &format!("{:?}", (home, data, config)));
        let host_folders: Vec<_> = HOSTS
            .iter()
            .map(|it| it.settings_folder(home.as_deref(), environment::folder_variable))
            .collect();
        add(HOST_FOLDERS, &format!("{host_folders:?}"));
        for setting in SETTINGS.iter().filter(|it| !it.key.starts_with(DAEMON_SETTINGS)) {
            if let Some(value) = environment::setting_variable(setting.key) {
                add(&environment::variable_name(setting.key), &value);
            }
        }
        if let Some(passphrase) = environment::passphrase_variable() {
            add("WAYLORE_PASSPHRASE", &passphrase);
        }
        for name in models::all_key_variables() {
            if let Some(key) = environment::first_set_variable(&[name]) {
                add(name, &key);
            }
        }
        add(OLLAMA_HOST, &environment::ollama_host());
        Self(parts)
    }

    pub(crate) fn to_json(&self) -> Value {
        json!(self.0)
    }

    /// The name of a part in which a caller differs. `plan` tells which keys this process uses: others may
    /// differ.
    pub(crate) fn find_difference(&self, caller: &Value, plan: &ModelPlan) -> Option<String> {
        let Ok(theirs) = serde_json::from_value::<BTreeMap<String, String>>(caller.clone()) else {
            return Some("form".to_owned());
        };
        let is_used = |name: &str| match name {
            OLLAMA_HOST => plan.has_server(),
            _ if models::all_key_variables().any(|it| it == name) => plan.uses_key(name),
            _ => true,
        };
        let names: BTreeSet<&String> = self.0.keys().chain(theirs.keys()).collect();
        let differs = |it: &&&String| is_used(it) && self.0.get(**it) != theirs.get(**it);
        names.iter().find(differs).map(ToString::to_string)
    }
}
