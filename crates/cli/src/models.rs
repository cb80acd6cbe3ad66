//! Settings and keys become models. The settings are checked at once and without asking anybody; keys
//! are fetched and servers asked when a model is first needed, so most commands pay nothing.
//!
//! Unless a person configures a provider, there is the built-in model and nothing leaves the machine.

use std::sync::Arc;

use engine::{
    Embedder, EmbeddingApi, EmbeddingConfig, Endpoint, Generator, Models, ProviderError,
    ProviderKey, RerankApi, RerankConfig, Reranker, TextApi, TextConfig, VectorSource, ollama,
};

use crate::config::Settings;
use crate::environment;
use crate::failure::usage;
use crate::keychain::{self, Entry};

/// What a provider is for; each has its own settings and its own key.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Vectors for recall by meaning
    Embeddings,
    /// A second look at the best hits
    Rerank,
    /// Text where prose is wanted
    Text,
}

impl Role {
    pub(crate) const ALL: [Self; 3] = [Self::Embeddings, Self::Rerank, Self::Text];

    pub(crate) const fn slug(self) -> &'static str {
        match self {
            Self::Embeddings => "embeddings",
            Self::Rerank => "rerank",
            Self::Text => "text",
        }
    }

    /// The variable that goes before a provider's usual one.
    pub(crate) const fn key_variable(self) -> &'static str {
        match self {
            Self::Embeddings => "WAYLORE_EMBEDDINGS_KEY",
            Self::Rerank => "WAYLORE_RERANK_KEY",
            Self::Text => "WAYLORE_TEXT_KEY",
        }
    }
}

/// Where a provider is when nobody says it.
#[derive(Clone, Copy)]
enum Home {
    At(&'static str),
    /// Where `OLLAMA_HOST` says, or on this machine.
    Ollama,
    Unknown,
}

/// Which model is taken when nobody names one.
#[derive(Clone, Copy)]
enum Model {
    Named(&'static str),
    /// The best that an Ollama server has and this machine can hold.
    Best,
    /// The server has one and takes no name; the word stands for it in messages.
    Only(&'static str),
    Unknown,
}

struct Usual {
    home: Home,
    model: Model,
    /// Of that model; another one has its own length.
    dims: Option<usize>,
    /// Where its keys are usually kept. They are sent to its own address and nowhere else.
    keys: &'static [&'static str],
}

const fn usual(
    home: Home,
    model: Model,
    dims: Option<usize>,
    keys: &'static [&'static str],
) -> Usual {
    Usual { home, model, dims, keys }
}

const OPENAI: Home = Home::At("https://api.openai.com");

#[rustfmt::skip]
const fn usual_embeddings(api: EmbeddingApi) -> Usual {
    match api {
        //                                home                                   model                                    dims        keys
        EmbeddingApi::Ollama     => usual(Home::Ollama,                          Model::Best,                             Some(1024), &[]),
        EmbeddingApi::OpenAi     => usual(OPENAI,                                Model::Named("text-embedding-3-small"),  Some(1024), &["OPENAI_API_KEY"]),
        EmbeddingApi::Compatible => usual(Home::Unknown,                         Model::Unknown,                          None,       &[]),
        EmbeddingApi::Voyage     => usual(Home::At("https://api.voyageai.com"),  Model::Named("voyage-3.5"),              Some(1024), &["VOYAGE_API_KEY"]),
    }
}

#[rustfmt::skip]
const fn usual_rerank(api: RerankApi) -> Usual {
    match api {
        //                             home                                 model                         dims  keys
        RerankApi::Cohere     => usual(Home::At("https://api.cohere.com"),  Model::Named("rerank-v3.5"),  None, &["COHERE_API_KEY", "CO_API_KEY"]),
        RerankApi::Tei        => usual(Home::Unknown,                       Model::Only("tei"),           None, &[]),
        RerankApi::Compatible => usual(Home::Unknown,                       Model::Unknown,               None, &[]),
        RerankApi::Ollama     => usual(Home::Ollama,                        Model::Unknown,               None, &[]),
    }
}

#[rustfmt::skip]
const fn usual_text(api: TextApi) -> Usual {
    match api {
        //                           home                                    model           dims  keys
        TextApi::Ollama     => usual(Home::Ollama,                           Model::Unknown, None, &[]),
        TextApi::OpenAi     => usual(OPENAI,                                 Model::Unknown, None, &["OPENAI_API_KEY"]),
        TextApi::Compatible => usual(Home::Unknown,                          Model::Unknown, None, &[]),
        TextApi::Anthropic  => usual(Home::At("https://api.anthropic.com"),  Model::Unknown, None, &["ANTHROPIC_API_KEY"]),
    }
}

/// What the settings ask for, complete and without contradiction. Keys are not in it.
pub(crate) struct Plan {
    vectors: Option<(EmbeddingApi, Server, Option<usize>)>,
    rerank: Option<(RerankApi, Server)>,
    text: Option<(TextApi, Server)>,
}

/// A provider before it is asked anything.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) role: Role,
    pub(crate) url: String,
    allow_plain_http: bool,
    /// `None` is chosen among what the server has.
    model: Option<String>,
    /// Variables its key may stand in, in this order.
    pub(crate) variables: Vec<&'static str>,
    needs_key: bool,
}

