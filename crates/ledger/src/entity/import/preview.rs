//! What an import would do, without doing it.

use super::{NewImport, columns_of, file, row::check_rows};
use crate::{Ledger, Result, entity_type, guard::require};
use domain::{
    Scope,
    entity::{Column, RowError, Values},
    id::EntityTypeId,
    limit::{IMPORT_ERRORS_MAX, IMPORT_PREVIEW_ROWS},
    role::Permission,
};

/// What an import would do.
#[derive(Debug, Clone)]
pub struct Preview {
    /// What each column fills.
    pub columns: Vec<Column>,
    /// Rows of the file, the header not counted.
    pub rows_total: u64,
    /// Rows that cannot be made.
    pub failed_count: u64,
    /// The first rows that can.
    pub rows: Vec<PreviewRow>,
    /// What is wrong with the others, as far as it is kept.
    pub errors: Vec<RowError>,
}

/// A row as the entity it would become.
#[derive(Debug, Clone)]
pub struct PreviewRow {
    /// As a spreadsheet numbers it.
    pub row: u64,
    /// The title.
    pub title: String,
    /// The values.
    pub fields: Values,
}

/// Checks every row of a file against a type and makes nothing.
pub async fn preview(ledger: &Ledger, scope: &Scope, type_id: EntityTypeId, new: NewImport) -> Result<Preview> {
    require(scope, Permission::WriteEntities)?;
    let entity_type = entity_type::get(ledger, scope, type_id).await?;
    let file = file::read(&new.source)?;
    let columns = columns_of(&file.header, &entity_type, &new)?;
    let rows_total = file.rows.len() as u64;
    let (tenant_id, mapped) = (scope.tenant_id, columns.clone());
    let read = ledger.store().read(scope.into(), move |conn| {
        Box::pin(async move { check_rows(conn, tenant_id, &entity_type.fields, &mapped, 2, &file.rows).await })
    });
    let mut preview = Preview { columns, rows_total, failed_count: 0, rows: Vec::new(), errors: Vec::new() };
    for row in read.await? {
        match row {
            Ok(row) if preview.rows.len() < IMPORT_PREVIEW_ROWS => {
                preview.rows.push(PreviewRow { row: row.number, title: row.title, fields: row.fields });
            }
            Ok(_) => {}
            Err(errors) => {
                preview.failed_count += 1;
                preview.errors.extend(errors);
            }
        }
    }
    preview.errors.truncate(IMPORT_ERRORS_MAX);
    Ok(preview)
}
