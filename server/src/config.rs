//! Settings: flag over environment over file over default.
//!
//! clap reads flags and environment into one [`Flags`]; this module adds the file below them.

mod agents_file;
pub mod backup;
mod canvas;
mod embedding;
mod forms;
mod mcp;
pub mod otlp;
mod predictor;
mod smtp;

use agents_file::AgentsFile;
use backup::{BackupFile, BackupSettings};
use canvas::CanvasFile;
use chrono::TimeDelta;
use embedding::EmbeddingFile;
pub use embedding::{EmbeddingSettings, EmbeddingSource};
pub use forms::FormSettings;
use forms::FormsFile;
use otlp::{OtlpFile, OtlpFlags, OtlpSettings};
use predictor::{PipelineFile, PredictorFile};
use runner::{execute::config::AgentConfig, execute::mcp::Program, mail::MailSettings, memory_writer::MemoryConfig};
use serde::Deserialize;
use smtp::SmtpFile;
use std::{
    collections::BTreeMap,
    io::Read as _,
    net::SocketAddr,
    path::{Path, PathBuf},
};

/// Where the data lives when no one says.
const DATA_DIR_DEFAULT: &str = "shiftbook-data";
/// Where the server listens when no one says: this machine alone.
const LISTEN_DEFAULT: &str = "127.0.0.1:4210";
/// Largest configuration file, bytes.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Options of every command that opens the database.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct DatabaseFlags {
    /// Directory of the SQLite database; created when missing [default: shiftbook-data]
    #[arg(long, env = "SHIFTBOOK_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Use this PostgreSQL database instead of SQLite
    #[arg(long, env = "SHIFTBOOK_DATABASE_URL", value_name = "postgres://…", hide_env_values = true)]
    pub database_url: Option<String>,
    /// Use a PostgreSQL server that is set to lose acknowledged writes in a power cut
    #[arg(long = "i-accept-data-loss")]
    pub accept_data_loss: bool,
    /// Settings file (TOML)
    #[arg(long, env = "SHIFTBOOK_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Options of `serve` beyond the database.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ServeFlags {
    /// Address to listen on; port 0 takes a free one [default: 127.0.0.1:4210]
    #[arg(long, env = "SHIFTBOOK_LISTEN", value_name = "ADDRESS:PORT")]
    pub listen: Option<String>,
    /// The address that browsers see, e.g. https://log.example.org; https makes cookies Secure
    #[arg(long, env = "SHIFTBOOK_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<String>,
    /// Do not run the agents and memory writers of the settings file; workers elsewhere run the agents
    #[arg(long)]
    pub no_agents: bool,
    /// File with the key that signs webhooks: 64 hexadecimal digits, the same on every server [default on SQLite:
    /// DIR/instance.key]
    #[arg(long, env = "SHIFTBOOK_INSTANCE_KEY_FILE", value_name = "FILE")]
    pub instance_key_file: Option<PathBuf>,
    /// Folder of a static model (format of model2vec) by which memories are found in other words
    #[arg(long, env = "SHIFTBOOK_EMBEDDING_MODEL", value_name = "DIR")]
    pub embedding_model: Option<PathBuf>,
    /// The export of spans.
    #[command(flatten)]
    pub otlp: OtlpFlags,
}

/// The file. Unknown keys are refused: a misspelt key must not be a silent default.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    data_dir: Option<PathBuf>,
    database_url: Option<String>,
    listen: Option<String>,
    public_url: Option<String>,
    instance_key_file: Option<PathBuf>,
    #[serde(default)]
    outbound: OutboundFile,
    smtp: Option<SmtpFile>,
    backup: Option<BackupFile>,
    #[serde(default)]
    otlp: OtlpFile,
    #[serde(default)]
    forms: FormsFile,
    #[serde(default)]
    canvas: CanvasFile,
    #[serde(default)]
    agents: AgentsFile,
    memory: Option<MemoryConfig>,
    #[serde(default)]
    predictor: PredictorFile,
    #[serde(default, rename = "pipelineV2")]
    pipeline: PipelineFile,
    #[serde(default)]
    embedding: EmbeddingFile,
    #[serde(default)]
    mcp: BTreeMap<String, Program>,
}

/// `[outbound]`: calls to addresses that people or agents choose.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutboundFile {
    /// Private networks that may be called all the same.
    #[serde(default)]
    allow_private: Vec<String>,
}

