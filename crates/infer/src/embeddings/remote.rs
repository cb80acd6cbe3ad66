//! An embedding provider: identifies its model and embeds texts in batches.

use std::time::Duration;

use super::wire::{self, EmbeddingRequest, OllamaAnswer, OpenAiAnswer, TextRole};
use super::{EmbeddingApi, EmbeddingConfig, batch, ids, vectors};
use crate::error::{Error, ResponseFlaw};
use crate::http::{AuthScheme, CallDeadline, CallKind, ProviderClient, flawed_response};
use crate::model_presets::{ModelPreset, family_of};
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
    asked: Option<usize>,
    family: ModelPreset,
}

impl RemoteEmbeddings {
    pub(super) fn open(config: &EmbeddingConfig, patience: Duration) -> Result<Self, Error> {
        text::check_model(&config.model)?;
        if config.dims == Some(0) {
            return Err(Error::bad_config("vectors have at least one dimension"));
        }
        let mut acc = Self {
            id: String::new(),
            dims: config.dims.unwrap_or(0),
            client: ProviderClient::new(&config.endpoint, AuthScheme::Bearer)?,
            api: config.api,
            model: config.model.clone(),
            asked: config.dims,
            family: family_of(&config.model),
        };
        if acc.api == EmbeddingApi::Ollama {
            acc.dims = acc.check_dims(ollama::native_dims(&acc.client, &acc.model)?)?;
        }
        if acc.dims == 0 {
            acc.dims = acc.measured_dims(patience)?;
        }
        acc.id = acc.current_id()?;
        Ok(acc)
    }

    pub(super) fn embed_documents(
        &self,
        texts: &[&str],
        patience: Duration,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let texts: Vec<String> =
            texts.iter().map(|it| self.prepare_text(it, TextRole::Document)).collect();
        let lengths: Vec<usize> = texts.iter().map(String::len).collect();
        let mut acc = Vec::with_capacity(texts.len());
        for range in batch::split_batches(&lengths, batch::batch_limits(self.api)) {
            let deadline = CallKind::Embed.deadline_within(patience);
            acc.extend(self.embed_checked(&texts[range], TextRole::Document, &deadline)?);
        }
        Ok(acc)
    }

    pub(super) fn embed_query(&self, text: &str, deadline: Duration) -> Result<Vec<f32>, Error> {
        let texts = [self.prepare_text(text, TextRole::Query)];
        let vectors = self.embed_checked(
            &texts,
            TextRole::Query,
            &CallKind::Embed.deadline_within(deadline),
        )?;
        Ok(vectors.into_iter().next().expect("the count of vectors was checked"))
    }

    /// A tag of Ollama may be pulled anew while we run.
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

    /// Ollama would cut the vectors of any model, and of most the half is no vector. Zero is "not
    /// known yet".
    fn check_dims(&self, native: Option<usize>) -> Result<usize, Error> {
        match (self.asked, native) {
            (Some(wanted), Some(found))
                if wanted != found && !(self.family.nested && wanted < found) =>
            {
                Err(flawed_response(&self.client, ResponseFlaw::Dims { wanted, found }))
            }
            (wanted, found) => Ok(wanted.or(found).unwrap_or(0)),
        }
    }

    fn measured_dims(&self, patience: Duration) -> Result<usize, Error> {
        let texts =
            [self.prepare_text("a text to learn the length of vectors", TextRole::Document)];
        let vectors = self.request_vectors(
            &texts,
            TextRole::Document,
            &CallKind::Embed.deadline_within(patience),
        )?;
        match vectors.first() {
            Some(it) if !it.is_empty() => Ok(it.len()),
            _ => Err(flawed_response(&self.client, ResponseFlaw::Count { wanted: 1, found: 0 })),
        }
    }

    fn prepare_text(&self, text: &str, role: TextRole) -> String {
        let prefix = match role {
            TextRole::Query => self.family.query,
            TextRole::Document => self.family.document,
        };
        let text = if text.trim().is_empty() { EMPTY_PLACEHOLDER } else { text };
        let whole = format!("{prefix}{text}");
        text::truncate_text(&whole, batch::batch_limits(self.api).text).to_owned()
    }

    fn embed_checked(
        &self,
        texts: &[String],
        role: TextRole,
        deadline: &CallDeadline,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let found = self.request_vectors(texts, role, deadline)?;
        vectors::check_vectors(found, texts.len(), self.dims, self.family.nested)
            .map_err(|it| flawed_response(&self.client, it))
    }

    /// As they come, in the order of the texts.
    fn request_vectors(
        &self,
        texts: &[String],
        role: TextRole,
        deadline: &CallDeadline,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let body = wire::body(
            self.api,
            &EmbeddingRequest { model: &self.model, texts, dims: self.asked, role },
        );
        let path = wire::path(self.api);
        if self.api == EmbeddingApi::Ollama {
            let answer: OllamaAnswer = self.client.post(CallKind::Embed, path, &body, deadline)?;
            return Ok(answer.embeddings);
        }
        let answer: OpenAiAnswer = self.client.post(CallKind::Embed, path, &body, deadline)?;
        wire::in_order(answer.data).map_err(|it| flawed_response(&self.client, it))
    }
}
