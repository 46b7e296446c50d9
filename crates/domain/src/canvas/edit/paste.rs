//! Pasted text: blocks of Markdown, and tables that spreadsheets copy.

use super::{
    super::{
        document::Document,
        operation::Operation,
        order::NoRoom,
        outline::{self, CheckItem, Content},
    },
    Edit, NewId, Spot,
    block::{inserted, new_block},
    caret::units,
    spot::{block, block_path, spots},
    table,
};
use crate::limit::{CANVAS_INDENT_MAX, CANVAS_PASTE_BLOCKS_MAX};

/// The blocks that a pasted text makes: Markdown, or a table whose cells are separated by tabs. `None` for a text that
/// belongs into the field at the cursor: one paragraph without a heading, list, table or code.
pub fn contents(pasted: &str) -> Option<Vec<Content>> {
    let pasted = pasted.replace("\r\n", "\n").replace('\r', "\n");
    if let Some(rows) = tabbed(&pasted) {
        return rows_of(rows).map(|table| vec![table]);
    }
    let found = fit(markdown(&pasted), &pasted);
    match found.as_slice() {
        [] | [Content::Text(_)] => None,
        _ => Some(found),
    }
}

/// The table with these rows, whose first one has the names of the columns. `None` without cells.
pub fn rows_of(rows: Vec<Vec<String>>) -> Option<Content> {
    let mut rows: Vec<_> = rows.into_iter().filter(|row| !row.is_empty()).collect();
    if rows.is_empty() {
        return None;
    }
    let columns = rows.remove(0);
    Some(table::content(columns, rows))
}

/// Adds pasted blocks at the cursor between two parts of a text, as one change. An empty block of text gives way to
/// them.
///
/// # Errors
/// [`NoRoom`].
pub fn pasted(
    document: &Document,
    spot: &Spot,
    (before, after): (&str, &str),
    contents: &[Content],
    new_id: NewId<'_>,
) -> Result<Edit, NoRoom> {
    let id = spot.block();
    let is_text = matches!(spot, Spot::Text(_));
    let gives_way = is_text
        && before.is_empty()
        && after.is_empty()
        && block(document, id).is_some_and(|value| outline::text(value, "heading").is_empty());
    let mut new = Vec::with_capacity(contents.len() + 1);
    for content in contents {
        new.push((new_id(), new_block(content, new_id)));
    }
    let last = new.last().cloned();
    let mut ops = Vec::new();
    if is_text && !after.is_empty() {
        ops.extend(spot.typed(document, before));
        new.push((new_id(), new_block(&Content::Text(after.to_owned()), new_id)));
    }
    ops.extend(inserted(document, Some(id), new)?);
    if gives_way {
        ops.push(Operation::Remove { path: block_path(id) });
    }
    let edit = Edit::of(ops);
    let Some((last, _)) = last else { return Ok(edit) };
    let Ok(shown) = document.apply(&edit.ops) else { return Ok(edit) };
    Ok(match spots(&shown.document, &last).pop() {
        Some(spot) => {
            let end = units(&spot.text(&shown.document));
            edit.then(spot, end)
        }
        None => edit,
    })
}

