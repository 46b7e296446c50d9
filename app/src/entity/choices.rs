//! Options for fields that refer to entities.

use crate::{
    FormState,
    render::static_html,
    ui::field::{Field, Input, Select},
};
use leptos::{prelude::*, tachys::html::InertElement};
use std::collections::BTreeMap;

/// Entities offered in a form, `(id, title)`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choices {
    /// The offered entities.
    pub options: Vec<(String, String)>,
    /// Whether there are more entities than are offered. The field then takes an id as text.
    pub has_more: bool,
}

impl Choices {
    /// The title of an offered entity.
    pub fn label(&self, id: &str) -> Option<&str> {
        self.options.iter().find(|(offered, _)| offered == id).map(|(_, title)| title.as_str())
    }

    /// A field for one of the entities: a select, or a text field for an id if there are too many.
    pub fn control(&self, scope: &str, field: Field<'_>, none: &str, start: &str, form: &FormState) -> InertElement {
        if self.has_more {
            let hint = format!("{} Enter its id, the last part of its page's address.", field.hint);
            return static_html(view! { <Input scope=scope field=field.hint(hint.trim()) value=start form=form/> });
        }
        let mut options = vec![(String::new(), none.to_owned())];
        options.extend(self.options.iter().cloned());
        if !start.is_empty() && self.label(start).is_none() {
            options.push((start.to_owned(), format!("Entity {start}")));
        }
        static_html(view! { <Select scope=scope field=field options=options value=start form=form/> })
    }
}

/// Options of relation fields, by the slug of the related type.
pub type Relations = BTreeMap<String, Choices>;
