//! The ids by which agents name the passages of documents.

use crate::MemoryDocumentRecord;
use domain::{chain::Digest, memory_writer::select::Passage};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// The passages of a document with the ids by which an agent can name them. An id identifies the text with its headings
/// in its document, so it stays the same while other parts of the document change. Of equal passages the number among
/// them counts.
pub(crate) fn identified(
    document: &MemoryDocumentRecord,
    passages: Vec<Passage>,
) -> impl Iterator<Item = (String, Passage)> + use<> {
    let document = document.id;
    let mut seen: HashMap<[u8; 32], u32> = HashMap::new();
    passages.into_iter().map(move |passage| {
        let text: [u8; 32] = Sha256::digest(format!("{document}\n{}\n{}", passage.headings, passage.text)).into();
        let number = seen.entry(text).or_default();
        *number += 1;
        let digest =
            if *number == 1 { text } else { Sha256::digest([&text[..], &number.to_be_bytes()].concat()).into() };
        let hex: String = Digest(digest).to_string().chars().take(12).collect();
        (format!("mem_{hex}"), passage)
    })
}