/// The rows of a text in which every line has the same tabs, as spreadsheets copy cells.
pub fn tabbed(text: &str) -> Option<Vec<Vec<String>>> {
    let lines: Vec<&str> = text.trim_end_matches('\n').split('\n').collect();
    let tabs = lines.first()?.matches('\t').count();
    let is_table = tabs > 0 && lines.iter().all(|line| line.matches('\t').count() == tabs);
    // Indented code has tabs at the begin of its lines.
    if !is_table || lines.iter().all(|line| line.starts_with('\t')) {
        return None;
    }
    Some(lines.iter().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

/// A block of a pasted text, and the number of the line with which it begins, from 0.
struct Found {
    line: usize,
    content: Content,
}

/// At most [`CANVAS_PASTE_BLOCKS_MAX`] blocks: the lines that come after them are the text of the last one.
fn fit(found: Vec<Found>, text: &str) -> Vec<Content> {
    let last = found.get(CANVAS_PASTE_BLOCKS_MAX - 1).filter(|_| found.len() > CANVAS_PASTE_BLOCKS_MAX);
    let rest = last.map(|last| text.lines().skip(last.line).collect::<Vec<_>>().join("\n"));
    let kept = if rest.is_some() { CANVAS_PASTE_BLOCKS_MAX - 1 } else { found.len() };
    let mut contents: Vec<Content> = found.into_iter().take(kept).map(|found| found.content).collect();
    contents.extend(rest.map(|rest| Content::Text(rest.trim_end().to_owned())));
    contents
}

/// The blocks of a Markdown text. What is within a line stays as it is.
fn markdown(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        let next = if let Some((fence, language)) = fence(line) {
            let lines = lines.by_ref().map(|(_, line)| line);
            let code: Vec<&str> = lines.take_while(|line| line.trim() != fence).collect();
            Some(Content::Code(language.to_owned(), code.join("\n")))
        } else if let Some(heading) = heading(line) {
            Some(Content::Heading(heading.to_owned()))
        } else if let Some(item) = item(line) {
            let mut list = vec![item];
            while let Some(item) = lines.peek().and_then(|(_, line)| self::item(line)) {
                list.push(item);
                lines.next();
            }
            Some(list_content(list))
        } else if let Some(head) = cells(line).filter(|_| lines.peek().is_some_and(|(_, next)| is_rule(next))) {
            lines.next();
            let mut rows = vec![head];
            while let Some(row) = lines.peek().and_then(|(_, line)| cells(line)) {
                rows.push(row);
                lines.next();
            }
            rows_of(rows)
        } else {
            if line.trim().is_empty() {
                end(&mut paragraph, number, &mut found);
            } else {
                paragraph.push(line);
            }
            continue;
        };
        end(&mut paragraph, number, &mut found);
        found.extend(next.map(|content| Found { line: number, content }));
    }
    end(&mut paragraph, text.lines().count(), &mut found);
    found
}

/// Ends a paragraph, if there is one. `line` is the number of the line after it.
fn end(paragraph: &mut Vec<&str>, line: usize, found: &mut Vec<Found>) {
    if !paragraph.is_empty() {
        let lines = std::mem::take(paragraph);
        found.push(Found { line: line - lines.len(), content: Content::Text(lines.join("\n")) });
    }
}

/// The fence that begins a block of code, and the name of its language.
fn fence(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let fence = line.len() - line.trim_start_matches('`').len();
    let (fence, language) = line.split_at(fence);
    (fence.len() >= 3 && !language.contains('`')).then_some((fence, language.trim()))
}

fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let text = rest.strip_prefix(' ')?.trim();
    ((1..=6).contains(&level) && !text.is_empty()).then_some(text)
}

/// An item of a list: whether it has a box, and the item.
fn item(line: &str) -> Option<(bool, CheckItem)> {
    let text = line.trim_start();
    let spaces: usize = line[..line.len() - text.len()].chars().map(|space| if space == '\t' { 4 } else { 1 }).sum();
    let text = ["- ", "* ", "+ "].iter().find_map(|mark| text.strip_prefix(mark))?;
    let (ticked, text) = match text.get(..4) {
        Some("[ ] ") => (Some(false), &text[4..]),
        Some("[x] " | "[X] ") => (Some(true), &text[4..]),
        _ => (None, text),
    };
    let indent = u8::try_from(spaces / 2).unwrap_or(CANVAS_INDENT_MAX).min(CANVAS_INDENT_MAX);
    let is_done = ticked == Some(true);
    Some((ticked.is_some(), CheckItem { id: String::new(), text: text.trim_end().to_owned(), is_done, indent }))
}

/// A list in which an item has a box is a checklist. Another one stays a text, because a canvas has no other lists.
fn list_content(list: Vec<(bool, CheckItem)>) -> Content {
    if list.iter().any(|(has_box, _)| *has_box) {
        return Content::Checklist(list.into_iter().map(|(_, item)| item).collect());
    }
    let line = |(_, item): &(bool, CheckItem)| format!("{}- {}", "  ".repeat(item.indent.into()), item.text);
    Content::Text(list.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// The cells of a row of a table.
fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let (mut cells, mut cell) = (Vec::new(), String::new());
    let mut chars = inner.chars();
    while let Some(char) = chars.next() {
        match char {
            '|' => cells.push(std::mem::take(&mut cell)),
            '\\' => cell.extend(chars.next()),
            char => cell.push(char),
        }
    }
    cells.push(cell);
    Some(cells.iter().map(|cell| cell.trim().to_owned()).collect())
}

/// Whether a line is the rule below the names of a table's columns.
fn is_rule(line: &str) -> bool {
    cells(line).is_some_and(|cells| {
        cells.iter().all(|cell| cell.contains('-') && cell.chars().all(|char| matches!(char, '-' | ':')))
    })
}
