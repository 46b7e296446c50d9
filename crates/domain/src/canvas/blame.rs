//! Which patch changed a block last.

use super::{decide::Committed, outline::BLOCKS};
use std::{
    collections::{BTreeMap, BTreeSet},
    mem::take,
};

/// Finds the newest change of each block in patches that are given from the newest to the oldest.
#[derive(Debug, Clone, Default)]
pub struct Blame {
    missing: BTreeSet<String>,
    found: BTreeMap<String, u64>,
}

impl Blame {
    /// Begins with the ids of blocks.
    pub fn of(blocks: impl IntoIterator<Item = String>) -> Self {
        Self { missing: blocks.into_iter().collect(), found: BTreeMap::new() }
    }

    /// Whether the newest change of each block is known.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// Takes the next older patch. A new place in the order is no change of what a block says.
    pub fn take(&mut self, patch: &Committed) {
        // By operation, not by block: thousands of blocks can be without a change in thousands of patches.
        for operation in patch.ops.iter().filter(|operation| operation.writes()) {
            match operation.path().keys() {
                [] => self.note_all(patch.sequence),
                [map] if map == BLOCKS => self.note_all(patch.sequence),
                [map, id] if map == BLOCKS => self.note(id, patch.sequence),
                [map, id, member, ..] if map == BLOCKS && member != "order" => self.note(id, patch.sequence),
                _ => {}
            }
        }
    }

    fn note(&mut self, block: &str, version: u64) {
        if let Some(block) = self.missing.take(block) {
            self.found.insert(block, version);
        }
    }

    fn note_all(&mut self, version: u64) {
        self.found.extend(take(&mut self.missing).into_iter().map(|block| (block, version)));
    }

    /// The version that each block got last. A block is missing if none of the patches changed it.
    pub fn into_versions(self) -> BTreeMap<String, u64> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{operation::Operation, path::Path},
        *,
    };
    use serde_json::json;

    fn patch(sequence: u64, paths: &[&str]) -> Committed {
        let operation = |path: &&str| Operation::Replace { path: Path::parse(path).unwrap(), value: json!("x") };
        Committed {
            sequence,
            previous: sequence - 1,
            op_id: sequence.to_string(),
            by: "user:ada".into(),
            ops: paths.iter().map(operation).collect(),
            overwrote: Vec::new(),
        }
    }

    #[test]
    fn each_block_names_the_patch_that_changed_it_last() {
        let mut blame = Blame::of(["a", "b", "c", "d"].map(str::to_owned));
        for patch in [
            patch(9, &["/blocks/a/text", "/title"]),
            patch(8, &["/blocks/b/order", "/other/b"]),
            patch(7, &["/blocks/a", "/blocks/c/items/i/text"]),
            patch(6, &["/blocks/b"]),
        ] {
            blame.take(&patch);
        }
        assert!(!blame.is_complete(), "no patch changed d");
        let expected = [("a", 9), ("b", 6), ("c", 7)].map(|(block, version)| (block.to_owned(), version));
        assert_eq!(blame.clone().into_versions(), BTreeMap::from(expected));
        let mut whole = blame.clone();
        whole.take(&patch(4, &["/blocks"]));
        assert_eq!(whole.into_versions()["d"], 4, "the map of blocks is replaced");
        blame.take(&patch(3, &[""]));
        assert!(blame.is_complete() && blame.into_versions()["d"] == 3, "the first patch makes the document");
    }
}
