//! An embedding provider: identifies its model and embeds texts in batches.
//!
//! On opening, the dimensions (the length of its vectors) and the id of the model are determined;
//! afterwards every response is checked against them (`vectors`). The id names everything that changes
//! a vector, so that vectors of different models are never compared; for Ollama that includes the
//! digest, a hash of the weights, because a name may get other weights. A *preset* holds what is known
//! about a model by its name: the prefixes it expects before queries and documents, and whether its
//! vectors are nested, that is, stay useful when they are truncated. The JSON of the APIs is in `wire`.

use std::time::Duration;

use super::wire::{self, EmbeddingRequest, OllamaEmbeddings, OpenAiEmbeddings, TextRole};
use super::{EmbeddingApi, EmbeddingConfig, batch, ids, vectors};
use crate::error::{Error, ResponseFlaw};
use crate::http::{AuthScheme, CallDeadline, CallKind, ProviderClient, flawed_response};
use crate::model_presets::{ModelPreset, preset_for};
use crate::{ollama, text};

/// Replaces an empty text, which providers reject.
const EMPTY_PLACEHOLDER: &str = "(empty)";

#[derive(Debug)]
pub(super) struct RemoteEmbeddings {
    pub(super) id: String,
    pub(super) dims: usize,
    client: ProviderClient,
    api: EmbeddingApi,
    model: String,
    /// Requested dimensions; `None` for the model's own.
    requested_dims: Option<usize>,
    preset: ModelPreset,
}

impl RemoteEmbeddings {
    /// Determines dimensions and id of the model; may send a text of ours to measure the dimensions.
    pub(super) fn open(config: &EmbeddingConfig, time_limit: Duration) -> Result<Self, Error> {
        text::check_model(&config.model)?;
        if config.dims == Some(0) {
            return Err(Error::bad_config("vectors have at least one dimension"));
        }
        // Id and dimensions are filled in below; requests do not need them.
        let mut res = Self {
            id: String::new(),
            dims: 0,
            client: ProviderClient::new(&config.endpoint, AuthScheme::Bearer)?,
            api: config.api,
            model: config.model.clone(),
            requested_dims: config.dims,
            preset: preset_for(&config.model),
        };
        // Only Ollama reports the dimensions of a model without embedding a text.
        let native_dims = match res.api {
            EmbeddingApi::Ollama => ollama::native_dims(&res.client, &res.model)?,
            EmbeddingApi::OpenAi | EmbeddingApi::Compatible | EmbeddingApi::Voyage => None,
        };
        res.dims = match res.choose_dims(native_dims)? {
            Some(dims) => dims,
            None => res.measure_dims(time_limit)?,
        };
        res.id = res.current_id()?;
        Ok(res)
    }

    pub(super) fn embed_documents(
        &self,
        texts: &[&str],
        time_limit: Duration,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let texts: Vec<String> =
            texts.iter().map(|it| self.prepare_text(it, TextRole::Document)).collect();
        let lengths: Vec<usize> = texts.iter().map(String::len).collect();
        let mut acc = Vec::with_capacity(texts.len());
        for range in batch::split_batches(&lengths, batch::batch_limits(self.api)) {
            // Each request has its own time.
            let deadline = CallKind::Embed.deadline_within(time_limit);
            acc.extend(self.embed_checked(&texts[range], TextRole::Document, &deadline)?);
        }
        Ok(acc)
    }

    pub(super) fn embed_query(&self, text: &str, time_limit: Duration) -> Result<Vec<f32>, Error> {
        let texts = [self.prepare_text(text, TextRole::Query)];
        let deadline = CallKind::Embed.deadline_within(time_limit);
        let vectors = self.embed_checked(&texts, TextRole::Query, &deadline)?;
        Ok(vectors.into_iter().next().expect("the count of vectors was checked"))
    }

