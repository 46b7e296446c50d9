//! Entities to choose from in a form, and the names behind ids.

use crate::{
    FormState,
    ui::field::{Field, input, select},
};
use leptos::tachys::html::InertElement;
use std::collections::BTreeMap;

/// Entities to choose from, `(id, title)`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choices {
    /// What is offered.
    pub options: Vec<(String, String)>,
    /// Whether there are more than are offered; then an id is typed.
    pub has_more: bool,
}

impl Choices {
    /// The title behind an id, where it is offered.
    pub fn label(&self, id: &str) -> Option<&str> {
        self.options.iter().find(|(offered, _)| offered == id).map(|(_, title)| title.as_str())
    }

    /// A field that takes one of them: a list while it is short enough, or else the id as text.
    pub fn control(&self, scope: &str, field: Field<'_>, none: &str, start: &str, form: &FormState) -> InertElement {
        if self.has_more {
            let hint = format!("{} Enter its id, the last part of its page's address.", field.hint);
            return input(scope, field.hint(hint.trim()), "text", start, "off", form);
        }
        let mut options = vec![(String::new(), none.to_owned())];
        options.extend(self.options.iter().cloned());
        if !start.is_empty() && self.label(start).is_none() {
            options.push((start.to_owned(), format!("Entity {start}")));
        }
        select(scope, field, options, start, form)
    }
}

/// Entities that relations can lead to, by the slug of their type.
pub type Relations = BTreeMap<String, Choices>;

/// Names of people by the actor that is stored, e.g. `user:…`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct People(pub BTreeMap<String, String>);

impl People {
    /// Who an actor is, in words.
    pub fn word(&self, actor: &str) -> String {
        match self.0.get(actor) {
            Some(name) => name.clone(),
            None if actor.starts_with("token:") => "an API token".to_owned(),
            None if actor.starts_with("user:") => "a former member".to_owned(),
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
    }
}
