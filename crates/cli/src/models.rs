//! Builds models from settings and keys. Settings are checked at once and offline; keys and servers
//! are accessed when a model is first needed, so most commands pay nothing.
//!
//! Without a configured provider, the built-in model is used and nothing leaves the machine.

use std::sync::Arc;

use engine::{
    BuiltInEmbedder, EmbeddingApi, EmbeddingConfig, EmbeddingSource, ModelSet, ProviderEndpoint,
    ProviderError, ProviderKey, RerankApi, RerankConfig, Reranker, TextApi, TextConfig,
    TextGenerator, ollama,
};

use crate::config::Settings;
use crate::environment;
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
enum ServerHome {
    At(&'static str),
    /// The address in `OLLAMA_HOST`, or this machine.
    Ollama,
    Unknown,
}

/// Default model of a provider.
#[derive(Clone, Copy)]
enum ModelChoice {
    Named(&'static str),
    /// The best model of an Ollama server that fits into memory.
    Best,
    /// The server has a single model without a name; this word is used in messages.
    Only(&'static str),
    Unknown,
}

struct ProviderDefaults {
    home: ServerHome,
    model: ModelChoice,
    /// Dimensions of that model.
    dims: Option<usize>,
    /// Usual environment variables of its key, which is sent to its own address only.
    keys: &'static [&'static str],
}

const fn default_server(
    home: ServerHome,
    model: ModelChoice,
    dims: Option<usize>,
    keys: &'static [&'static str],
) -> ProviderDefaults {
    ProviderDefaults { home, model, dims, keys }
}

const OPENAI_HOME: ServerHome = ServerHome::At("https://api.openai.com");

#[rustfmt::skip]
const fn usual_embeddings(api: EmbeddingApi) -> ProviderDefaults {
    match api {
        //                                home                                   model                                    dims        keys
        EmbeddingApi::Ollama     => default_server(ServerHome::Ollama,                          ModelChoice::Best,                             Some(1024), &[]),
        EmbeddingApi::OpenAi     => default_server(OPENAI_HOME,                                ModelChoice::Named("text-embedding-3-small"),  Some(1024), &["OPENAI_API_KEY"]),
        EmbeddingApi::Compatible => default_server(ServerHome::Unknown,                         ModelChoice::Unknown,                          None,       &[]),
        EmbeddingApi::Voyage     => default_server(ServerHome::At("https://api.voyageai.com"),  ModelChoice::Named("voyage-3.5"),              Some(1024), &["VOYAGE_API_KEY"]),
    }
}

#[rustfmt::skip]
const fn usual_rerank(api: RerankApi) -> ProviderDefaults {
    match api {
        //                             home                                 model                         dims  keys
        RerankApi::Cohere     => default_server(ServerHome::At("https://api.cohere.com"),  ModelChoice::Named("rerank-v3.5"),  None, &["COHERE_API_KEY", "CO_API_KEY"]),
        RerankApi::Tei        => default_server(ServerHome::Unknown,                       ModelChoice::Only("tei"),           None, &[]),
        RerankApi::Compatible => default_server(ServerHome::Unknown,                       ModelChoice::Unknown,               None, &[]),
        RerankApi::Ollama     => default_server(ServerHome::Ollama,                        ModelChoice::Unknown,               None, &[]),
    }
}

#[rustfmt::skip]
const fn usual_text(api: TextApi) -> ProviderDefaults {
    match api {
        //                           home                                    model           dims  keys
        TextApi::Ollama     => default_server(ServerHome::Ollama,                           ModelChoice::Unknown, None, &[]),
        TextApi::OpenAi     => default_server(OPENAI_HOME,                                 ModelChoice::Unknown, None, &["OPENAI_API_KEY"]),
        TextApi::Compatible => default_server(ServerHome::Unknown,                          ModelChoice::Unknown, None, &[]),
        TextApi::Anthropic  => default_server(ServerHome::At("https://api.anthropic.com"),  ModelChoice::Unknown, None, &["ANTHROPIC_API_KEY"]),
    }
}

/// The configured models, complete and consistent, without keys.
pub(crate) struct ModelPlan {
    vectors: Option<(EmbeddingApi, ModelServer, Option<usize>)>,
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
    pub(crate) variables: Vec<&'static str>,
    needs_key: bool,
}

/// Reads the settings of all three roles; the error names the one that is missing or wrong.
pub(crate) fn plan_models(settings: &Settings) -> anyhow::Result<ModelPlan> {
    let provider = |role: ModelRole| settings.get(&format!("{}.provider", role.slug()));
    let vectors = match EmbeddingApi::from_slug(provider(ModelRole::Embeddings)) {
        None => None,
        Some(api) => {
            let usual = usual_embeddings(api);
            let named = settings.get("embeddings.model");
            let own =
                matches!(usual.model, ModelChoice::Named(it) if it == named) || named.is_empty();
            let dims = settings.get("embeddings.dimensions").parse().ok();
            let dims = dims.or(usual.dims.filter(|_| own));
            Some((api, server(ModelRole::Embeddings, api.slug(), &usual, settings)?, dims))
        }
    };
    let rerank = RerankApi::from_slug(provider(ModelRole::Rerank))
        .map(|it| Ok((it, server(ModelRole::Rerank, it.slug(), &usual_rerank(it), settings)?)))
        .transpose();
    let text = TextApi::from_slug(provider(ModelRole::Text))
        .map(|it| Ok((it, server(ModelRole::Text, it.slug(), &usual_text(it), settings)?)))
        .transpose();
    let (rerank, text): (anyhow::Result<_>, anyhow::Result<_>) = (rerank, text);
    Ok(ModelPlan { vectors, rerank: rerank?, text: text? })
}

fn server(
    role: ModelRole,
    provider: &str,
    usual: &ProviderDefaults,
    settings: &Settings,
) -> anyhow::Result<ModelServer> {
    let said = |what: &str| settings.get(&format!("{}.{what}", role.slug())).to_owned();
    let missing = |what: &str, example: &str| {
        let key = format!("{}.{what}", role.slug());
        usage_error(
            format!("the provider `{provider}` needs `{key}`"),
            format!("waylore config set {key} {example}"),
        )
    };
    let (url, own) = match (said("url"), usual.home) {
        (url, ServerHome::At(own)) => {
            let at_home = url.is_empty() || url == own || url.starts_with(&format!("{own}/"));
            (if url.is_empty() { own.to_owned() } else { url }, at_home)
        }
        (url, _) if !url.is_empty() => (url, false),
        (_, ServerHome::Ollama) => {
            let hint = "correct OLLAMA_HOST, or set the address in the settings";
            let parsed = ollama::parse_host(&environment::ollama_host());
            (parsed.map_err(|it| usage_error(it.to_string(), hint))?, false)
        }
        (_, ServerHome::Unknown) => return Err(missing("url", "http://127.0.0.1:8080")),
    };
    let model = match (said("model"), usual.model) {
        (model, _) if !model.is_empty() => Some(model),
        (_, ModelChoice::Named(it) | ModelChoice::Only(it)) => Some(it.to_owned()),
        (_, ModelChoice::Best) => None,
        (_, ModelChoice::Unknown) => return Err(missing("model", "NAME")),
    };
    let allow_plain_http = settings.get("providers.allow_plain_http") == "true";
    let usual_keys = if own { usual.keys } else { &[] };
    let variables = [&[role.key_variable()], usual_keys].concat();
    let needs_key = !usual_keys.is_empty();
    let res = ModelServer { role, url, allow_plain_http, model, variables, needs_key };
    let hint =
        "`waylore config set providers.allow_plain_http true` allows it, for a network you trust";
    res.without_key().check().map_err(|it| usage_error(format!("{}: {it}", role.slug()), hint))?;
    Ok(res)
}

impl ModelPlan {
    pub(crate) fn server(&self, role: ModelRole) -> Option<&ModelServer> {
        match role {
            ModelRole::Embeddings => self.vectors.as_ref().map(|it| &it.1),
            ModelRole::Rerank => self.rerank.as_ref().map(|it| &it.1),
            ModelRole::Text => self.text.as_ref().map(|it| &it.1),
        }
    }

