//! A search line: conditions on fields of sessions and words, such as `agent:scout cost>0.5 "rate limit"`.

use super::{
    field::{BadField, Field},
    query::{BadQuery, Problem, Query, Written, is_exclusion, is_quote, letters, piece, unit},
    value::{Comparison, Day, Duration, Measure, Usd},
};
use crate::{
    gate::GateKind,
    limit::{SEARCH_CONDITIONS_MAX, SEARCH_VALUES_MAX},
    session::{Status, Type, tag::is_tag},
    slug::is_slug,
    tool::run::is_agent,
};
use std::fmt;

/// A search as people type it. All conditions must hold, and all words must be in one event or in the title.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// Conditions on fields, in the order of [`Field`].
    pub conditions: Vec<Condition>,
    /// Words and phrases as they were typed.
    pub words: Vec<Words>,
    /// What the words look for; `None` without words.
    pub query: Option<Query>,
}

/// A condition on a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Whether sessions must not fulfil it.
    pub is_excluded: bool,
    /// What is looked at.
    pub test: Test,
}

/// A field and its values. Of several values one is enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// Slugs of agents.
    Agent(Vec<String>),
    /// Statuses.
    Status(Vec<Status>),
    /// Types of sessions.
    Type(Vec<Type>),
    /// Slugs of tasks.
    Task(Vec<String>),
    /// Parts of titles.
    Title(Vec<String>),
    /// Error codes, or parts of codes and messages.
    Error(Vec<String>),
    /// People by name or address; `me` is the reader.
    By(Vec<String>),
    /// Whole tags of the session.
    Tag(Vec<String>),
    /// Assignees by name or address; `me` is the reader, `none` is no one.
    Assignee(Vec<String>),
    /// Parts of the names of models.
    Model(Vec<String>),
    /// What the agent reported that the session cost.
    Cost(Measure<Usd>),
    /// Time that the session ran.
    Duration(Measure<Duration>),
    /// At this time or later.
    After(Day),
    /// Before this time.
    Before(Day),
    /// Kinds of approvals.
    Kind(Vec<GateKind>),
    /// Parts of the names of tools.
    Tool(Vec<String>),
}

/// A word or phrase as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// The text without quotation marks.
    pub text: String,
    /// Whether it is in quotation marks.
    pub is_quoted: bool,
    /// Whether it is excluded.
    pub is_excluded: bool,
}

impl Line {
    /// Reads a search for sessions. An empty one has no condition and no words.
    ///
    /// # Errors
    /// [`BadQuery`] with the first place at which it is none: an unknown field, a bad value, a bad word.
    pub fn parse(text: &str) -> Result<Self, BadQuery> {
        Self::parse_for(text, &Field::ALL)
    }

    /// Reads a search of a list that has only these fields. All others are unknown to it.
    ///
    /// # Errors
    /// As [`Line::parse`].
    pub fn parse_for(text: &str, fields: &'static [Field]) -> Result<Self, BadQuery> {
        let letters = letters(text)?;
        let (mut conditions, mut pieces, mut at) = (Vec::new(), Vec::<Written>::new(), 0);
        while let Some(begin) = letters[at..].iter().position(|c| !c.is_whitespace()).map(|found| at + found) {
            if let Some((condition, end)) = condition(&letters, begin, fields)? {
                if conditions.len() >= SEARCH_CONDITIONS_MAX {
                    return Err(bad(begin, BadField::TooMany));
                }
                conditions.push(condition);
                at = end;
            } else if let Some((written, end)) = piece(&letters, begin)? {
                // What has no letter and no digit is no word, so it is not kept.
                if unit(&written)?.is_some() {
                    pieces.push(written);
                }
                at = end;
            }
        }
        let query = Query::of(&pieces)?;
        let mut line = Self { conditions: Vec::new(), words: Vec::new(), query };
        line.words = pieces
            .into_iter()
            .map(|Written { text, is_quoted, is_excluded, .. }| Words { text, is_quoted, is_excluded })
            .collect();
        conditions.into_iter().for_each(|condition| line.add(condition));
        Ok(line)
    }

