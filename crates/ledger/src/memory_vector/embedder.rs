//! What makes vectors of texts.

use crate::Error;
use domain::limit::MEMORY_VECTOR_TEXT_CHARS_MAX;
use embedding::{ENDPOINT_CHARS_MAX, ENDPOINT_TEXTS_MAX, Endpoint, Failure, Model};
use std::{sync::Arc, time::Duration};

/// What makes vectors of texts. Cloning is cheap.
#[derive(Debug, Clone)]
pub enum Embedder {
    /// A model in this process.
    Model(Arc<Model>),
    /// A service.
    Endpoint(Arc<Endpoint>),
}

impl Embedder {
    /// Name by which stored vectors say what made them.
    pub(super) fn id(&self) -> &str {
        match self {
            Self::Model(model) => model.id(),
            Self::Endpoint(endpoint) => endpoint.id(),
        }
    }

    /// Number of values of the vectors.
    pub(super) fn dimensions(&self) -> usize {
        match self {
            Self::Model(model) => model.dimensions(),
            Self::Endpoint(endpoint) => endpoint.dimensions(),
        }
    }

    /// The vectors of texts, in their order. `within` is the time for each request to a service.
    ///
    /// # Errors
    /// Why a service gave none.
    pub(super) async fn embed(&self, texts: Vec<String>, within: Duration) -> Result<Vectors, Failure> {
        let texts: Vec<String> = texts.into_iter().map(|text| beginning(&text)).collect();
        match self {
            Self::Model(model) => {
                let model = Arc::clone(model);
                let made = move || texts.iter().map(|text| model.embed(text)).collect::<Vectors>();
                tokio::task::spawn_blocking(made).await.map_err(|why| Failure::Unexpected(why.to_string()))
            }
            Self::Endpoint(endpoint) => {
                let mut vectors = Vec::with_capacity(texts.len());
                let mut rest = &texts[..];
                while !rest.is_empty() {
                    let (texts, after) = rest.split_at(together(rest).min(endpoint.texts_max()));
                    vectors.extend(endpoint.embed(texts, within).await?);
                    rest = after;
                }
                Ok(vectors)
            }
        }
    }

    /// The vector of a text, if this process can make it without waiting.
    pub(super) fn embed_at_once(&self, text: &str) -> Option<Vec<f32>> {
        match self {
            Self::Model(model) => Some(model.embed(&beginning(text))),
            Self::Endpoint(_) => None,
        }
    }
}

type Vectors = Vec<Vec<f32>>;

/// How many of the first texts are sent in one request: at least one if there is one.
pub(super) fn together(texts: &[String]) -> usize {
    let mut chars = 0;
    let fits = |text: &&String| {
        chars += text.chars().count();
        chars <= ENDPOINT_CHARS_MAX
    };
    let count = texts.iter().take(ENDPOINT_TEXTS_MAX).take_while(fits).count();
    count.max(1).min(texts.len())
}

fn beginning(text: &str) -> String {
    text.chars().take(MEMORY_VECTOR_TEXT_CHARS_MAX).collect()
}

/// The error of a step of the job that could not make vectors.
pub(super) fn unavailable(why: &Failure) -> Error {
    Error::Unavailable(format!("no vectors of memories: {why}"))
}

/// Whether a service refuses these texts whenever they are sent, and may accept others.
pub(super) fn is_about_the_texts(why: &Failure) -> bool {
    matches!(why, Failure::Refused(400 | 413 | 422))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_as_many_texts_as_both_bounds_allow() {
        let texts = |count: usize, chars: usize| vec!["é".repeat(chars); count];
        assert_eq!(together(&[]), 0);
        assert_eq!(together(&texts(7, 10)), 7);
        assert_eq!(together(&texts(100, 10)), ENDPOINT_TEXTS_MAX);
        assert_eq!(together(&texts(40, ENDPOINT_CHARS_MAX / 20)), 20);
        assert_eq!(together(&texts(2, ENDPOINT_CHARS_MAX + 1)), 1, "a longer text goes alone");
    }
}
