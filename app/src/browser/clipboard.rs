//! What is pasted.

use super::{
    dom::{self, HtmlElement},
    patch,
};
use web_sys::ClipboardEvent;

/// The plain text of a paste.
pub fn text(event: &ClipboardEvent) -> String {
    data(event, "text/plain")
}

/// The cells of the table that a paste consists of, row by row. `None` for another content, also one with a table
/// among other things.
pub fn table(event: &ClipboardEvent) -> Option<Vec<Vec<String>>> {
    let html = data(event, "text/html");
    if !html.contains("<table") {
        return None;
    }
    let parsed = patch::parse(&html)?;
    let content = patch::children(&parsed);
    let mut tables = content.iter().filter_map(table_of);
    let table = tables.next()?;
    let has_more = tables.next().is_some();
    // A style sheet and metadata come with the tables of spreadsheets.
    let is_beside = |element: &&HtmlElement| !matches!(&*element.tag_name(), "STYLE" | "META" | "LINK" | "TITLE");
    let words = |element: &HtmlElement| element.text_content().unwrap_or_default().split_whitespace().count();
    if has_more || content.iter().filter(is_beside).map(words).sum::<usize>() != words(&table) {
        return None;
    }
    let cell = |cell: &HtmlElement| cell.text_content().unwrap_or_default().trim().to_owned();
    let row = |row: &HtmlElement| dom::find_all(row, "th, td").iter().map(cell).collect();
    Some(dom::find_all(&table, "tr").iter().map(row).collect())
}

fn table_of(element: &HtmlElement) -> Option<HtmlElement> {
    if element.tag_name() == "TABLE" { Some(element.clone()) } else { dom::find(element, "table") }
}

fn data(event: &ClipboardEvent, kind: &str) -> String {
    event.clipboard_data().and_then(|data| data.get_data(kind).ok()).unwrap_or_default()
}
