//! `shiftbook connect --check`: says what works, and changes nothing.

use super::{args::ServerArgs, files};
use crate::cli::{
    common::{Failure, print_line},
    hook::Spool,
};
use client::Client;
use domain::hook::Source;
use std::{path::PathBuf, time::Duration};

/// Longest wait for a connection to the server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Checks one host, or every host whose program is found, and the server.
///
/// # Errors
/// If something does not work. It was printed.
pub async fn check(host: Option<Source>, server: &ServerArgs) -> Result<(), Failure> {
    let hosts: Vec<Source> = match host {
        Some(host) => vec![host],
        None => Source::ALL.into_iter().filter(|host| find(program(*host)).is_some()).collect(),
    };
    if hosts.is_empty() {
        print_line("No coding host is found on PATH.")?;
    }
    let mut works = true;
    for host in hosts {
        print_line(host.label())?;
        works &= check_host(host)?;
    }
    print_line("Server")?;
    works &= check_server(server).await?;
    if works { Ok(()) } else { Err(Failure::Failed("not everything works".into())) }
}

fn check_host(host: Source) -> Result<bool, Failure> {
    let name = program(host);
    let found = match find(name) {
        Some(path) => report(true, &path.display().to_string())?,
        None => report(false, &format!("`{name}` is not on PATH"))?,
    };
    let changes = match files::changes(host, true) {
        Ok(changes) => changes,
        Err(failure) => return report(false, &failure.to_string()),
    };
    let mut works = found;
    for change in changes {
        let path = change.path().display().to_string();
        let missing = format!("{path}: run `shiftbook connect {}`", host.as_str());
        works &= report(change.is_done(), if change.is_done() { &path } else { &missing })?;
    }
    if host == Source::Codex {
        print_line("  note  Codex runs new hooks only after you have reviewed them: type /hooks in Codex.")?;
    }
    Ok(works)
}

async fn check_server(server: &ServerArgs) -> Result<bool, Failure> {
    let Some(token) = server.token() else {
        return report(false, "SHIFTBOOK_TOKEN is not set; nothing is recorded");
    };
    let client = Client::with_connect_timeout(&server.url, token, CONNECT_TIMEOUT);
    let answer = match client {
        Ok(client) => client.me().await,
        Err(error) => Err(error),
    };
    let works = match answer {
        Ok(_) => report(true, &format!("{} accepts the token", server.url))?,
        Err(error) => report(false, &format!("{}: {error}", server.url))?,
    };
    if let Some(spool) = Spool::find(server.state_dir.as_deref(), &server.url, token) {
        let (waiting, missed) = (spool.names().len(), spool.missed());
        print_line(&format!("  note  hooks that wait for the server: {waiting}"))?;
        print_line(&format!("  note  prompts that went on without context so far: {missed}"))?;
    }
    Ok(works)
}

/// Prints one line, and returns whether it is good.
fn report(is_good: bool, what: &str) -> Result<bool, Failure> {
    print_line(&format!("  {}  {what}", if is_good { "ok  " } else { "FAIL" }))?;
    Ok(is_good)
}

/// The program of a host.
const fn program(host: Source) -> &'static str {
    match host {
        Source::ClaudeCode => "claude",
        other => other.as_str(),
    }
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}
