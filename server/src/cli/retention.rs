//! `shiftbook retention --before DATE`

use super::{
    instance_key,
    run::{Failure, open, print_line},
};
use crate::{
    ambient::SystemEntropy,
    config::{self, Database, DatabaseFlags, ServeFlags},
};
use chrono::NaiveDate;
use ledger::{Mode, retention::Erased};
use runner::retention::erase_files;
use std::io::{IsTerminal, Write};

/// Options of `retention`.
#[derive(Debug, clap::Args)]
pub struct RetentionArgs {
    /// Sessions that ended before this day (UTC) lose their content, e.g. 2026-01-31
    #[arg(long, value_name = "DATE")]
    before: NaiveDate,
    /// Do it. There is no way back, but for a backup
    #[arg(long)]
    apply: bool,
    #[command(flatten)]
    database: DatabaseFlags,
}

/// Counts on a terminal, where somebody waits.
fn show(so_far: &Erased) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        // The count is a courtesy: a terminal that went away does not stop the work.
        let _gone = write!(terminal, "\r{} sessions, {} events …", so_far.sessions, so_far.events);
    }
}

/// Says what would be erased, or erases it.
pub async fn run(args: RetentionArgs) -> Result<(), Failure> {
    let settings = config::load(args.database, ServeFlags::default())?;
    let older_than = args.before.and_time(chrono::NaiveTime::MIN).and_utc();
    // Alone with the file: a server would go on showing what it has rendered, and hold on to pages of the old file.
    let mode = if args.apply { Mode::Server } else { Mode::Tool };
    let ledger = open(&settings, mode).await?;
    if !args.apply {
        let found = ledger::retention::preview_by_operator(&ledger, older_than).await;
        ledger.close().await;
        let Erased { sessions, events, .. } = found?;
        return print_line(&format!(
            "{sessions} sessions that ended before {} would lose the content of {events} events; --apply erases it for good",
            args.before
        ));
    }
    let key = instance_key::load(&settings, &SystemEntropy)?;
    let key = key.ok_or_else(|| Failure::Misused("an erasure is sealed: set instance_key_file".into()))?;
    let erased = ledger::retention::erase_by_operator(&ledger, &key, older_than, show).await;
    // Before anybody else may have the database, and so write files.
    let of_files = match (&erased, &settings.database) {
        (Ok(_), Database::Sqlite(data_dir)) => {
            // What was said late on the day before may stand in the files of the day itself.
            Some(erase_files(&ledger, &datalake::Layout::below(data_dir), args.before).await)
        }
        _ => None,
    };
    ledger.close().await;
    let Erased { sessions, events, messages } = erased?;
    print_line(&format!(
        "erased the content of {events} events of {sessions} sessions, and {messages} messages that went out; every digest stays"
    ))?;
    let Some(of_files) = of_files else { return Ok(()) };
    let what = "the database is done, files of training data are not: run it again once this is mended";
    let datalake::Erased { lines, files, unreadable } = of_files.map_err(Failure::io(what))?;
    if unreadable > 0 {
        let left = format!(
            "shiftbook: {unreadable} lines of later files cannot be read, so nobody can tell whose they are: they stay"
        );
        // A closed stderr leaves the lines as they are.
        let _ = writeln!(std::io::stderr(), "{left}");
    }
    print_line(&format!("erased {lines} lines in {files} files of training data"))
}
