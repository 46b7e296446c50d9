//! A service that makes vectors, with the interface of OpenAI: `POST …/embeddings`.

use crate::limit::{DIMENSIONS_MAX, ENDPOINT_TEXTS_MAX, MODEL_ID_CHARS_MAX, NUMBER_BYTES_MAX};
use outbound::{Client, Hosts, Method, Request, limit::BODY_BYTES_MAX};
use serde::{Deserialize, Serialize};
use std::{fmt, time::Duration};

/// Where the service is, and what it is asked for.
#[derive(Clone, PartialEq, Eq)]
pub struct EndpointSettings {
    /// Address of the resource `embeddings`, such as `https://api.example.org/v1/embeddings`.
    pub url: String,
    /// Name of the model there.
    pub model: String,
    /// Number of values of its vectors.
    pub dimensions: usize,
    /// Sent as a bearer token.
    pub key: Option<String>,
}

impl fmt::Debug for EndpointSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, model, dimensions, key } = self;
        let key = key.as_ref().map(|_| "…");
        f.debug_struct("EndpointSettings")
            .field("url", url)
            .field("model", model)
            .field("dimensions", dimensions)
            .field("key", &key)
            .finish()
    }
}

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The service could not be reached in time, or may not be called.
    #[error("{0}")]
    Unreachable(#[from] outbound::Error),
    /// It answered with another status than 200.
    #[error("the service answered {0}")]
    Refused(u16),
    /// Its answer is not what was asked for.
    #[error("the answer of the service {0}")]
    Unexpected(String),
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}

/// The service.
#[derive(Clone)]
pub struct Endpoint {
    client: Client,
    settings: EndpointSettings,
    id: String,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Endpoint {
    /// The service of these settings.
    ///
    /// # Errors
    /// Why the settings cannot be used.
    pub fn new(client: Client, settings: EndpointSettings) -> Result<Self, String> {
        if !(1..=DIMENSIONS_MAX).contains(&settings.dimensions) {
            return Err(format!("`dimensions` is 1 to {DIMENSIONS_MAX}"));
        }
        let id = format!("{} {}", settings.model, settings.dimensions);
        if settings.model.is_empty() || id.chars().count() > MODEL_ID_CHARS_MAX {
            return Err("`model` is empty or too long".into());
        }
        Ok(Self { client, settings, id })
    }

    /// Name of what makes the vectors: the model with its dimensions.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Number of values of its vectors.
    pub fn dimensions(&self) -> usize {
        self.settings.dimensions
    }

    /// Most texts of one request.
    pub fn texts_max(&self) -> usize {
        texts_max(self.settings.dimensions)
    }

    /// The vectors of at most [`Endpoint::texts_max`] texts, in their order.
    ///
    /// # Errors
    /// Why there are none within this time.
    pub async fn embed(&self, texts: &[String], within: Duration) -> Result<Vec<Vec<f32>>, Failure> {
        let most = self.texts_max();
        if texts.len() > most {
            return Err(Failure::Unexpected(format!("would have more than {most} vectors")));
        }
        let body = Body { model: &self.settings.model, input: texts, encoding_format: "float" };
        let body = serde_json::to_vec(&body).map_err(|why| Failure::Unexpected(why.to_string()))?;
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        if let Some(key) = &self.settings.key {
            headers.push(("authorization".to_owned(), format!("Bearer {key}")));
        }
        let url = self.settings.url.clone();
        let request = Request { method: Method::POST, url, headers, body: body.into(), hosts: Hosts::any() };
        let response = self.client.fetch_within(request, within).await?;
        if response.status != 200 {
            return Err(Failure::Refused(response.status));
        }
        self.read(&response.body, texts.len())
    }

    fn read(&self, body: &[u8], wanted: usize) -> Result<Vec<Vec<f32>>, Failure> {
        let answer = serde_json::from_slice::<Answer>(body);
        let mut data = answer.map_err(|why| Failure::Unexpected(format!("cannot be read: {why}")))?.data;
        data.sort_by_key(|item| item.index);
        let is_each_there = data.len() == wanted && data.iter().enumerate().all(|(at, item)| item.index == at);
        if !is_each_there {
            return Err(Failure::Unexpected(format!("has {} vectors for {wanted} texts", data.len())));
        }
        let dimensions = self.settings.dimensions;
        if let Some(other) = data.iter().find(|item| item.embedding.len() != dimensions) {
            let found = other.embedding.len();
            return Err(Failure::Unexpected(format!("has {found} dimensions instead of {dimensions}")));
        }
        Ok(data.into_iter().map(|item| item.embedding).collect())
    }
}

/// Texts whose vectors of so many dimensions fit into one answer.
fn texts_max(dimensions: usize) -> usize {
    (BODY_BYTES_MAX / (dimensions * NUMBER_BYTES_MAX)).clamp(1, ENDPOINT_TEXTS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_one_request_fit_into_an_answer() {
        for dimensions in [1, 768, 1_536, 3_072, DIMENSIONS_MAX] {
            let vector = vec![-0.006_929_284_f32; dimensions];
            let data: Vec<_> = (0..texts_max(dimensions))
                .map(|index| serde_json::json!({ "object": "embedding", "index": index, "embedding": vector }))
                .collect();
            // OpenAI writes each number on a line of its own.
            let answer = serde_json::to_string_pretty(&serde_json::json!({ "object": "list", "data": data })).unwrap();
            assert!(answer.len() <= BODY_BYTES_MAX, "{dimensions}: {}", answer.len());
        }
        assert_eq!((texts_max(256), texts_max(384)), (ENDPOINT_TEXTS_MAX, ENDPOINT_TEXTS_MAX));
        assert!(texts_max(1_536) < ENDPOINT_TEXTS_MAX);
    }
}
