//! The file of an export while it is written: counted, digested, and under its name only when it is whole.

use super::{
    manifest::File as Described,
    options::{FileFormat, Format},
    parquet::ParquetFile,
    row::Row,
};
use sha2::{Digest, Sha256};
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// Digests what passes.
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

enum Body {
    Lines(Sink),
    Parquet(Box<ParquetFile<Sink>>),
}

/// A file that is being written.
pub(super) struct DataFile {
    name: String,
    unfinished: PathBuf,
    body: Body,
}

impl DataFile {
    /// Begins the file of an export in `folder`.
    pub fn create(folder: &Path, format: Format, file_format: FileFormat) -> io::Result<DataFile> {
        let name = format!("{}.{}", format.as_str(), file_format.as_str());
        if folder.join(&name).exists() {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{name} is there already")));
        }
        let unfinished = folder.join(format!(".{name}.unfinished"));
        let sink = Digesting { inner: BufWriter::new(private::create(&unfinished)?), digest: Sha256::new(), bytes: 0 };
        let body = match file_format {
            FileFormat::Jsonl => Body::Lines(sink),
            FileFormat::Parquet => Body::Parquet(Box::new(ParquetFile::new(format, sink)?)),
        };
        Ok(DataFile { name, unfinished, body })
    }

    pub fn write(&mut self, row: Row) -> io::Result<()> {
        match &mut self.body {
            Body::Lines(sink) => {
                serde_json::to_writer(&mut *sink, &row)?;
                sink.write_all(b"\n")
            }
            Body::Parquet(file) => file.write(row),
        }
    }

    /// Leaves nothing behind.
    pub fn abandon(self) {
        if let Err(error) = std::fs::remove_file(&self.unfinished) {
            tracing::warn!(file = %self.unfinished.display(), %error, "an unfinished export stays behind");
        }
    }

    /// Ends the file and gives it its name.
    pub fn finish(self) -> io::Result<Described> {
        let sink = match self.body {
            Body::Lines(sink) => sink,
            Body::Parquet(file) => file.finish()?,
        };
        let Digesting { inner, digest, bytes } = sink;
        inner.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        std::fs::rename(&self.unfinished, self.unfinished.with_file_name(&self.name))?;
        let sha256 = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Described { name: self.name, bytes, sha256 })
    }
}
