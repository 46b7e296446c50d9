//! The controls of one level of a schema.

use super::{
    choice::{Choice, boxes, choices, how_many, one_of, text},
    form::Form,
    variant::{Variant, combine_all, type_of, variants},
};
use crate::{
    entity::display_text,
    json_schema::{Ordinary, ordinary},
    limit::{
        SCHEMA_FORM_DEPTH_MAX, SCHEMA_FORM_MEMBERS_MAX, SCHEMA_FORM_NODES_MAX, SCHEMA_FORM_PARTS_MAX,
        SCHEMA_FORM_ROWS_MAX, SCHEMA_FORM_VARIANTS_MAX,
    },
};
use serde_json::{Map, Value};
use std::{cell::Cell, rc::Rc};

/// Texts that may be longer than this get several lines, characters.
const LINE_CHARS_MAX: u64 = 200;
/// Words of names whose texts have several lines, though their schemas do not say so.
const LONG: [&str; 16] = [
    "body", "code", "comment", "content", "contents", "css", "diff", "html", "markdown", "message", "notes", "patch",
    "prompt", "script", "sql", "text",
];

/// How a value without parts is typed.
#[derive(Debug, Clone, PartialEq)]
pub enum Control {
    /// A text on one line.
    Line,
    /// A text of several lines, or a text file.
    Lines,
    /// A text that no page shows again.
    Secret,
    /// An address of e-mail.
    Email,
    /// A number; a whole one if `whole`.
    Number {
        /// Whether it has no decimals.
        whole: bool,
    },
    /// Yes or no.
    Boolean,
    /// A day.
    Date,
    /// A day and a time, with the offset from UTC in a second control.
    Instant,
    /// One of these values.
    One(Vec<Choice>),
    /// Any of these values, as a list.
    Many(Vec<Choice>),
    /// A list of texts, one on each line.
    Texts,
}

/// Why a part is typed as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Its schema allows values of any type.
    Any,
    /// Its schema combines others in a way that no controls show.
    Combined,
    /// Its schema refers to one that is not there.
    Reference,
    /// It is below the deepest level of controls.
    Deep,
    /// The form has as many parts as it can have.
    Large,
    /// The value does not fit the controls, or someone chose to type JSON.
    Chosen,
}

/// A member of an object.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub key: String,
    pub schema: Value,
    pub required: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Shape {
    /// Members that the schema names, and the schema of others if they can be added.
    Object {
        members: Vec<Member>,
        more: Option<Value>,
    },
    /// Rows of a key and a value of this schema.
    Map(Value),
    /// Rows of values of this schema.
    Rows {
        items: Value,
        least: usize,
        most: usize,
    },
    Variants(Vec<Variant>),
    Control(Control),
    Const(Value),
    Json(Why),
}

/// A part of a schema, without indirections.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub shape: Shape,
    pub title: String,
    pub hint: String,
    pub default: Option<Value>,
    pub is_nullable: bool,
}

impl Part {
    /// Whether its empty control is an empty text, because that is its default.
    pub fn begins_blank(&self) -> bool {
        let is_text = matches!(self.shape, Shape::Control(Control::Line | Control::Lines));
        is_text && self.default.as_ref().is_some_and(|default| default == "")
    }
}

/// Where a part is.
#[derive(Debug, Clone, Default)]
pub(super) struct At {
    /// Its key; empty for rows and for the whole value.
    pub key: String,
    /// Whether the value around it must have it.
    pub required: bool,
    /// Levels above it.
    pub depth: usize,
    /// Whether it is a variant of the part with the same name.
    pub is_variant: bool,
    /// Whether it is a row of a list.
    pub is_row: bool,
}

impl At {
    pub fn root() -> Self {
        Self { required: true, ..Self::default() }
    }

    pub fn row(&self) -> Self {
        Self { required: true, depth: self.depth + 1, is_row: true, ..Self::default() }
    }

    pub fn member(&self, member: &Member) -> Self {
        Self {
            key: member.key.clone(),
            required: member.required,
            depth: self.depth + 1,
            is_variant: false,
            is_row: false,
        }
    }

    pub fn variant(&self) -> Self {
        Self { required: true, is_variant: true, ..self.clone() }
    }

    /// Whether a part can be left out or be `null`.
    pub fn can_be_absent(&self, part: &Part) -> bool {
        !self.required || part.is_nullable
    }
}

/// Reads the parts of one schema. It counts them, so that a schema that refers to itself several times ends, and the
/// values of the schemas that it reads, so that one with many large variants does not take long.
pub(super) struct Parts<'a> {
    form: Form<'a>,
    left: Cell<usize>,
    nodes_left: Rc<Cell<usize>>,
}

