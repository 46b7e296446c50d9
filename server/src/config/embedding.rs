//! `[embedding]`: vectors of memories, by which they are found in other words.

use super::{Error, filled, filled_path};
use ledger::memory_vector::{EndpointSettings, SIMILARITY_MIN_DEFAULT};
use serde::Deserialize;
use std::path::PathBuf;

/// The table of the file. It names a folder, or a service with its model and dimensions.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EmbeddingFile {
    /// Folder of a static model.
    model_dir: Option<PathBuf>,
    /// Address of the resource `embeddings` of a service.
    url: Option<String>,
    /// Name of the model there.
    model: Option<String>,
    /// Number of values of its vectors.
    dimensions: Option<usize>,
    /// Variable with the key of the service.
    pub(super) key_env: Option<String>,
    /// Cosine from which on a memory is near to a text.
    similarity_min: Option<f32>,
}

/// What makes vectors, and how they are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddingSettings {
    /// What makes vectors.
    pub source: EmbeddingSource,
    /// Cosine from which on a memory is near to a text.
    pub similarity_min: f32,
}

/// What makes vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbeddingSource {
    /// A static model in this folder.
    Folder(PathBuf),
    /// A service.
    Endpoint(EndpointSettings),
}

/// Checks the table. A folder of a flag or of the environment outranks what the file has.
pub(super) fn settings(
    flag: Option<PathBuf>,
    file: EmbeddingFile,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<EmbeddingSettings>, Error> {
    let refused = |why: &str| Error::Value(format!("embedding.{why}"));
    let similarity_min = file.similarity_min.unwrap_or(SIMILARITY_MIN_DEFAULT);
    if !(0.0..=1.0).contains(&similarity_min) {
        return Err(refused("similarity_min is 0 to 1"));
    }
    let source = match (flag, filled_path(file.model_dir), filled(file.url)) {
        (Some(folder), _, _) | (None, Some(folder), None) => EmbeddingSource::Folder(folder),
        (None, Some(_), Some(_)) => return Err(refused("model_dir and embedding.url exclude each other")),
        (None, None, Some(url)) => {
            let model = filled(file.model).ok_or_else(|| refused("model is missing: the name of the model at url"))?;
            let missing = || refused("dimensions is missing: the number of values of a vector");
            let dimensions = file.dimensions.ok_or_else(missing)?;
            let unset = |name: &String| refused(&format!("key_env: the variable {name} is not set"));
            let key = match &file.key_env {
                Some(name) => Some(filled(variable(name)).ok_or_else(|| unset(name))?),
                None => None,
            };
            EmbeddingSource::Endpoint(EndpointSettings { url, model, dimensions, key })
        }
        (None, None, None) => return Ok(None),
    };
    Ok(Some(EmbeddingSettings { source, similarity_min }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(flag: Option<&str>, text: &str) -> Result<Option<EmbeddingSettings>, String> {
        let variable = |name: &str| (name == "KEY").then(|| "secret".to_owned());
        let settings = settings(flag.map(PathBuf::from), toml::from_str(text).unwrap(), variable);
        settings.map_err(|error| error.to_string())
    }

    #[test]
    fn vectors_are_off_unless_a_folder_or_a_service_is_named() {
        assert_eq!(checked(None, "").unwrap(), None);
        let folder = |path: &str| EmbeddingSource::Folder(path.into());
        let service = "url = \"https://e.example.org/v1/embeddings\"\nmodel = \"m\"\ndimensions = 8\nkey_env = \"KEY\"";
        assert_eq!(checked(None, "model_dir = \"a\"").unwrap().unwrap().source, folder("a"));
        assert_eq!(checked(Some("b"), service).unwrap().unwrap().source, folder("b"), "a flag comes first");
        let found = checked(None, service).unwrap().unwrap();
        assert!((found.similarity_min - SIMILARITY_MIN_DEFAULT).abs() < f32::EPSILON);
        let EmbeddingSource::Endpoint(endpoint) = found.source else { panic!("no service") };
        assert_eq!((endpoint.dimensions, endpoint.key.as_deref()), (8, Some("secret")));
    }

    #[test]
    fn half_a_service_is_refused() {
        for (text, why) in [
            ("url = \"https://e.example.org\"", "embedding.model is missing"),
            ("url = \"https://e.example.org\"\nmodel = \"m\"", "embedding.dimensions is missing"),
            ("url = \"u\"\nmodel = \"m\"\ndimensions = 8\nkey_env = \"NONE\"", "embedding.key_env: the variable NONE"),
            ("url = \"u\"\nmodel_dir = \"a\"", "embedding.model_dir and embedding.url"),
            ("similarity_min = 1.5", "embedding.similarity_min is 0 to 1"),
        ] {
            let refused = checked(None, text).unwrap_err();
            assert!(refused.starts_with(why), "{text}: {refused}");
        }
    }
}
