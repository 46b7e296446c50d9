//! The page /entity-types/{id}/import: uploads a CSV file, previews the entities it would create, then imports it.
//!
//! Multipart fields: `file` (the upload) or `source` (its text), `step` (`preview` or `import`), and for each column
//! `column.N` (its name) and `map.N` (the field it fills; empty for none).

use crate::{
    FormState,
    document::render,
    render::static_html,
    shell::{Place, Shell, frame},
    text::{number, shorten::one_line},
    ui::{
        field::{Field, select},
        notice,
        page_head::page_head,
    },
};
use domain::entity::{FIELD_TITLE, RowError, shown};
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
            Some(preview) => static_html(preview_form(&of, &source, &preview, &form)),
            None => static_html(upload_form(&of, &source, &form)),
        };
        frame(shell, Place::Entities, view! { {page_head(title, crumbs, ())} {body} })
    })
}

fn upload_form(of: &EntityType, source: &str, form: &FormState) -> impl IntoView + use<> {
    let limits = format!(
        "A header row, then one row per entity. Separate cells by commas, semicolons or tabs. UTF-8, at most {} MiB and {} rows.",
        IMPORT_BYTES_MAX / 1024 / 1024,
        number::grouped(IMPORT_ROWS_MAX as u64)
    );
    let text = format!("\n{source}");
    view! {
        <form class="form" method="post" enctype="multipart/form-data" action=format!("/entity-types/{}/import", of.id)>
            {notice::refused(form.general(&[]))}
            <input type="hidden" name="step" value="preview"/>
            <div class="field">
                <label class="field-label" for="import-file">"CSV file"</label>
                <input class="input" id="import-file" name="file" type="file" accept=".csv,.tsv,text/csv,text/plain" aria-describedby="import-file-hint"/>
                <p class="field-hint" id="import-file-hint">{limits}</p>
            </div>
            <div class="field">
                <label class="field-label" for="import-source">"Or paste it"</label>
                <textarea class="input" id="import-source" name="source" rows="6" data-kind="json" spellcheck="false">{text}</textarea>
            </div>
            <div class="form-actions"><button class="button" type="submit" data-look="primary">"Preview"</button><span class="meta">"Nothing is created yet."</span></div>
        </form>
    }
}

fn preview_form(of: &EntityType, source: &str, preview: &ImportPreview, form: &FormState) -> impl IntoView + use<> {
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
            let control = select(
                "import",
                Field::new(&name, &label),
                fills.clone(),
                column.field.as_deref().unwrap_or_default(),
                form,
            );
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
        notice::caution(format!(
            "Duplicate titles: {} of those rows. An earlier row, or an entity of type {}, already has the title. Existing entities are not changed.",
            number::grouped(preview.repeated_count),
            one_line(&of.name, 60)
        ))
    });
    let label = format!("Import {}", number::counted(good, "row"));
    view! {
        <form class="form import-form" method="post" enctype="multipart/form-data" action=format!("/entity-types/{}/import", of.id)>
            {notice::refused(form.general(&[]))}
            <section class="section" aria-labelledby="columns-title">
                <h2 id="columns-title">"Field for each column"</h2>
                <div class="form-row">{columns}</div>
            </section>
            <textarea name="source" hidden>{text}</textarea>
            <p>{words}</p>
            {repeated}
            <div class="form-actions">
                {(good > 0).then(|| view! { <button class="button" type="submit" name="step" value="import" data-look="primary">{label}</button> })}
                <button class="button" type="submit" name="step" value="preview">"Check again"</button>
                <a class="button" data-look="quiet" href=format!("/entity-types/{}/import", of.id)>"Choose another file"</a>
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
        let heads = filled.iter().map(|f| view! { <th scope="col">{f.name.clone()}</th> }).collect::<Vec<_>>();
        let rows = preview.rows.iter().map(|row| {
            let cells = filled.iter().map(|f| {
                let text = row.fields.get(&f.slug).map(shown).unwrap_or_default();
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
        view! {
            <section class="section" aria-labelledby="rows-title">
                <h2 id="rows-title">"The first rows"</h2>
                <div class="table-frame" tabindex="0" role="group" aria-labelledby="rows-title">
                    <table class="table">
                        <thead><tr><th scope="col" class="table-number">"Row"</th><th scope="col">"Title"</th>{heads}</tr></thead>
                        <tbody>{rows.collect::<Vec<_>>()}</tbody>
                    </table>
                </div>
            </section>
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
            <section class="section" aria-labelledby="errors-title">
                <h2 id="errors-title">"Rows with errors"</h2>
                <div class="table-frame">
                    <table class="table">
                        <caption class="hidden-text">"Errors by row; the header is row 1"</caption>
                        <thead><tr><th scope="col" class="table-number">"Row"</th><th scope="col">"Field"</th><th scope="col">"Expected value"</th></tr></thead>
                        <tbody>{rows.collect::<Vec<_>>()}</tbody>
                    </table>
                </div>
                {(left > 0).then(|| view! { <p class="meta">{format!("And {} more.", number::counted(left as u64, "error"))}</p> })}
            </section>
        }
    })
}
