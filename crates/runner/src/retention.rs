//! Applies retention to the files of training data, which quote sessions.

use chrono::NaiveDate;
use datalake::{Erased, Fate, Layout, SessionKey, erase, sessions};
use ledger::{
    Ledger,
    retention::{ErasureState, erasure_states_by_operator},
};
use std::{collections::HashMap, io};
use tokio::task::spawn_blocking;

/// Sessions whose retention is looked up at once.
const ASKED: usize = 500;

/// Removes the lines of erased sessions from the files below `layout`, up to and including the files of `last`; see
/// [`datalake::erase`]. Nothing may write these files meanwhile. After an error it can be called again.
///
/// # Errors
/// If a file cannot be read or written, or with the text of the ledger's error.
pub async fn erase_files(ledger: &Ledger, layout: &Layout, last: NaiveDate) -> io::Result<Erased> {
    let of_files = layout.clone();
    let keys: Vec<SessionKey> =
        spawn_blocking(move || sessions(&of_files)).await.map_err(io::Error::other)??.into_iter().collect();
    let mut fates = HashMap::new();
    for keys in keys.chunks(ASKED) {
        // Keys that are not ids were not written by this product.
        let known = keys.iter().filter_map(|key| Some((key, (key.0.parse().ok()?, key.1.parse().ok()?))));
        let (named, ids): (Vec<_>, Vec<_>) = known.unzip();
        let states = erasure_states_by_operator(ledger, ids).await;
        let states = states.map_err(|error| io::Error::other(error.to_string()))?;
        fates.extend(named.into_iter().cloned().zip(states.into_iter().map(fate_of)));
    }
    let layout = layout.clone();
    let erased = spawn_blocking(move || erase(&layout, last, |key| fates.get(key).copied().unwrap_or(Fate::Unknown)));
    erased.await.map_err(io::Error::other)?
}

const fn fate_of(state: ErasureState) -> Fate {
    match state {
        ErasureState::Kept => Fate::Kept,
        ErasureState::Erased => Fate::Erased,
        ErasureState::Unknown => Fate::Unknown,
    }
}
