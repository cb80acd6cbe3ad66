//! The parts that only Ollama has: its address (`host`), its version, the list of its models, and the
//! choice of an embedding model that fits into memory.

mod host;

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::error::{Error, ResponseFlaw};
use crate::http::{AuthScheme, CallKind, ProviderClient, ProviderEndpoint, flawed_response};

pub use host::parse_host;

/// A model that an Ollama server has.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct OllamaModel {
    /// With its tag: `qwen3-embedding:0.6b`.
    pub name: String,
    /// Identifies the weights; the name may stay while they change.
    pub digest: String,
    /// Of the file, in bytes.
    #[serde(default)]
    pub size: u64,
    /// Empty where the server is too old to say.
    #[serde(default)]
    pub capabilities: Vec<String>,
}

/// A size of the recommended model.
struct ModelTier {
    tag: &'static str,
    /// Chosen only if more memory than this is free.
    min_free_bytes: u64,
}

/// The embedding model that is chosen if it is installed.
const RECOMMENDED_MODEL: &str = "qwen3-embedding";

/// Sizes, best first. An 8b model beside an editor and a compiler needs a large machine; `latest` is
/// the 8b model too.
const MODEL_TIERS: &[ModelTier] =
    &[tier("8b", 32), tier("latest", 32), tier("4b", 8), tier("0.6b", 2)];

const fn tier(tag: &'static str, gigabytes: u64) -> ModelTier {
    ModelTier { tag, min_free_bytes: gigabytes << 30 }
}

/// The version of the Ollama server at the address, within 300 ms. Waits for the network.
pub fn server_version(endpoint: &ProviderEndpoint) -> Result<String, Error> {
    #[derive(Deserialize)]
    struct VersionReply {
        version: String,
    }
    let client = ProviderClient::new(endpoint, AuthScheme::Bearer)?;
    let deadline = CallKind::Detect.deadline_within(Duration::MAX);
    let reply: VersionReply = client.get(CallKind::Detect, "/api/version", &deadline)?;
    // The text is shown to the user, so it is bounded and without control characters.
    Ok(reply.version.chars().filter(|it| !it.is_control()).take(40).collect())
}

/// The models of the server. Waits for the network.
pub fn list_models(endpoint: &ProviderEndpoint) -> Result<Vec<OllamaModel>, Error> {
    fetch_tags(&ProviderClient::new(endpoint, AuthScheme::Bearer)?)
}

/// The best installed embedding model that fits into free memory.
pub fn choose_model(models: &[OllamaModel], free_memory: u64) -> Option<&OllamaModel> {
    for tier in MODEL_TIERS {
        if free_memory > tier.min_free_bytes
            && let Some(model) = models.iter().find(|it| is_in_tier(it, tier))
        {
            return Some(model);
        }
    }
    None
}

/// True if a model is the recommended one in this size. A quantisation may follow: `4b-q8_0`.
fn is_in_tier(model: &OllamaModel, tier: &ModelTier) -> bool {
    let Some((name, tag)) = model.name.split_once(':') else { return false };
    let suffix = tag.strip_prefix(tier.tag);
    name == RECOMMENDED_MODEL && suffix.is_some_and(|it| it.is_empty() || it.starts_with('-'))
}

/// Digest of the weights of an installed model.
pub(crate) fn model_digest(client: &ProviderClient, model: &str) -> Result<String, Error> {
    let full = full_name(model);
    let found = fetch_tags(client)?.into_iter().find(|it| full_name(&it.name) == full);
    let missing = || Error::Missing {
        host: client.host(),
        message: format!("`{model}` is not among its models, `ollama pull {model}` gets it"),
    };
    Ok(found.ok_or_else(missing)?.digest)
}

/// Native dimensions of a model, if reported. Rejects a model that cannot embed.
pub(crate) fn native_dims(client: &ProviderClient, model: &str) -> Result<Option<usize>, Error> {
    #[derive(Deserialize)]
    struct ModelReply {
        #[serde(default)]
        capabilities: Vec<String>,
        #[serde(default)]
        model_info: Map<String, Value>,
    }
    let deadline = CallKind::List.deadline_within(Duration::MAX);
    let body = json!({ "model": model });
    let reply: ModelReply = client.post(CallKind::List, "/api/show", &body, &deadline)?;
    // An old server reports no capabilities; then the model may be able to embed.
    if !reply.capabilities.is_empty() && !reply.capabilities.iter().any(|it| it == "embedding") {
        return Err(flawed_response(
            client,
            ResponseFlaw::Shape(format!("`{model}` is not an embedding model")),
        ));
    }
    // The key begins with the architecture: `qwen3.embedding_length`.
    let length = reply.model_info.iter().find(|(name, _)| name.ends_with(".embedding_length"));
    Ok(length.and_then(|(_, it)| it.as_u64()).and_then(|it| usize::try_from(it).ok()))
}

fn fetch_tags(client: &ProviderClient) -> Result<Vec<OllamaModel>, Error> {
    #[derive(Deserialize)]
    struct TagsReply {
        models: Vec<OllamaModel>,
    }
    let deadline = CallKind::List.deadline_within(Duration::MAX);
    Ok(client.get::<TagsReply>(CallKind::List, "/api/tags", &deadline)?.models)
}

/// A name without a tag means the latest.
pub(crate) fn full_name(model: &str) -> String {
    let tagged = model.rsplit('/').next().is_some_and(|it| it.contains(':'));
    if tagged { model.to_owned() } else { format!("{model}:latest") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str) -> OllamaModel {
        let (name, digest) = (name.to_owned(), String::new());
        OllamaModel { name, digest, size: 0, capabilities: Vec::new() }
    }

    /// Compares the model chosen from these with this much free memory.
    fn check(names: &[&str], free_gigabytes: u64, expected: Option<&str>) {
        let models: Vec<OllamaModel> = names.iter().map(|it| model(it)).collect();
        let chosen = choose_model(&models, free_gigabytes << 30).map(|it| it.name.as_str());
        assert_eq!(chosen, expected, "{names:?} with {free_gigabytes} GB");
    }

    #[test]
    fn the_largest_model_that_fits_is_chosen() {
        let all =
            ["llama3:8b", "qwen3-embedding:0.6b", "qwen3-embedding:8b", "qwen3-embedding:4b-q8_0"];
        check(&all, 64, Some("qwen3-embedding:8b"));
        check(&all, 32, Some("qwen3-embedding:4b-q8_0"));
        check(&all, 8, Some("qwen3-embedding:0.6b"));
        check(&all, 1, None);
        check(&["qwen3-embedding:0.6b"], 64, Some("qwen3-embedding:0.6b"));
        check(&["qwen3-embedding:latest"], 16, None);
        check(&["qwen3-embedding:0.6bx", "my/qwen3-embedding:4b"], 64, None);
        check(&[], 64, None);
    }

    #[test]
    fn a_name_without_a_tag_is_the_latest() {
        assert_eq!(full_name("all-minilm"), "all-minilm:latest");
        assert_eq!(full_name("host:5000/all-minilm"), "host:5000/all-minilm:latest");
        assert_eq!(full_name("qwen3-embedding:0.6b"), "qwen3-embedding:0.6b");
    }
}
