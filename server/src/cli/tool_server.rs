//! Shared parts of the commands about tools: the server, the line about a tool, and reading a file.

use super::common::Failure;
use clap::builder::NonEmptyStringValueParser;
use client::Client;
use std::{io::Read, path::PathBuf};
use wire::tool::Tool;

/// Address and token.
#[derive(Debug, clap::Args)]
pub(super) struct ServerArgs {
    /// Address of the server
    #[arg(long, env = "SHIFTBOOK_URL", default_value = "http://127.0.0.1:4210", value_parser = NonEmptyStringValueParser::new())]
    pub url: String,
    /// API token; set it in the environment
    #[arg(long, env = "SHIFTBOOK_TOKEN", hide_env_values = true, value_parser = NonEmptyStringValueParser::new())]
    pub token: String,
}

/// A client of the server.
pub(super) fn connect(server: &ServerArgs) -> Result<Client, Failure> {
    Client::new(&server.url, &server.token).map_err(|error| Failure::Misused(error.to_string()))
}

/// A line about a tool: slug, state, version, kind and name.
pub(super) fn line(tool: &Tool) -> String {
    let version = tool.version.map_or_else(|| "-".to_owned(), |version| format!("v{version}"));
    let changed = if tool.changed && tool.version.is_some() { "\tunpublished changes" } else { "" };
    let definition = &tool.definition;
    format!("{}\t{}\t{version}\t{}\t{}{changed}", tool.slug, tool.state, definition.kind(), definition.name)
}

/// Reads a file, or stdin for `-`. `what` names its content in the error for a longer one.
pub(super) fn read_text(file: &PathBuf, bytes_max: usize, what: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let most = bytes_max as u64 + 1;
    let read = if file.as_os_str() == "-" {
        std::io::stdin().take(most).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|open| open.take(most).read_to_string(&mut text))
    };
    read.map_err(Failure::io(format!("cannot read {}", file.display())))?;
    if text.len() > bytes_max {
        return Err(Failure::Misused(format!("{what} has at most {bytes_max} bytes")));
    }
    Ok(text)
}
