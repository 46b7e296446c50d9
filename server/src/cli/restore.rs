//! `shiftbook restore FILE`: puts a backup of an SQLite database into a data directory that has none.

use super::{
    common::{Failure, open, print_line},
    instance_key::{self, KeyFlags},
};
use crate::{
    backups::ratings_of,
    config::{Database, Settings},
};
use domain::count::counted;
use ledger::{InstanceKey, Mode};
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// Folder in the data directory in which the copies are checked before they get their names.
const STAGE: &str = "restore.partial";
/// Name of the ratings in the data directory.
const RATINGS: &str = "session_feedback.sqlite3";

/// Options of `restore`.
#[derive(Debug, clap::Args)]
pub struct RestoreArgs {
    /// The backup, as `shiftbook backup` wrote it. The ratings beside it are restored too
    file: PathBuf,
    /// Copy of the instance key, to put into the data directory
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Do not check the log of the backup before it is used: for a backup of an earlier version
    #[arg(long)]
    no_verify: bool,
    #[command(flatten)]
    flags: KeyFlags,
}

/// Restores a backup. Nothing is in its place before all of it has been copied and checked.
///
/// # Errors
/// [`Failure::Misused`] if the data directory has a database or another key, or if the file is no backup;
/// [`Failure::Failed`] if its log does not verify.
pub async fn run(args: RestoreArgs) -> Result<(), Failure> {
    let settings = args.flags.clone().settings()?;
    let Database::Sqlite(data_dir) = settings.database.clone() else {
        return Err(Failure::Misused("on PostgreSQL, restore with pg_restore or psql what pg_dump wrote".into()));
    };
    check_target(&data_dir, args.key.as_deref())?;
    let stage = data_dir.join(STAGE);
    check_source(&args.file, &stage)?;
    let cannot = |what: &Path| Failure::io(format!("cannot write {}", what.display()));
    if stage.exists() {
        fs::remove_dir_all(&stage).map_err(cannot(&stage))?;
    }
    private::create_dir_all(&stage).map_err(cannot(&stage))?;
    let restored = restore(&args, &settings, &data_dir, &stage).await;
    let removed = fs::remove_dir_all(&stage).map_err(cannot(&stage));
    let checked = restored?;
    removed?;
    print_line(&format!("restored {} into {}{checked}", args.file.display(), data_dir.display()))?;
    if instance_key::find(&settings)?.is_none() {
        print_line(
            "there is no instance key: put a copy of it into the data directory as instance.key before the first \
             start, which makes another one. docs/operations.md says what another key breaks",
        )?;
    }
    Ok(())
}

/// Refuses a data directory with a database, or with another key than the one to restore.
fn check_target(data_dir: &Path, key: Option<&Path>) -> Result<(), Failure> {
    for name in [ledger::SQLITE_FILE.to_owned(), format!("{}-wal", ledger::SQLITE_FILE), RATINGS.to_owned()] {
        let file = data_dir.join(name);
        if file.exists() {
            return Err(Failure::Misused(format!("{} exists; a restore replaces nothing", file.display())));
        }
    }
    let Some(key) = key else { return Ok(()) };
    let wanted = instance_key::read(key)?;
    let own = data_dir.join(instance_key::FILE);
    if own.exists() && instance_key::read(&own)?.to_hex() != wanted.to_hex() {
        return Err(Failure::Misused(format!("{} is another key than {}", own.display(), key.display())));
    }
    Ok(())
}

/// Refuses a file that is not the whole of a database, and one in the folder that is emptied first.
fn check_source(file: &Path, stage: &Path) -> Result<(), Failure> {
    let mut wal = file.as_os_str().to_owned();
    wal.push("-wal");
    let wal = PathBuf::from(wal);
    if wal.metadata().is_ok_and(|found| found.len() > 0) {
        return Err(Failure::Misused(format!(
            "{} has events that {} lacks: this is the database of a server and no backup. Make one from it with \
             `shiftbook backup`, and restore that",
            wal.display(),
            file.display()
        )));
    }
    let is_staged = || Some(file.canonicalize().ok()?.starts_with(stage.canonicalize().ok()?));
    if is_staged() == Some(true) {
        return Err(Failure::Misused(format!("{} is removed by a restore: move the file elsewhere", stage.display())));
    }
    Ok(())
}

