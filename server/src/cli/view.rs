//! `shiftbook view`: creates, changes and lists views on a server.

use super::common::{Failure, print_line};
use clap::builder::NonEmptyStringValueParser;
use client::{Client, ResponseFilter};
use domain::{
    limit::{BUNDLE_BYTES_MAX, PAGE_MAX},
    slug::slugify,
};
use std::{
    io::{Read, Write},
    path::PathBuf,
};
use wire::response::Response;
use wire::view::{CreateView, PublishView, UpdateView, View};

/// Commands on views, the forms that people answer.
#[derive(Debug, clap::Subcommand)]
pub enum ViewCommand {
    /// Create the view that a file describes, or change the one with its slug
    Push(PushArgs),
    /// List the views of the workspace: slug, state, version and title
    List(ListArgs),
    /// List the responses to a view, newest first: id, status, version, kind of respondent and time of submission
    Responses(ResponsesArgs),
}

/// Which server, and as whom.
#[derive(Debug, clap::Args)]
struct ServerArgs {
    /// Address of the server
    #[arg(long, env = "SHIFTBOOK_URL", default_value = "http://127.0.0.1:4210", value_parser = NonEmptyStringValueParser::new())]
    url: String,
    /// API token; `push` needs that of an operator or admin. Set it in the environment
    #[arg(long, env = "SHIFTBOOK_TOKEN", hide_env_values = true, value_parser = NonEmptyStringValueParser::new())]
    token: String,
}

/// Options of `view push`.
#[derive(Debug, clap::Args)]
pub struct PushArgs {
    /// The view, as YAML or JSON in the form of `POST /api/views`; `-` reads it from stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Publish it afterwards
    #[arg(long)]
    publish: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// Options of `view responses`.
#[derive(Debug, clap::Args)]
pub struct ResponsesArgs {
    /// Slug of the view
    #[arg(value_name = "SLUG")]
    slug: String,
    /// Print all answers as CSV, with a column for each question
    #[arg(long)]
    csv: bool,
    /// Begin the CSV with a byte order mark, which some spreadsheet programs need to read UTF-8
    #[arg(long, requires = "csv")]
    bom: bool,
    /// Only responses with this status: draft, submitted, promoted or abandoned
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    status: Option<String>,
    /// Only responses to this version
    #[arg(long, value_name = "NUMBER")]
    view_version: Option<u64>,
    /// Only responses begun at this time or later (RFC 3339)
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Only responses begun before this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    before: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

/// Options of `view list`.
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    #[command(flatten)]
    server: ServerArgs,
}

/// Runs the command.
pub async fn run(command: ViewCommand) -> Result<(), Failure> {
    match command {
        ViewCommand::Push(args) => push(args).await,
        ViewCommand::List(args) => list(args).await,
        ViewCommand::Responses(args) => responses(args).await,
    }
}

fn connect(server: &ServerArgs) -> Result<Client, Failure> {
    Client::new(&server.url, &server.token).map_err(|error| Failure::Misused(error.to_string()))
}

async fn push(args: PushArgs) -> Result<(), Failure> {
    let wanted = parse(&read(&args.file)?)?;
    let client = connect(&args.server)?;
    let failed = |error: client::Error| Failure::Failed(error.to_string());
    let slug = wanted.slug.clone().or_else(|| slugify(&wanted.title));
    let slug = slug.ok_or_else(|| Failure::Misused("the title makes no slug: add `slug` to the file".into()))?;
    let found = client.list_views(Some(&slug), None, None).await.map_err(failed)?;
    let (before, mut view) = match found.items.into_iter().next() {
        Some(before) => {
            let changed = client.update_view(before.id, &change(wanted, before.revision)).await.map_err(failed)?;
            (Some(before.revision), changed)
        }
        None => (None, client.create_view(&CreateView { slug: Some(slug), ..wanted }).await.map_err(failed)?),
    };
    if args.publish {
        let publish = PublishView { revision: Some(view.revision) };
        view = client.publish_view(view.id, &publish).await.map_err(failed)?;
    }
    let done = match before {
        None => "created",
        Some(revision) if revision == view.revision => "unchanged",
        Some(_) => "changed",
    };
    print_line(&format!("{done}: {}", line(&view)))
}

/// The change that makes a view as the file describes it. What the file leaves out gets its default.
fn change(wanted: CreateView, revision: u64) -> UpdateView {
    let CreateView { title, introduction, fields, schema, publish_config, .. } = wanted;
    let fields = if schema.is_none() { Some(fields.unwrap_or_default()) } else { fields };
    UpdateView {
        revision,
        title: Some(title),
        introduction: Some(introduction),
        fields,
        schema,
        publish_config: Some(publish_config),
    }
}

async fn list(args: ListArgs) -> Result<(), Failure> {
    let client = connect(&args.server)?;
    let mut cursor = None;
    loop {
        let page = client.list_views(None, Some(PAGE_MAX), cursor.as_deref()).await;
        let page = page.map_err(|error| Failure::Failed(error.to_string()))?;
        for view in &page.items {
            print_line(&line(view))?;
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(());
        }
    }
}

async fn responses(args: ResponsesArgs) -> Result<(), Failure> {
    let client = connect(&args.server)?;
    let found = client.list_views(Some(&args.slug), None, None).await?;
    let missing = || Failure::Failed(format!("there is no view `{}`", args.slug));
    let view = found.items.into_iter().next().ok_or_else(missing)?;
    let mut filter = ResponseFilter {
        status: args.status,
        version: args.view_version,
        created_from: args.from,
        created_before: args.before,
        limit: Some(PAGE_MAX),
        cursor: None,
    };
    if args.csv {
        let mut out = std::io::stdout().lock();
        let wrong = "cannot write to stdout";
        let written = |bytes: &[u8]| out.write_all(bytes).map_err(Failure::io(wrong));
        client.view_responses_csv(view.id, &filter, args.bom, written).await?;
        return out.flush().map_err(Failure::io(wrong));
    }
    loop {
        let page = client.view_responses(view.id, &filter).await?;
        for response in &page.items {
            print_line(&response_line(response))?;
        }
        filter.cursor = page.next_cursor;
        if filter.cursor.is_none() {
            return Ok(());
        }
    }
}

fn response_line(response: &Response) -> String {
    let submitted = response.submitted_at.map_or_else(|| "-".to_owned(), |at| at.to_rfc3339());
    let Response { id, status, version, respondent_kind, .. } = response;
    format!("{id}\t{}\tv{version}\t{}\t{submitted}", status.as_str(), respondent_kind.as_str())
}

fn line(view: &View) -> String {
    let version = view.version.map_or_else(|| "-".to_owned(), |version| format!("v{version}"));
    let changed = if view.changed && view.version.is_some() { "\tunpublished changes" } else { "" };
    format!("{}\t{}\t{version}\t{}{changed}", view.slug, view.state.as_str(), view.title)
}

fn read(file: &PathBuf) -> Result<String, Failure> {
    let mut text = String::new();
    let most = BUNDLE_BYTES_MAX as u64 + 1;
    let read = if file.as_os_str() == "-" {
        std::io::stdin().take(most).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|open| open.take(most).read_to_string(&mut text))
    };
    read.map_err(Failure::io(format!("cannot read {}", file.display())))?;
    if text.len() > BUNDLE_BYTES_MAX {
        return Err(Failure::Failed(format!("a view's file has at most {BUNDLE_BYTES_MAX} bytes")));
    }
    Ok(text)
}

