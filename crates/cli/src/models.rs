//! Builds models from settings and keys, in two stages. [`plan_models`] checks the settings at once and
//! offline, and fills in the defaults of the provider. [`ModelPlan::build_models`] returns factories that
//! read keys and contact servers when a model is first needed, so most commands pay nothing.
//!
//! There are three roles: embeddings, reranking, text. A *provider* is the service that the settings name for a
//! role, such as `ollama`; its *API* is the protocol it speaks. `embeddings.provider = "openai"` alone gives the
//! address `https://api.openai.com`, the model `text-embedding-3-small` with 1024 dimensions and the key in
//! `OPENAI_API_KEY`. Without a provider, embeddings come from the built-in model, the other two roles are
//! empty, and nothing leaves the machine.

use std::sync::Arc;

use engine::{
    AgentCli, AgentProgram, BuiltInEmbedder, EmbeddingApi, EmbeddingConfig, EmbeddingSource,
    ModelSet, ProviderEndpoint, ProviderError, ProviderKey, QuestionModel, RerankApi, RerankConfig,
    Reranker, TextApi, TextConfig, TextGenerator, ollama,
};

use DefaultAddress::{Fixed, LocalOllama, NoDefault};
use DefaultModel::{BestInstalled, Named, NotNamed, Only};

use crate::config::Settings;
use crate::environment::{self, Environment};
use crate::failure::usage_error;
use crate::keychain::{self, KeychainEntry};

/// Role of a provider; each has its own settings and key.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelRole {
    /// Vectors for recall by meaning
    Embeddings,
    /// A second look at the best hits
    Rerank,
    /// Text where prose is wanted
    Text,
}

impl ModelRole {
    pub(crate) const ALL: [Self; 3] = [Self::Embeddings, Self::Rerank, Self::Text];

    pub(crate) const fn slug(self) -> &'static str {
        match self {
            Self::Embeddings => "embeddings",
            Self::Rerank => "rerank",
            Self::Text => "text",
        }
    }

    /// The environment variable that takes precedence over the provider's usual one.
    pub(crate) const fn key_variable(self) -> &'static str {
        match self {
            Self::Embeddings => "WAYLORE_EMBEDDINGS_KEY",
            Self::Rerank => "WAYLORE_RERANK_KEY",
            Self::Text => "WAYLORE_TEXT_KEY",
        }
    }
}

/// Default address of a provider.
#[derive(Clone, Copy)]
enum DefaultAddress {
    Fixed(&'static str),
    /// The address in `OLLAMA_HOST`, or this machine.
    LocalOllama,
    /// The user must give an address.
    NoDefault,
}

/// Default model of a provider.
#[derive(Clone, Copy)]
enum DefaultModel {
    Named(&'static str),
    /// The best model of an Ollama server that fits into memory.
    BestInstalled,
    /// The server has a single model and ignores its name; this word is used in messages.
    Only(&'static str),
    /// The user must name a model.
    NotNamed,
}

/// Defaults of a provider, where the settings say nothing.
struct ProviderDefaults {
    address: DefaultAddress,
    model: DefaultModel,
    /// Vector dimensions of the default model; `None` for models without vectors, or if the server decides.
    dims: Option<usize>,
    /// Usual environment variables of its key, which is sent to its default address only. Empty if the
    /// provider needs none.
    key_variables: &'static [&'static str],
}

const OPENAI_ADDRESS: DefaultAddress = Fixed("https://api.openai.com");

#[rustfmt::skip]
const fn embedding_defaults(api: EmbeddingApi) -> ProviderDefaults {
    match api {
        //                              address                            model                            dims        key variables
        EmbeddingApi::Ollama     => row(LocalOllama,                       BestInstalled,                   Some(1024), &[]),
        EmbeddingApi::OpenAi     => row(OPENAI_ADDRESS,                    Named("text-embedding-3-small"), Some(1024), &["OPENAI_API_KEY"]),
        EmbeddingApi::Compatible => row(NoDefault,                         NotNamed,                        None,       &[]),
        EmbeddingApi::Voyage     => row(Fixed("https://api.voyageai.com"), Named("voyage-3.5"),             Some(1024), &["VOYAGE_API_KEY"]),
    }
}

#[rustfmt::skip]
const fn rerank_defaults(api: RerankApi) -> ProviderDefaults {
    match api {
        //                           address                          model                 dims  key variables
        RerankApi::Cohere     => row(Fixed("https://api.cohere.com"), Named("rerank-v3.5"), None, &["COHERE_API_KEY", "CO_API_KEY"]),
        RerankApi::Tei        => row(NoDefault,                       Only("tei"),          None, &[]),
        RerankApi::Compatible => row(NoDefault,                       NotNamed,             None, &[]),
        RerankApi::Ollama     => row(LocalOllama,                     NotNamed,             None, &[]),
    }
}

#[rustfmt::skip]
const fn text_defaults(api: TextApi) -> ProviderDefaults {
    match api {
        //                         address                             model     dims  key variables
        TextApi::Ollama     => row(LocalOllama,                        NotNamed, None, &[]),
        TextApi::OpenAi     => row(OPENAI_ADDRESS,                     NotNamed, None, &["OPENAI_API_KEY"]),
        TextApi::Compatible => row(NoDefault,                          NotNamed, None, &[]),
        TextApi::Anthropic  => row(Fixed("https://api.anthropic.com"), NotNamed, None, &["ANTHROPIC_API_KEY"]),
    }
}

const fn row(
    address: DefaultAddress,
    model: DefaultModel,
    dims: Option<usize>,
    key_variables: &'static [&'static str],
) -> ProviderDefaults {
    ProviderDefaults { address, model, dims, key_variables }
}

/// The environment variables that may hold a key of any provider.
pub(crate) fn all_key_variables() -> impl Iterator<Item = &'static str> {
    let roles = ModelRole::ALL.iter().map(|it| it.key_variable());
    let embeddings = EmbeddingApi::ALL.iter().map(|it| embedding_defaults(*it));
    let rerank = RerankApi::ALL.iter().map(|it| rerank_defaults(*it));
    let text = TextApi::ALL.iter().map(|it| text_defaults(*it));
    let providers = embeddings.chain(rerank).chain(text);
    roles.chain(providers.flat_map(|it| it.key_variables.iter().copied()))
}

