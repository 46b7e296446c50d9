//! Static models: a vector of each word, in the format of model2vec.

use crate::limit::{DIMENSIONS_MAX, MODEL_BYTES_MAX};
use model2vec_rs::model::StaticModel;
use sha2::{Digest, Sha256};
use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

/// Files of a model.
const FILES: [&str; 3] = ["tokenizer.json", "model.safetensors", "config.json"];
/// A text of which no model knows all words.
const PROBE: &str = "launch \u{10fffd} qzxv 東京 42";
/// Hexadecimal digits of the digest in the id of a model.
const ID_DIGITS: usize = 16;

/// Why a folder is no model that can be used.
#[derive(Debug, thiserror::Error)]
pub enum BadModel {
    /// A file is missing or cannot be read.
    #[error("cannot read {path}: {error}")]
    Unreadable {
        /// The file.
        path: String,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// A file is larger than [`MODEL_BYTES_MAX`].
    #[error("{path} is larger than {} bytes", MODEL_BYTES_MAX)]
    TooLarge {
        /// The file.
        path: String,
    },
    /// The files are no model.
    #[error("{0}")]
    Unusable(String),
}

/// A static model. The vector of a text is the mean of those of its words.
pub struct Model {
    table: StaticModel,
    id: String,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Model {
    /// Reads `tokenizer.json`, `model.safetensors` and `config.json` from a folder.
    ///
    /// # Errors
    /// The first reason why the folder cannot be used.
    pub fn load(folder: &Path) -> Result<Self, BadModel> {
        let [tokenizer, table, config] = FILES.map(|name| read(&folder.join(name)));
        let (tokenizer, table, config) = (tokenizer?, table?, config?);
        let mut digest = Sha256::new();
        for file in [&tokenizer, &table, &config] {
            digest.update((file.len() as u64).to_le_bytes());
            digest.update(file);
        }
        let digits = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let id = format!("static-{}", &digits[..ID_DIGITS]);
        let unusable = |why: String| BadModel::Unusable(format!("{}: {why}", folder.display()));
        let table = StaticModel::from_bytes(tokenizer, table, config, Some(true));
        let table = table.map_err(|why| unusable(why.to_string()))?;
        if table.dim() > DIMENSIONS_MAX {
            return Err(unusable(format!("its vectors have more than {DIMENSIONS_MAX} dimensions")));
        }
        let model = Self { table, id };
        // A tokenizer without a token for unknown words makes the library panic; better now than at a prompt.
        let tried = catch_unwind(AssertUnwindSafe(|| model.embed(PROBE).len()));
        tried.map_err(|_| unusable("its tokenizer cannot read every text".into()))?;
        Ok(model)
    }

    /// Name of the model: other files have another one.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Number of values of its vectors.
    pub fn dimensions(&self) -> usize {
        self.table.dim()
    }

    /// The vector of a text: of its first 512 tokens. All values are 0 if the model knows none of its words.
    pub fn embed(&self, text: &str) -> Vec<f32> {
        self.table.encode_single(text)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, BadModel> {
    let unreadable = |error| BadModel::Unreadable { path: path.display().to_string(), error };
    if std::fs::metadata(path).map_err(unreadable)?.len() > MODEL_BYTES_MAX {
        return Err(BadModel::TooLarge { path: path.display().to_string() });
    }
    std::fs::read(path).map_err(unreadable)
}
