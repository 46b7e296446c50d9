//! /entity-types: create, one of them, edit.

use super::{
    entity::refused_list,
    form::{Form, or_stale},
    shell::{PageRejection, Viewer, redirect_with_notice, refuse, render},
};
use crate::{extract::Id, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    entity::{self as ui, TypeProps},
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use domain::{
    entity::{FieldDef, FieldType},
    id::EntityTypeId,
    limit::ENTITY_FIELDS_MAX,
    slug::slugify,
};
use ledger::{
    Scope,
    entity_type::{self, EntityTypeChange, NewEntityType},
    page::entity_type as page,
};

pub fn router() -> Router<AppState> {
    Router::new().route("/entity-types", post(create)).route("/entity-types/{id}", get(show).post(edit))
}

async fn create(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let name = form.text("name").trim().to_owned();
    let new = NewEntityType { name, slug: form.optional("slug"), fields: Vec::new() };
    match entity_type::create(&state.ledger, &viewer.scope, new).await.map_err(Problem::from) {
        Ok(made) => {
            Ok(redirect_with_notice(&format!("/entity-types/{}", made.id), "entity_type_created").into_response())
        }
        Err(problem) => refused_list(&state, viewer, None, form.refused("type", &problem), &problem).await,
    }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<EntityTypeId>,
) -> Result<Response, PageRejection> {
    let props = read(&state, &viewer.scope, id, FormState::default()).await?;
    Ok(render(StatusCode::OK, move || ui::type_page(&viewer.shell, props)).await)
}

async fn read(state: &AppState, scope: &Scope, id: EntityTypeId, form: FormState) -> Result<TypeProps, PageRejection> {
    let page = page::read(&state.ledger, scope, id).await?;
    let types = page.types.into_iter().map(|of| (of.slug, of.name)).collect();
    Ok(TypeProps { of: wire_map::entity_type(page.of), types, form })
}

async fn edit(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<EntityTypeId>,
    form: Form,
) -> Result<Response, PageRejection> {
    let (change, rows) = change(&form);
    match entity_type::update(&state.ledger, &viewer.scope, id, change).await {
        Ok(_) => Ok(redirect_with_notice(&format!("/entity-types/{id}"), "entity_type_saved").into_response()),
        Err(error) => {
            let problem = Problem::from(error);
            let refused = or_stale(form.refused_in_rows("edit", &problem, ("fields", &rows)), &problem);
            let props = read(&state, &viewer.scope, id, refused).await?;
            Ok(refuse(&problem, move || ui::type_page(&viewer.shell, props)).await)
        }
    }
}

/// Reads a change from the form. Returns the number in the form of each of its fields too.
fn change(form: &Form) -> (EntityTypeChange, Vec<usize>) {
    let (rows, fields) = fields(form).into_iter().unzip();
    let change = EntityTypeChange {
        version: form.text("version").parse().unwrap_or_default(),
        name: Some(form.text("name").trim().to_owned()),
        fields: Some(fields),
    };
    (change, rows)
}

/// The rows of the form that have a name, each with its number in the form.
fn fields(form: &Form) -> Vec<(usize, FieldDef)> {
    let row = |row: usize| {
        let text = |part: &str| form.optional(&format!("fields[{row}].{part}"));
        let name = text("name")?;
        let kind = text("type").as_deref().and_then(FieldType::parse).unwrap_or(FieldType::Text);
        let options = text("options").filter(|_| kind == FieldType::Select).unwrap_or_default();
        Some((
            row,
            FieldDef {
                slug: text("slug").or_else(|| slugify(&name)).unwrap_or_default(),
                name,
                kind,
                required: text("required").is_some(),
                options: options.lines().map(|o| o.trim().to_owned()).filter(|o| !o.is_empty()).collect(),
                relation_type: text("relationType").filter(|_| kind == FieldType::Relation),
            },
        ))
    };
    (0..=ENTITY_FIELDS_MAX).filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_a_name_are_left_out() {
        let pairs = [
            ("version", "3"),
            ("name", " Deal "),
            ("fields[0].name", "Stage"),
            ("fields[0].type", "select"),
            ("fields[0].options", "Lead\n\n Won "),
            ("fields[0].relationType", "company"),
            ("fields[1].name", " "),
            ("fields[3].name", "Owner"),
            ("fields[3].required", "on"),
        ];
        let form = Form::of(pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).into());
        let (change, rows) = change(&form);
        assert_eq!((change.version, change.name.as_deref()), (3, Some("Deal")));
        let defs = change.fields.unwrap();
        assert_eq!(rows, [0, 3]);
        assert_eq!(defs[0].options, ["Lead", "Won"]);
        assert_eq!((defs[0].slug.as_str(), defs[0].relation_type.as_deref()), ("stage", None));
        assert!(defs[1].required);
    }
}
