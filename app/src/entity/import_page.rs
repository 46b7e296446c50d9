//! The page /entity-types/{id}/import: uploads a CSV file, previews the entities it would create, then imports it.
//!
//! Multipart fields: `file` (the upload) or `source` (its text), `step` (`preview` or `import`), `key` (of a preview;
//! an import that is sent twice with it begins once), and for each column `column.N` (its name) and `map.N` (the field
//! it fills; empty for none).

use crate::{
    FormState,
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{number, shorten::one_line},
    ui::{
        button::{Button, ButtonLink, Look},
        field::{Field, FileInput, Select, TextArea},
        notice::{Notice, Refused, Tone},
        page_head::PageHead,
        section::Section,
        table::{Column, Table},
    },
};
use domain::entity::{FIELD_TITLE, RowError, display_text};
use domain::limit::{IMPORT_BYTES_MAX, IMPORT_ROWS_MAX};
use leptos::prelude::*;
use wire::entity::{EntityType, ImportPreview};

/// Longest cell of the preview, characters.
const CELL_CHARS_MAX: usize = 60;
/// Most errors on the page; the API returns all of them.
const ERRORS_SHOWN_MAX: usize = 200;

/// Data of the import page.
#[derive(Debug, Clone)]
pub struct ImportProps {
    /// The type of the new entities.
    pub of: EntityType,
    /// The text of the file; empty before the upload.
    pub source: String,
    /// The result of the preview.
    pub preview: Option<ImportPreview>,
    /// State of a refused step.
    pub form: FormState,
}

/// Renders the page.
pub fn import_page(shell: &Shell, props: ImportProps) -> String {
    render(shell, "Import", || {
        let ImportProps { of, source, preview, form } = props;
        let title = format!("Import into {}", one_line(&of.name, 100));
        let crumbs = vec![
            ("Entities".to_owned(), "/entities".to_owned()),
            (one_line(&of.name, 60), format!("/entity-types/{}", of.id)),
        ];
        let body = match preview {
            Some(preview) => static_html(preview_form(shell, &of, &source, &preview, &form)),
            None => static_html(upload_form(&of, &source, &form)),
        };
        frame(shell, RailEntry::Entities, view! { <PageHead title=title crumbs=crumbs/> {body} })
    })
}

fn upload_form(of: &EntityType, source: &str, form: &FormState) -> impl IntoView + use<> {
    let limits = format!(
        "A header row, then one row per entity. Separate cells by commas, semicolons or tabs. UTF-8, at most {} MiB and {} rows.",
        IMPORT_BYTES_MAX / 1024 / 1024,
        number::grouped(IMPORT_ROWS_MAX as u64)
    );
    let action = format!("/entity-types/{}/import", of.id);
    view! {
        <form class="form" method="post" enctype="multipart/form-data" action=action.clone() data-address=action>
            <Refused messages=form.general(&["file", "source"])/>
            <input type="hidden" name="step" value="preview"/>
            <FileInput scope="import" field=Field::new("file", "CSV file").hint(&limits) accept=".csv,.tsv,text/csv,text/plain" form=form/>
            <TextArea scope="import" field=Field::new("source", "Or paste it") json=true rows=6 value=source form=form/>
            <div class="form-actions"><Button look=Look::Primary>"Preview"</Button><span class="meta">"Nothing is created yet."</span></div>
        </form>
    }
}