    /// Adds a condition in its place. One that is there already is not added again.
    pub fn add(&mut self, condition: Condition) {
        if !self.conditions.contains(&condition) {
            let field = condition.test.field();
            let place = self.conditions.partition_point(|other| other.test.field() <= field);
            self.conditions.insert(place, condition);
        }
    }

    /// Lets sessions of this status, type or agent be found too: one more value of the condition on the field, or a new
    /// condition. Other fields get a new condition.
    pub fn widen(&mut self, test: Test) {
        let field = test.field();
        let present = self.conditions.iter_mut().find(|other| !other.is_excluded && other.test.field() == field);
        match (present.map(|condition| &mut condition.test), test) {
            (Some(Test::Agent(values)), Test::Agent(more)) => extend(values, more),
            (Some(Test::Status(values)), Test::Status(more)) => extend(values, more),
            (Some(Test::Type(values)), Test::Type(more)) => extend(values, more),
            (_, test) => self.add(Condition::must(test)),
        }
    }

    /// Whether it has neither a condition nor a word.
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty() && self.words.is_empty()
    }

    /// The search without the part at this place in [`Line::parts`]. Words that are only excluded are no search, so
    /// they go with the last one that was looked for.
    #[must_use]
    pub fn without(&self, part: usize) -> Self {
        let mut parts = self.parts();
        if part < parts.len() {
            parts.remove(part);
        }
        let conditions = self.conditions.len() - usize::from(part < self.conditions.len());
        let all = Self::parse(&parts.join(" "));
        all.or_else(|_| Self::parse(&parts[..conditions].join(" "))).unwrap_or_default()
    }

    /// The parts of which its text is made: conditions, then words. Each is a search by itself, except excluded words.
    pub fn parts(&self) -> Vec<String> {
        let conditions = self.conditions.iter().map(Condition::to_string);
        conditions.chain(self.words.iter().map(Words::to_string)).collect()
    }
}

impl fmt::Display for Line {
    /// The canonical text, which reads as the same search.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parts().join(" "))
    }
}

impl Condition {
    /// A condition that sessions must fulfil.
    pub const fn must(test: Test) -> Self {
        Self { is_excluded: false, test }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (not, name) = (if self.is_excluded { "-" } else { "" }, self.test.field().as_str());
        let listed = |f: &mut fmt::Formatter<'_>, values: Vec<String>| write!(f, "{not}{name}:{}", values.join(","));
        match &self.test {
            Test::Agent(values)
            | Test::Task(values)
            | Test::Title(values)
            | Test::Error(values)
            | Test::By(values)
            | Test::Tag(values)
            | Test::Assignee(values)
            | Test::Model(values)
            | Test::Tool(values) => listed(f, values.iter().map(|value| quoted(value)).collect()),
            Test::Status(values) => listed(f, values.iter().map(|value| value.as_str().to_owned()).collect()),
            Test::Type(values) => listed(f, values.iter().map(|value| value.as_str().to_owned()).collect()),
            Test::Kind(values) => listed(f, values.iter().map(|value| value.as_str().to_owned()).collect()),
            Test::Cost(measure) => write!(f, "{name}{}{}", measure.comparison, measure.value),
            Test::Duration(measure) => write!(f, "{name}{}{}", measure.comparison, measure.value),
            Test::After(day) | Test::Before(day) => write!(f, "{name}:{day}"),
        }
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (not, quote) = (if self.is_excluded { "-" } else { "" }, if self.is_quoted { "\"" } else { "" });
        write!(f, "{not}{quote}{}{quote}", self.text)
    }
}

impl Test {
    /// The field that is looked at.
    pub const fn field(&self) -> Field {
        match self {
            Self::Agent(_) => Field::Agent,
            Self::Status(_) => Field::Status,
            Self::Type(_) => Field::Type,
            Self::Task(_) => Field::Task,
            Self::Title(_) => Field::Title,
            Self::Error(_) => Field::Error,
            Self::By(_) => Field::By,
            Self::Tag(_) => Field::Tag,
            Self::Assignee(_) => Field::Assignee,
            Self::Model(_) => Field::Model,
            Self::Cost(_) => Field::Cost,
            Self::Duration(_) => Field::Duration,
            Self::After(_) => Field::After,
            Self::Before(_) => Field::Before,
            Self::Kind(_) => Field::Kind,
            Self::Tool(_) => Field::Tool,
        }
    }
}

