//! Exports labels of memories: one row for each memory that was considered for a prompt, for training a ranker.
//!
//! A row has numbers, flags, ids and names of closed lists. No column can hold a text of a person or an agent.

use super::{
    file::{Sink, create_sink, finish_sink},
    manifest::{Column as Described, MANIFEST_FILE},
    options::FileFormat,
};
use domain::relevance::{Row, Weights};
use parquet::{
    basic::Compression,
    data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type},
    errors::ParquetError,
    file::{
        properties::{EnabledStatistics, WriterProperties, WriterVersion},
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::parser::parse_message_type,
};
use serde::Serialize;
use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

/// Number of rows at which a row group is written.
const GROUP_ROWS: usize = 4_096;

/// How the values of a column are read.
enum Values {
    Name(fn(&Row) -> String),
    Whole(fn(&Row) -> u64),
    WholeOrNull(fn(&Row) -> Option<u64>),
    Real(fn(&Row) -> f64),
    RealOrNull(fn(&Row) -> Option<f64>),
    Flag(fn(&Row) -> bool),
}

impl Values {
    /// The type in the notation of Parquet's schemas, with its repetition.
    const fn parquet(&self) -> (&'static str, &'static str) {
        match self {
            Self::Name(_) => ("required binary", " (UTF8)"),
            Self::Whole(_) => ("required int64", ""),
            Self::WholeOrNull(_) => ("optional int64", ""),
            Self::Real(_) => ("required double", ""),
            Self::RealOrNull(_) => ("optional double", ""),
            Self::Flag(_) => ("required boolean", ""),
        }
    }

    /// The type in Arrow's notation.
    const fn arrow(&self) -> &'static str {
        match self {
            Self::Name(_) => "string",
            Self::Whole(_) | Self::WholeOrNull(_) => "int64",
            Self::Real(_) | Self::RealOrNull(_) => "double",
            Self::Flag(_) => "bool",
        }
    }
}

/// The columns in their order. Their names are those of the fields of a row.
static COLUMNS: [(&str, Values); 27] = [
    ("id", Values::Name(|row| row.id.to_string())),
    ("tenant", Values::Name(|row| row.tenant.to_string())),
    ("session_hmac", Values::Name(|row| row.session_hmac.clone())),
    ("turn", Values::Whole(|row| row.turn)),
    ("memory_version", Values::Whole(|row| row.memory_version)),
    ("query_group", Values::Name(|row| row.query_group.to_string())),
    ("bm25", Values::Real(|row| row.bm25)),
    ("recency_d", Values::Real(|row| row.recency_d)),
    ("importance", Values::Real(|row| row.importance)),
    ("uses_30d", Values::Whole(|row| row.uses_30d.into())),
    ("same_person", Values::Flag(|row| row.same_person)),
    ("same_channel", Values::Flag(|row| row.same_channel)),
    ("kind", Values::Name(|row| row.kind.as_str().to_owned())),
    ("tokens", Values::Whole(|row| row.tokens.into())),
    ("rank", Values::Whole(|row| row.rank.into())),
    ("slot", Values::WholeOrNull(|row| row.slot.map(u64::from))),
    ("injected", Values::Flag(|row| row.injected)),
    ("propensity", Values::Real(|row| row.propensity)),
    ("holdout", Values::Flag(|row| row.holdout)),
    ("similarity", Values::RealOrNull(|row| row.similarity)),
    ("agent_mean", Values::RealOrNull(|row| row.agent_mean)),
    ("agent_n", Values::Whole(|row| row.agent_n.into())),
    ("use_hits", Values::Whole(|row| row.use_hits.into())),
    ("continuity", Values::RealOrNull(|row| row.continuity)),
    ("label", Values::RealOrNull(|row| row.label)),
    ("weight", Values::Real(|row| row.weight)),
    ("ranker_version", Values::Name(|row| row.ranker_version.clone())),
];

