//! `shiftbook install FILE`: installs a bundle on a server or in a database.

use super::common::{Failure, open, print_line};
use crate::config::{self, DatabaseFlags, ServeFlags};
use clap::builder::NonEmptyStringValueParser;
use client::Client;
use domain::{
    bundle::{Plan, PlannedField, PlannedItem, PlannedOperation},
    limit::BUNDLE_BYTES_MAX,
};
use ledger::{Mode, bundle};
use serde_json::Value;
use std::{io::Read, path::PathBuf};

/// Longest value in a line of the plan, characters.
const VALUE_CHARS_MAX: usize = 160;

/// Options of `install`.
#[derive(Debug, clap::Args)]
pub struct InstallArgs {
    /// The bundle, as YAML or JSON; `-` reads it from stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Install it, instead of printing what would be installed
    #[arg(long)]
    apply: bool,
    /// Address of the server to install it on
    #[arg(long, env = "SHIFTBOOK_URL", default_value = "http://127.0.0.1:4210", value_parser = NonEmptyStringValueParser::new())]
    url: String,
    /// API token of an operator or admin; set it in the environment
    #[arg(long, env = "SHIFTBOOK_TOKEN", hide_env_values = true, value_parser = NonEmptyStringValueParser::new())]
    token: Option<String>,
    /// Install into this workspace of the database, without a server
    #[arg(long, value_name = "SLUG")]
    tenant: Option<String>,
    #[command(flatten)]
    database: DatabaseFlags,
}

/// Runs the command.
pub async fn run(args: InstallArgs) -> Result<(), Failure> {
    let text = read(&args.file)?;
    let plan = match (&args.tenant, &args.token) {
        (Some(tenant), _) => install_in_database(&args, tenant, &text).await?,
        (None, Some(token)) => install_on_server(&args, token, &text).await?,
        (None, None) => {
            let message = "set SHIFTBOOK_URL and SHIFTBOOK_TOKEN to install on a server, or add --tenant to install in a database";
            return Err(Failure::Misused(message.into()));
        }
    };
    for item in &plan.items {
        print_line(&describe(item))?;
    }
    print_line(&summary(&plan, args.apply))
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
    Ok(text)
}

async fn install_in_database(args: &InstallArgs, tenant: &str, text: &str) -> Result<Plan, Failure> {
    let settings = config::load(args.database.clone(), ServeFlags::default())?;
    let ledger = open(&settings, Mode::Tool).await?;
    let mode = if args.apply { bundle::Mode::Apply } else { bundle::Mode::DryRun };
    let installed = bundle::install_by_operator(&ledger, tenant, text, mode).await;
    ledger.close().await;
    Ok(installed?)
}

async fn install_on_server(args: &InstallArgs, token: &str, text: &str) -> Result<Plan, Failure> {
    // Parsed before it is sent, so that an error in the YAML names its line.
    let bundle = bundle::read(text)?;
    let client = Client::new(&args.url, token).map_err(|error| Failure::Misused(error.to_string()))?;
    let installed = client.install_bundle(&bundle, !args.apply).await;
    let installed = installed.map_err(|error| Failure::Failed(error.to_string()))?;
    Ok(Plan { items: installed.items })
}

const fn marker(operation: PlannedOperation) -> char {
    match operation {
        PlannedOperation::Create => '+',
        PlannedOperation::Change => '~',
        PlannedOperation::Keep => '=',
        PlannedOperation::Remove => '-',
    }
}

/// An item of the plan and its fields, one line each.
fn describe(item: &PlannedItem) -> String {
    let mut text = format!("{} {} {}", marker(item.operation), item.kind.as_str().replace('_', " "), item.slug);
    for field in &item.fields {
        text.push_str(&format!("\n    {} {}: {}", marker(field.operation), field.field, change(field)));
    }
    text
}

fn change(field: &PlannedField) -> String {
    match field.operation {
        PlannedOperation::Change => format!("{} -> {}", shortened(&field.before), shortened(&field.after)),
        PlannedOperation::Remove => shortened(&field.before),
        PlannedOperation::Create | PlannedOperation::Keep => shortened(&field.after),
    }
}

fn shortened(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= VALUE_CHARS_MAX {
        return text;
    }
    let kept: String = text.chars().take(VALUE_CHARS_MAX).collect();
    format!("{kept}…")
}

fn summary(plan: &Plan, applied: bool) -> String {
    if plan.is_done() {
        return "Nothing to install: the workspace already matches the bundle.".into();
    }
    let (create, change, keep) = (
        plan.count(PlannedOperation::Create),
        plan.count(PlannedOperation::Change),
        plan.count(PlannedOperation::Keep),
    );
    if applied {
        format!("Installed: {create} created, {change} changed, {keep} unchanged.")
    } else {
        format!("Dry run: {create} to create, {change} to change, {keep} unchanged. Add --apply to install it.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::bundle::{Comparison, PlannedKind};
    use serde_json::json;

    #[test]
    fn a_plan_reads_field_by_field() {
        let mut set = Comparison::new(true);
        set.field("name", json!("Safety"), json!("Safety"));
        set.field("description", json!("Old"), json!("New"));
        set.field("dimensions.tone", json!({ "slug": "tone" }), Value::Null);
        let mut group = Comparison::new(false);
        group.field("name", Value::Null, json!("x".repeat(VALUE_CHARS_MAX)));
        let plan = Plan {
            items: vec![set.into_item(PlannedKind::CriteriaSet, "safety"), group.into_item(PlannedKind::Group, "team")],
        };
        assert_eq!(
            describe(&plan.items[0]),
            "~ criteria set safety\n    = name: \"Safety\"\n    ~ description: \"Old\" -> \"New\"\n    \
             - dimensions.tone: {\"slug\":\"tone\"}"
        );
        assert!(describe(&plan.items[1]).ends_with("xxx…"));
        assert_eq!(summary(&plan, false), "Dry run: 1 to create, 1 to change, 0 unchanged. Add --apply to install it.");
        assert_eq!(summary(&plan, true), "Installed: 1 created, 1 changed, 0 unchanged.");
        assert_eq!(summary(&Plan::default(), true), "Nothing to install: the workspace already matches the bundle.");
    }
}
