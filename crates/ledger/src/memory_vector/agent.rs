//! The vectors of one agent's documents in memory.

use domain::{
    id::MemoryDocumentId,
    limit::{MEMORY_VECTORS_BYTES_MAX, MEMORY_VECTORS_OF_DOCUMENT_MAX},
};
use embedding::{Vector, similarities};
use std::{collections::HashSet, sync::Arc};
use store::memory::DocumentVectors;

/// The vectors of one version of a document.
#[derive(Debug, Clone)]
struct Entry {
    document_id: MemoryDocumentId,
    version: u64,
    vectors: Arc<[u8]>,
}

/// The vectors of an agent's documents as of a change.
#[derive(Debug, Clone, Default)]
pub(super) struct AgentVectors {
    /// Number of the last change that was read.
    pub(super) change: u64,
    /// In the order of their changes.
    entries: Vec<Entry>,
    /// Bytes of all vectors.
    pub(super) bytes: u64,
}

/// A document near to a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Near {
    /// Identifies the document.
    pub(crate) document_id: MemoryDocumentId,
    /// Version of the document whose passages these are.
    pub(crate) version: u64,
    /// Indexes of its near passages in the document, with their cosines, the nearest first.
    pub(crate) passages: Vec<(usize, f32)>,
}

impl Near {
    /// Cosine of its nearest passage.
    pub(crate) fn nearest(&self) -> f32 {
        self.passages.first().map_or(f32::NEG_INFINITY, |(_, cosine)| *cosine)
    }
}

impl AgentVectors {
    /// These vectors after further changes, which follow in order. Vectors of other models are left out, and the oldest
    /// beyond [`MEMORY_VECTORS_BYTES_MAX`].
    pub(super) fn changed(&self, rows: Vec<DocumentVectors>, model: &str) -> Self {
        let replaced: HashSet<MemoryDocumentId> = rows.iter().map(|row| row.document_id).collect();
        let change = rows.iter().map(|row| row.change).fold(self.change, u64::max);
        let kept = self.entries.iter().filter(|entry| !replaced.contains(&entry.document_id)).cloned();
        let added = rows.into_iter().filter(|row| row.version > 0 && row.model == model).map(|row| Entry {
            document_id: row.document_id,
            version: row.version,
            vectors: row.vectors.into(),
        });
        let mut entries: Vec<Entry> = kept.chain(added).collect();
        let mut bytes: u64 = entries.iter().map(Entry::bytes).sum();
        let mut oldest = 0;
        while bytes > MEMORY_VECTORS_BYTES_MAX {
            bytes -= entries[oldest].bytes();
            oldest += 1;
        }
        entries.drain(..oldest);
        Self { change, entries, bytes }
    }

    /// The documents with passages at least so near, the nearest first, at most `most`.
    pub(super) fn near(&self, to: &Vector, least: f32, most: usize) -> Vec<Near> {
        let mut best: Vec<(f32, &Entry)> = Vec::new();
        for entry in &self.entries {
            let nearest = similarities(to, &entry.vectors).fold(f32::NEG_INFINITY, f32::max);
            if nearest >= least {
                best.push((nearest, entry));
            }
        }
        best.sort_by(|(one, a), (other, b)| other.total_cmp(one).then_with(|| a.document_id.cmp(&b.document_id)));
        best.truncate(most);
        best.into_iter().map(|(_, entry)| entry.near(to, least)).collect()
    }
}

impl Entry {
    fn bytes(&self) -> u64 {
        (size_of::<Self>() + self.vectors.len()) as u64
    }

    fn near(&self, to: &Vector, least: f32) -> Near {
        let all = similarities(to, &self.vectors).enumerate().take(MEMORY_VECTORS_OF_DOCUMENT_MAX);
        let mut passages: Vec<(usize, f32)> = all.filter(|(_, near)| *near >= least).collect();
        passages.sort_by(|one, other| other.1.total_cmp(&one.1));
        Near { document_id: self.document_id, version: self.version, passages }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn row(document: u128, version: u64, change: u64, vectors: &[&[f32]]) -> DocumentVectors {
        let mut bytes = Vec::new();
        vectors.iter().for_each(|numbers| Vector::of(numbers).unwrap().write(&mut bytes));
        let document_id = MemoryDocumentId(Uuid::from_u128(document));
        DocumentVectors { document_id, model: "m".into(), version, change, vectors: bytes }
    }

    fn documents(of: &AgentVectors, to: &[f32]) -> Vec<(u128, u64, usize)> {
        let near = of.near(&Vector::of(to).unwrap(), 0.5, 2);
        near.into_iter().map(|one| (one.document_id.0.as_u128(), one.version, one.passages[0].0)).collect()
    }

    #[test]
    fn the_nearest_documents_come_first_and_changes_replace_them() {
        let rows =
            vec![row(1, 1, 1, &[&[0.0, 1.0], &[1.0, 0.1]]), row(2, 1, 2, &[&[1.0, 0.0]]), row(3, 1, 3, &[&[0.9, 0.5]])];
        let first = AgentVectors::default().changed(rows, "m");
        assert_eq!(documents(&first, &[1.0, 0.0]), [(2, 1, 0), (1, 1, 1)]);
        let other_model = DocumentVectors { model: "n".into(), ..row(1, 2, 5, &[&[1.0, 0.0]]) };
        let emptied = DocumentVectors { vectors: Vec::new(), ..row(2, 0, 4, &[]) };
        let second = first.changed(vec![emptied, other_model], "m");
        assert_eq!(documents(&second, &[1.0, 0.0]), [(3, 1, 0)]);
        assert_eq!((second.change, second.entries.len()), (5, 1));
        assert!(documents(&second, &[-1.0, 0.0]).is_empty(), "what is not near is not returned");
    }

    #[test]
    fn the_oldest_vectors_beyond_the_bound_are_left_out() {
        let bytes = usize::try_from(MEMORY_VECTORS_BYTES_MAX / 2).unwrap();
        let large =
            |document, change| DocumentVectors { vectors: vec![0; bytes - 100], ..row(document, 1, change, &[]) };
        let all = AgentVectors::default().changed(vec![large(1, 1), large(2, 2), large(3, 3)], "m");
        let left: Vec<u128> = all.entries.iter().map(|entry| entry.document_id.0.as_u128()).collect();
        assert_eq!(left, [2, 3]);
        assert!(all.bytes <= MEMORY_VECTORS_BYTES_MAX);
    }
}
