//! Options for fields that refer to entities, and names of people.

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

/// Names of people, by their actor (`user:ID`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct People(pub BTreeMap<String, String>);

impl People {
    /// The name of an actor.
    pub fn word(&self, actor: &str) -> String {
        match self.0.get(actor) {
            Some(name) => name.clone(),
            None if actor.starts_with("token:") => "an API token".to_owned(),
            None if actor.starts_with("user:") => "a former member".to_owned(),
            None if actor.starts_with("rule:") => "a rule".to_owned(),
            None if actor.starts_with("respondent:") => "someone without an account".to_owned(),
            None => match actor.strip_prefix("agent:") {
                Some(slug) => format!("the agent {slug}"),
                None => "Shiftbook".to_owned(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_actor_is_named_as_well_as_it_is_known() {
        let people = People(BTreeMap::from([("user:1".to_owned(), "mia@acme.test".to_owned())]));
        let words = ["user:1", "user:2", "token:3", "agent:scout", "system"].map(|actor| people.word(actor));
        assert_eq!(words, ["mia@acme.test", "a former member", "an API token", "the agent scout", "Shiftbook"]);
        assert_eq!(people.word("respondent:4"), "someone without an account");
    }
}
