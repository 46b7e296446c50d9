//! A static model of a handful of words, in the format of model2vec, and a service that gives the same vectors.

use serde_json::{Map, Value, json};
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// Number of values of the vectors.
pub const DIMENSIONS: usize = 4;

/// Words and what they are about: heating, water, music, food.
const WORDS: [(&str, [f32; DIMENSIONS]); 10] = [
    ("boiler", [1.0, 0.0, 0.0, 0.0]),
    ("heating", [1.0, 0.1, 0.0, 0.0]),
    ("leaks", [0.0, 1.0, 0.0, 0.0]),
    ("water", [0.1, 1.0, 0.0, 0.0]),
    ("piano", [0.0, 0.0, 1.0, 0.0]),
    ("instrument", [0.0, 0.0, 1.0, 0.1]),
    ("violin", [0.0, 0.0, 0.9, 0.0]),
    ("bread", [0.0, 0.0, 0.0, 1.0]),
    ("loaf", [0.0, 0.0, 0.1, 1.0]),
    ("baker", [0.0, 0.0, 0.0, 0.8]),
];

/// Writes a folder with the model. Words are compared in lower case; it knows no others.
pub fn static_model() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut vocabulary = Map::from_iter([("[UNK]".to_owned(), json!(0))]);
    let mut table = vec![0.0_f32; DIMENSIONS];
    for (number, (word, vector)) in (1..).zip(WORDS) {
        vocabulary.insert(word.to_owned(), json!(number));
        table.extend(vector);
    }
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": { "type": "Lowercase" }, "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": null, "decoder": null,
        "model": { "type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]" },
    });
    let data: Vec<u8> = table.iter().flat_map(|value| value.to_le_bytes()).collect();
    let header = json!({
        "embeddings": { "dtype": "F32", "shape": [WORDS.len() + 1, DIMENSIONS], "data_offsets": [0, data.len()] },
    });
    let header = header.to_string();
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat();
    std::fs::write(folder.path().join("tokenizer.json"), tokenizer.to_string()).unwrap();
    std::fs::write(folder.path().join("model.safetensors"), file).unwrap();
    std::fs::write(folder.path().join("config.json"), json!({ "normalize": true }).to_string()).unwrap();
    folder
}

/// What the service does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// It answers with vectors of so many values.
    Vectors(usize),
    /// It answers with this status and no body.
    Status(u16),
    /// It never answers.
    Silence,
}

/// A running service with the interface of OpenAI. It ends when dropped.
pub struct EmbeddingService {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    behaviour: Mutex<Behaviour>,
    /// Heads of the requests.
    heads: Mutex<Vec<String>>,
    /// Connections that get no answer.
    unheard: Mutex<Vec<TcpStream>>,
}

impl EmbeddingService {
    /// Starts a service that answers.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let behaviour = Mutex::new(Behaviour::Vectors(DIMENSIONS));
        let shared = Arc::new(Shared { behaviour, heads: Mutex::default(), unheard: Mutex::default() });
        let serving = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A caller may close the connection early.
                let _ = serve(stream, &serving).await;
            }
        });
        Self { address, shared, task }
    }

    /// Address of its resource `embeddings`.
    pub fn url(&self) -> String {
        format!("http://{}/v1/embeddings", self.address)
    }

    /// Sets what it does from now on.
    pub fn behave(&self, behaviour: Behaviour) {
        *self.shared.behaviour.lock().unwrap() = behaviour;
    }

    /// The heads of the requests so far, in lower case.
    pub fn heads(&self) -> Vec<String> {
        self.shared.heads.lock().unwrap().clone()
    }
}

impl Drop for EmbeddingService {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The vector of a text: the sum of those of its words.
fn vector(text: &str, dimensions: usize) -> Vec<f32> {
    let mut sum = vec![0.0; dimensions];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
        let known = WORDS.iter().filter(|(known, _)| *known == word).flat_map(|(_, vector)| vector);
        sum.iter_mut().zip(known).for_each(|(sum, value)| *sum += value);
    }
    sum
}

async fn serve(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    let body = loop {
        let read = stream.read(&mut chunk).await?;
        if read == 0 {
            return Ok(());
        }
        bytes.extend_from_slice(&chunk[..read]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
        if bytes.len() >= end + 4 + length.unwrap_or(0_usize) {
            shared.heads.lock().unwrap().push(head);
            break bytes.split_off(end + 4);
        }
    };
    let behaviour = *shared.behaviour.lock().unwrap();
    let (status, answer) = match behaviour {
        Behaviour::Silence => {
            shared.unheard.lock().unwrap().push(stream);
            return Ok(());
        }
        Behaviour::Status(status) => (status, String::new()),
        Behaviour::Vectors(dimensions) => {
            let body: Value = serde_json::from_slice(&body)?;
            let texts = body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap());
            let data =
                texts.enumerate().map(|(index, text)| json!({ "index": index, "embedding": vector(text, dimensions) }));
            (200, json!({ "data": data.collect::<Vec<_>>() }).to_string())
        }
    };
    let length = answer.len();
    let head = format!("HTTP/1.1 {status} Scripted\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all([head, answer].concat().as_bytes()).await?;
    stream.shutdown().await
}