impl<'a> Parts<'a> {
    pub fn new(form: Form<'a>) -> Self {
        let nodes_left = Rc::new(Cell::new(SCHEMA_FORM_NODES_MAX));
        Self { form, left: Cell::new(SCHEMA_FORM_PARTS_MAX), nodes_left }
    }

    /// Parts for reading the same form again.
    pub fn again(&self) -> Self {
        Self { form: self.form, left: Cell::new(SCHEMA_FORM_PARTS_MAX), nodes_left: Rc::clone(&self.nodes_left) }
    }

    /// Parts for finding the variant of a value, which reads parts of variants that it does not take.
    pub fn to_try(&self) -> Self {
        Self { left: Cell::new(SCHEMA_FORM_PARTS_MAX * 4), ..self.again() }
    }

    pub const fn form(&self) -> Form<'a> {
        self.form
    }

    /// Whether no more parts can be read.
    pub fn is_full(&self) -> bool {
        self.left.get() == 0
    }

    /// Whether no more schemas are read.
    pub fn is_spent(&self) -> bool {
        self.nodes_left.get() == 0
    }

    /// Counts the values of a schema that was read.
    fn count(&self, nodes: usize) {
        self.nodes_left.set(self.nodes_left.get().saturating_sub(nodes));
    }

    pub fn part(&self, schema: &Value, at: &At) -> Part {
        if self.is_spent() {
            let (title, hint) = (text(schema, "title"), String::new());
            return Part { shape: Shape::Json(Why::Large), title, hint, default: None, is_nullable: false };
        }
        let Ordinary { mut members, is_nullable } = ordinary(self.form.schema, schema);
        combine_all(self.form.schema, &mut members);
        self.count(nodes_of(&members));
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        let shape = if left == 0 {
            Shape::Json(Why::Large)
        } else if at.depth > SCHEMA_FORM_DEPTH_MAX {
            Shape::Json(Why::Deep)
        } else {
            self.shape(&members, at)
        };
        // The title of a definition tells none of the members apart that refer to it.
        let title = text(schema, "title");
        let bounds = match shape {
            Shape::Control(Control::Many(_)) => how_many(&members),
            _ => String::new(),
        };
        let whole = Value::Object(members);
        Part { shape, title, hint: hint(&whole, bounds), default: default_of(&whole), is_nullable }
    }

    fn shape(&self, members: &Map<String, Value>, at: &At) -> Shape {
        if members.contains_key("$ref") {
            return Shape::Json(Why::Reference);
        }
        if let Some(value) = members.get("const") {
            return match at.required {
                true => Shape::Const(value.clone()),
                false => one_control(vec![(value.clone(), display_text(value))]),
            };
        }
        if let Some(choices) = choices(members) {
            return one_control(choices);
        }
        let variants = variants(self.form.schema, members);
        self.count(variants.iter().flatten().map(|variant| nodes(&variant.schema)).sum());
        match variants {
            Some(_) if at.is_variant => return Shape::Json(Why::Combined),
            Some(variants) if variants.len() > SCHEMA_FORM_VARIANTS_MAX => return Shape::Json(Why::Combined),
            Some(variants) => return Shape::Variants(variants),
            None => {}
        }
        match type_of(members) {
            Some("object") => object(members),
            Some("array") => self.array(members),
            Some("string") => Shape::Control(text_control(members, &at.key)),
            Some("number") => Shape::Control(Control::Number { whole: false }),
            Some("integer") => Shape::Control(Control::Number { whole: true }),
            Some("boolean") => Shape::Control(Control::Boolean),
            Some("null") => Shape::Const(Value::Null),
            _ => Shape::Json(Why::Any),
        }
    }

    fn array(&self, members: &Map<String, Value>) -> Shape {
        if members.contains_key("prefixItems") {
            return Shape::Json(Why::Combined);
        }
        let Some(items) = members.get("items").filter(|items| items.as_object().is_some_and(|of| !of.is_empty()))
        else {
            return Shape::Json(Why::Any);
        };
        let of_items = ordinary(self.form.schema, items).members;
        self.count(nodes_of(&of_items));
        if let Some(options) = choices(&of_items)
            && let Some(options) = boxes(options)
        {
            return Shape::Control(Control::Many(options));
        }
        let is_plain =
            !of_items.contains_key("enum") && !of_items.contains_key("oneOf") && !of_items.contains_key("anyOf");
        let long = || text_control(&of_items, "") != Control::Line;
        if type_of(&of_items) == Some("string") && is_plain && !long() {
            return Shape::Control(Control::Texts);
        }
        let bound = |name: &str| members.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let most = bound("maxItems").unwrap_or(SCHEMA_FORM_ROWS_MAX).min(SCHEMA_FORM_ROWS_MAX);
        Shape::Rows { items: items.clone(), least: bound("minItems").unwrap_or_default().min(most), most }
    }
}

