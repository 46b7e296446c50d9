//! Loads what makes vectors of memories.

use crate::config::{EmbeddingSource, Error, Settings};
use ledger::memory_vector::{Embedder, Endpoint, Model};
use std::sync::Arc;

/// Loads the model of the settings, before the server listens, so that a wrong folder is reported at once. Returns it
/// with the cosine from which on a memory is near. A service is not called.
///
/// # Errors
/// Why it cannot be used.
pub fn prepare(settings: &Settings) -> Result<Option<(Embedder, f32)>, Error> {
    let Some(embedding) = &settings.embedding else { return Ok(None) };
    let embedder = match &embedding.source {
        EmbeddingSource::Folder(folder) => {
            let model = Model::load(folder).map_err(|why| Error::Value(format!("embedding model: {why}")))?;
            Embedder::Model(Arc::new(model))
        }
        EmbeddingSource::Endpoint(endpoint) => {
            let client = outbound::Client::new(settings.outbound.clone());
            let client = client.map_err(|error| Error::Value(error.to_string()))?;
            let endpoint = Endpoint::new(client, endpoint.clone());
            Embedder::Endpoint(Arc::new(endpoint.map_err(|why| Error::Value(format!("embedding: {why}")))?))
        }
    };
    Ok(Some((embedder, embedding.similarity_min)))
}
