//! `shiftbook retention --before DATE`: erases the content of old sessions.

use super::{
    common::{Failure, open, print_line},
    instance_key::{self, KeyFlags},
};
use crate::{ambient::SystemEntropy, config::Database};
use chrono::NaiveDate;
use domain::count::counted;
use ledger::{Mode, retention::Erased};
use runner::retention::erase_files;
use std::io::{IsTerminal, Write};

/// Options of `retention`.
#[derive(Debug, clap::Args)]
pub struct RetentionArgs {
    /// Erase the content of sessions that ended before this day (UTC), for example 2026-01-31
    #[arg(long, value_name = "DATE")]
    before: NaiveDate,
    /// Erase it. Only a backup can bring it back
    #[arg(long)]
    apply: bool,
    #[command(flatten)]
    flags: KeyFlags,
}

/// Shows the counts so far, on terminals only.
fn show_progress(so_far: &Erased) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        // A terminal that went away does not stop the work.
        let _gone =
            write!(terminal, "\r{}, {} …", counted(so_far.sessions, "session"), counted(so_far.events, "event"));
    }
}

/// The leads that are erased, for the end of a sentence; empty without any.
fn and_leads(leads: u64) -> String {
    if leads == 0 { String::new() } else { format!(", and the name and address of {}", counted(leads, "lead")) }
}

/// Prints what would be erased, or erases it.
pub async fn run(args: RetentionArgs) -> Result<(), Failure> {
    let settings = args.flags.settings()?;
    let older_than = args.before.and_time(chrono::NaiveTime::MIN).and_utc();
    // Erasing needs exclusive access: a running server would show cached pages and keep pages of the old file.
    let mode = if args.apply { Mode::Server } else { Mode::Tool };
    let ledger = open(&settings, mode).await?;
    if !args.apply {
        let found = ledger::retention::preview_by_operator(&ledger, older_than).await;
        ledger.close().await;
        let Erased { sessions, events, leads, .. } = found?;
        return print_line(&format!(
            "would erase the content of {} in {} that ended before {}{}; nothing is erased yet: add --apply to erase it for good",
            counted(events, "event"),
            counted(sessions, "session"),
            args.before,
            and_leads(leads)
        ));
    }
    let key = instance_key::load(&settings, &SystemEntropy)?;
    let key =
        key.ok_or_else(|| Failure::Misused("erasing needs the instance key to seal it: set instance_key_file".into()))?;
    let erased = ledger::retention::erase_by_operator(&ledger, &key, older_than, show_progress).await;
    // Files are erased before the database is released to others, who could write files.
    let of_files = match (&erased, &settings.database) {
        (Ok(_), Database::Sqlite(data_dir)) => {
            // Events of the day before can be in the files of the day itself.
            Some(erase_files(&ledger, &datalake::Layout::below(data_dir), args.before).await)
        }
        _ => None,
    };
    ledger.close().await;
    let Erased { sessions, events, messages, leads } = erased?;
    print_line(&format!(
        "erased the content of {} in {}, and {}{}; every digest is kept",
        counted(events, "event"),
        counted(sessions, "session"),
        counted(messages, "sent message"),
        and_leads(leads)
    ))?;
    let Some(of_files) = of_files else { return Ok(()) };
    let what = "the database is erased, the files of training data are not: fix this, then run the command again";
    let datalake::Erased { lines, files, unreadable } = of_files.map_err(Failure::io(what))?;
    if unreadable > 0 {
        let left = format!(
            "shiftbook: kept {} that cannot be read in later files: their session is unknown",
            counted(unreadable, "line")
        );
        // A failure to write to standard error is ignored.
        let _ = writeln!(std::io::stderr(), "{left}");
    }
    print_line(&format!("erased {} in {} of training data", counted(lines, "line"), counted(files, "file")))
}
