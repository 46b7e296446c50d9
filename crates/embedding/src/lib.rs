//! Turns texts into vectors whose directions are near if the texts mean about the same.
//!
//! A vector comes from a [`Model`], a table of vectors of words that is read from a folder, or from an [`Endpoint`], a
//! service with the interface of OpenAI. [`Vector`] is the form in which vectors are stored and compared. Which texts
//! get vectors, and where these are kept, is decided in `ledger`.

mod endpoint;
mod limit;
mod model;
mod vector;

pub use endpoint::{Endpoint, EndpointSettings, Failure};
pub use limit::{DIMENSIONS_MAX, ENDPOINT_CHARS_MAX, ENDPOINT_TEXTS_MAX, MODEL_BYTES_MAX, MODEL_ID_CHARS_MAX};
pub use model::{BadModel, Model};
pub use vector::{Vector, similarities};
