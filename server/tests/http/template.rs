//! A data directory with people and tokens that tests copy, because adding these takes longer than many tests. The
//! first test creates it with the product's own commands. Each build of the server has its own.

use crate::app::{App, Who};
use std::{
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
};

/// File with the tokens, one a line, in the order of [`Who::ALL`] without the first.
const TOKENS: &str = "tokens";

/// Copies the data into an empty directory and returns the tokens.
pub fn copy_to(dir: &Path) -> Vec<(Who, String)> {
    let template = folder();
    copy(&template, dir);
    fs::remove_file(dir.join(TOKENS)).unwrap();
    let tokens = fs::read_to_string(template.join(TOKENS)).unwrap();
    Who::ALL.into_iter().filter(|who| *who != Who::Anonymous).zip(tokens.lines().map(str::to_owned)).collect()
}

/// Copies what a directory holds, with its permissions, into an empty one.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let copied = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir(&copied).unwrap();
            copy(&entry.path(), &copied);
            fs::set_permissions(&copied, entry.metadata().unwrap().permissions()).unwrap();
        } else {
            fs::copy(entry.path(), &copied).unwrap();
        }
    }
}

/// Returns the folder with the data.
fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("shiftbook_people_{:016x}", build()));
    if !folder.exists() {
        let (dir, tokens) = App::people();
        let tokens = tokens.into_iter().map(|(_, token)| token).collect::<Vec<_>>();
        fs::write(dir.path().join(TOKENS), tokens.join("\n")).unwrap();
        // Other tests may do the same at this moment: the first one to rename wins.
        if let Err(error) = fs::rename(dir.path(), &folder) {
            assert!(folder.exists(), "{error}");
        }
    }
    folder
}

/// Returns a digest of the server's file: its time and length.
fn build() -> u64 {
    let server = fs::metadata(env!("CARGO_BIN_EXE_shiftbook")).unwrap();
    let mut hasher = DefaultHasher::new();
    (server.modified().unwrap(), server.len()).hash(&mut hasher);
    hasher.finish()
}