/// Adds the values that are not there.
fn extend<T: PartialEq>(values: &mut Vec<T>, more: Vec<T>) {
    for value in more {
        if !values.contains(&value) {
            values.push(value);
        }
    }
}

/// A value, in quotation marks if it needs them. With a second colon the text would be words, as `std::fmt`.
fn quoted(value: &str) -> String {
    let needs_them = value.starts_with(':') || value.contains(|c: char| c.is_whitespace() || c == ',');
    if needs_them { format!("\"{value}\"") } else { value.to_owned() }
}

fn bad(at: usize, problem: BadField) -> BadQuery {
    BadQuery { at: at + 1, problem: Problem::Field(problem) }
}

/// What names a field: its place, its name, and the sign between it and its value.
struct Named {
    name: String,
    /// `None` for a colon.
    comparison: Option<Comparison>,
    /// Where the value begins.
    value: usize,
}

/// The name and the sign that these letters begin with; `None` if they are words. Words are addresses
/// (`https://…`), paths (`std::fmt`, `C:\x`), types (`Vec<T>`), and names with a space behind the colon (`Note: …`).
fn named(letters: &[char], begin: usize, fields: &[Field]) -> Option<Named> {
    let length = letters[begin..].iter().take_while(|c| c.is_ascii_alphabetic()).count();
    let sign = begin + length;
    let name: String = letters[begin..sign].iter().collect();
    let (known, rest) = (Field::parse(&name, fields), &letters[sign..]);
    let (comparison, mut value) = match rest.first()? {
        _ if length == 0 => return None,
        ':' => (None, sign + 1),
        '=' if known.is_some_and(Field::is_measure) => (None, sign + 1),
        _ => {
            let (comparison, length) = Comparison::read(rest)?;
            (Some(comparison), sign + length)
        }
    };
    let next = letters.get(value);
    let is_name = match (known, comparison) {
        (Some(_), None) => !matches!(next, Some(':')),
        (None, None) => next.is_some_and(|c| !c.is_whitespace() && !matches!(c, ':' | '/' | '\\')),
        (Some(_), Some(_)) => true,
        (None, Some(_)) => next.is_some_and(char::is_ascii_digit),
    };
    if !is_name {
        return None;
    }
    // `cost:>0.5`
    let second = known.filter(|field| comparison.is_none() && field.is_measure());
    let second = second.and_then(|_| Comparison::read(&letters[value..]));
    value += second.map_or(0, |(_, length)| length);
    Some(Named { name, comparison: comparison.or(second.map(|(comparison, _)| comparison)), value })
}

/// The condition that begins here, and where it ends; `None` if words begin here.
fn condition(letters: &[char], begin: usize, fields: &'static [Field]) -> Result<Option<(Condition, usize)>, BadQuery> {
    let is_excluded = is_exclusion(letters, begin);
    let Some(named) = named(letters, begin + usize::from(is_excluded), fields) else { return Ok(None) };
    let Some(field) = Field::parse(&named.name, fields) else {
        return Err(bad(begin, BadField::Unknown(named.name, fields)));
    };
    if is_excluded && !field.is_excludable() {
        return Err(bad(begin, BadField::NotExcludable(field)));
    }
    if named.comparison.is_some() && !field.is_measure() {
        return Err(bad(begin, BadField::NotComparable(field)));
    }
    let (values, end) = values(letters, named.value, field)?;
    let test = test(field, named.comparison.unwrap_or(Comparison::Equal), values)?;
    Ok(Some((Condition { is_excluded, test }, end)))
}

/// A value and its place.
struct Value {
    text: String,
    at: usize,
}

