//! Reads the form of a tool's editor. Errors of the JSON name their line.

use super::form::Form;
use crate::problem::Problem;
use app::{FormState, tool::Draft};
use domain::{
    issue::Issue,
    json_line::line_of,
    tool::{Change, Definition},
};
use ledger::ToolRecord;
use serde_json::{Value, json};

/// Parts of a definition that have fields of their own.
const OWN_FIELDS: [&str; 3] = ["name", "description", "slug"];

/// What the editor of a new tool holds: a small HTTP call to change.
pub fn new_draft() -> Draft {
    let example = r#"{
  "kind": "http",
  "http": {
    "method": "GET",
    "url": "https://example.org/cities/{city}"
  },
  "inputSchema": {
    "type": "object",
    "properties": {
      "city": { "type": "string", "title": "City" }
    },
    "required": ["city"]
  },
  "timeLimitSeconds": 60
}"#;
    Draft { definition: example.to_owned(), ..Draft::default() }
}

/// What the editor holds of a stored tool. `needs_admin` is whether only an admin may test it, and the viewer is none.
pub fn draft_of((tool, needs_admin): (ToolRecord, bool)) -> Draft {
    Draft {
        needs_admin,
        slug: Some(tool.slug),
        revision: tool.revision,
        name: tool.definition.name.clone(),
        description: tool.definition.description.clone(),
        stored: Some(tool.definition.clone()),
        focus: String::new(),
        definition: json_without(tool.definition, &OWN_FIELDS),
    }
}

/// A definition as JSON with one member a line, to compare it.
pub fn compared_text(definition: Definition) -> String {
    json_without(definition, &[])
}

/// The schemas of a tool as JSON with one member a line, to compare them.
pub fn compared_schemas(input: &Value, output: Option<&Value>) -> String {
    let both = json!({ "inputSchema": input, "outputSchema": output });
    serde_json::to_string_pretty(&both).unwrap_or_default()
}

fn json_without(definition: Definition, left_out: &[&str]) -> String {
    let mut value = serde_json::to_value(definition).unwrap_or_default();
    if let Value::Object(members) = &mut value {
        members.retain(|name, _| !left_out.contains(&name.as_str()));
    }
    serde_json::to_string_pretty(&value).unwrap_or_default()
}

/// Reads the definition from the form.
///
/// # Errors
/// An issue at the field `definition` that names the line, if the text is not JSON of the right form.
pub fn read(form: &Form) -> Result<Change, Issue> {
    let text = form.text("definition");
    // The message of serde ends with the line and the column.
    let change: Change =
        serde_json::from_str(&text).map_err(|error| Issue::new("definition", format!("not readable: {error}")))?;
    for (name, is_there) in [("name", change.name.is_some()), ("description", change.description.is_some())] {
        if is_there {
            let line = line_of_path(&text, name).unwrap_or(1);
            return Err(Issue::new("definition", format!("line {line}: `{name}` has a field of its own above")));
        }
    }
    let (name, description) = (form.text("name").trim().to_owned(), form.text("description").trim_end().to_owned());
    Ok(Change { name: Some(name), description: Some(description), ..change })
}

/// The state of the refused form: messages about a part of the JSON are at its field, with their line.
pub fn placed(form: &Form, problem: &Problem) -> FormState {
    let mut state = form.refused("edit", problem);
    let text = form.text("definition");
    let mut of_json = Vec::new();
    state.errors.retain(|error| match error.field.as_deref() {
        None => true,
        Some(field) if OWN_FIELDS.contains(&field) => true,
        Some("definition") => {
            of_json.push(error.message.clone());
            false
        }
        Some(field) => {
            let place = line_of_path(&text, field).map(|line| format!("line {line}, ")).unwrap_or_default();
            of_json.push(format!("{place}{field}: {}", error.message));
            false
        }
    });
    if !of_json.is_empty() {
        state.errors.push(app::FieldError { field: Some("definition".to_owned()), message: of_json.join("\n") });
    }
    state
}

/// The line of the part of a definition with this path, such as `http.headers.accept` or `privateFields[1]`.
fn line_of_path(text: &str, path: &str) -> Option<usize> {
    line_of(text, path.split(['.', '[', '/']).map(|segment| segment.trim_end_matches(']')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger::Error;

    const TEXT: &str = r#"{
  "kind": "http",
  "http": {
    "method": "GET", "url": "x",
    "headers": { "a\"}": "1",
      "accept": "2" }
  },
  "privateFields": [
    "a", "b",
    "c"
  ],
  "inputSchema": { "type": "object", "properties": {} }
}"#;

    fn form(pairs: &[(&str, &str)]) -> Form {
        Form::of(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    #[test]
    fn the_line_of_a_part_is_found() {
        for (path, line) in [
            ("kind", Some(2)),
            ("http.url", Some(4)),
            ("http.headers.accept", Some(6)),
            ("http.headers.a\"}", Some(5)),
            ("http.headers.host", Some(5)),
            ("privateFields[1]", Some(9)),
            ("privateFields[2]", Some(10)),
            ("privateFields[9]", Some(8)),
            ("inputSchema.type", Some(12)),
            ("audience.groups[0]", None),
        ] {
            assert_eq!(line_of_path(TEXT, path), line, "{path}");
        }
        for text in ["", "{", "{\"a\"", "[", "{\"a\":[\"", "1", "{\"a\":\"\\"] {
            let _ = line_of_path(text, "a[0].b");
        }
    }

    #[test]
    fn a_text_that_cannot_be_read_is_refused_at_its_line() {
        let wrong = |text: &str| read(&form(&[("name", "Echo"), ("definition", text)])).unwrap_err().message;
        assert!(wrong("{\n  \"kind\": \"ftp\" }").contains("line 2"), "{}", wrong("{\n  \"kind\": \"ftp\" }"));
        assert!(wrong("{\n\n  \"inputschema\": {} }").contains("line 3"));
        assert_eq!(wrong("{\n  \"name\": \"x\" }"), "line 2: `name` has a field of its own above");
    }

    #[test]
    fn messages_about_parts_of_the_json_are_at_its_field() {
        let issues =
            vec![Issue::new("name", "too long"), Issue::new("privateFields[2]", "no"), Issue::new("http.url", "x")];
        let state = placed(&form(&[("definition", TEXT)]), &Error::Invalid(issues).into());
        assert_eq!(state.error("name"), Some("too long"));
        assert_eq!(state.error("definition"), Some("line 10, privateFields[2]: no\nline 4, http.url: x"));
    }
}
