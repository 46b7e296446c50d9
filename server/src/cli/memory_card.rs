//! The character card of an exported memory, which an import gives to the agent before it writes the documents. What is
//! said when a card would overwrite documents.

use super::common::{Failure, print_line};
use client::Client;
use domain::{chain::Digest, limit::MEMORY_CARD_BYTES_MAX};
use sha2::{Digest as _, Sha256};
use std::{
    fs::{self, File},
    io::Read,
    path::Path,
};
use wire::Code;

/// The files that an export writes, with their media types. An export writes one of them.
const FILES: [(&str, &str); 2] = [("self/.original.png", "image/png"), ("self/.original.json", "application/json")];

/// The card of a folder.
pub struct Original {
    /// Path of its file below the folder.
    pub path: &'static str,
    media_type: &'static str,
    bytes: Vec<u8>,
}

/// Reads the card of a folder; `None` if it has none. Links are not followed.
pub fn read(root: &Path) -> Result<Option<Original>, Failure> {
    let mut found = None;
    for (path, media_type) in FILES {
        let file = root.join(path);
        if !fs::symlink_metadata(&file).is_ok_and(|found| found.is_file()) {
            continue;
        }
        if found.is_some() {
            let [(one, _), (other, _)] = FILES;
            return Err(Failure::Failed(format!("the folder has two cards, {one} and {other}; nothing was written")));
        }
        let mut bytes = Vec::new();
        let most = MEMORY_CARD_BYTES_MAX as u64 + 1;
        let read = File::open(&file).and_then(|open| open.take(most).read_to_end(&mut bytes));
        read.map_err(Failure::io(format!("cannot read {}", file.display())))?;
        if bytes.len() > MEMORY_CARD_BYTES_MAX {
            let why = format!("{path}: a card has at most {MEMORY_CARD_BYTES_MAX} bytes; nothing was written");
            return Err(Failure::Failed(why));
        }
        found = Some(Original { path, media_type, bytes });
    }
    Ok(found)
}

impl Original {
    /// Whether the agent has another card, or none.
    pub async fn is_new(&self, client: &Client, agent: &str) -> Result<bool, Failure> {
        match client.get_card(agent).await {
            Ok(card) => Ok(card.sha256 != Digest(Sha256::digest(&self.bytes).into()).to_string()),
            Err(error) if error.code() == Some(Code::NotFound) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives the agent the card. Documents that were changed since the agent's last card are overwritten only if the
    /// folder has them, because the import writes those afterwards. Returns `false` if the caller may not give a card:
    /// reviewers may write documents.
    pub async fn give(self, client: &Client, agent: &str, has: impl Fn(&str) -> bool) -> Result<bool, Failure> {
        let Self { path, media_type, bytes } = self;
        let failed = |error: client::Error| Failure::Failed(format!("{path}: {error}. Nothing was written"));
        let Err(refusal) = client.put_card(agent, media_type, bytes.clone(), false).await else { return Ok(true) };
        if refusal.code() == Some(Code::Forbidden) {
            print_line(&format!("{path}: left out, because only operators and admins give an agent a card"))?;
            return Ok(false);
        }
        let Some(mut lost) = overwritten(&refusal) else { return Err(failed(refusal)) };
        lost.retain(|document| !has(document));
        if lost.is_empty() {
            return client.put_card(agent, media_type, bytes, true).await.map(|_| true).map_err(failed);
        }
        Err(Failure::Failed(format!("{path}: {}", overwrites(&lost))))
    }
}

/// The documents because of which the server refuses a card. `None` for another error.
pub fn overwritten(error: &client::Error) -> Option<Vec<String>> {
    let client::Error::Problem { problem, .. } = error else { return None };
    let is_it = problem.code == Code::StaleVersion && !problem.errors.is_empty();
    is_it.then(|| problem.errors.iter().map(|one| one.field.clone()).collect())
}

/// Says which documents a card would overwrite.
pub fn overwrites(paths: &[String]) -> String {
    let list = paths.join("\n  ");
    format!("the card would overwrite documents that were changed since the last card:\n  {list}\nNothing was written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_card_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert!(read(root).unwrap().is_none());
        fs::create_dir(root.join("self")).unwrap();
        fs::write(root.join("self/.original.json"), "{}").unwrap();
        let found = read(root).unwrap().unwrap();
        assert_eq!((found.path, found.media_type, found.bytes.as_slice()), (FILES[1].0, FILES[1].1, &b"{}"[..]));
        fs::write(root.join("self/.original.png"), "x").unwrap();
        assert!(read(root).err().unwrap().to_string().contains("two cards"));
        fs::remove_file(root.join("self/.original.json")).unwrap();
        fs::write(root.join("self/.original.png"), vec![b'x'; MEMORY_CARD_BYTES_MAX + 1]).unwrap();
        assert!(read(root).err().unwrap().to_string().contains("a card has at most"));
    }
}