/// The effective settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Which database.
    pub database: Database,
    /// Address and port of the server.
    pub listen: SocketAddr,
    /// Where browsers see the server.
    pub public_url: Option<PublicUrl>,
    /// Path of the instance key, if it is configured.
    pub instance_key_file: Option<PathBuf>,
    /// Which addresses the server may call when people or agents choose the address.
    pub outbound: outbound::Policy,
    /// Other hosts to which a form may send a respondent: lower-case names, with a port if it is not 443.
    pub redirect_hosts: Vec<String>,
    /// The agents that are described, by their names.
    pub agents: BTreeMap<String, AgentConfig>,
    /// The programs that workspaces may use as MCP servers, by their names.
    pub mcp: BTreeMap<String, Program>,
    /// Whether the server runs the agents of the settings.
    pub runs_agents: bool,
    /// Forms that people answer.
    pub forms: FormSettings,
    /// Time without a change after which a canvas is abandoned.
    pub canvas_left_for: TimeDelta,
    /// The memory writer, if the settings describe one.
    pub memory: Option<MemoryConfig>,
    /// Ratings of memories and their labels.
    pub relevance: domain::relevance::Settings,
    /// What makes vectors of memories, if anything does.
    pub embedding: Option<EmbeddingSettings>,
    /// How the server sends e-mail. `None` if it does not.
    pub smtp: Option<MailSettings>,
    /// The copies of the database that the server makes, if it makes any.
    pub backups: Option<BackupSettings>,
    /// The collector that gets the server's spans, if there is one.
    pub otlp: Option<OtlpSettings>,
    /// Names of the environment variables that hold secrets of the settings.
    pub secret_variables: Vec<String>,
}

/// Which database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    /// SQLite in this directory.
    Sqlite(PathBuf),
    /// PostgreSQL.
    Postgres {
        /// `postgres://…`
        url: String,
        /// Whether to use a server whose settings can lose acknowledged writes.
        accept_data_loss: bool,
    },
}

impl From<Database> for ledger::Database {
    fn from(database: Database) -> Self {
        match database {
            Database::Sqlite(data_dir) => Self::Sqlite { data_dir },
            Database::Postgres { url, accept_data_loss } => Self::Postgres { url, accept_data_loss },
        }
    }
}

/// An address of the form `http[s]://host[:port]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    origin: String,
}

impl PublicUrl {
    fn parse(text: &str) -> Result<Self, Error> {
        let refused = || Error::Value(format!("public URL `{text}` is not of the form https://host[:port]"));
        let origin = text.trim_end_matches('/').to_ascii_lowercase();
        let (scheme, host) = origin.split_once("://").ok_or_else(refused)?;
        let plain = host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b':' | b'[' | b']'));
        if matches!(scheme, "http" | "https") && !host.is_empty() && plain {
            Ok(Self { origin })
        } else {
            Err(refused())
        }
    }

    /// Scheme, host and port, as in the Origin header.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Whether browsers use TLS.
    pub fn is_https(&self) -> bool {
        self.origin.starts_with("https://")
    }
}