/// Reads the settings of all three roles; the error says which is missing or wrong.
pub(crate) fn plan(settings: &Settings) -> anyhow::Result<Plan> {
    let provider = |role: Role| settings.get(&format!("{}.provider", role.slug()));
    let vectors = match EmbeddingApi::from_slug(provider(Role::Embeddings)) {
        None => None,
        Some(api) => {
            let usual = usual_embeddings(api);
            let named = settings.get("embeddings.model");
            let own = matches!(usual.model, Model::Named(it) if it == named) || named.is_empty();
            let dims = settings.get("embeddings.dimensions").parse().ok();
            let dims = dims.or(usual.dims.filter(|_| own));
            Some((api, server(Role::Embeddings, api.slug(), &usual, settings)?, dims))
        }
    };
    let rerank = RerankApi::from_slug(provider(Role::Rerank))
        .map(|it| Ok((it, server(Role::Rerank, it.slug(), &usual_rerank(it), settings)?)))
        .transpose();
    let text = TextApi::from_slug(provider(Role::Text))
        .map(|it| Ok((it, server(Role::Text, it.slug(), &usual_text(it), settings)?)))
        .transpose();
    let (rerank, text): (anyhow::Result<_>, anyhow::Result<_>) = (rerank, text);
    Ok(Plan { vectors, rerank: rerank?, text: text? })
}

fn server(
    role: Role,
    provider: &str,
    usual: &Usual,
    settings: &Settings,
) -> anyhow::Result<Server> {
    let said = |what: &str| settings.get(&format!("{}.{what}", role.slug())).to_owned();
    let missing = |what: &str, example: &str| {
        let key = format!("{}.{what}", role.slug());
        usage(
            format!("the provider `{provider}` needs `{key}`"),
            format!("waylore config set {key} {example}"),
        )
    };
    let (url, own) = match (said("url"), usual.home) {
        (url, Home::At(own)) => {
            let at_home = url.is_empty() || url == own || url.starts_with(&format!("{own}/"));
            (if url.is_empty() { own.to_owned() } else { url }, at_home)
        }
        (url, _) if !url.is_empty() => (url, false),
        (_, Home::Ollama) => {
            let hint = "correct OLLAMA_HOST, or set the address in the settings";
            let parsed = ollama::parse_host(&environment::ollama_host());
            (parsed.map_err(|it| usage(it.to_string(), hint))?, false)
        }
        (_, Home::Unknown) => return Err(missing("url", "http://127.0.0.1:8080")),
    };
    let model = match (said("model"), usual.model) {
        (model, _) if !model.is_empty() => Some(model),
        (_, Model::Named(it) | Model::Only(it)) => Some(it.to_owned()),
        (_, Model::Best) => None,
        (_, Model::Unknown) => return Err(missing("model", "NAME")),
    };
    let allow_plain_http = settings.get("providers.allow_plain_http") == "true";
    let usual_keys = if own { usual.keys } else { &[] };
    let variables = [&[role.key_variable()], usual_keys].concat();
    let needs_key = !usual_keys.is_empty();
    let res = Server { role, url, allow_plain_http, model, variables, needs_key };
    let hint =
        "`waylore config set providers.allow_plain_http true` allows it, for a network you trust";
    res.without_key().check().map_err(|it| usage(format!("{}: {it}", role.slug()), hint))?;
    Ok(res)
}