/// The configured models, complete and consistent, without keys.
pub(crate) struct ModelPlan {
    /// The last value are the dimensions; `None` if the server decides.
    embeddings: Option<(EmbeddingApi, ModelServer, Option<usize>)>,
    rerank: Option<(RerankApi, ModelServer)>,
    text: Option<(TextApi, ModelServer)>,
}

/// A configured provider, not contacted yet.
#[derive(Clone)]
pub(crate) struct ModelServer {
    pub(crate) role: ModelRole,
    pub(crate) url: String,
    allow_plain_http: bool,
    /// `None`: chosen from the models of the server.
    model: Option<String>,
    /// Environment variables of its key, in order of precedence.
    pub(crate) key_variables: Vec<&'static str>,
    needs_key: bool,
}

/// Reads the settings of all three roles; the error names the one that is missing or wrong.
pub(crate) fn plan_models(settings: &Settings) -> anyhow::Result<ModelPlan> {
    let provider = |role: ModelRole| settings.get(&format!("{}.provider", role.slug()));
    // `built-in` and `none` name no API.
    let embeddings = match EmbeddingApi::from_slug(provider(ModelRole::Embeddings)) {
        None => None,
        Some(api) => {
            let defaults = embedding_defaults(api);
            let server = plan_server(ModelRole::Embeddings, api.slug(), &defaults, settings)?;
            // The default dimensions belong to the default model; another model may not have them.
            let model = settings.get("embeddings.model");
            let is_default_model =
                model.is_empty() || matches!(defaults.model, Named(name) if name == model);
            let default_dims = if is_default_model { defaults.dims } else { None };
            // The setting is empty if the user did not choose, and an empty text is no number.
            let chosen_dims = settings.get("embeddings.dimensions").parse().ok();
            Some((api, server, chosen_dims.or(default_dims)))
        }
    };
    let rerank = match RerankApi::from_slug(provider(ModelRole::Rerank)) {
        None => None,
        Some(api) => {
            let defaults = rerank_defaults(api);
            Some((api, plan_server(ModelRole::Rerank, api.slug(), &defaults, settings)?))
        }
    };
    let text = match TextApi::from_slug(provider(ModelRole::Text)) {
        None => None,
        Some(api) => {
            let defaults = text_defaults(api);
            Some((api, plan_server(ModelRole::Text, api.slug(), &defaults, settings)?))
        }
    };
    Ok(ModelPlan { embeddings, rerank, text })
}

