//! `shiftbook feedback count | list | purge`

use super::{
    common::{Failure, open, print_line},
    instance_key::{self, KeyFlags},
};
use crate::{
    ambient::SystemClock,
    config::{self, DatabaseFlags, ServeFlags, Settings},
};
use chrono::NaiveDate;
use domain::{
    Clock as _, Timestamp,
    count::counted,
    id::SessionId,
    session_feedback::{iso, purge_before},
};
use ledger::{Ledger, Mode, feedback};

/// Commands on ratings of sessions.
#[derive(Debug, clap::Subcommand)]
pub enum FeedbackCommand {
    /// Print how many ratings are kept
    Count(CountArgs),
    /// Print the ratings of one session, one JSON object per line
    List(ListArgs),
    /// Remove old ratings, and print how many were removed
    ///
    /// For operators and scheduled jobs. Otherwise only the person who gave a rating can remove it.
    Purge(PurgeArgs),
}

/// Options of `feedback count`.
#[derive(Debug, clap::Args)]
pub struct CountArgs {
    #[command(flatten)]
    database: DatabaseFlags,
}

/// Options of `feedback list`.
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    /// Id of the session or conversation
    #[arg(long, value_name = "ID", value_parser = session_id)]
    thread: SessionId,
    #[command(flatten)]
    flags: KeyFlags,
}

/// Options of `feedback purge`.
#[derive(Debug, clap::Args)]
pub struct PurgeArgs {
    /// Remove ratings recorded before this day or time, in UTC: 2026-05-25 or 2026-05-25T12:00:00Z [default: 180 days
    /// ago]
    #[arg(long, value_name = "DATE", value_parser = instant)]
    before: Option<Timestamp>,
    #[command(flatten)]
    database: DatabaseFlags,
}

fn session_id(text: &str) -> Result<SessionId, String> {
    text.parse().map_err(|error: domain::id::InvalidId| error.to_string())
}

fn instant(text: &str) -> Result<Timestamp, String> {
    let day =
        text.parse::<NaiveDate>().ok().and_then(|day| day.and_hms_opt(0, 0, 0)).map(|midnight| midnight.and_utc());
    day.or_else(|| text.parse().ok()).ok_or_else(|| "a day such as 2026-05-25, or an instant as RFC 3339".to_owned())
}

/// Runs the command.
pub async fn run(command: FeedbackCommand) -> Result<(), Failure> {
    match command {
        FeedbackCommand::Count(args) => {
            let ledger = opened(&config::load(args.database, ServeFlags::default())?).await?;
            let count = feedback::count_by_operator(&ledger).await;
            ledger.close().await;
            print_line(&count?.to_string())
        }
        FeedbackCommand::List(args) => list(args).await,
        FeedbackCommand::Purge(args) => {
            let ledger = opened(&config::load(args.database, ServeFlags::default())?).await?;
            let before = args.before.unwrap_or_else(|| purge_before(SystemClock.now()));
            let purged = feedback::purge_by_operator(&ledger, before).await;
            ledger.close().await;
            print_line(&format!("{} from before {} removed", counted(purged?, "rating"), iso(before)))
        }
    }
}

async fn opened(settings: &Settings) -> Result<Ledger, Failure> {
    open(settings, Mode::Tool).await
}

async fn list(args: ListArgs) -> Result<(), Failure> {
    let settings = args.flags.settings()?;
    let missing = || Failure::Misused("there is no instance key, so ratings of a session cannot be found".into());
    let key = instance_key::find(&settings)?.ok_or_else(missing)?;
    let ledger = opened(&settings).await?;
    ledger.use_instance_key(key);
    let ratings = feedback::list_by_operator(&ledger, args.thread).await;
    ledger.close().await;
    for rating in ratings? {
        let line = serde_json::json!({
            "id": rating.id,
            "session_id_opaque": rating.session_id_opaque,
            "user_id_or_null": rating.user_id_or_null,
            "recorded_at": iso(rating.recorded_at),
            "label": rating.label,
            "turn_count_at_end": rating.turn_count_at_end,
            "source": rating.source,
            "schema_version": rating.schema_version,
        });
        print_line(&line.to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight_in_utc() {
        for (text, expected) in
            [("2026-05-25", "2026-05-25T00:00:00Z"), ("2026-05-25T12:00:00+02:00", "2026-05-25T10:00:00Z")]
        {
            assert_eq!(instant(text).unwrap(), expected.parse::<Timestamp>().unwrap());
        }
        assert!(instant("soon").is_err() && instant("2026-13-01").is_err());
    }
}
