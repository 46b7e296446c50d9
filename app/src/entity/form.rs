//! The form that creates or changes an entity.
//!
//! Fields: `title`, `version` (of an existing entity), `typeId` (of a new one), and `fields.SLUG` for each value. An
//! empty field means no value.

use super::{Choices, Relations};
use crate::{
    FormState,
    render::static_html,
    ui::{
        button::{Button, Look},
        field::{Field, Input, Select, TextArea},
        notice::Refused,
    },
};
use domain::entity::{FieldDef, FieldType, display_text};
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
            let start = entity.and_then(|e| e.fields.get(&field.slug)).map(display_text).unwrap_or_default();
            control(scope, field, name, &start, relations, form)
        })
        .collect();
    let title = entity.map(|e| e.title.clone()).unwrap_or_default();
    let save = if entity.is_some() { "Save changes".to_owned() } else { format!("Create {}", of.name) };
    view! {
        <form class="form" method="post" action=target>
            <Refused messages=form.general(&known)/>
            {entity.map(|e| view! { <input type="hidden" name="version" value=e.version.to_string()/> })}
            {entity.is_none().then(|| view! { <input type="hidden" name="typeId" value=of.id.to_string()/> })}
            <Input scope=scope field=Field::new("title", "Title").required() value=&title form=form/>
            {controls}
            <div class="form-actions">
                <Button look=Look::Primary>{save}</Button>
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
            static_html(view! { <TextArea scope=scope field=base value=start form=form/> })
        }
        FieldType::Text => static_html(view! { <Input scope=scope field=base value=start form=form/> }),
        // Not type=number: browsers drop invalid text, and the mouse wheel changes the value by accident.
        FieldType::Number => static_html(
            view! { <Input scope=scope field=base.hint("Enter a number, with a point before decimals.") value=start form=form/> },
        ),
        FieldType::Date => static_html(view! { <Input scope=scope field=base kind="date" value=start form=form/> }),
        FieldType::Select => {
            let mut options = vec![(String::new(), "—".to_owned())];
            options.extend(field.options.iter().map(|o| (o.clone(), o.clone())));
            if !start.is_empty() && !field.options.iter().any(|o| o == start) {
                options.push((start.to_owned(), format!("{start} (no longer an option)")));
            }
            static_html(view! { <Select scope=scope field=base options=options value=start form=form/> })
        }
        FieldType::Relation => {
            let none = Choices::default();
            let choices = field.relation_type.as_ref().and_then(|slug| relations.get(slug)).unwrap_or(&none);
            choices.control(scope, base, "—", start, form)
        }
    }
}
