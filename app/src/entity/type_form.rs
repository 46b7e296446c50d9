//! The form of an entity type. It works without scripts, with a row for each field and some empty rows.
//!
//! Fields: `version`, `name`; for each row `fields[N].name`, `.slug`, `.type`, `.required` (on), `.options` (one per
//! line), `.relationType`. A row without a name is ignored.

use crate::{
    FormState,
    form::row_number,
    ui::{
        button::{Button, Look},
        field::{Choice, Field, Input, Select, TextArea},
        notice::Refused,
    },
};
use domain::{
    entity::{FieldDef, FieldType},
    limit::ENTITY_FIELDS_MAX,
};
use leptos::prelude::*;
use wire::entity::EntityType;

/// Number of empty rows for new fields.
const EMPTY_ROWS: usize = 3;
const PARTS: [&str; 6] = ["name", "slug", "type", "required", "options", "relationType"];

/// The label of a field type.
pub const fn type_word(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Text => "Text",
        FieldType::Number => "Number",
        FieldType::Select => "Choice",
        FieldType::Date => "Date",
        FieldType::Relation => "Relation",
    }
}

/// The form that creates an entity type or changes `of`.
pub fn type_form(of: &EntityType, types: &[(String, String)], form: &FormState) -> impl IntoView + use<> {
    let typed = form.values.keys().filter_map(|key| row_number("fields", key)).max().map_or(0, |last| last + 1);
    let rows = (of.fields.len() + EMPTY_ROWS).max(typed).min(ENTITY_FIELDS_MAX.max(of.fields.len()));
    let names: Vec<String> = (0..rows).flat_map(|row| PARTS.map(|part| name(row, part))).collect();
    let mut known: Vec<&str> = names.iter().map(String::as_str).collect();
    known.push("name");
    let list = (0..rows).map(|row| field_row(row, of.fields.get(row), types, form)).collect::<Vec<_>>();
    view! {
        <form class="form entity-type-form" method="post" action=format!("/entity-types/{}", of.id)>
            <Refused messages=form.general(&known)/>
            <input type="hidden" name="version" value=of.version.to_string()/>
            <Input scope="edit" field=Field::new("name", "Name").required() value=&of.name form=form/>
            <p class="meta">"A field without a name is removed. Entities keep its value until they are next saved. After saving, there are more empty rows."</p>
            {list}
            <div class="form-actions"><Button look=Look::Primary>"Save type"</Button></div>
        </form>
    }
}

fn name(row: usize, part: &str) -> String {
    format!("fields[{row}].{part}")
}

fn field_row(
    row: usize,
    field: Option<&FieldDef>,
    types: &[(String, String)],
    form: &FormState,
) -> impl IntoView + use<> {
    let text = |get: fn(&FieldDef) -> &str| field.map(get).unwrap_or_default().to_owned();
    let part = |part: &str| name(row, part);
    let kinds = FieldType::ALL.into_iter().map(|t| (t.as_str().to_owned(), type_word(t).to_owned())).collect();
    let mut related = vec![(String::new(), "—".to_owned())];
    related.extend(types.iter().cloned());
    let required = part("required");
    let checked = if form.is_refused() { form.value(&required).is_some() } else { field.is_some_and(|f| f.required) };
    let options = field.map(|f| f.options.join("\n")).unwrap_or_default();
    let (names, slugs, types_name) = (part("name"), part("slug"), part("type"));
    let (option_names, relations) = (part("options"), part("relationType"));
    let legend = field.map_or_else(|| format!("New field {}", row + 1), |f| format!("Field {}: {}", row + 1, f.name));
    view! {
        <fieldset class="entity-row">
            <legend class="meta">{legend}</legend>
            <div class="form-row">
                <Input scope="edit" field=Field::new(&names, "Field name") value=text(|f| &f.name) form=form/>
                <Input scope="edit" field=Field::new(&slugs, "Slug").hint("Created from the name if left empty.") value=text(|f| &f.slug) form=form/>
                <Select scope="edit" field=Field::new(&types_name, "Values") options=kinds value=field.map_or("text", |f| f.kind.as_str()) form=form/>
            </div>
            <div class="form-row">
                <TextArea scope="edit" field=Field::new(&option_names, "Options").hint("For a choice: one per line.") value=&options form=form/>
                <Select scope="edit" field=Field::new(&relations, "Leads to").hint("For a relation.") options=related value=field.and_then(|f| f.relation_type.as_deref()).unwrap_or_default() form=form/>
                <Choice name=required checked=checked>"Required"</Choice>
            </div>
        </fieldset>
    }
}
