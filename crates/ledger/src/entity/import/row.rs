//! Checks the rows of a file and converts them to entities.

use crate::entity::{related, relation_issues, types_of};
use domain::{
    entity::{Column, FIELD_TITLE, FieldDef, RowError, Values, apply, parse_text},
    id::{EntityId, TenantId},
    limit::TITLE_CHARS_MAX,
    line::name_problem,
};
use std::collections::{BTreeSet, HashMap};
use store::Conn;

/// A valid row of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// Row number as in a spreadsheet: the header is row 1.
    pub(crate) number: u64,
    pub(crate) title: String,
    pub(crate) fields: Values,
}

/// Converts each of `rows`, or returns what is wrong with it. `first` is the spreadsheet number of the first
/// row.
pub(crate) async fn check_rows(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    fields: &[FieldDef],
    columns: &[Column],
    first: u64,
    rows: &[Vec<String>],
) -> store::Result<Vec<Result<Row, Vec<RowError>>>> {
    let mut checked: Vec<_> =
        (first..).zip(rows).map(|(number, cells)| check(fields, columns, number, cells)).collect();
    let ids: BTreeSet<EntityId> =
        checked.iter().flatten().flat_map(|row| related(fields, &row.fields).map(|(_, id)| id)).collect();
    let types: HashMap<EntityId, String> = types_of(conn, tenant_id, ids).await?;
    for row in &mut checked {
        let Ok(good) = row else { continue };
        let issues = relation_issues(fields, &good.fields, &types);
        if !issues.is_empty() {
            let number = good.number;
            let error = |issue: domain::issue::Issue| error(number, &issue.field, issue.message);
            *row = Err(issues.into_iter().map(error).collect());
        }
    }
    Ok(checked)
}

fn error(row: u64, field: &str, message: impl Into<String>) -> RowError {
    RowError { row, field: field.to_owned(), message: message.into() }
}

fn check(fields: &[FieldDef], columns: &[Column], number: u64, cells: &[String]) -> Result<Row, Vec<RowError>> {
    let mut errors = Vec::new();
    if cells.iter().skip(columns.len()).any(|cell| !cell.trim().is_empty()) {
        errors.push(error(number, "", format!("{} cells, but the header has {}", cells.len(), columns.len())));
    }
    let mut title = String::new();
    let mut values = Values::new();
    for (index, column) in columns.iter().enumerate() {
        let Some(slug) = column.field.as_deref() else { continue };
        let cell = cells.get(index).map_or("", String::as_str);
        if slug == FIELD_TITLE {
            title = cell.trim().to_owned();
            continue;
        }
        match fields.iter().find(|f| f.slug == slug).map(|field| parse_text(field, cell)) {
            Some(Ok(Some(value))) => {
                values.insert(slug.to_owned(), value);
            }
            Some(Ok(None)) => {}
            Some(Err(message)) => errors.push(error(number, slug, message)),
            None => errors.push(error(number, slug, "this entity type no longer has this field")),
        }
    }
    if let Some(problem) = name_problem(&title, TITLE_CHARS_MAX) {
        errors.push(error(number, FIELD_TITLE, problem));
    }
    match apply(fields, &Values::new(), &values) {
        Ok(fields) if errors.is_empty() => return Ok(Row { number, title, fields }),
        Ok(_) => {}
        // A cell that has an error already is not reported as missing too.
        Err(issues) => {
            let known: BTreeSet<String> = errors.iter().map(|e| e.field.clone()).collect();
            let new = issues.into_iter().filter(|issue| !known.contains(&issue.field));
            errors.extend(new.map(|issue| error(number, &issue.field, issue.message)));
        }
    }
    Err(errors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::entity::FieldType;
    use serde_json::json;

    fn field(slug: &str, kind: FieldType, required: bool) -> FieldDef {
        FieldDef {
            slug: slug.into(),
            name: slug.into(),
            kind,
            required,
            options: vec!["Lead".into()],
            relation_type: None,
        }
    }

    fn checked(cells: &[&str]) -> Result<Row, Vec<String>> {
        let fields = [field("stage", FieldType::Select, true), field("size", FieldType::Number, false)];
        let columns = [("Name", Some("title")), ("Stage", Some("stage")), ("Note", None), ("Size", Some("size"))];
        let columns = columns.map(|(c, f)| Column { column: c.into(), field: f.map(str::to_owned) });
        let cells: Vec<String> = cells.iter().map(|c| (*c).to_owned()).collect();
        let message = |e: RowError| format!("{}/{}: {}", e.row, e.field, e.message);
        check(&fields, &columns, 2, &cells).map_err(|errors| errors.into_iter().map(message).collect())
    }

    #[test]
    fn a_good_row_becomes_title_and_values_and_unmapped_cells_are_left_out() {
        let row = checked(&[" Acme ", "Lead", "ignored", "12"]).unwrap();
        assert_eq!((row.title.as_str(), json!(row.fields)), ("Acme", json!({ "stage": "Lead", "size": 12 })));
        assert_eq!(json!(checked(&["Acme", "Lead"]).unwrap().fields), json!({ "stage": "Lead" }));
    }

    #[test]
    fn every_wrong_cell_of_a_row_is_named_once() {
        let refused = checked(&["", "Won", "x", "many", "extra"]).unwrap_err();
        assert_eq!(
            refused,
            [
                "2/: 5 cells, but the header has 4",
                "2/stage: one of: Lead",
                "2/size: a number",
                "2/title: 1 to 300 characters on one line",
            ]
        );
        assert_eq!(checked(&["Acme", "", "", ""]).unwrap_err(), ["2/stage: needs a value"]);
    }
}