    /// The models, created on first use.
    pub(crate) fn build_models(self) -> ModelSet {
        let source = match self.vectors {
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
        ModelSet::with_factories(source, reranker, generator)
    }
}

impl ModelServer {
    /// The keychain entry of its key.
    pub(crate) fn keychain_entry(&self) -> KeychainEntry<'_> {
        KeychainEntry::Provider { role: self.role.slug(), url: &self.url }
    }

    fn without_key(&self) -> ProviderEndpoint {
        let (url, allow_plain_http) = (self.url.clone(), self.allow_plain_http);
        ProviderEndpoint { url, key: None, allow_plain_http }
    }

    fn resolve_endpoint(&self) -> Result<ProviderEndpoint, ProviderError> {
        let bare = self.without_key();
        // A local server rarely needs a key, and the keychain may prompt the user.
        let kept = || if bare.is_local() { None } else { keychain::read(&self.keychain_entry()) };
        let key = match environment::first_of(&self.variables).or_else(kept) {
            Some(text) => Some(ProviderKey::new(text.trim())?),
            None if self.needs_key => return Err(self.no_key()),
            None => None,
        };
        Ok(ProviderEndpoint { key, ..bare })
    }

    fn no_key(&self) -> ProviderError {
        let (url, names) = (&self.url, self.variables.join(" or "));
        let keep = format!("`waylore config key {}` stores it in the keychain", self.role.slug());
        ProviderError::Config {
            what: format!("`{url}` needs a key, and none is set; set {names}, or {keep}"),
        }
    }

    fn resolve_model(&self, endpoint: &ProviderEndpoint) -> Result<String, ProviderError> {
        self.model.clone().map_or_else(|| best_ollama_model(endpoint), Ok)
    }
}

/// The best embedding model of an Ollama server that fits into memory.
fn best_ollama_model(endpoint: &ProviderEndpoint) -> Result<String, ProviderError> {
    let models = ollama::list_models(endpoint)?;
    let chosen = ollama::choose_model(&models, environment::free_memory());
    let none = || {
        ProviderError::Config {
        what: "Ollama has no embedding model that fits into the free memory; `ollama pull qwen3-embedding:0.6b` gets a small one, or name another with `embeddings.model`".to_owned(),
    }
    };
    chosen.map(|it| it.name.clone()).ok_or_else(none)
}

/// The model that would be chosen now, if the plan leaves it open and the server answers. Storing it
/// in the settings makes the choice independent of free memory.
pub(crate) fn open_choice(plan: &ModelPlan) -> Option<String> {
    let (_, server, _) = plan.vectors.as_ref().filter(|it| it.1.model.is_none())?;
    best_ollama_model(&server.resolve_endpoint().ok()?).ok()
}

/// The version of an unconfigured Ollama server on this machine.
pub(crate) fn idle_ollama() -> Option<String> {
    let url = ollama::parse_host(&environment::ollama_host()).ok()?;
    let endpoint = ProviderEndpoint { url, key: None, allow_plain_http: false };
    // Only this machine is contacted, because no provider is configured.
    endpoint.is_local().then(|| ollama::server_version(&endpoint).ok()).flatten()
}