/// Merges the settings of a role with the defaults of its provider.
fn plan_server(
    role: ModelRole,
    provider: &str,
    defaults: &ProviderDefaults,
    settings: &Settings,
) -> anyhow::Result<ModelServer> {
    let setting = |name: &str| settings.get(&format!("{}.{name}", role.slug())).to_owned();
    let missing = |name: &str, example: &str| {
        let key = format!("{}.{name}", role.slug());
        usage_error(
            format!("the provider `{provider}` needs `{key}`"),
            format!("waylore config set {key} {example}"),
        )
    };
    // An empty setting is not set.
    let url = match (setting("url"), defaults.address) {
        (url, _) if !url.is_empty() => url,
        (_, Fixed(address)) => address.to_owned(),
        (_, LocalOllama) => {
            let hint = "correct OLLAMA_HOST, or set the address in the settings";
            let parsed = ollama::parse_host(&environment::ollama_host());
            parsed.map_err(|it| usage_error(it.to_string(), hint))?
        }
        (_, NoDefault) => return Err(missing("url", "http://127.0.0.1:8080")),
    };
    let model = match (setting("model"), defaults.model) {
        (model, _) if !model.is_empty() => Some(model),
        (_, Named(model) | Only(model)) => Some(model.to_owned()),
        (_, BestInstalled) => None,
        (_, NotNamed) => return Err(missing("model", "NAME")),
    };
    // The usual key of a provider is never sent to another server than its own.
    let is_default_address = match defaults.address {
        Fixed(address) => url == address || url.starts_with(&format!("{address}/")),
        LocalOllama | NoDefault => false,
    };
    let usual_variables = if is_default_address { defaults.key_variables } else { &[] };
    let key_variables = [&[role.key_variable()], usual_variables].concat();
    // Only of a provider's own server do we know that it refuses requests without a key.
    let needs_key = !usual_variables.is_empty();
    let allow_plain_http = settings.get("providers.allow_plain_http") == "true";
    let server = ModelServer { role, url, allow_plain_http, model, key_variables, needs_key };
    server.endpoint_without_key().check().map_err(|it| {
        let hint = "`waylore config set providers.allow_plain_http true` allows it, for a network you trust";
        usage_error(format!("{}: {it}", role.slug()), hint)
    })?;
    Ok(server)
}

impl ModelPlan {
    /// True if any provider is configured.
    pub(crate) fn has_server(&self) -> bool {
        ModelRole::ALL.iter().any(|it| self.server(*it).is_some())
    }

    /// True if a configured provider takes its key from this variable.
    pub(crate) fn uses_key(&self, variable: &str) -> bool {
        let mut servers = ModelRole::ALL.iter().filter_map(|it| self.server(*it));
        servers.any(|it| it.key_variables.contains(&variable))
    }

    /// The provider of a role, if one is configured.
    pub(crate) fn server(&self, role: ModelRole) -> Option<&ModelServer> {
        match role {
            ModelRole::Embeddings => self.embeddings.as_ref().map(|(_, server, _)| server),
            ModelRole::Rerank => self.rerank.as_ref().map(|(_, server)| server),
            ModelRole::Text => self.text.as_ref().map(|(_, server)| server),
        }
    }

    /// The models, created on first use. The three blocks differ in the type of the model only.
    pub(crate) fn build_models(self, settings: &Settings, environment: &Environment) -> ModelSet {
        let source = match self.embeddings {
            None => EmbeddingSource::BuiltIn(BuiltInEmbedder::new()),
            Some((api, server, dims)) => EmbeddingSource::Lazy(Arc::new(move || {
                let endpoint = server.resolve_endpoint()?;
                let model = server.resolve_model(&endpoint)?;
                Ok(EmbeddingConfig { api, endpoint, model, dims })
            })),
        };
        let reranker = self.rerank.map(|(api, server)| -> engine::ModelFactory<Reranker> {
            Arc::new(move || {
                let endpoint = server.resolve_endpoint()?;
                let model = server.resolve_model(&endpoint)?;
                Reranker::new(&RerankConfig { api, endpoint, model })
            })
        });
        let generator = self.text.map(|(api, server)| -> engine::ModelFactory<TextGenerator> {
            Arc::new(move || {
                let endpoint = server.resolve_endpoint()?;
                let model = server.resolve_model(&endpoint)?;
                TextGenerator::new(&TextConfig { api, endpoint, model })
            })
        });
        let questions = question_model(settings, environment, generator.clone());
        let models = ModelSet::with_factories(source, reranker, generator);
        match questions {
            Some(factory) => models.with_question_model(factory),
            None => models,
        }
    }
}

