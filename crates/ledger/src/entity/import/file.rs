//! Parsing of CSV files.

use crate::{Error, Result};
use domain::limit::{IMPORT_BYTES_MAX, IMPORT_COLUMNS_MAX, IMPORT_ROWS_MAX};

/// The cells of a CSV file. Blank lines are left out.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// Parses a file with a header. The delimiter is the comma, semicolon or tab that occurs most often in the
/// header.
///
/// # Errors
/// [`Error::TooLarge`] and [`Error::LimitReached`] for too many bytes or rows, [`Error::Invalid`] for a file
/// that is not a table.
pub(crate) fn read(source: &str) -> Result<File> {
    let wrong = |message: String| Error::invalid("file", message);
    if source.len() > IMPORT_BYTES_MAX {
        return Err(Error::TooLarge(format!("a CSV file has at most {IMPORT_BYTES_MAX} bytes")));
    }
    if source.contains('\0') {
        return Err(wrong("the file contains NUL characters; it must be a text file".into()));
    }
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter(source)).flexible(true).from_reader(source.as_bytes());
    let header = reader.headers().map_err(|error| wrong(error.to_string()))?;
    let header: Vec<String> = header.iter().map(|name| name.trim().to_owned()).collect();
    if header.iter().all(String::is_empty) {
        return Err(wrong("the first row must name the columns".into()));
    }
    if header.len() > IMPORT_COLUMNS_MAX {
        return Err(wrong(format!("at most {IMPORT_COLUMNS_MAX} columns")));
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| wrong(error.to_string()))?;
        if rows.len() == IMPORT_ROWS_MAX {
            return Err(Error::LimitReached(format!("an import has at most {IMPORT_ROWS_MAX} rows; split the file")));
        }
        rows.push(record.iter().map(str::to_owned).collect());
    }
    if rows.is_empty() {
        return Err(wrong("the file has no rows below the header".into()));
    }
    Ok(File { header, rows })
}

fn delimiter(source: &str) -> u8 {
    let header = source.lines().next().unwrap_or_default();
    let mut quoted = false;
    let mut counts = [(b',', 0_u32), (b';', 0), (b'\t', 0)];
    for byte in header.bytes() {
        quoted ^= byte == b'"';
        if let Some(count) = counts.iter_mut().find(|(delimiter, _)| *delimiter == byte && !quoted) {
            count.1 += 1;
        }
    }
    // On a tie the first delimiter is used, so a file with one column is parsed with commas.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map_or(b',', |(delimiter, _)| delimiter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_line_breaks_and_a_byte_order_mark_are_read_as_spreadsheets_write_them() {
        let file = read("\u{feff}Name,Note\r\n\"Acme, Inc.\",\"two\nlines \"\"quoted\"\"\"\r\n\r\nBeta,\r\n").unwrap();
        assert_eq!(file.header, ["Name", "Note"]);
        assert_eq!(file.rows, [vec!["Acme, Inc.", "two\nlines \"quoted\""], vec!["Beta", ""]]);
    }

    #[test]
    fn semicolons_and_tabs_separate_cells_too() {
        assert_eq!(read("Name;\"a,b,c\"\nx;1,5\n").unwrap().rows, [["x", "1,5"]]);
        assert_eq!(read("Name\tStage\nx\ty\n").unwrap().header, ["Name", "Stage"]);
        assert_eq!(read("Name\nx\n").unwrap().rows, [["x"]]);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        for bad in ["", "\n\n", "Name\n", ",,\na,b,c\n", "Name\n\0\n"] {
            assert!(matches!(read(bad), Err(Error::Invalid(_))), "{bad:?}");
        }
        let wide = vec!["c"; IMPORT_COLUMNS_MAX + 1].join(",");
        assert!(matches!(read(&format!("{wide}\nx\n")), Err(Error::Invalid(_))));
        let long = format!("Name\n{}", "x\n".repeat(IMPORT_ROWS_MAX + 1));
        assert!(matches!(read(&long), Err(Error::LimitReached(_))));
        assert!(matches!(read(&"x".repeat(IMPORT_BYTES_MAX + 1)), Err(Error::TooLarge(_))));
    }
}
