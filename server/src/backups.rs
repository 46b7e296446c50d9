//! Makes copies of the SQLite database while the server runs, as the settings say, and removes old ones.
//!
//! The names of the copies say when they were made, so a server that starts again continues the schedule. Only files
//! with such a name are ever removed.

use crate::{config::backup::BackupSettings, state::AppState};
use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use domain::Timestamp;
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::time::sleep;

/// Interval between looks at the folder.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// The time in a name, as chrono writes it. It sorts as text.
const TIME: &str = "%Y-%m-%dT%H%M%SZ";
const BEGIN: &str = "shiftbook-";
const END: &str = ".sqlite3";
/// The end of the name of a copy that is not complete.
const PARTIAL: &str = ".sqlite3.partial";

/// Runs until the server stops. A copy that fails is tried again at the next look.
pub async fn run(state: AppState, settings: Option<BackupSettings>) {
    let Some(settings) = settings else { return };
    let forever = async {
        loop {
            if let Err(error) = look(&state, &settings).await {
                tracing::error!(%error, folder = %settings.folder.display(), "the database could not be backed up");
            }
            sleep(LOOK_EVERY).await;
        }
    };
    // A stop does not wait for a copy. The next start removes what is left of it.
    tokio::select! {
        () = state.shutdown.begun() => {}
        () = forever => {}
    }
}

/// Makes a copy if one is due, and then removes those that are too many.
async fn look(state: &AppState, settings: &BackupSettings) -> Result<(), String> {
    let failed = |error: io::Error| error.to_string();
    private::create_dir_all(&settings.folder).map_err(failed)?;
    let now = state.ledger.now();
    let every = TimeDelta::hours(settings.every_hours.into());
    if copies(&settings.folder, now).map_err(failed)?.last().is_some_and(|(last, _)| now - *last < every) {
        return Ok(());
    }
    for (_, partial) in dated(&settings.folder, PARTIAL).map_err(failed)? {
        fs::remove_file(partial).map_err(failed)?;
    }
    let target = settings.folder.join(name(now));
    ledger::backup::backup(&state.ledger, &target).await.map_err(|error| error.to_string())?;
    tracing::info!(file = %target.display(), "backed the database up");
    // The copy of the log is complete without the ratings.
    if let Err(error) = ledger::backup::backup_feedback(&state.ledger, &ratings_of(&target)).await {
        tracing::error!(%error, file = %target.display(), "the ratings could not be backed up");
    }
    prune(&settings.folder, settings.keep, now).map_err(failed)
}

fn name(at: Timestamp) -> String {
    format!("{BEGIN}{}{END}", at.format(TIME))
}

/// The file of the ratings beside a copy.
pub fn ratings_of(copy: &Path) -> PathBuf {
    let mut name = copy.as_os_str().to_owned();
    name.push(".session_feedback.sqlite3");
    name.into()
}

/// The copies in a folder with their times, oldest first. A file of 0 bytes is none. Neither is one with a time after
/// `now`: a clock that was wrong once would otherwise stop the schedule, and such a file would outlive newer copies.
fn copies(folder: &Path, now: Timestamp) -> io::Result<Vec<(DateTime<Utc>, PathBuf)>> {
    let mut found = dated(folder, END)?;
    found.retain(|(at, file)| *at <= now && file.metadata().is_ok_and(|data| data.len() > 0));
    Ok(found)
}

/// The files with a time in their name and this end. Other files are not looked at.
fn dated(folder: &Path, end: &str) -> io::Result<Vec<(DateTime<Utc>, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let time = name.strip_prefix(BEGIN).and_then(|name| name.strip_suffix(end));
        let time = time.and_then(|time| NaiveDateTime::parse_from_str(time, TIME).ok());
        found.extend(time.map(|time| (time.and_utc(), path)));
    }
    found.sort();
    Ok(found)
}

/// Removes the oldest copies until `keep` are left, each with its ratings.
fn prune(folder: &Path, keep: u32, now: Timestamp) -> io::Result<()> {
    let copies = copies(folder, now)?;
    let old = copies.len().saturating_sub(keep as usize);
    for (_, copy) in &copies[..old] {
        let ratings = ratings_of(copy);
        if ratings.exists() {
            fs::remove_file(ratings)?;
        }
        fs::remove_file(copy)?;
        tracing::info!(file = %copy.display(), "removed an old backup");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_copies_are_removed_and_no_other_file() {
        let dir = tempfile::tempdir().unwrap();
        let start: Timestamp = "2026-11-28T23:59:59Z".parse().unwrap();
        for hours in [48, 0, 24, 72] {
            let copy = dir.path().join(name(start + TimeDelta::hours(hours)));
            fs::write(ratings_of(&copy), "ratings").unwrap();
            fs::write(copy, "copy").unwrap();
        }
        for other in ["shiftbook-2020.sqlite3", "shiftbook-2020-01-01T000000Z.sqlite3.partial", "notes.txt"] {
            fs::write(dir.path().join(other), "").unwrap();
        }
        let now = start + TimeDelta::hours(72);
        for (none, bytes) in
            [("shiftbook-2099-01-01T000000Z.sqlite3", "copy"), ("shiftbook-2026-12-01T000000Z.sqlite3", "")]
        {
            fs::write(dir.path().join(none), bytes).unwrap();
        }
        prune(dir.path(), 2, now).unwrap();
        let mut left: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        assert_eq!(
            left,
            [
                "notes.txt",
                "shiftbook-2020-01-01T000000Z.sqlite3.partial",
                "shiftbook-2020.sqlite3",
                "shiftbook-2026-11-30T235959Z.sqlite3",
                "shiftbook-2026-11-30T235959Z.sqlite3.session_feedback.sqlite3",
                "shiftbook-2026-12-01T000000Z.sqlite3",
                "shiftbook-2026-12-01T235959Z.sqlite3",
                "shiftbook-2026-12-01T235959Z.sqlite3.session_feedback.sqlite3",
                "shiftbook-2099-01-01T000000Z.sqlite3",
            ]
        );
        prune(dir.path(), 2, now).unwrap();
        let copies = copies(dir.path(), now).unwrap();
        assert_eq!(copies.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [now - TimeDelta::hours(24), now]);
    }
}
