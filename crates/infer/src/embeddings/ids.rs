//! Ids of embedding models. Everything that changes a vector is part of the id, because only vectors
//! of the same id are compared.

use crate::model_presets::PREFIX_VERSION;

/// Characters of a digest that are kept.
const DIGEST_CHARS: usize = 12;

/// `provider/model@digest/dims/prefix`. Without a digest the provider is the host, because the same
/// name may be another model on another server.
pub(super) fn model_id(provider: &str, model: &str, digest: Option<&str>, dims: usize) -> String {
    let digest = digest.map(|it| format!("@{it}")).unwrap_or_default();
    format!("{provider}/{model}{digest}/{dims}/p{PREFIX_VERSION}")
}

/// The first characters of a hash, with or without `sha256:` before it; `None` if it is no hash.
pub(super) fn short_digest(digest: &str) -> Option<String> {
    let hex = digest.strip_prefix("sha256:").unwrap_or(digest);
    let short = hex.get(..DIGEST_CHARS)?;
    short.bytes().all(|it| it.is_ascii_hexdigit()).then(|| short.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_contains_provider_model_digest_dimensions_and_prefix_version() {
        let digest = short_digest("sha256:0123456789ABCDEF");
        let id = model_id("ollama", "qwen3-embedding:0.6b", digest.as_deref(), 1024);
        assert_eq!(id, "ollama/qwen3-embedding:0.6b@0123456789ab/1024/p1");
        let id = model_id("api.openai.com", "text-embedding-3-small", None, 1024);
        assert_eq!(id, "api.openai.com/text-embedding-3-small/1024/p1");
        for digest in ["", "0123", "sha256:", "not a digest", "ééééééé"] {
            assert_eq!(short_digest(digest), None);
        }
    }
}
