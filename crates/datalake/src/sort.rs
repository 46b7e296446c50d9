//! External sorting: writes sorted runs to temporary files and merges them.

use std::{
    cmp::Ordering,
    collections::BinaryHeap,
    fs::File,
    io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// Number of runs at which they are merged into one, so that no more files than this are open.
const RUNS_MAX: usize = 64;
const BUFFER_BYTES: usize = 64 * 1024;
/// Memory of an entry beside its key and value, bytes.
const ENTRY_BYTES: usize = size_of::<Entry>();

/// Position of a pair in the arena, with the lengths of its key and value, bytes.
#[derive(Clone, Copy)]
struct Entry {
    start: usize,
    key: u32,
    value: u32,
}

/// Sorts pairs of a key and a value by the bytes of their keys. The order of pairs with the same key is
/// unspecified; a caller for whom it matters adds a position to the key.
pub struct Sorter {
    folder: PathBuf,
    budget: usize,
    arena: Vec<u8>,
    entries: Vec<Entry>,
    runs: Vec<File>,
}

impl Sorter {
    /// Creates a sorter that uses about `budget` bytes of memory at most, and unnamed temporary files in
    /// `folder` that the system removes.
    pub fn new(folder: &Path, budget: usize) -> Sorter {
        Sorter { folder: folder.to_owned(), budget, arena: Vec::new(), entries: Vec::new(), runs: Vec::new() }
    }

    /// Adds one pair.
    ///
    /// # Errors
    /// If a temporary file cannot be written, or a key or value is 4 GiB or longer.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        let length = |part: &[u8]| u32::try_from(part.len()).map_err(io::Error::other);
        let entry = Entry { start: self.arena.len(), key: length(key)?, value: length(value)? };
        let needed = self.arena.len() + key.len() + value.len() + (self.entries.len() + 1) * ENTRY_BYTES;
        if needed > self.budget && !self.entries.is_empty() {
            self.spill()?;
            return self.push(key, value);
        }
        self.arena.extend_from_slice(key);
        self.arena.extend_from_slice(value);
        self.entries.push(entry);
        Ok(())
    }

    /// Returns all pairs in order.
    ///
    /// # Errors
    /// If a temporary file cannot be written or read.
    pub fn finish(mut self) -> io::Result<Sorted> {
        if !self.entries.is_empty() {
            self.spill()?;
        }
        self.arena = Vec::new();
        self.entries = Vec::new();
        Sorted::of(self.runs)
    }

    fn spill(&mut self) -> io::Result<()> {
        let arena = &self.arena;
        let key = |entry: &Entry| &arena[entry.start..entry.start + entry.key as usize];
        self.entries.sort_unstable_by(|one, other| key(one).cmp(key(other)));
        let mut run = Run::create(&self.folder)?;
        for entry in &self.entries {
            let end = entry.start + entry.key as usize + entry.value as usize;
            run.write(key(entry), &arena[entry.start + entry.key as usize..end])?;
        }
        self.runs.push(run.finish()?);
        self.arena.clear();
        self.entries.clear();
        if self.runs.len() >= RUNS_MAX {
            let mut merged = Run::create(&self.folder)?;
            for pair in Sorted::of(std::mem::take(&mut self.runs))? {
                let (key, value) = pair?;
                merged.write(&key, &value)?;
            }
            self.runs.push(merged.finish()?);
        }
        Ok(())
    }
}

/// A run that is being written. Each pair consists of both lengths, then the key and the value.
struct Run(BufWriter<File>);

impl Run {
    fn create(folder: &Path) -> io::Result<Run> {
        Ok(Run(BufWriter::with_capacity(BUFFER_BYTES, tempfile::tempfile_in(folder)?)))
    }

    fn write(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        for part in [key, value] {
            let length = u32::try_from(part.len()).map_err(io::Error::other)?;
            self.0.write_all(&length.to_le_bytes())?;
        }
        self.0.write_all(key)?;
        self.0.write_all(value)
    }

    fn finish(self) -> io::Result<File> {
        let mut file = self.0.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(file)
    }
}

/// A pair of a key and a value.
pub type Pair = (Vec<u8>, Vec<u8>);

/// The next pair of one run.
struct Head {
    pair: Pair,
    run: usize,
}

impl Ord for Head {
    /// Compares in reverse, because the heap returns its greatest element first.
    fn cmp(&self, other: &Head) -> Ordering {
        other.pair.0.cmp(&self.pair.0).then(other.run.cmp(&self.run))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head {}

/// The sorted pairs of all runs.
pub struct Sorted {
    runs: Vec<BufReader<File>>,
    heads: BinaryHeap<Head>,
}

impl Sorted {
    fn of(files: Vec<File>) -> io::Result<Sorted> {
        let mut runs: Vec<BufReader<File>> =
            files.into_iter().map(|file| BufReader::with_capacity(BUFFER_BYTES, file)).collect();
        let mut heads = BinaryHeap::new();
        for (run, reader) in runs.iter_mut().enumerate() {
            heads.extend(read(reader)?.map(|pair| Head { pair, run }));
        }
        Ok(Sorted { runs, heads })
    }
}

impl Iterator for Sorted {
    type Item = io::Result<Pair>;

    fn next(&mut self) -> Option<Self::Item> {
        let Head { pair, run } = self.heads.pop()?;
        match read(&mut self.runs[run]) {
            Ok(next) => self.heads.extend(next.map(|pair| Head { pair, run })),
            Err(error) => return Some(Err(error)),
        }
        Some(Ok(pair))
    }
}

fn read(run: &mut BufReader<File>) -> io::Result<Option<Pair>> {
    let mut lengths = [0; 8];
    match run.read_exact(&mut lengths) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let [a, b, c, d, e, f, g, h] = lengths;
    let mut key = vec![0; u32::from_le_bytes([a, b, c, d]) as usize];
    let mut value = vec![0; u32::from_le_bytes([e, f, g, h]) as usize];
    run.read_exact(&mut key)?;
    run.read_exact(&mut value)?;
    Ok(Some((key, value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_the_budget_the_order_is_that_of_the_keys() {
        let mut random = fastrand::Rng::with_seed(7);
        let keys: Vec<[u8; 4]> = (0..2_000).map(|_| random.u32(..).to_be_bytes()).collect();
        let mut expected = keys.clone();
        expected.sort_unstable();
        let folder = tempfile::tempdir().unwrap();
        // The last budget leads to so many runs that they are merged in two steps.
        for budget in [usize::MAX, 10_000, 300] {
            let mut sorter = Sorter::new(folder.path(), budget);
            for key in &keys {
                sorter.push(key, &[key[0]]).unwrap();
            }
            let pairs: Vec<Pair> = sorter.finish().unwrap().collect::<io::Result<_>>().unwrap();
            assert!(pairs.iter().map(|(key, _)| key.as_slice()).eq(expected.iter().map(|key| key.as_slice())));
            assert!(pairs.iter().all(|(key, value)| value[..] == key[..1]));
        }
    }

    #[test]
    fn nothing_and_too_much_are_sorted_too() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Sorter::new(folder.path(), 1).finish().unwrap().count(), 0);
        let mut sorter = Sorter::new(folder.path(), 1);
        sorter.push(b"b", &[0; 1_000]).unwrap();
        sorter.push(b"a", b"").unwrap();
        let keys: Vec<Vec<u8>> = sorter.finish().unwrap().map(|pair| pair.unwrap().0).collect();
        assert_eq!(keys, [b"a", b"b"]);
    }
}