/// An error in the settings, with the text that an operator needs to correct it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read {path}: {error}")]
    Unreadable {
        /// The file.
        path: String,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// The file's content is wrong.
    #[error("{path}:{line}: {message}")]
    File {
        /// The file.
        path: String,
        /// Line of the error, from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// A value is invalid, whether from a flag, a variable or the file.
    #[error("{0}")]
    Value(String),
}

/// Settings from flags and environment (already merged by clap), then the file they name, then defaults.
pub fn load(database: DatabaseFlags, serve: ServeFlags) -> Result<Settings, Error> {
    let file = match filled_path(database.config.clone()) {
        None => File::default(),
        Some(path) => read(&path)?,
    };
    merge(database, serve, file)
}

fn merge(flags: DatabaseFlags, serve: ServeFlags, file: File) -> Result<Settings, Error> {
    let mut secret_variables = secret_variables(&file);
    let accept_data_loss = flags.accept_data_loss;
    let data_dir = filled_path(flags.data_dir);
    let database_url = filled(flags.database_url);
    // A data directory named by flag or environment outranks a database URL that only the file names.
    let url_from_file = if data_dir.is_none() { filled(file.database_url) } else { None };
    let database = match database_url.or(url_from_file) {
        Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
            Database::Postgres { url, accept_data_loss }
        }
        Some(_) => return Err(Error::Value("the database URL must begin with postgres://".into())),
        None => Database::Sqlite(data_dir.or(file.data_dir).unwrap_or_else(|| DATA_DIR_DEFAULT.into())),
    };
    let listen = filled(serve.listen).or(filled(file.listen)).unwrap_or_else(|| LISTEN_DEFAULT.into());
    let listen = listen.parse().map_err(|_| {
        Error::Value(format!("cannot listen on `{listen}`: give an address and port such as {LISTEN_DEFAULT}"))
    })?;
    let public_url = filled(serve.public_url).or(filled(file.public_url));
    let public_url = public_url.as_deref().map(PublicUrl::parse).transpose()?;
    let outbound = outbound::Policy::opening(&file.outbound.allow_private)
        .map_err(|error| Error::Value(format!("outbound.allow_private: {error}")))?;
    let forms = FormSettings::from(&file.forms);
    let redirect_hosts = file.forms.redirect_hosts;
    if let Some(wrong) = redirect_hosts.iter().find(|host| !domain::view::is_authority(host)) {
        return Err(Error::Value(format!("forms.redirect_hosts: `{wrong}` is not a host such as www.example.org")));
    }
    let instance_key_file = filled_path(serve.instance_key_file).or(filled_path(file.instance_key_file));
    let variable = |name: &str| std::env::var(name).ok();
    let smtp = file.smtp.map(|file| smtp::settings(file, public_url.as_ref(), variable)).transpose()?;
    let backups = file.backup.map(|file| backup::settings(file, &database)).transpose()?;
    let otlp = otlp::settings(serve.otlp, file.otlp, variable)?;
    if otlp.is_some() {
        secret_variables.extend(otlp::HEADER_VARIABLES.map(str::to_owned));
    }
    let runs_agents = !serve.no_agents && file.agents.enabled.unwrap_or(true);
    let agents = file.agents.agents;
    let mcp = mcp::programs(file.mcp)?;
    let memory = file.memory;
    if let Some(memory) = &memory {
        memory.check().map_err(Error::Value)?;
    }
    let relevance = predictor::settings(file.predictor.above(file.pipeline))?;
    let embedding = embedding::settings(filled_path(serve.embedding_model), file.embedding, variable)?;
    Ok(Settings {
        database,
        listen,
        public_url,
        instance_key_file,
        outbound,
        redirect_hosts,
        agents,
        mcp,
        runs_agents,
        forms,
        canvas_left_for: file.canvas.left_for(),
        memory,
        relevance,
        embedding,
        smtp,
        backups,
        otlp,
        secret_variables,
    })
}

fn secret_variables(file: &File) -> Vec<String> {
    let smtp = file.smtp.iter().filter_map(|smtp| smtp.password_env.clone());
    let memory = file.memory.iter().filter_map(|memory| memory.api_key_env.clone());
    let agents = file.agents.agents.values().filter_map(|agent| agent.api_key_env.clone());
    let mcp = file.mcp.values().flat_map(|program| program.secret_env.clone());
    let embedding = file.embedding.key_env.clone();
    smtp.chain(memory).chain(agents).chain(mcp).chain(embedding).collect()
}

/// An empty variable in a service file means "not set".
fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

fn filled_path(path: Option<PathBuf>) -> Option<PathBuf> {
    path.filter(|path| !path.as_os_str().is_empty())
}

fn read(path: &Path) -> Result<File, Error> {
    let unreadable = |error| Error::Unreadable { path: path.display().to_string(), error };
    let mut text = String::new();
    // Not by the length that the file says: a device has none.
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let size = file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(unreadable)?;
    if size as u64 > FILE_BYTES_MAX {
        return Err(Error::Value(format!("{} is larger than {FILE_BYTES_MAX} bytes", path.display())));
    }
    parse(&text, &path.display().to_string())
}

fn parse(text: &str, path: &str) -> Result<File, Error> {
    toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text.as_bytes().iter().take(offset).filter(|b| **b == b'\n').count() + 1;
        Error::File { path: path.to_owned(), line, message: error.message().to_owned() }
    })
}

#[cfg(test)]
mod tests;