/// The model that is asked about sessions (`learn.model`): the text provider, or an agent program of the
/// user.
fn question_model(
    settings: &Settings,
    environment: &Environment,
    generator: Option<engine::ModelFactory<TextGenerator>>,
) -> Option<engine::ModelFactory<QuestionModel>> {
    let Some(program) = AgentProgram::from_slug(settings.get("learn.model")) else {
        if settings.get("learn.model") != "provider" {
            return None;
        }
        let Some(generator) = generator else {
            let what = "`learn.model` is `provider`, but no text provider is set; `waylore config set text.provider …`";
            return Some(Arc::new(move || Err(ProviderError::Config { what: what.to_owned() })));
        };
        return Some(Arc::new(move || generator().map(QuestionModel::Provider)));
    };
    let model = Some(settings.get("learn.model_name").to_owned()).filter(|it| !it.is_empty());
    let folder = engine::ask_folder(&environment.data).join(program.slug());
    Some(Arc::new(move || {
        let Some(path) = environment::find_program(program.slug()) else {
            return Err(ProviderError::Config { what: missing_program(program) });
        };
        let (folder, model) = (folder.clone(), model.clone());
        Ok(QuestionModel::AgentCli(AgentCli { program, path, folder, model }))
    }))
}

fn missing_program(program: AgentProgram) -> String {
    format!("`learn.model` is `{program}`, but there is no program of this name in the PATH")
}

/// The agent program of `learn.model`, if it is chosen and missing.
pub(crate) fn missing_question_program(settings: &Settings) -> Option<String> {
    let program = AgentProgram::from_slug(settings.get("learn.model"))?;
    environment::find_program(program.slug()).is_none().then(|| missing_program(program))
}

impl ModelServer {
    /// The keychain entry of its key.
    pub(crate) fn keychain_entry(&self) -> KeychainEntry<'_> {
        KeychainEntry::Provider { role: self.role.slug(), url: &self.url }
    }

    fn endpoint_without_key(&self) -> ProviderEndpoint {
        let (url, allow_plain_http) = (self.url.clone(), self.allow_plain_http);
        ProviderEndpoint { url, key: None, allow_plain_http }
    }

    /// The endpoint with its key, from the environment or the keychain.
    fn resolve_endpoint(&self) -> Result<ProviderEndpoint, ProviderError> {
        let endpoint = self.endpoint_without_key();
        let mut found = environment::first_set_variable(&self.key_variables);
        // A local server rarely needs a key, and the keychain may prompt the user.
        if found.is_none() && !endpoint.is_local() {
            found = keychain::read(&self.keychain_entry());
        }
        let key = match found {
            Some(text) => Some(ProviderKey::new(text.trim())?),
            None if self.needs_key => return Err(self.missing_key_error()),
            None => None,
        };
        Ok(ProviderEndpoint { key, ..endpoint })
    }

    fn missing_key_error(&self) -> ProviderError {
        let (url, names) = (&self.url, self.key_variables.join(" or "));
        let role = self.role.slug();
        ProviderError::Config {
            what: format!(
                "`{url}` needs a key, and none is set; set {names}, or `waylore config key {role}` stores it in the keychain"
            ),
        }
    }

    /// The name of the model. An open choice (`DefaultModel::BestInstalled`) exists for Ollama only.
    fn resolve_model(&self, endpoint: &ProviderEndpoint) -> Result<String, ProviderError> {
        match &self.model {
            Some(model) => Ok(model.clone()),
            None => best_ollama_model(endpoint),
        }
    }
}

/// The best embedding model of an Ollama server that fits into memory.
fn best_ollama_model(endpoint: &ProviderEndpoint) -> Result<String, ProviderError> {
    let models = ollama::list_models(endpoint)?;
    match ollama::choose_model(&models, environment::free_memory()) {
        Some(chosen) => Ok(chosen.name.clone()),
        None => Err(ProviderError::Config { what: NO_OLLAMA_MODEL.to_owned() }),
    }
}

const NO_OLLAMA_MODEL: &str = "Ollama has no embedding model that fits into the free memory; `ollama pull qwen3-embedding:0.6b` gets a small one, or name another with `embeddings.model`";

/// The model that would be chosen now, if the plan leaves it open and the server answers. Storing it
/// in the settings makes the choice independent of free memory.
pub(crate) fn unfixed_model(plan: &ModelPlan) -> Option<String> {
    let (_, server, _) = plan.embeddings.as_ref()?;
    if server.model.is_some() {
        return None;
    }
    best_ollama_model(&server.resolve_endpoint().ok()?).ok()
}

/// The version of an unconfigured Ollama server on this machine.
pub(crate) fn unused_ollama_version() -> Option<String> {
    let url = ollama::parse_host(&environment::ollama_host()).ok()?;
    let endpoint = ProviderEndpoint { url, key: None, allow_plain_http: false };
    // Only this machine is contacted, because no provider is configured.
    if endpoint.is_local() { ollama::server_version(&endpoint).ok() } else { None }
}