    /// Fails if the model is another one than on opening: a tag of Ollama may be pulled anew while we
    /// run.
    pub(super) fn check_unchanged(&self) -> Result<(), Error> {
        let now = self.current_id()?;
        if now == self.id { Ok(()) } else { Err(Error::Changed { was: self.id.clone(), now }) }
    }

    fn current_id(&self) -> Result<String, Error> {
        if self.api != EmbeddingApi::Ollama {
            return Ok(ids::model_id(&self.client.host(), &self.model, None, self.dims));
        }
        let digest = ollama::model_digest(&self.client, &self.model)?;
        let digest = ids::short_digest(&digest).ok_or_else(|| {
            flawed_response(&self.client, ResponseFlaw::Shape("a digest that is none".to_owned()))
        })?;
        let model = ollama::full_name(&self.model);
        Ok(ids::model_id(self.api.slug(), &model, Some(&digest), self.dims))
    }

    /// The dimensions to use, from the requested ones and the model's own; `None` if neither is known.
    /// Ollama would truncate the vectors of any model, but only nested vectors stay useful.
    fn choose_dims(&self, native: Option<usize>) -> Result<Option<usize>, Error> {
        let Some(wanted) = self.requested_dims else {
            // A server that reports 0 does not know them.
            return Ok(native.filter(|it| *it > 0));
        };
        if let Some(found) = native {
            let can_truncate = self.preset.is_nested && wanted < found;
            if wanted != found && !can_truncate {
                return Err(flawed_response(&self.client, ResponseFlaw::Dims { wanted, found }));
            }
        }
        Ok(Some(wanted))
    }

    /// The length of the vector of a text of ours.
    fn measure_dims(&self, time_limit: Duration) -> Result<usize, Error> {
        let texts =
            [self.prepare_text("a text to learn the length of vectors", TextRole::Document)];
        let deadline = CallKind::Embed.deadline_within(time_limit);
        let vectors = self.request_vectors(&texts, TextRole::Document, &deadline)?;
        match vectors.first() {
            Some(vector) if !vector.is_empty() => Ok(vector.len()),
            Some(_) | None => {
                Err(flawed_response(&self.client, ResponseFlaw::Count { wanted: 1, found: 0 }))
            }
        }
    }

    /// The text as it is sent: with the prefix of its role, within the limit of the API.
    fn prepare_text(&self, text: &str, role: TextRole) -> String {
        let prefix = match role {
            TextRole::Query => self.preset.query_prefix,
            TextRole::Document => self.preset.document_prefix,
        };
        let text = if text.trim().is_empty() { EMPTY_PLACEHOLDER } else { text };
        let whole = format!("{prefix}{text}");
        text::truncate_text(&whole, batch::batch_limits(self.api).bytes_per_text).to_owned()
    }

    /// Vectors of one request, checked and normalised.
    fn embed_checked(
        &self,
        texts: &[String],
        role: TextRole,
        deadline: &CallDeadline,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let found = self.request_vectors(texts, role, deadline)?;
        vectors::check_vectors(found, texts.len(), self.dims, self.preset.is_nested)
            .map_err(|it| flawed_response(&self.client, it))
    }

    /// Vectors of one request as received, in the order of the texts.
    fn request_vectors(
        &self,
        texts: &[String],
        role: TextRole,
        deadline: &CallDeadline,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let body = wire::request_body(
            self.api,
            &EmbeddingRequest { model: &self.model, texts, dims: self.requested_dims, role },
        );
        let path = wire::request_path(self.api);
        if self.api == EmbeddingApi::Ollama {
            let answer: OllamaEmbeddings =
                self.client.post(CallKind::Embed, path, &body, deadline)?;
            return Ok(answer.embeddings);
        }
        let answer: OpenAiEmbeddings = self.client.post(CallKind::Embed, path, &body, deadline)?;
        wire::vectors_in_order(answer.data).map_err(|it| flawed_response(&self.client, it))
    }
}
