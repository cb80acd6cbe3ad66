//! A provider of vectors: what its model is, and texts in portions.

use std::time::Duration;

use super::wire::{self, Ask, OllamaAnswer, OpenAiAnswer, Role};
use super::{EmbeddingApi, EmbeddingConfig, batch, ids, vectors};
use crate::error::{Error, Flaw};
use crate::family::{Family, family_of};
use crate::http::{Auth, Call, Client, Deadline};
use crate::{ollama, text};

/// An empty text says nothing, and providers refuse it; this takes its place.
const EMPTY: &str = "(empty)";

#[derive(Debug)]
pub(super) struct Remote {
    pub(super) id: String,
    pub(super) dims: usize,
    client: Client,
    api: EmbeddingApi,
    model: String,
    /// What is asked for; nothing where the model's own length is wanted.
    asked: Option<usize>,
    family: Family,
}

impl Remote {
    pub(super) fn open(config: &EmbeddingConfig, patience: Duration) -> Result<Self, Error> {
        text::check_model(&config.model)?;
        if config.dims == Some(0) {
            return Err(Error::config("vectors have at least one dimension"));
        }
        let mut acc = Self {
            id: String::new(),
            dims: config.dims.unwrap_or(0),
            client: Client::new(&config.endpoint, Auth::Bearer)?,
            api: config.api,
            model: config.model.clone(),
            asked: config.dims,
            family: family_of(&config.model),
        };
        if acc.api == EmbeddingApi::Ollama {
            acc.dims = acc.fit(ollama::native_dims(&acc.client, &acc.model)?)?;
        }
        if acc.dims == 0 {
            acc.dims = acc.measured_dims(patience)?;
        }
        acc.id = acc.current_id()?;
        Ok(acc)
    }

    pub(super) fn documents(
        &self,
        texts: &[&str],
        patience: Duration,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let texts: Vec<String> = texts.iter().map(|it| self.prepare(it, Role::Document)).collect();
        let lengths: Vec<usize> = texts.iter().map(String::len).collect();
        let mut acc = Vec::with_capacity(texts.len());
        for range in batch::split(&lengths, self.api.portion()) {
            let deadline = Call::Embed.within(patience);
            acc.extend(self.embed(&texts[range], Role::Document, &deadline)?);
        }
        Ok(acc)
    }

    pub(super) fn query(&self, text: &str, deadline: Duration) -> Result<Vec<f32>, Error> {
        let texts = [self.prepare(text, Role::Query)];
        let vectors = self.embed(&texts, Role::Query, &Call::Embed.within(deadline))?;
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
        let digest = ollama::digest(&self.client, &self.model)?;
        let digest = ids::short_digest(&digest)
            .ok_or_else(|| self.client.flaw(Flaw::Shape("a digest that is none".to_owned())))?;
        let model = ollama::full_name(&self.model);
        Ok(ids::model_id(self.api.slug(), &model, Some(&digest), self.dims))
    }

    /// Ollama would cut the vectors of any model, and of most the half is no vector. Zero is "not
    /// known yet".
    fn fit(&self, native: Option<usize>) -> Result<usize, Error> {
        match (self.asked, native) {
            (Some(wanted), Some(found))
                if wanted != found && !(self.family.nested && wanted < found) =>
            {
                Err(self.client.flaw(Flaw::Dims { wanted, found }))
            }
            (wanted, found) => Ok(wanted.or(found).unwrap_or(0)),
        }
    }

    fn measured_dims(&self, patience: Duration) -> Result<usize, Error> {
        let texts = [self.prepare("a text to learn the length of vectors", Role::Document)];
        let vectors = self.vectors(&texts, Role::Document, &Call::Embed.within(patience))?;
        match vectors.first() {
            Some(it) if !it.is_empty() => Ok(it.len()),
            _ => Err(self.client.flaw(Flaw::Count { wanted: 1, found: 0 })),
        }
    }

    fn prepare(&self, text: &str, role: Role) -> String {
        let prefix = match role {
            Role::Query => self.family.query,
            Role::Document => self.family.document,
        };
        let text = if text.trim().is_empty() { EMPTY } else { text };
        let whole = format!("{prefix}{text}");
        text::cut(&whole, self.api.portion().text).to_owned()
    }

    fn embed(
        &self,
        texts: &[String],
        role: Role,
        deadline: &Deadline,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let found = self.vectors(texts, role, deadline)?;
        vectors::check(found, texts.len(), self.dims, self.family.nested)
            .map_err(|it| self.client.flaw(it))
    }

    /// As they come, in the order of the texts.
    fn vectors(
        &self,
        texts: &[String],
        role: Role,
        deadline: &Deadline,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let body = self.api.body(&Ask { model: &self.model, texts, dims: self.asked, role });
        let path = self.api.path();
        if self.api == EmbeddingApi::Ollama {
            let answer: OllamaAnswer = self.client.post(Call::Embed, path, &body, deadline)?;
            return Ok(answer.embeddings);
        }
        let answer: OpenAiAnswer = self.client.post(Call::Embed, path, &body, deadline)?;
        wire::in_order(answer.data).map_err(|it| self.client.flaw(it))
    }
}