/// Copies into the stage, checks, and gives the files their names. Returns what was checked, for the user.
async fn restore(args: &RestoreArgs, settings: &Settings, data_dir: &Path, stage: &Path) -> Result<String, Failure> {
    let mut names = vec![ledger::SQLITE_FILE];
    copy(&args.file, &stage.join(ledger::SQLITE_FILE))?;
    let ratings = ratings_of(&args.file);
    if ratings.exists() {
        copy(&ratings, &stage.join(RATINGS))?;
        names.push(RATINGS);
    }
    let mut keys = instance_key::find_all(settings)?;
    if let Some(key) = &args.key {
        keys.push(instance_key::read(key)?);
        if !data_dir.join(instance_key::FILE).exists() {
            copy(key, &stage.join(instance_key::FILE))?;
            // The database comes last: with it the data directory is whole.
            names.insert(0, instance_key::FILE);
        }
    }
    let staged = Settings { database: Database::Sqlite(stage.to_owned()), ..settings.clone() };
    let checked = if args.no_verify { opened(&staged).await? } else { verified(&staged, &keys, &ratings).await? };
    names.sort_by_key(|name| *name == ledger::SQLITE_FILE);
    for name in names {
        let target = data_dir.join(name);
        // Unlike a rename, this replaces nothing.
        fs::hard_link(stage.join(name), &target).map_err(Failure::io(format!("cannot make {}", target.display())))?;
    }
    sync(data_dir).map_err(Failure::io(format!("cannot sync {}", data_dir.display())))?;
    Ok(checked)
}

/// Copies a file to the disk, for its owner alone.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let mut source = File::open(from).map_err(Failure::io(format!("cannot read {}", from.display())))?;
    let written = private::create_new(to).and_then(|mut target| {
        io::copy(&mut source, &mut target)?;
        target.sync_all()
    });
    written.map_err(Failure::io(format!("cannot write {}", to.display())))
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Looks only whether it is a database of Shiftbook.
async fn opened(staged: &Settings) -> Result<String, Failure> {
    open(staged, Mode::Reader).await?.close().await;
    Ok("; its log was not checked: run `shiftbook verify` after the first start".to_owned())
}

/// Checks the log and both files. `ratings` is the file that the staged ratings are a copy of.
async fn verified(staged: &Settings, keys: &[InstanceKey], ratings: &Path) -> Result<String, Failure> {
    let ledger = open(staged, Mode::Reader).await?;
    let verified = ledger::verify::all(&ledger, keys, |_| ()).await;
    ledger.close().await;
    let verified = match verified {
        Err(ledger::Error::Unusable(why)) => {
            return Err(Failure::Misused(format!("{why}. With --no-verify the backup is restored as it is")));
        }
        verified => verified?,
    };
    if let Some((session, sequence, reason)) = verified.bad {
        let bad = format!("session {session}, sequence {sequence}: {reason}");
        return Err(Failure::Failed(format!("nothing was restored: the backup does not verify: {bad}")));
    }
    let (of_ratings, problems): (Vec<_>, Vec<_>) =
        verified.problems.into_iter().partition(|problem| problem.starts_with(RATINGS));
    if !problems.is_empty() {
        let problems = [problems, of_ratings].concat().join("\n");
        return Err(Failure::Failed(format!("nothing was restored: the backup is damaged: {problems}")));
    }
    if !of_ratings.is_empty() {
        return Err(Failure::Failed(format!(
            "nothing was restored: the ratings in {} are damaged, and the rest of the backup is sound. Move that file \
             elsewhere and restore again: everything but the ratings comes back. Or put the ratings of another backup \
             in its place. SQLite says: {}",
            ratings.display(),
            of_ratings.join("\n")
        )));
    }
    let (sessions, events) = (counted(verified.sessions, "session"), counted(verified.events, "event"));
    Ok(format!(": {sessions}, {events}, every link holds"))
}
