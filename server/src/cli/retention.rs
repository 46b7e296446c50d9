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
    ledger.close().await;
    let Erased { sessions, events, messages } = erased?;
    if let Database::Sqlite(data_dir) = &settings.database {
        // What was said late on the day before may stand in the files of the day itself.
        let removed = datalake::remove_until(&datalake::Layout::below(data_dir), args.before);
        removed.map_err(Failure::io("cannot remove files of training data"))?;
    }
    print_line(&format!(
        "erased the content of {events} events of {sessions} sessions, and {messages} messages that went out; every digest stays"
    ))
}