/// The values that stand here, separated by commas, and where they end.
fn values(letters: &[char], from: usize, field: Field) -> Result<(Vec<Value>, usize), BadQuery> {
    let (mut values, mut at) = (Vec::<Value>::new(), from);
    loop {
        let is_quoted = letters.get(at).is_some_and(|c| is_quote(*c));
        let begin = at + usize::from(is_quoted);
        let is_end = |c: &char| is_quote(*c) || (!is_quoted && (c.is_whitespace() || *c == ','));
        let end = match letters[begin..].iter().position(is_end) {
            Some(found) => begin + found,
            None if is_quoted => return Err(BadQuery { at: at + 1, problem: Problem::OpenQuote }),
            None => letters.len(),
        };
        let text: String = letters[begin..end].iter().collect();
        let text = text.trim().to_owned();
        if text.is_empty() {
            return Err(bad(at.min(letters.len().saturating_sub(1)), BadField::NoValue(field)));
        }
        if text.contains(char::is_control) {
            return Err(bad(begin, BadField::BadValue(field, text.replace(char::is_control, "?"))));
        }
        if values.len() >= SEARCH_VALUES_MAX {
            return Err(bad(at, BadField::TooManyValues(field)));
        }
        if values.iter().all(|value| value.text != text) {
            values.push(Value { text, at: begin });
        }
        at = end + usize::from(is_quoted);
        if letters.get(at) != Some(&',') {
            return Ok((values, at));
        }
        at += 1;
    }
}

/// Reads the values of a field.
fn test(field: Field, comparison: Comparison, values: Vec<Value>) -> Result<Test, BadQuery> {
    let refused = |value: &Value| bad(value.at, BadField::BadValue(field, value.text.clone()));
    let texts = |is_one: fn(&str) -> bool| match values.iter().find(|value| !is_one(&value.text)) {
        Some(value) => Err(refused(value)),
        None => Ok(values.iter().map(|value| value.text.clone()).collect::<Vec<_>>()),
    };
    let lower = |value: &Value| value.text.to_ascii_lowercase();
    // Quantities and times have one value.
    if (field.is_measure() || !field.is_excludable())
        && let [_, second, ..] = &values[..]
    {
        return Err(refused(second));
    }
    let one = &values[0];
    Ok(match field {
        Field::Agent => Test::Agent(texts(is_agent)?),
        Field::Task => Test::Task(texts(is_slug)?),
        Field::Title => Test::Title(texts(|_| true)?),
        Field::Error => Test::Error(texts(|_| true)?),
        Field::By => Test::By(texts(|_| true)?),
        Field::Tag => Test::Tag(texts(is_tag)?),
        Field::Assignee => Test::Assignee(texts(|_| true)?),
        Field::Model => Test::Model(texts(|_| true)?),
        Field::Tool => Test::Tool(texts(|_| true)?),
        Field::Kind => Test::Kind(each(&values, |value| GateKind::parse(&lower(value)).ok_or_else(|| refused(value)))?),
        Field::Status => {
            Test::Status(each(&values, |value| Status::parse(&lower(value)).ok_or_else(|| refused(value)))?)
        }
        Field::Type => Test::Type(each(&values, |value| Type::parse(&lower(value)).ok_or_else(|| refused(value)))?),
        Field::Cost => {
            let value = Usd::parse(&one.text).ok_or_else(|| refused(one))?;
            Test::Cost(Measure { comparison, value })
        }
        Field::Duration => {
            let value = Duration::parse(&one.text).ok_or_else(|| refused(one))?;
            Test::Duration(Measure { comparison, value })
        }
        Field::After => Test::After(Day::parse(&one.text).ok_or_else(|| refused(one))?),
        Field::Before => Test::Before(Day::parse(&one.text).ok_or_else(|| refused(one))?),
    })
}

/// Reads each value, and keeps those that differ.
fn each<T: PartialEq>(values: &[Value], read: impl Fn(&Value) -> Result<T, BadQuery>) -> Result<Vec<T>, BadQuery> {
    let mut all = Vec::new();
    for value in values {
        let value = read(value)?;
        if !all.contains(&value) {
            all.push(value);
        }
    }
    Ok(all)
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