/// Parses YAML, which includes JSON. The order of a JSON Schema's properties is kept.
fn parse(text: &str) -> Result<CreateView, Failure> {
    let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let place = error.location().map(|at| format!("line {}, column {}: ", at.line(), at.column()));
        Failure::Failed(format!("{}{error}", place.unwrap_or_default()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const YAML: &str = "
title: How was your week?
publishConfig: { gate: none }
fields:
  - { key: mood, label: Mood, type: scale, minimum: 1, maximum: 5, required: true }
  - { key: team, label: Team, type: single_choice, options: [red, blue] }
";

    #[test]
    fn yaml_and_json_describe_the_same_view() {
        let view = parse(YAML).unwrap();
        let json = serde_json::to_string(&view).unwrap();
        assert_eq!(serde_json::to_value(parse(&json).unwrap()).unwrap(), serde_json::to_value(&view).unwrap());
        assert_eq!(view.fields.unwrap().len(), 2);
    }

    #[test]
    fn a_json_schema_in_a_file_keeps_its_order() {
        let text = "title: T\nschema: { type: object, properties: { z: { type: string }, a: { type: boolean } } }\n";
        let fields = parse(text).unwrap().schema.unwrap().fields().unwrap();
        assert_eq!(fields.iter().map(|field| field.key.as_str()).collect::<Vec<_>>(), ["z", "a"]);
    }

    #[test]
    fn a_misspelt_property_is_refused_with_its_line() {
        let refused = parse("title: T\ntitel: U\n").unwrap_err().to_string();
        assert!(refused.contains("line 2") && refused.contains("titel"), "{refused}");
    }
}