impl Plan {
    pub(crate) fn server(&self, role: Role) -> Option<&Server> {
        match role {
            Role::Embeddings => self.vectors.as_ref().map(|it| &it.1),
            Role::Rerank => self.rerank.as_ref().map(|it| &it.1),
            Role::Text => self.text.as_ref().map(|it| &it.1),
        }
    }

    /// The models, none of them made yet.
    pub(crate) fn models(self) -> Models {
        let source = match self.vectors {
            None => VectorSource::BuiltIn(Embedder::new()),
            Some((api, server, dims)) => VectorSource::Later(Arc::new(move || {
                let endpoint = server.endpoint()?;
                let model = server.model(&endpoint)?;
                Ok(EmbeddingConfig { api, endpoint, model, dims })
            })),
        };
        let reranker = self.rerank.map(|(api, server)| -> engine::Recipe<Reranker> {
            Arc::new(move || {
                let endpoint = server.endpoint()?;
                let model = server.model(&endpoint)?;
                Reranker::new(&RerankConfig { api, endpoint, model })
            })
        });
        let generator = self.text.map(|(api, server)| -> engine::Recipe<Generator> {
            Arc::new(move || {
                let endpoint = server.endpoint()?;
                let model = server.model(&endpoint)?;
                Generator::new(&TextConfig { api, endpoint, model })
            })
        });
        Models::later(source, reranker, generator)
    }
}

impl Server {
    /// Where its key is kept in the keychain.
    pub(crate) fn entry(&self) -> Entry<'_> {
        Entry::Provider { role: self.role.slug(), url: &self.url }
    }

    fn without_key(&self) -> Endpoint {
        let (url, allow_plain_http) = (self.url.clone(), self.allow_plain_http);
        Endpoint { url, key: None, allow_plain_http }
    }

    fn endpoint(&self) -> Result<Endpoint, ProviderError> {
        let bare = self.without_key();
        // A server on this machine hardly ever wants a key, and a keychain may ask its owner.
        let kept = || if bare.is_local() { None } else { keychain::read(&self.entry()) };
        let key = match environment::first_of(&self.variables).or_else(kept) {
            Some(text) => Some(ProviderKey::new(text.trim())?),
            None if self.needs_key => return Err(self.no_key()),
            None => None,
        };
        Ok(Endpoint { key, ..bare })
    }

    fn no_key(&self) -> ProviderError {
        let (url, names) = (&self.url, self.variables.join(" or "));
        let keep = format!("`waylore config key {}` keeps it in the keychain", self.role.slug());
        ProviderError::Config {
            what: format!("`{url}` needs a key, and there is none; give it in {names}, or {keep}"),
        }
    }

    fn model(&self, endpoint: &Endpoint) -> Result<String, ProviderError> {
        self.model.clone().map_or_else(|| best(endpoint), Ok)
    }
}

/// The best embedding model of an Ollama server that this machine can hold.
fn best(endpoint: &Endpoint) -> Result<String, ProviderError> {
    let models = ollama::models(endpoint)?;
    let chosen = ollama::choose(&models, environment::free_memory());
    let none = || {
        ProviderError::Config {
        what: "Ollama has no embedding model that fits into the free memory; `ollama pull qwen3-embedding:0.6b` gets a small one, or name another with `embeddings.model`".to_owned(),
    }
    };
    chosen.map(|it| it.name.clone()).ok_or_else(none)
}

/// The model that would be chosen, when the plan leaves the choice open and the server answers.
/// Whoever keeps it in the settings has the same model tomorrow, whatever memory is free then.
pub(crate) fn open_choice(plan: &Plan) -> Option<String> {
    let (_, server, _) = plan.vectors.as_ref().filter(|it| it.1.model.is_none())?;
    best(&server.endpoint().ok()?).ok()
}

/// The version of an Ollama server on this machine that nobody has configured.
pub(crate) fn idle_ollama() -> Option<String> {
    let url = ollama::parse_host(&environment::ollama_host()).ok()?;
    let endpoint = Endpoint { url, key: None, allow_plain_http: false };
    // Nobody asked for anything to leave the machine.
    endpoint.is_local().then(|| ollama::version(&endpoint).ok()).flatten()
}
