//! Writes rows as Parquet: lists of JSON values, flattened into columns with repetition levels. Readers that
//! support the logical type JSON get the same objects as in JSON lines, without added nulls.

use super::{options::Format, row::Row};
use parquet::{
    basic::Compression,
    data_type::{BoolType, ByteArray, ByteArrayType},
    errors::ParquetError,
    file::{
        properties::{EnabledStatistics, WriterProperties, WriterVersion},
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::parser::parse_message_type,
};
use serde::Serialize;
use std::{
    io::{self, Write},
    sync::Arc,
};

/// Number of rows at which a row group is written. It is written earlier at [`GROUP_BYTES`] of text.
const GROUP_ROWS: usize = 4_096;
const GROUP_BYTES: usize = 16 * 1024 * 1024;

/// A Parquet file that is being written.
pub(super) struct ParquetFile<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    rows: Vec<Columns>,
    bytes: usize,
}

impl<W: Write + Send> ParquetFile<W> {
    pub fn new(format: Format, sink: W) -> io::Result<Self> {
        let schema = Arc::new(parse_message_type(&schema(format)).map_err(failed)?);
        // A file must not contain anything that differs between versions of the product or of the library.
        let properties = WriterProperties::builder()
            .set_created_by("shiftbook".to_owned())
            .set_writer_version(WriterVersion::PARQUET_1_0)
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::None)
            .build();
        let writer = SerializedFileWriter::new(sink, schema, Arc::new(properties)).map_err(failed)?;
        Ok(ParquetFile { writer, rows: Vec::new(), bytes: 0 })
    }

    pub fn write(&mut self, row: Row) -> io::Result<()> {
        let columns = Columns::of(&row)?;
        self.bytes += columns.lists.iter().flatten().flatten().map(ByteArray::len).sum::<usize>();
        self.rows.push(columns);
        if self.rows.len() >= GROUP_ROWS || self.bytes >= GROUP_BYTES { self.end_group() } else { Ok(()) }
    }

    pub fn finish(mut self) -> io::Result<W> {
        self.end_group()?;
        self.writer.into_inner().map_err(failed)
    }

    fn end_group(&mut self) -> io::Result<()> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let Some(first) = rows.first() else { return Ok(()) };
        let mut group = self.writer.next_row_group().map_err(failed)?;
        let has_labels = first.label.is_some();
        for at in 0..first.lists.len() {
            // The label precedes the tools, which are the last column.
            if has_labels && at + 1 == first.lists.len() {
                let labels: Vec<bool> = rows.iter().filter_map(|row| row.label).collect();
                let mut column = group.next_column().map_err(failed)?.ok_or_else(no_column)?;
                column.typed::<BoolType>().write_batch(&labels, None, None).map_err(failed)?;
                column.close().map_err(failed)?;
            }
            let column: Vec<&List> = rows.iter().filter_map(|row| row.lists.get(at)).collect();
            values(&mut group, &column)?;
        }
        group.close().map_err(failed)?;
        Ok(())
    }
}

/// The JSON values of one column of a row; `None` is null.
type List = Option<Vec<ByteArray>>;

/// The values of a row by column.
struct Columns {
    /// Columns of messages, and the tools as the last one.
    lists: Vec<List>,
    label: Option<bool>,
}

impl Columns {
    fn of(row: &Row) -> io::Result<Columns> {
        let mut lists = Vec::new();
        for messages in row.lists() {
            lists.push(Some(messages.iter().map(json).collect::<io::Result<_>>()?));
        }
        lists.push(row.tools().map(|tools| tools.iter().map(json).collect()).transpose()?);
        Ok(Columns { lists, label: row.label() })
    }
}

fn json(value: &impl Serialize) -> io::Result<ByteArray> {
    Ok(serde_json::to_vec(value)?.into())
}

/// Writes one column with the values of all rows. The first value of a row has repetition level 0, the others
/// have level 1. Definition level 0 is null, 1 an empty list, 2 a value.
fn values<W: Write + Send>(group: &mut SerializedRowGroupWriter<'_, W>, lists: &[&List]) -> io::Result<()> {
    let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    for list in lists {
        let of_row = list.as_deref().unwrap_or_default();
        if of_row.is_empty() {
            defined.push(i16::from(list.is_some()));
            repeated.push(0);
        }
        for (at, value) in of_row.iter().enumerate() {
            values.push(value.clone());
            defined.push(2);
            repeated.push(i16::from(at > 0));
        }
    }
    let mut column = group.next_column().map_err(failed)?.ok_or_else(no_column)?;
    column.typed::<ByteArrayType>().write_batch(&values, Some(&defined), Some(&repeated)).map_err(failed)?;
    column.close().map_err(failed)
}

fn schema(format: Format) -> String {
    let mut text = "message row {\n".to_owned();
    for (name, r#type) in format.columns() {
        text += &match *r#type {
            "bool" => format!("required boolean {name};\n"),
            _ => format!(
                "optional group {name} (LIST) {{ repeated group list {{ required binary element (JSON); }} }}\n"
            ),
        };
    }
    text + "}"
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

fn no_column() -> io::Error {
    io::Error::other("the schema has fewer columns than the rows")
}
