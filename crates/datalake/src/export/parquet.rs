//! Rows as Parquet: lists of structs, flattened into columns with repetition levels.

use super::{options::Format, row::Row};
use crate::record::{Message, Role};
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
use std::{
    io::{self, Write},
    sync::Arc,
};

/// A group of rows is written when it has so many rows, or so many bytes of text.
const GROUP_ROWS: usize = 4_096;
const GROUP_BYTES: usize = 16 * 1024 * 1024;

/// A file that is being written.
pub(super) struct ParquetFile<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    rows: Vec<Row>,
    bytes: usize,
}

impl<W: Write + Send> ParquetFile<W> {
    pub fn new(format: Format, sink: W) -> io::Result<Self> {
        let schema = Arc::new(parse_message_type(&schema(format)).map_err(failed)?);
        // Nothing that differs between versions of the product or of the library may get into a file.
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
        self.bytes += row.lists().into_iter().flatten().map(|message| message.content.len()).sum::<usize>();
        self.rows.push(row);
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
        for list in 0..first.lists().len() {
            let column: Vec<&[Message]> = rows.iter().filter_map(|row| row.lists().get(list).copied()).collect();
            texts(&mut group, &column, |message| role(message.role).into())?;
            texts(&mut group, &column, |message| message.content.as_str().into())?;
        }
        let labels: Vec<bool> = rows.iter().filter_map(Row::label).collect();
        if !labels.is_empty() {
            let mut column = group.next_column().map_err(failed)?.ok_or_else(no_column)?;
            column.typed::<BoolType>().write_batch(&labels, None, None).map_err(failed)?;
            column.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        Ok(())
    }
}

/// One text of every message of every row. A message that begins a row has level 0, one that follows has level 1.
fn texts<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    lists: &[&[Message]],
    text: impl Fn(&Message) -> ByteArray,
) -> io::Result<()> {
    let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    for list in lists {
        if list.is_empty() {
            defined.push(0);
            repeated.push(0);
        }
        for (at, message) in list.iter().enumerate() {
            values.push(text(message));
            defined.push(1);
            repeated.push(i16::from(at > 0));
        }
    }
    let mut column = group.next_column().map_err(failed)?.ok_or_else(no_column)?;
    column.typed::<ByteArrayType>().write_batch(&values, Some(&defined), Some(&repeated)).map_err(failed)?;
    column.close().map_err(failed)
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

fn schema(format: Format) -> String {
    let mut text = "message row {\n".to_owned();
    for (name, r#type) in format.columns() {
        text += &match *r#type {
            "bool" => format!("required boolean {name};\n"),
            _ => format!(
                "required group {name} (LIST) {{ repeated group list {{ required group element {{ \
                 required binary role (UTF8); required binary content (UTF8); }} }} }}\n"
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