/// Counts of an export of labels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LabelCounts {
    /// Rows that were written.
    pub rows: u64,
    /// Rows with a label.
    pub labelled: u64,
    /// Rows with a rating.
    pub rated: u64,
    /// Rows of memories that an agent was given.
    pub injected: u64,
    /// Rows of memories that were withheld at random.
    pub held_out: u64,
}

/// Weights of the terms of the labels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct UsedWeights {
    feedback: f64,
    uses: f64,
    continuity: f64,
}

/// The data file of an export of labels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct LabelFile {
    name: String,
    rows: u64,
    bytes: u64,
    sha256: String,
}

/// The content of `manifest.json`. It contains no time and no machine, so that the same data has the same manifest.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct LabelManifest {
    schema_version: u32,
    format: &'static str,
    file_format: &'static str,
    weights: UsedWeights,
    columns: Vec<Described>,
    counts: LabelCounts,
    files: Vec<LabelFile>,
}

enum Body {
    Lines(Sink),
    Parquet(Box<SerializedFileWriter<Sink>>, Vec<Row>),
}

/// An export of labels that is being written. A data file gets its name only when it is complete.
pub struct LabelExport {
    folder: PathBuf,
    name: String,
    format: FileFormat,
    weights: Weights,
    counts: LabelCounts,
    body: Body,
}

impl LabelExport {
    /// Creates the unfinished file in `folder`, in which there may be no export. `weights` are named in the manifest.
    ///
    /// # Errors
    /// If the folder has an export, or a file cannot be created.
    pub fn create(folder: &Path, format: FileFormat, weights: Weights) -> io::Result<Self> {
        private::create_dir_all(folder)?;
        let name = format!("labels.{}", format.as_str());
        for there in [MANIFEST_FILE, name.as_str()] {
            if folder.join(there).exists() {
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{there} is there already")));
            }
        }
        let sink = create_sink(&unfinished(folder, &name))?;
        let body = match format {
            FileFormat::Jsonl => Body::Lines(sink),
            FileFormat::Parquet => Body::Parquet(Box::new(writer(sink)?), Vec::new()),
        };
        let counts = LabelCounts::default();
        Ok(Self { folder: folder.to_owned(), name, format, weights, counts, body })
    }

    /// Adds a row. Rows are written in the order in which they are added.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&mut self, row: Row) -> io::Result<()> {
        self.counts.rows += 1;
        self.counts.labelled += u64::from(row.label.is_some());
        self.counts.rated += u64::from(row.agent_n > 0);
        self.counts.injected += u64::from(row.injected);
        self.counts.held_out += u64::from(row.holdout);
        match &mut self.body {
            Body::Lines(sink) => {
                serde_json::to_writer(&mut *sink, &row)?;
                sink.write_all(b"\n")
            }
            Body::Parquet(writer, rows) => {
                rows.push(row);
                if rows.len() >= GROUP_ROWS { end_group(writer, rows) } else { Ok(()) }
            }
        }
    }

    /// Removes the unfinished file.
    pub fn abandon(self) {
        let unfinished = unfinished(&self.folder, &self.name);
        if let Err(error) = fs::remove_file(&unfinished) {
            tracing::warn!(file = %unfinished.display(), %error, "an unfinished export stays behind");
        }
    }

    /// Completes the file, gives it its name and writes the manifest.
    ///
    /// # Errors
    /// If a file cannot be written. Then there is no manifest, and no data file under its name.
    pub fn finish(self) -> io::Result<LabelCounts> {
        let Self { folder, name, format, weights, counts, body } = self;
        let sink = match body {
            Body::Lines(sink) => sink,
            Body::Parquet(mut writer, mut rows) => {
                end_group(&mut writer, &mut rows)?;
                writer.into_inner().map_err(failed)?
            }
        };
        let (bytes, sha256) = finish_sink(sink, &unfinished(&folder, &name), &name)?;
        let Weights { feedback, uses, continuity } = weights;
        let manifest = LabelManifest {
            schema_version: 1,
            format: "labels",
            file_format: format.as_str(),
            weights: UsedWeights { feedback, uses, continuity },
            columns: COLUMNS.iter().map(|(name, values)| Described { name, r#type: values.arrow() }).collect(),
            counts,
            files: vec![LabelFile { name: name.clone(), rows: counts.rows, bytes, sha256 }],
        };
        let mut text = serde_json::to_vec_pretty(&manifest)?;
        text.push(b'\n');
        let manifest_file = folder.join(MANIFEST_FILE);
        if let Err(error) = private::write(&manifest_file, &text) {
            // Data without a manifest cannot be verified.
            let _ = fs::remove_file(&manifest_file);
            let _ = fs::remove_file(folder.join(&name));
            return Err(error);
        }
        Ok(counts)
    }
}

fn unfinished(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!(".{name}.unfinished"))
}

