//! Reads and creates the instance key: a file that only its owner can read, never in the database.

use super::common::Failure;
use crate::config::{self, Database, DatabaseFlags, ServeFlags, Settings};
use domain::Entropy;
use ledger::InstanceKey;
use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// Name of the file in the data directory.
pub(super) const FILE: &str = "instance.key";

/// The database and the instance key.
#[derive(Debug, Clone, clap::Args)]
pub struct KeyFlags {
    #[command(flatten)]
    database: DatabaseFlags,
    /// The instance key, if it is not in the data directory
    #[arg(long, env = "SHIFTBOOK_INSTANCE_KEY_FILE", value_name = "FILE")]
    instance_key_file: Option<PathBuf>,
}

impl KeyFlags {
    /// The settings from these options and the file that they name.
    pub fn settings(self) -> Result<Settings, config::Error> {
        let serve = ServeFlags { instance_key_file: self.instance_key_file, ..ServeFlags::default() };
        config::load(self.database, serve)
    }
}

/// The instance key, from the file that the settings name. Without one, an SQLite installation has a file in its data
/// directory, created at the first start. On PostgreSQL there is no default, because all servers must have the same
/// key.
pub fn load(settings: &Settings, entropy: &dyn Entropy) -> Result<Option<InstanceKey>, Failure> {
    match (&settings.instance_key_file, &settings.database) {
        (Some(file), _) => read(file).map(Some),
        (None, Database::Sqlite(data_dir)) => read_or_create(data_dir, entropy).map(Some),
        (None, Database::Postgres { .. }) => Ok(None),
    }
}

/// The instance key, as [`load`], but it is not created if it is missing.
pub fn find(settings: &Settings) -> Result<Option<InstanceKey>, Failure> {
    match (&settings.instance_key_file, &settings.database) {
        (Some(file), _) => read(file).map(Some),
        (None, Database::Sqlite(data_dir)) => {
            let file = data_dir.join(FILE);
            if file.exists() { read(&file).map(Some) } else { Ok(None) }
        }
        (None, Database::Postgres { .. }) => Ok(None),
    }
}

/// Every key with which an erasure may have been sealed: that of [`find`], and the one in the data directory of an
/// SQLite installation whose settings name another. Earlier versions of `shiftbook retention` did not see the name in
/// the environment, and made that one.
pub fn find_all(settings: &Settings) -> Result<Vec<InstanceKey>, Failure> {
    let mut keys: Vec<_> = find(settings)?.into_iter().collect();
    if let (Some(_), Database::Sqlite(data_dir)) = (&settings.instance_key_file, &settings.database) {
        let file = data_dir.join(FILE);
        if file.exists() {
            keys.push(read(&file)?);
        }
    }
    Ok(keys)
}

/// Reads a key from its file.
pub(super) fn read(file: &Path) -> Result<InstanceKey, Failure> {
    let text = fs::read_to_string(file).map_err(Failure::io(format!("cannot read {}", file.display())))?;
    InstanceKey::parse(&text).map_err(|error| Failure::Misused(format!("{}: {error}", file.display())))
}

fn read_or_create(data_dir: &Path, entropy: &dyn Entropy) -> Result<InstanceKey, Failure> {
    let file = data_dir.join(FILE);
    if !file.exists() {
        let key = InstanceKey::generate(entropy);
        write_new(&file, &key.to_hex()).map_err(Failure::io(format!("cannot make {}", file.display())))?;
    }
    read(&file)
}

/// Writes the file atomically and durably. The server holds the lock of the data directory meanwhile.
fn write_new(file: &Path, text: &str) -> io::Result<()> {
    let unfinished: PathBuf = file.with_extension("unfinished");
    if unfinished.exists() {
        fs::remove_file(&unfinished)?;
    }
    let mut new = private::create_new(&unfinished)?;
    new.write_all(format!("{text}\n").as_bytes())?;
    new.sync_all()?;
    fs::rename(&unfinished, file)?;
    match file.parent() {
        Some(directory) => File::open(directory)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ambient::SystemEntropy;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_key_is_made_once_and_only_its_owner_reads_it() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("instance.unfinished"), "half").unwrap();
        let made = read_or_create(dir.path(), &SystemEntropy).unwrap().to_hex();
        assert_eq!(read_or_create(dir.path(), &SystemEntropy).unwrap().to_hex(), made);
        let mode = fs::metadata(dir.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, private::FILE_MODE);
        assert!(!dir.path().join("instance.unfinished").exists());
    }

    #[test]
    fn a_file_that_is_no_key_is_named() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(FILE), "password").unwrap();
        let refused = read_or_create(dir.path(), &SystemEntropy).err().unwrap().to_string();
        assert!(refused.ends_with("instance.key: an instance key is 64 hexadecimal digits"), "{refused}");
    }
}
