//! `shiftbook tool`: lists, runs and changes tools on a server.

use super::{
    common::{Failure, print_line},
    tool_progress::ProgressLine,
    tool_push::{PushArgs, push},
    tool_server::{ServerArgs, connect, line, read_text},
};
use crate::ambient::{SystemClock, SystemEntropy};
use clap::builder::NonEmptyStringValueParser;
use client::{Backoff, Client};
use domain::{
    Clock, Entropy,
    id::RequestId,
    limit::{DOCUMENT_BYTES_MAX, PAGE_MAX, TOOL_RUN_WAIT_SECONDS_MAX},
    session::Status,
};
use serde_json::value::RawValue;
use std::{io::Write, path::PathBuf};
use tokio::time::sleep;
use wire::{
    Json,
    tool_run::{RunTool, ToolRun},
};

/// Repeats of a request without an answer before the command gives up.
const REPEATS_MAX: u32 = 8;

/// What to do with tools.
#[derive(Debug, clap::Subcommand)]
pub enum ToolCommand {
    /// List the tools of the workspace: slug, state, version, kind and name
    List(ListArgs),
    /// Run a tool and print its result on stdout; exits with 1 if the run does not complete
    Run(RunArgs),
    /// Create the tool that a file describes, or make it what the file says, and print it as `tool list` does
    Push(PushArgs),
}

/// Options of `tool list`.
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    #[command(flatten)]
    server: ServerArgs,
}

/// Options of `tool run`.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// Slug of the tool
    #[arg(value_name = "SLUG")]
    slug: String,
    /// The input, a JSON object; `-` reads it from stdin. Without it the tool gets the defaults of its schema
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// A repeat with the same key does not run the tool again, and prints the same result
    #[arg(long, value_name = "KEY", value_parser = NonEmptyStringValueParser::new())]
    idempotency_key: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

/// Runs the command.
pub async fn run(command: ToolCommand) -> Result<(), Failure> {
    match command {
        ToolCommand::List(args) => list(args).await,
        ToolCommand::Run(args) => run_tool(args).await,
        ToolCommand::Push(args) => push(args).await,
    }
}

async fn list(args: ListArgs) -> Result<(), Failure> {
    let client = connect(&args.server)?;
    let mut cursor = None;
    loop {
        let page = client.list_tools(Some(PAGE_MAX), cursor.as_deref()).await?;
        for tool in &page.items {
            print_line(&line(tool))?;
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(());
        }
    }
}

async fn run_tool(args: RunArgs) -> Result<(), Failure> {
    let input = args.input.as_ref().map(read).transpose()?;
    let client = connect(&args.server)?;
    // With a key of its own a request can be repeated when its answer is lost.
    let own_key = || RequestId::new(SystemClock.now(), &SystemEntropy).to_string();
    let request = RunTool {
        input,
        idempotency_key: Some(args.idempotency_key.unwrap_or_else(own_key)),
        parent_id: None,
        output: None,
        wait_seconds: Some(TOOL_RUN_WAIT_SECONDS_MAX),
    };
    let ended = follow(&client, &args.slug, &request).await?;
    conclude(ended)
}

/// Waits for the end of the run, and reports each change of its status, and its progress.
async fn follow(client: &Client, slug: &str, request: &RunTool) -> Result<ToolRun, Failure> {
    let mut seed = [0; 8];
    SystemEntropy.fill(&mut seed);
    let mut backoff = Backoff::new(u64::from_le_bytes(seed));
    // The first answer comes soon, so that the session is known while the tool runs.
    let mut next = RunTool { wait_seconds: Some(1), ..request.clone() };
    let mut shown = None;
    let (mut progress, mut stream) = (ProgressLine::new(), None);
    loop {
        let asked = client.run_tool(slug, &next);
        let answer = match &mut stream {
            Some(stream) => progress.show_until(stream, asked).await,
            None => asked.await,
        };
        match answer {
            Ok(run) => {
                backoff.reset();
                stream.get_or_insert_with(|| client.stream(run.session_id, 0));
                if shown != Some(run.status) {
                    progress.clear();
                    report(&format!("{} {} (version {})", run.session_id, run.status, run.version));
                    shown = Some(run.status);
                }
                if run.status.is_final() {
                    return Ok(run);
                }
                next = request.clone();
            }
            Err(error) if error.is_retryable() && backoff.tries() < REPEATS_MAX => sleep(backoff.pause(&error)).await,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Shows progress on standard error. A closed standard error does not end the run.
fn report(text: &str) {
    let _closed = writeln!(std::io::stderr(), "{text}");
}

fn conclude(run: ToolRun) -> Result<(), Failure> {
    if run.status == Status::Completed {
        return print_line(run.result.as_ref().map_or("null", |result| result.get()));
    }
    let why = match run.error {
        Some(error) => match error.code {
            Some(code) => format!("{} ({code})", error.message),
            None => error.message,
        },
        None => run.end_reason.map_or_else(|| "without a reason".to_owned(), |reason| reason.to_string()),
    };
    Err(Failure::Failed(format!("the run is {}: {why}", run.status)))
}

fn read(file: &PathBuf) -> Result<Json, Failure> {
    let text = read_text(file, DOCUMENT_BYTES_MAX, "an input")?;
    let json: Result<Box<RawValue>, _> = serde_json::from_str(text.trim());
    json.map_err(|error| Failure::Misused(format!("{} is not JSON: {error}", file.display())))
}
