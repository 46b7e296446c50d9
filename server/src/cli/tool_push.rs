//! `shiftbook tool push`: creates a tool from a file, or makes a tool what the file says.

use super::{
    common::{Failure, print_line},
    tool_server::{ServerArgs, connect, line, read_text},
};
use client::Client;
use domain::limit::{BUNDLE_BYTES_MAX, TOOL_TIME_LIMIT_SECONDS_DEFAULT};
use std::path::PathBuf;
use wire::{
    Code,
    tool::{CreateTool, PublishTool, Tool, UpdateTool},
};

/// Options of `tool push`.
#[derive(Debug, clap::Args)]
pub struct PushArgs {
    /// The tool as JSON, with its slug; `-` reads it from stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Publish it if it differs from the version published last
    #[arg(long)]
    publish: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// Runs the command. Prints the tool as `tool list` does.
pub(super) async fn push(args: PushArgs) -> Result<(), Failure> {
    let text = read_text(&args.file, BUNDLE_BYTES_MAX, "a tool")?;
    let new: CreateTool = serde_json::from_str(&text)
        .map_err(|error| Failure::Misused(format!("{} is not a tool: {error}", args.file.display())))?;
    let Some(slug) = new.slug.clone() else {
        return Err(Failure::Misused(format!("{} has no slug, which names the tool", args.file.display())));
    };
    let client = connect(&args.server)?;
    let mut tool = match client.get_tool(&slug).await {
        Ok(known) => client.update_tool(&slug, &update(&known, new)).await?,
        Err(error) if error.code() == Some(Code::NotFound) => client.create_tool(&new).await?,
        Err(error) => return Err(error.into()),
    };
    if args.publish {
        tool = publish(&client, tool).await?;
    }
    print_line(&line(&tool))
}

/// Publishes the revision that was pushed. Nothing is added if it is published already.
async fn publish(client: &Client, tool: Tool) -> Result<Tool, Failure> {
    let publish = PublishTool { revision: Some(tool.revision) };
    Ok(client.publish_tool(&tool.slug, &publish).await?)
}

/// The change that makes a tool what the file says. What the file does not name gets its default.
fn update(known: &Tool, new: CreateTool) -> UpdateTool {
    UpdateTool {
        revision: known.revision,
        name: Some(new.name),
        description: Some(new.description),
        kind: Some(new.kind),
        http: new.http,
        composite: new.composite,
        mcp: new.mcp,
        input_schema: Some(new.input_schema),
        output_schema: Some(new.output_schema),
        time_limit_seconds: Some(new.time_limit_seconds.unwrap_or(TOOL_TIME_LIMIT_SECONDS_DEFAULT)),
        retries: Some(new.retries),
        repeatable: Some(new.repeatable),
        requires_confirmation: Some(new.requires_confirmation),
        private_fields: Some(new.private_fields),
        audience: Some(new.audience),
    }
}
