//! A table: names of columns, and cells.

use super::{
    press::{remove_button, small_button},
    state::Editor,
    text_field::TextField,
};
use crate::{
    browser::view::{browser_view, list, memo, reactive},
    ui::button::Look,
};
use domain::canvas::{
    NoRoom,
    edit::{self, Edit, Spot},
};
use leptos::prelude::*;

/// The table of a block.
#[component]
pub fn Table(editor: Editor, id: String, name: Memo<String>) -> impl IntoView {
    let of = id.clone();
    let columns = editor.watch(move |document| ids(&edit::spots(document, &of), true));
    let of = id.clone();
    let rows = editor.watch(move |document| ids(&edit::spots(document, &of), false));
    let (head, body) = (id.clone(), id.clone());
    let (add_row, add_column) = (id.clone(), id);
    let head = list(move || {
        let view = |column: String| {
            let (key, id) = (column.clone(), head.clone());
            (key, browser_view(move || view! { <ColumnView editor id column columns/> }))
        };
        columns.get().into_iter().map(view).collect()
    });
    let body = list(move || {
        let view = |row: String| {
            let (key, id) = (row.clone(), body.clone());
            (key, browser_view(move || view! { <RowView editor id row rows columns/> }))
        };
        rows.get().into_iter().map(view).collect()
    });
    let row_added = small_button("Add row", Look::Quiet, move || {
        make(editor, |document| edit::row_added(document, &add_row, (None, None), &mut Editor::new_id));
    });
    let column_added = small_button("Add column", Look::Quiet, move || {
        make(editor, |document| edit::column_added(document, &add_column, None, &mut Editor::new_id));
    });
    let label = reactive(move || ["Cells of ", &name.get()].concat());
    view! {
        <div class="canvas-table-frame" tabindex="0" role="region" aria-label=label>
            <table class="canvas-table">
                <thead>
                    <tr>
                        {head}
                        <td class="canvas-table-tool"></td>
                    </tr>
                </thead>
                <tbody>{body}</tbody>
            </table>
        </div>
        <p class="canvas-table-tools" hidden=reactive(move || !editor.mode.get().can_type())>
            {row_added}
            {column_added}
        </p>
    }
}

/// Ids of the columns or of the rows among the spots of a table.
fn ids(spots: &[Spot], of_columns: bool) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for spot in spots {
        let id = match spot {
            Spot::Column(_, column) if of_columns => column,
            Spot::Cell(_, row, _) if !of_columns => row,
            _ => continue,
        };
        if found.last() != Some(id) {
            found.push(id.clone());
        }
    }
    found
}

/// Makes a change of the table, if there is room for it.
fn make(editor: Editor, change: impl FnOnce(&domain::canvas::Document) -> Result<Edit, NoRoom>) {
    match editor.read(change) {
        Ok(edit) => editor.apply(edit),
        Err(NoRoom) => editor.say("This table has no space for more."),
    }
}

/// Number of a row or of a column among those of its table, from 1, as text; empty if it is there no more.
fn number(ids: &[String], id: &str) -> String {
    ids.iter().position(|other| other == id).map(|at| (at + 1).to_string()).unwrap_or_default()
}

#[component]
fn ColumnView(editor: Editor, id: String, column: String, columns: Memo<Vec<String>>) -> impl IntoView {
    let label = memo(|| "Name of the column".to_owned());
    let spot = Spot::Column(id.clone(), column.clone());
    let (of, own) = (id.clone(), column.clone());
    let name = editor.watch(move |document| edit::column_name(document, &of, &own));
    let own = column.clone();
    // The number comes first, because columns can have the same name, or none.
    let removal = memo(move || {
        let (number, name) = (columns.with(|ids| number(ids, &own)), name.get());
        let colon = if name.is_empty() { "" } else { ": " };
        ["Remove column ", &number, colon, &name].concat()
    });
    let remove = move || match editor.read(|document| edit::column_removed(document, &id, &column)) {
        Some(edit) => editor.apply(edit),
        None => editor.say("The last column cannot be removed. Remove the table in the menu of its block."),
    };
    view! {
        <th scope="col">
            <TextField editor spot label look="column"/>
            <span class="canvas-remove" hidden=reactive(move || !editor.mode.get().can_type())>
                {remove_button(removal, remove)}
            </span>
        </th>
    }
}

#[component]
fn RowView(
    editor: Editor,
    id: String,
    row: String,
    rows: Memo<Vec<String>>,
    columns: Memo<Vec<String>>,
) -> impl IntoView {
    let own = row.clone();
    let removal = memo(move || ["Remove row ", &rows.with(|ids| number(ids, &own))].concat());
    let (of, own) = (id.clone(), row.clone());
    let remove = move || {
        if let Some(edit) = editor.read(|document| edit::row_removed(document, &of, &own)) {
            editor.apply(edit);
        }
    };
    let cells = list(move || {
        let view = |column: String| {
            let (key, id, row) = (column.clone(), id.clone(), row.clone());
            (key, browser_view(move || view! { <CellView editor id row column/> }))
        };
        columns.get().into_iter().map(view).collect()
    });
    view! {
        <tr>
            {cells}
            <td class="canvas-table-tool">
                <span class="canvas-remove" hidden=reactive(move || !editor.mode.get().can_type())>
                    {remove_button(removal, remove)}
                </span>
            </td>
        </tr>
    }
}

#[component]
fn CellView(editor: Editor, id: String, row: String, column: String) -> impl IntoView {
    let (of, named) = (id.clone(), column.clone());
    let label = editor.watch(move |document| {
        let name = edit::column_name(document, &of, &named);
        if name.is_empty() { "Cell".to_owned() } else { name }
    });
    view! { <td><TextField editor spot=Spot::Cell(id, row, column) label look="cell"/></td> }
}