fn preview_form(
    shell: &Shell,
    of: &EntityType,
    source: &str,
    preview: &ImportPreview,
    form: &FormState,
) -> impl IntoView + use<> {
    let mut fills = vec![(String::new(), "Nothing".to_owned()), (FIELD_TITLE.to_owned(), "Title".to_owned())];
    fills.extend(of.fields.iter().map(|f| (f.slug.clone(), f.name.clone())));
    let columns = preview
        .columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let (name, hidden) = (format!("map.{at}"), format!("column.{at}"));
            let label =
                if column.column.is_empty() { format!("Column {}", at + 1) } else { one_line(&column.column, 60) };
            let control = static_html(view! { <Select scope="import" field=Field::new(&name, &label) options=fills.clone() value=column.field.as_deref().unwrap_or_default() form=form/> });
            view! { <div>{control}<input type="hidden" name=hidden value=column.column.clone()/></div> }
        })
        .collect::<Vec<_>>();
    let good = preview.rows_total - preview.failed_count;
    let words = format!(
        "{} in the file: {} can be imported, {} cannot.",
        number::counted(preview.rows_total, "row"),
        number::grouped(good),
        number::grouped(preview.failed_count)
    );
    let text = format!("\n{source}");
    let repeated = (preview.repeated_count > 0).then(|| {
        view! { <Notice tone=Tone::Wait><p>{format!(
            "Duplicate titles: {} of those rows. An earlier row, or an entity of type {}, already has the title. Existing entities are not changed.",
            number::grouped(preview.repeated_count),
            one_line(&of.name, 60)
        )}</p></Notice> }
    });
    let label = format!("Import {}", number::counted(good, "row"));
    let action = format!("/entity-types/{}/import", of.id);
    view! {
        <form class="form import-form" method="post" enctype="multipart/form-data" action=action.clone() data-address=action>
            <Refused messages=form.general(&[])/>
            <input type="hidden" name="key" value=shell.form_key.clone()/>
            <Section name="columns" title="Field for each column">
                <div class="form-row">{columns}</div>
            </Section>
            <textarea name="source" hidden>{text}</textarea>
            <p>{words}</p>
            {repeated}
            <div class="form-actions">
                {(good > 0).then(|| view! { <Button name="step" value="import" look=Look::Primary>{label}</Button> })}
                <Button name="step" value="preview">"Check again"</Button>
                <ButtonLink look=Look::Quiet href=format!("/entity-types/{}/import", of.id)>"Choose another file"</ButtonLink>
            </div>
        </form>
        {static_html(first_rows(of, preview))}
        {static_html(error_table(of, &preview.errors))}
    }
}

fn first_rows(of: &EntityType, preview: &ImportPreview) -> impl IntoView + use<> {
    (!preview.rows.is_empty()).then(|| {
        let filled: Vec<_> = of
            .fields
            .iter()
            .filter(|f| preview.columns.iter().any(|c| c.field.as_deref() == Some(f.slug.as_str())))
            .collect();
        let mut heads = vec![Column::number("Row"), Column::text("Title")];
        heads.extend(filled.iter().map(|f| Column::text(&f.name)));
        let rows = preview.rows.iter().map(|row| {
            let cells = filled.iter().map(|f| {
                let text = row.fields.get(&f.slug).map(display_text).unwrap_or_default();
                view! { <td class="meta" dir="auto">{one_line(&text, CELL_CHARS_MAX)}</td> }
            });
            view! {
                <tr>
                    <td class="meta table-number">{row.row}</td>
                    <td class="table-main" dir="auto">{one_line(&row.title, CELL_CHARS_MAX)}</td>
                    {cells.collect::<Vec<_>>()}
                </tr>
            }
        });
        let rows = rows.collect::<Vec<_>>();
        view! {
            <Section name="rows" title="The first rows">
                <Table caption="The first rows, as they would be created" columns=heads focusable=true>{rows}</Table>
            </Section>
        }
    })
}

/// The errors by row; nothing if there are none.
pub fn error_table(of: &EntityType, errors: &[RowError]) -> impl IntoView + use<> {
    (!errors.is_empty()).then(|| {
        let name = |slug: &str| match of.fields.iter().find(|f| f.slug == slug) {
            Some(field) => field.name.clone(),
            None if slug == FIELD_TITLE => "Title".to_owned(),
            None => slug.to_owned(),
        };
        let rows = errors.iter().take(ERRORS_SHOWN_MAX).map(|error| {
            view! {
                <tr>
                    <td class="meta table-number">{error.row}</td>
                    <td class="meta">{one_line(&name(&error.field), CELL_CHARS_MAX)}</td>
                    <td class="table-main" dir="auto">{error.message.clone()}</td>
                </tr>
            }
        });
        let left = errors.len().saturating_sub(ERRORS_SHOWN_MAX);
        view! {
            <Section name="errors" title="Rows with errors">
                <Table caption="Errors by row; the header is row 1" columns=vec![Column::number("Row"), Column::text("Field"), Column::text("Expected value")]>{rows.collect::<Vec<_>>()}</Table>
                {(left > 0).then(|| view! { <p class="meta">{format!("And {} more.", number::counted(left as u64, "error"))}</p> })}
            </Section>
        }
    })
}
