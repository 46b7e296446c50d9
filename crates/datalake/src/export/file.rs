//! Writes the files of an export and computes their sizes and digests. A file gets its name only when it is
//! complete.

use super::{
    filter::Split,
    manifest::File as Described,
    options::{FileFormat, Options},
    parquet::ParquetFile,
    row::Row,
};
use sha2::{Digest, Sha256};
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// A writer that computes the SHA-256 and the number of the bytes that it passes on.
pub(super) struct Digesting<W> {
    inner: W,
    digest: Sha256,
    bytes: u64,
}

impl<W: Write> Write for Digesting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.digest.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

pub(super) type Sink = Digesting<BufWriter<File>>;

/// Creates an unfinished file.
pub(super) fn create_sink(unfinished: &Path) -> io::Result<Sink> {
    Ok(Digesting { inner: BufWriter::new(private::create(unfinished)?), digest: Sha256::new(), bytes: 0 })
}

/// Syncs an unfinished file to disk and gives it its name. Returns its length in bytes and its SHA-256.
pub(super) fn finish_sink(sink: Sink, unfinished: &Path, name: &str) -> io::Result<(u64, String)> {
    let Digesting { inner, digest, bytes } = sink;
    inner.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    std::fs::rename(unfinished, unfinished.with_file_name(name))?;
    Ok((bytes, digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}

enum Body {
    Lines(Sink),
    Parquet(Box<ParquetFile<Sink>>),
}

/// The data files of an export: one, or one for each split if a share of the sessions is for validation.
pub(super) struct DataFiles {
    train: DataFile,
    validation: Option<DataFile>,
}

impl DataFiles {
    /// Creates the unfinished files in `folder`. If one of them cannot be created, none is left.
    pub fn create(folder: &Path, options: &Options) -> io::Result<DataFiles> {
        let train = DataFile::create(folder, options, Split::Train)?;
        if options.validation_share == 0 {
            return Ok(DataFiles { train, validation: None });
        }
        match DataFile::create(folder, options, Split::Validation) {
            Ok(validation) => Ok(DataFiles { train, validation: Some(validation) }),
            Err(error) => {
                train.abandon();
                Err(error)
            }
        }
    }

    pub fn write(&mut self, row: Row, split: Split) -> io::Result<()> {
        match (&mut self.validation, split) {
            (Some(validation), Split::Validation) => validation.write(row),
            _ => self.train.write(row),
        }
    }

    /// Removes the unfinished files.
    pub fn abandon(self) {
        self.train.abandon();
        self.validation.into_iter().for_each(DataFile::abandon);
    }

    /// Completes the files and gives them their names. On an error none of them keeps its name.
    pub fn finish(self, folder: &Path) -> io::Result<Vec<Described>> {
        let mut done = vec![self.train.finish()?];
        match self.validation.map(DataFile::finish).transpose() {
            Ok(validation) => done.extend(validation),
            Err(error) => {
                for file in &done {
                    // A file that cannot be removed is harmless, because no manifest names it.
                    let _ = std::fs::remove_file(folder.join(&file.name));
                }
                return Err(error);
            }
        }
        Ok(done)
    }
}

/// A file that is being written.
struct DataFile {
    name: String,
    split: Split,
    rows: u64,
    unfinished: PathBuf,
    body: Body,
}

impl DataFile {
    /// Creates the unfinished file of one split.
    fn create(folder: &Path, options: &Options, split: Split) -> io::Result<DataFile> {
        let (format, file_format) = (options.format, options.file_format);
        let suffix = if split == Split::Validation { "-validation" } else { "" };
        let name = format!("{}{suffix}.{}", format.as_str(), file_format.as_str());
        if folder.join(&name).exists() {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{name} is there already")));
        }
        let unfinished = folder.join(format!(".{name}.unfinished"));
        let sink = create_sink(&unfinished)?;
        let body = match file_format {
            FileFormat::Jsonl => Body::Lines(sink),
            FileFormat::Parquet => Body::Parquet(Box::new(ParquetFile::new(format, sink)?)),
        };
        Ok(DataFile { name, split, rows: 0, unfinished, body })
    }

    fn write(&mut self, row: Row) -> io::Result<()> {
        self.rows += 1;
        match &mut self.body {
            Body::Lines(sink) => {
                serde_json::to_writer(&mut *sink, &row)?;
                sink.write_all(b"\n")
            }
            Body::Parquet(file) => file.write(row),
        }
    }

    /// Removes the unfinished file.
    fn abandon(self) {
        if let Err(error) = std::fs::remove_file(&self.unfinished) {
            tracing::warn!(file = %self.unfinished.display(), %error, "an unfinished export stays behind");
        }
    }

    /// Completes the file, syncs it to disk and gives it its name.
    fn finish(self) -> io::Result<Described> {
        let sink = match self.body {
            Body::Lines(sink) => sink,
            Body::Parquet(file) => file.finish()?,
        };
        let (bytes, sha256) = finish_sink(sink, &self.unfinished, &self.name)?;
        Ok(Described { name: self.name, split: self.split, rows: self.rows, bytes, sha256 })
    }
}
