//! A form, without what was typed into it.

use serde_json::Value;

/// Name of the input of a tool or a task.
pub const INPUT: &str = "input";

/// A schema, and the name of the control for the whole value. Names of all other controls begin with it and a point.
#[derive(Debug, Clone, Copy)]
pub struct Form<'a> {
    /// JSON Schema of the value. References stay inside of it.
    pub schema: &'a Value,
    /// Name of the whole value, such as [`INPUT`]. It has no point.
    pub root: &'a str,
}

impl<'a> Form<'a> {
    /// A form for a value of this schema.
    pub const fn new(schema: &'a Value, root: &'a str) -> Self {
        Self { schema, root }
    }

    /// The form of the input of a tool or a task.
    pub const fn of_input(schema: &'a Value) -> Self {
        Self::new(schema, INPUT)
    }
}
