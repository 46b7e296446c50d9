//! `shiftbook check-config`: checks the settings of a server without starting one. Nothing is changed.

use super::{
    common::{Failure, open, print_line},
    instance_key,
};
use crate::{
    agents,
    ambient::is_program,
    config::{self, Database, DatabaseFlags, ServeFlags, Settings},
    embedder, memory_writers,
};
use ledger::Mode;
use runner::mail::Mailer;
use std::{ffi::OsStr, path::Path};
use url::Url;

/// A settings file with every setting, as comments.
const SAMPLE: &str = include_str!("../../../examples/shiftbook.toml");

/// Options of `check-config`: those of `serve`.
#[derive(Debug, clap::Args)]
pub struct CheckConfigArgs {
    #[command(flatten)]
    database: DatabaseFlags,
    #[command(flatten)]
    serve: ServeFlags,
    /// Print a settings file with every setting, as comments, and check nothing
    #[arg(long)]
    sample: bool,
}

/// Prints what the settings come to.
///
/// # Errors
/// Everything in them that cannot be used.
pub async fn run(args: CheckConfigArgs) -> Result<(), Failure> {
    if args.sample {
        return print_line(SAMPLE.trim_end());
    }
    let settings = config::load(args.database, args.serve)?;
    let problems = problems(&settings).await;
    if !problems.is_empty() {
        return Err(Failure::Misused(problems.join("\n")));
    }
    for line in described(&settings) {
        print_line(&line)?;
    }
    print_line("the settings can be used")
}

/// What a start would refuse.
async fn problems(settings: &Settings) -> Vec<String> {
    let agents = if settings.runs_agents {
        let url = format!("http://{}", settings.listen);
        [agents::prepare(settings, &url).err(), memory_writers::prepare(settings).err()]
    } else {
        [None, None]
    };
    let agents = agents.into_iter().flatten().chain(embedder::prepare(settings).err());
    let mut problems: Vec<String> = agents.map(|error| error.to_string()).collect();
    problems.extend(settings.mcp.iter().filter_map(|(name, program)| {
        let command = program.command.first()?;
        (!is_program(OsStr::new(command))).then(|| format!("mcp.{name}: there is no program `{command}`"))
    }));
    problems.extend(settings.smtp.clone().and_then(|smtp| Mailer::new(smtp).err()).map(|error| error.to_string()));
    problems.extend(instance_key::find(settings).err().map(|error| error.to_string()));
    let backups = settings.backups.iter().filter(|backups| backups.folder.exists() && !backups.folder.is_dir());
    problems.extend(backups.map(|backups| format!("backup.folder: {} is no folder", backups.folder.display())));
    match &settings.database {
        Database::Sqlite(data_dir) if has_database(data_dir) => match open(settings, Mode::Reader).await {
            Ok(ledger) => ledger.close().await,
            Err(error) => problems.push(error.to_string()),
        },
        Database::Sqlite(_) => {}
        Database::Postgres { url, .. } => {
            problems.extend(Url::parse(url).err().map(|error| format!("the database URL is not valid: {error}")));
        }
    }
    problems
}

/// What the settings come to, without secrets.
fn described(settings: &Settings) -> Vec<String> {
    let names = |names: Vec<&str>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let agents = if settings.runs_agents {
        names(settings.agents.keys().map(String::as_str).collect())
    } else {
        "not run here".to_owned()
    };
    let writers = memory_writers::prepare(settings).unwrap_or_default();
    let backups = match &settings.backups {
        Some(own) => format!("{}, every {} h, {} kept", own.folder.display(), own.every_hours, own.keep),
        None => "none".to_owned(),
    };
    let spans = match &settings.otlp {
        Some(otlp) => format!("to {} as {}, {} of the traces", otlp.endpoint, otlp.service_name, otlp.sample_ratio),
        None => "not exported".to_owned(),
    };
    vec![
        format!("database: {}", database(&settings.database)),
        format!("address: {}", settings.listen),
        format!("public URL: {}", settings.public_url.as_ref().map_or("none", |url| url.origin())),
        format!("instance key: {}", key(settings)),
        format!("backups: {backups}"),
        format!("spans: {spans}"),
        format!("e-mail: {}", settings.smtp.as_ref().map_or("none", |smtp| smtp.host.as_str())),
        format!("agents: {agents}"),
        format!("programs of MCP servers: {}", names(settings.mcp.keys().map(String::as_str).collect())),
        format!("memory writers: {}", names(writers.iter().map(|writer| writer.agent()).collect())),
    ]
}

fn has_database(data_dir: &Path) -> bool {
    data_dir.join(ledger::SQLITE_FILE).exists()
}

fn database(database: &Database) -> String {
    match database {
        Database::Sqlite(data_dir) if has_database(data_dir) => format!("SQLite in {}", data_dir.display()),
        Database::Sqlite(data_dir) => format!("SQLite in {}, which the start makes", data_dir.display()),
        Database::Postgres { url, .. } => match Url::parse(url) {
            Ok(url) => format!("PostgreSQL on {}{}", url.host_str().unwrap_or("this machine"), url.path()),
            Err(_) => "PostgreSQL".to_owned(),
        },
    }
}

fn key(settings: &Settings) -> String {
    match (&settings.instance_key_file, &settings.database) {
        (Some(file), _) => file.display().to_string(),
        (None, Database::Sqlite(_)) => "in the data directory".to_owned(),
        (None, Database::Postgres { .. }) => {
            "none: webhooks, ratings, new links to forms, retention and forgetting are refused".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_described_has_no_password() {
        let url = "postgres://log:secret@db.example.org/shiftbook?sslmode=require".to_owned();
        let described = database(&Database::Postgres { url, accept_data_loss: false });
        assert_eq!(described, "PostgreSQL on db.example.org/shiftbook");
    }
}
