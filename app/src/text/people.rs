//! Names of people.

use std::collections::BTreeMap;

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
