//! `shiftbook export labels`

use super::{
    common::{Failure, folder_of, open, print_line},
    instance_key::{self, KeyFlags},
};
use crate::config::Settings;
use datalake::export::{FileFormat, LabelCounts, LabelExport};
use domain::count::counted;
use ledger::{
    Ledger, Mode,
    export_job::{self, ExportContent},
    relevance::{Place, rows_by_operator},
};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Rows read from the database at once.
const PAGE: u32 = 500;

/// Options of `export labels`.
#[derive(Debug, clap::Args)]
pub struct LabelArgs {
    /// Slug of the workspace
    #[arg(long, alias = "workspace", value_name = "SLUG")]
    tenant: String,
    /// jsonl or parquet
    #[arg(long, alias = "file-format", value_parser = file_format, default_value = "jsonl")]
    file_type: FileFormat,
    /// Folder to write into; it must not contain an export yet
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    flags: KeyFlags,
}

fn file_format(name: &str) -> Result<FileFormat, String> {
    FileFormat::parse(name).ok_or_else(|| "jsonl or parquet".to_owned())
}

/// Runs the command.
pub async fn run(args: LabelArgs) -> Result<(), Failure> {
    let LabelArgs { tenant, file_type, out, flags } = args;
    let settings = flags.settings()?;
    let key = instance_key::find(&settings)?;
    let key =
        key.ok_or_else(|| Failure::Misused("there is no instance key, from which ids of rows are made".into()))?;
    let ledger = open(&settings, Mode::Tool).await?;
    ledger.use_instance_key(key);
    let exported = export(&ledger, &settings, &tenant, (&out, file_type)).await;
    ledger.close().await;
    let counts = exported?;
    let (rows, labelled) = (counted(counts.rows, "row"), counts.labelled);
    print_line(&format!("wrote {rows} to {}; {labelled} have a label", out.display()))
}

async fn export(
    ledger: &Ledger,
    settings: &Settings,
    tenant: &str,
    (out, file_type): (&Path, FileFormat),
) -> Result<LabelCounts, Failure> {
    // Before a file is created: a workspace that does not exist leaves none.
    let noted = (folder_of(out), json!({ "fileType": file_type.as_str() }).to_string());
    export_job::record_by_operator(ledger, tenant, ExportContent::Labels, (&noted.0, &noted.1)).await?;
    let failed = || Failure::io(out.display().to_string());
    let mut file = LabelExport::create(out, file_type, settings.relevance.weights).map_err(failed())?;
    match write_rows(ledger, tenant, &mut file, out).await {
        Ok(()) => file.finish().map_err(failed()),
        Err(failure) => {
            file.abandon();
            Err(failure)
        }
    }
}

async fn write_rows(ledger: &Ledger, tenant: &str, file: &mut LabelExport, out: &Path) -> Result<(), Failure> {
    let mut place = Some(Place::default());
    while let Some(after) = place {
        let (rows, last) = rows_by_operator(ledger, tenant, after, PAGE).await?;
        for row in rows {
            file.write(row).map_err(Failure::io(out.display().to_string()))?;
        }
        place = last;
    }
    Ok(())
}