/// Number of values in a value, itself included.
fn nodes(value: &Value) -> usize {
    match value {
        Value::Object(members) => nodes_of(members),
        Value::Array(items) => items.iter().map(nodes).sum::<usize>() + 1,
        _ => 1,
    }
}

fn nodes_of(members: &Map<String, Value>) -> usize {
    members.values().map(nodes).sum::<usize>() + 1
}

/// Description, format, an example and `bounds`, as a hint.
fn hint(of: &Value, bounds: String) -> String {
    let mut parts = vec![text(of, "description")];
    let has_default = default_of(of).is_some();
    let example = of.get("examples").and_then(|all| all.get(0)).or_else(|| of.get("example"));
    if let Some(example) = example.filter(|_| !has_default) {
        let shown: String = display_text(example).chars().take(200).collect();
        parts.push(format!("For example: {shown}"));
    }
    if let Some(format) = of.get("format").and_then(Value::as_str)
        && !matches!(format, "date" | "date-time" | "email" | "password")
        && parts[0].is_empty()
    {
        parts.push(format!("Format: {format}."));
    }
    parts.push(bounds);
    parts.retain(|part| !part.is_empty());
    parts.join(" ")
}

fn default_of(of: &Value) -> Option<Value> {
    of.get("default").filter(|default| !default.is_null()).cloned()
}

fn object(members: &Map<String, Value>) -> Shape {
    let more = members.get("additionalProperties");
    let described =
        |schema: Option<&Value>| schema.filter(|of| of.as_object().is_some_and(|of| !of.is_empty())).cloned();
    let properties = members.get("properties").and_then(Value::as_object);
    match properties {
        Some(properties) if properties.len() > SCHEMA_FORM_MEMBERS_MAX => Shape::Json(Why::Large),
        Some(properties) if !properties.is_empty() => {
            Shape::Object { members: in_order(properties, members), more: described(more) }
        }
        _ => {
            let patterns = members.get("patternProperties").and_then(Value::as_object);
            let only = patterns.filter(|all| all.len() == 1).and_then(|all| all.values().next());
            match described(more).or_else(|| described(only)) {
                Some(values) => Shape::Map(values),
                None if (properties.is_some() && more != Some(&Value::Bool(true)))
                    || more == Some(&Value::Bool(false)) =>
                {
                    Shape::Object { members: Vec::new(), more: None }
                }
                None => Shape::Json(Why::Any),
            }
        }
    }
}

/// The members of an object: those that are required in the order of their list, then the others.
fn in_order(properties: &Map<String, Value>, members: &Map<String, Value>) -> Vec<Member> {
    let required: Vec<&str> =
        members.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut all: Vec<Member> = properties
        .iter()
        .map(|(key, schema)| Member {
            key: key.clone(),
            schema: schema.clone(),
            required: required.contains(&key.as_str()),
        })
        .collect();
    // The sort is stable, so the others stay in their order.
    all.sort_by_key(|member| required.iter().position(|key| *key == member.key).unwrap_or(usize::MAX));
    all
}

fn text_control(members: &Map<String, Value>, key: &str) -> Control {
    let format = members.get("format").and_then(Value::as_str).unwrap_or_default();
    let is_secret = format == "password" || members.get("writeOnly") == Some(&Value::Bool(true));
    let is_long = members.get("maxLength").and_then(Value::as_u64).is_some_and(|most| most > LINE_CHARS_MAX);
    let is_short = members.get("maxLength").is_some() || members.contains_key("pattern") || !format.is_empty();
    let last = key.rsplit(['_', '-', '.']).next().unwrap_or_default().to_lowercase();
    match format {
        _ if is_secret || key.to_lowercase().contains("password") => Control::Secret,
        "date-time" => Control::Instant,
        "date" => Control::Date,
        "email" => Control::Email,
        _ if is_long || members.contains_key("contentMediaType") || members.contains_key("contentEncoding") => {
            Control::Lines
        }
        _ if !is_short && LONG.contains(&last.as_str()) => Control::Lines,
        _ => Control::Line,
    }
}

fn one_control(choices: Vec<(Value, String)>) -> Shape {
    one_of(choices).map_or(Shape::Json(Why::Any), |all| Shape::Control(Control::One(all)))
}
