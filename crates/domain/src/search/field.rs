//! The fields that a search can name, and what can be wrong with a condition on one.

use super::value::{EXAMPLE_DAYS, EXAMPLE_DURATIONS};
use crate::{
    gate::GateKind,
    limit::{SEARCH_CONDITIONS_MAX, SEARCH_VALUES_MAX, TAG_CHARS_MAX},
    session::{Status, Type},
};
use std::fmt;

/// A field of a session that a search can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// Slug of the session's agent.
    Agent,
    /// Status that the session has now.
    Status,
    /// Type of the session.
    Type,
    /// Slug of the session's task.
    Task,
    /// Part of the session's title.
    Title,
    /// Code of the session's error, or a part of its code or message.
    Error,
    /// Person who started the session: a name, a word of a name, or an address.
    By,
    /// Tag of the session.
    Tag,
    /// Member who looks after the session: a name, a word of a name, or an address. `none` for no one.
    Assignee,
    /// Part of the name of a model that the session's agent reported in its usage.
    Model,
    /// Cost that the session's agent reported, US dollars.
    Cost,
    /// Time from the session's first claim to its end, or until now.
    Duration,
    /// Day or time from which on something happened.
    After,
    /// Day or time before which something happened.
    Before,
    /// Kind of an approval.
    Kind,
    /// Part of the name of the tool whose call needs approval.
    Tool,
}

impl Field {
    /// Fields of the searches of sessions and of events, in the order in which a search is printed.
    pub const ALL: [Self; 14] = [
        Self::Agent,
        Self::Status,
        Self::Type,
        Self::Task,
        Self::Title,
        Self::Error,
        Self::By,
        Self::Tag,
        Self::Assignee,
        Self::Model,
        Self::Cost,
        Self::Duration,
        Self::After,
        Self::Before,
    ];

    /// Fields of the search of approvals.
    pub const OF_APPROVALS: [Self; 4] = [Self::Agent, Self::Title, Self::Kind, Self::Tool];
    /// Fields of the search of tasks.
    pub const OF_TASKS: [Self; 2] = [Self::Agent, Self::Title];
    /// Fields of the search of entities.
    pub const OF_ENTITIES: [Self; 1] = [Self::Title];
    /// Fields of the search of tools.
    pub const OF_TOOLS: [Self; 1] = [Self::Title];
    /// Fields of the search of forms.
    pub const OF_FORMS: [Self; 1] = [Self::Title];
    /// Fields of the search of memory documents by their paths.
    pub const OF_DOCUMENTS: [Self; 1] = [Self::Title];
    /// Fields of the search of causes of failures.
    pub const OF_CAUSES: [Self; 2] = [Self::Agent, Self::Error];

    /// Its name in a search.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Status => "status",
            Self::Type => "type",
            Self::Task => "task",
            Self::Title => "title",
            Self::Error => "error",
            Self::By => "by",
            Self::Tag => "tag",
            Self::Assignee => "assignee",
            Self::Model => "model",
            Self::Cost => "cost",
            Self::Duration => "duration",
            Self::After => "after",
            Self::Before => "before",
            Self::Kind => "kind",
            Self::Tool => "tool",
        }
    }

    /// The field of this name among these, whatever its case.
    pub fn parse(name: &str, among: &[Self]) -> Option<Self> {
        among.iter().copied().find(|field| field.as_str().eq_ignore_ascii_case(name))
    }

    /// A condition on it, as an example.
    pub const fn example(self) -> &'static str {
        match self {
            Self::Agent => "agent:scout",
            Self::Status => "status:failed,expired",
            Self::Type => "type:agent",
            Self::Task => "task:weekly-report",
            Self::Title => "title:\"weekly report\"",
            Self::Error => "error:\"rate limit\"",
            Self::By => "by:me",
            Self::Tag => "tag:billing",
            Self::Assignee => "assignee:me",
            Self::Model => "model:haiku",
            Self::Cost => "cost>0.5",
            Self::Duration => "duration>2m",
            Self::After => "after:fri",
            Self::Before => "before:2026-11-25",
            Self::Kind => "kind:tool,question",
            Self::Tool => "tool:refund",
        }
    }

    /// Whether it is a quantity, which is compared.
    pub const fn is_measure(self) -> bool {
        matches!(self, Self::Cost | Self::Duration)
    }

    /// Whether sessions with its value can be excluded: `-agent:scout`.
    pub const fn is_excludable(self) -> bool {
        !self.is_measure() && !matches!(self, Self::After | Self::Before)
    }
}

