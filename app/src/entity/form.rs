//! The form that creates or changes an entity.
//!
//! Fields: `title`, `version` (of an existing entity), `typeId` (of a new one), and `fields.SLUG` for each value. An
//! empty field means no value.

use super::{Choices, Relations};
use crate::{
    FormState,
    ui::{
        button::{Look, submit},
        field::{Field, input, select, textarea},
        notice,
    },
};
use domain::entity::{FieldDef, FieldType, shown};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::entity::{Entity, EntityType};

/// The form; without an entity it creates one.
pub fn entity_form(
    of: &EntityType,
    entity: Option<&Entity>,
    relations: &Relations,
    form: &FormState,
) -> impl IntoView + use<> {
    let scope = if entity.is_some() { "edit" } else { "create" };
    let target = entity.map_or_else(|| "/entities".to_owned(), |e| format!("/entities/{}", e.id));
    let names: Vec<String> = of.fields.iter().map(|f| format!("fields.{}", f.slug)).collect();
    let mut known: Vec<&str> = names.iter().map(String::as_str).collect();
    known.push("title");
    let controls: Vec<_> = of
        .fields
        .iter()
        .zip(&names)
        .map(|(field, name)| {
            let start = entity.and_then(|e| e.fields.get(&field.slug)).map(shown).unwrap_or_default();
            control(scope, field, name, &start, relations, form)
        })
        .collect();
    let title = entity.map(|e| e.title.clone()).unwrap_or_default();
    view! {
        <form class="form" method="post" action=target>
            {notice::refused(form.general(&known))}
            {entity.map(|e| view! { <input type="hidden" name="version" value=e.version.to_string()/> })}
            {entity.is_none().then(|| view! { <input type="hidden" name="typeId" value=of.id.clone()/> })}
            {input(scope, Field::new("title", "Title").required(), "text", &title, "off", form)}
            {controls}
            <div class="form-actions">
                {submit(if entity.is_some() { "Save changes".to_owned() } else { format!("Create {}", of.name) }, Look::Primary)}
            </div>
        </form>
    }
}

fn control(
    scope: &str,
    field: &FieldDef,
    name: &str,
    start: &str,
    relations: &Relations,
    form: &FormState,
) -> InertElement {
    let base = Field { name, label: &field.name, hint: "", required: field.required };
    match field.kind {
        FieldType::Text if start.contains('\n') || start.chars().count() > 80 => {
            textarea(scope, base, false, start, form)
        }
        FieldType::Text => input(scope, base, "text", start, "off", form),
        // Not type=number: browsers drop invalid text, and the mouse wheel changes the value by accident.
        FieldType::Number => {
            input(scope, base.hint("Enter a number, with a point before decimals."), "text", start, "off", form)
        }
        FieldType::Date => input(scope, base, "date", start, "off", form),
        FieldType::Select => {
            let mut options = vec![(String::new(), "—".to_owned())];
            options.extend(field.options.iter().map(|o| (o.clone(), o.clone())));
            if !start.is_empty() && !field.options.iter().any(|o| o == start) {
                options.push((start.to_owned(), format!("{start} (no longer an option)")));
            }
            select(scope, base, options, start, form)
        }
        FieldType::Relation => {
            let none = Choices::default();
            let choices = field.relation_type.as_ref().and_then(|slug| relations.get(slug)).unwrap_or(&none);
            choices.control(scope, base, "—", start, form)
        }
    }
}