fn writer(sink: Sink) -> io::Result<SerializedFileWriter<Sink>> {
    let mut schema = "message row {\n".to_owned();
    for (name, values) in &COLUMNS {
        let (kind, annotation) = values.parquet();
        schema += &format!("{kind} {name}{annotation};\n");
    }
    let schema = Arc::new(parse_message_type(&(schema + "}")).map_err(failed)?);
    // A file must not contain anything that differs between versions of the product or of the library.
    let properties = WriterProperties::builder()
        .set_created_by("shiftbook".to_owned())
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    SerializedFileWriter::new(sink, schema, Arc::new(properties)).map_err(failed)
}

/// Writes the rows as a group, and removes them.
fn end_group(writer: &mut SerializedFileWriter<Sink>, rows: &mut Vec<Row>) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut group = writer.next_row_group().map_err(failed)?;
    for (_, values) in &COLUMNS {
        column(&mut group, values, rows).map_err(failed)?;
    }
    group.close().map_err(failed)?;
    rows.clear();
    Ok(())
}

fn column(group: &mut SerializedRowGroupWriter<'_, Sink>, values: &Values, rows: &[Row]) -> Result<(), ParquetError> {
    let missing = || ParquetError::General("the schema has fewer columns than the rows".into());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    // Definition level 0 is null, 1 a value.
    let defined = |are: Vec<bool>| are.into_iter().map(i16::from).collect::<Vec<_>>();
    match values {
        Values::Name(of) => {
            let names: Vec<ByteArray> = rows.iter().map(|row| of(row).into_bytes().into()).collect();
            column.typed::<ByteArrayType>().write_batch(&names, None, None)?;
        }
        Values::Whole(of) => {
            let numbers: Vec<i64> = rows.iter().map(|row| of(row).cast_signed()).collect();
            column.typed::<Int64Type>().write_batch(&numbers, None, None)?;
        }
        Values::WholeOrNull(of) => {
            let levels = defined(rows.iter().map(|row| of(row).is_some()).collect());
            let numbers: Vec<i64> = rows.iter().filter_map(|row| of(row).map(u64::cast_signed)).collect();
            column.typed::<Int64Type>().write_batch(&numbers, Some(&levels), None)?;
        }
        Values::Real(of) => {
            let numbers: Vec<f64> = rows.iter().map(of).collect();
            column.typed::<DoubleType>().write_batch(&numbers, None, None)?;
        }
        Values::RealOrNull(of) => {
            let levels = defined(rows.iter().map(|row| of(row).is_some()).collect());
            let numbers: Vec<f64> = rows.iter().filter_map(of).collect();
            column.typed::<DoubleType>().write_batch(&numbers, Some(&levels), None)?;
        }
        Values::Flag(of) => {
            let flags: Vec<bool> = rows.iter().map(of).collect();
            column.typed::<BoolType>().write_batch(&flags, None, None)?;
        }
    }
    column.close()
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{
        id::TenantId,
        relevance::{Kind, Signals, label, weight},
    };
    use parquet::{
        file::reader::{FileReader as _, SerializedFileReader},
        record::RowAccessor as _,
    };

    /// An id with this number.
    fn id(number: u32) -> TenantId {
        format!("00000000-0000-7000-8000-{number:012x}").parse().unwrap()
    }

    fn row(number: u32) -> Row {
        let agent_mean = number.is_multiple_of(2).then(|| f64::from(number % 3) / 2.0 - 0.5);
        let signals = Signals { agent_mean, use_hits: number % 4, continuity: None };
        Row {
            id: id(number).0,
            tenant: id(7),
            session_hmac: "ab".repeat(32),
            turn: 5,
            memory_version: 2,
            query_group: id(9).0,
            bm25: 1.5,
            recency_d: 0.25,
            importance: 0.5,
            uses_30d: 3,
            same_person: true,
            same_channel: false,
            kind: Kind::Topics,
            tokens: 40,
            rank: number + 1,
            slot: number.is_multiple_of(3).then_some(1),
            injected: number.is_multiple_of(3),
            propensity: 1.0,
            holdout: false,
            similarity: number.is_multiple_of(2).then_some(0.5),
            agent_mean,
            agent_n: u32::from(agent_mean.is_some()),
            use_hits: number % 4,
            continuity: None,
            label: label(signals, Weights::default()),
            weight: weight(1, 1.0),
            ranker_version: "formula-1".into(),
        }
    }

    fn exported(folder: &Path, format: FileFormat, rows: u32) -> (Vec<u8>, serde_json::Value) {
        let mut export = LabelExport::create(folder, format, Weights::default()).unwrap();
        for number in 0..rows {
            export.write(row(number)).unwrap();
        }
        let counts = export.finish().unwrap();
        assert_eq!(counts.rows, u64::from(rows));
        let manifest = serde_json::from_slice(&fs::read(folder.join(MANIFEST_FILE)).unwrap()).unwrap();
        (fs::read(folder.join(format!("labels.{}", format.as_str()))).unwrap(), manifest)
    }

    #[test]
    fn json_lines_have_exactly_the_columns_and_equal_data_gives_equal_bytes() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (text, manifest) = exported(one.path(), FileFormat::Jsonl, 7);
        assert_eq!((text.clone(), manifest.clone()), exported(other.path(), FileFormat::Jsonl, 7));
        let text = String::from_utf8(text).unwrap();
        for line in text.lines() {
            let names: Vec<&str> = line.split('"').skip(1).step_by(2).filter(|name| is_column(name)).collect();
            assert_eq!(names, COLUMNS.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "{line}");
        }
        assert!(text.lines().nth(1).unwrap().contains("\"agent_mean\":null"), "unrated is null");
        assert_eq!(manifest["columns"].as_array().unwrap().len(), COLUMNS.len());
        assert_eq!(manifest["files"][0]["bytes"], text.len());
        let again = LabelExport::create(one.path(), FileFormat::Jsonl, Weights::default());
        assert!(again.is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists));
    }

    fn is_column(name: &str) -> bool {
        COLUMNS.iter().any(|(column, _)| *column == name)
    }

    #[test]
    fn parquet_has_the_same_rows_with_nulls() {
        let folder = tempfile::tempdir().unwrap();
        exported(folder.path(), FileFormat::Parquet, 7);
        let file = fs::File::open(folder.path().join("labels.parquet")).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 7);
        assert_eq!(rows[1].get_string(0).unwrap(), &row(1).id.to_string());
        for (at, read) in rows.iter().enumerate() {
            let expected = row(u32::try_from(at).unwrap());
            assert_eq!(read.get_double(24).ok(), expected.label);
            assert_eq!(read.get_long(15).ok(), expected.slot.map(i64::from));
            assert_eq!(read.get_bool(16).unwrap(), expected.injected);
        }
    }

    #[test]
    fn an_export_that_is_given_up_leaves_no_file() {
        for format in FileFormat::ALL {
            let folder = tempfile::tempdir().unwrap();
            LabelExport::create(folder.path(), format, Weights::default()).unwrap().abandon();
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