/// What can be wrong with a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadField {
    /// There is no field of this name among these.
    Unknown(String, &'static [Field]),
    /// There is nothing behind the colon or the comparison.
    NoValue(Field),
    /// The value is none of the field.
    BadValue(Field, String),
    /// The field is no quantity, so `<` and `>` say nothing about it.
    NotComparable(Field),
    /// A quantity or a time was excluded.
    NotExcludable(Field),
    /// A condition has more than [`SEARCH_VALUES_MAX`] values.
    TooManyValues(Field),
    /// A search has more than [`SEARCH_CONDITIONS_MAX`] conditions.
    TooMany,
}

impl fmt::Display for BadField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name, fields) => {
                let fields: Vec<&str> = fields.iter().map(|field| field.as_str()).collect();
                write!(
                    f,
                    "there is no field {name}; the fields are {}. To find it as a text, write it in quotation marks",
                    fields.join(", ")
                )
            }
            Self::NoValue(field) => {
                write!(f, "{} needs a value without a space before it, as in {}", field.as_str(), field.example())
            }
            Self::BadValue(field, value) => write!(f, "\"{value}\" is no {}; {}", field.as_str(), allowed(*field)),
            Self::NotComparable(field) => {
                write!(f, "{} cannot be compared; write {}", field.as_str(), field.example())
            }
            Self::NotExcludable(field) => {
                write!(f, "{} cannot be excluded; turn the comparison around", field.as_str())
            }
            Self::TooManyValues(field) => write!(f, "{} has more than {SEARCH_VALUES_MAX} values", field.as_str()),
            Self::TooMany => write!(f, "at most {SEARCH_CONDITIONS_MAX} conditions on fields"),
        }
    }
}

/// What values a field takes.
fn allowed(field: Field) -> String {
    match field {
        Field::Agent => "a slug, such as scout, or `tool:` and the slug of a tool".to_owned(),
        Field::Task => "a slug, such as weekly-report".to_owned(),
        Field::Status => format!("one of {}", Status::ALL.map(Status::as_str).join(", ")),
        Field::Type => format!("one of {}", Type::ALL.map(Type::as_str).join(", ")),
        Field::Kind => format!("one of {}", GateKind::ALL.map(GateKind::as_str).join(", ")),
        Field::Title | Field::Error | Field::Model | Field::Tool => "a text without control characters".to_owned(),
        Field::By => "me, a name or an address of a member of the workspace".to_owned(),
        Field::Assignee => "me, none, a name or an address of a member of the workspace".to_owned(),
        Field::Tag => format!("lower-case letters, digits and single hyphens, at most {TAG_CHARS_MAX} characters"),
        Field::Cost => "a number of US dollars, such as 0.5, with at most 6 digits after the point".to_owned(),
        Field::Duration => format!("a time such as {EXAMPLE_DURATIONS}"),
        Field::After | Field::Before => format!("a day or a time such as {EXAMPLE_DAYS}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Line;

    #[test]
    fn every_example_is_a_search_with_one_condition_on_its_field() {
        let (of_sessions, of_approvals): (&'static [Field], &'static [Field]) = (&Field::ALL, &Field::OF_APPROVALS);
        let all = of_sessions.iter().map(|field| (*field, of_sessions));
        for (field, among) in all.chain(of_approvals.iter().map(|field| (*field, of_approvals))) {
            let line = Line::parse_for(field.example(), among).unwrap();
            assert_eq!((line.conditions.len(), line.words.len()), (1, 0), "{field:?}");
            assert_eq!(line.conditions[0].test.field(), field);
            assert_eq!(line.to_string(), field.example());
        }
    }
}
