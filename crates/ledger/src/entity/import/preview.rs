//! Previews an import without creating anything.

use super::{NewImport, columns_of, file, row::check_rows};
use crate::{Ledger, Result, entity_type, guard::require};
use domain::{
    Scope,
    entity::{Column, RowError, Values},
    id::EntityTypeId,
    limit::{IMPORT_ERRORS_MAX, IMPORT_PREVIEW_ROWS},
    role::Permission,
};
use std::collections::HashSet;

/// The result of a preview.
#[derive(Debug, Clone)]
pub struct Preview {
    /// The field that each column fills.
    pub columns: Vec<Column>,
    /// Number of rows in the file, without the header.
    pub rows_total: u64,
    /// Number of rows that cannot be imported.
    pub failed_count: u64,
    /// Number of valid rows whose title is already used by an entity of the type or by an earlier row. Importing
    /// them creates duplicates.
    pub repeated_count: u64,
    /// The first valid rows, at most [`IMPORT_PREVIEW_ROWS`].
    pub rows: Vec<PreviewRow>,
    /// Errors of the invalid rows, at most [`IMPORT_ERRORS_MAX`].
    pub errors: Vec<RowError>,
}

/// A row as the entity that it would become.
#[derive(Debug, Clone)]
pub struct PreviewRow {
    /// Row number as in a spreadsheet: the header is row 1.
    pub row: u64,
    /// Title of the entity.
    pub title: String,
    /// Values by field slug.
    pub fields: Values,
}

/// Checks every row of a file against an entity type. Nothing is written.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no such entity type; [`crate::Error::TooLarge`] or
/// [`crate::Error::LimitReached`] for a file with too many bytes or rows; [`crate::Error::Invalid`] for a file that is
/// not a table, a wrong mapping, or if no column fills the title. Rows that cannot be imported are no error: they are
/// in the result.
pub async fn preview(ledger: &Ledger, scope: &Scope, type_id: EntityTypeId, new: NewImport) -> Result<Preview> {
    require(scope, Permission::WriteEntities)?;
    let entity_type = entity_type::get(ledger, scope, type_id).await?;
    let file = file::read(&new.source)?;
    let columns = columns_of(&file.header, &entity_type, &new)?;
    let rows_total = file.rows.len() as u64;
    let (tenant_id, mapped) = (scope.tenant_id, columns.clone());
    let read = ledger.store().read(scope.into(), async move |conn| {
        let checked = check_rows(conn, tenant_id, &entity_type.fields, &mapped, 2, &file.rows).await?;
        let titles: Vec<String> = checked.iter().flatten().map(|row| row.title.clone()).collect();
        Ok((checked, store::entity::taken_titles(conn, tenant_id, type_id, &titles).await?))
    });
    let (checked, taken) = read.await?;
    let mut titles: HashSet<String> = taken.into_iter().collect();
    let mut preview =
        Preview { columns, rows_total, failed_count: 0, repeated_count: 0, rows: Vec::new(), errors: Vec::new() };
    for row in checked {
        match row {
            Ok(row) => {
                if !titles.insert(row.title.clone()) {
                    preview.repeated_count += 1;
                }
                if preview.rows.len() < IMPORT_PREVIEW_ROWS {
                    preview.rows.push(PreviewRow { row: row.number, title: row.title, fields: row.fields });
                }
            }
            Err(errors) => {
                preview.failed_count += 1;
                preview.errors.extend(errors);
            }
        }
    }
    preview.errors.truncate(IMPORT_ERRORS_MAX);
    Ok(preview)
}
