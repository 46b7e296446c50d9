//! Forms: urlencoded and multipart bodies, and refusals that show the typed text again.

use crate::problem::Problem;
use app::{FieldError, FormState};
use axum::{
    body::Bytes,
    extract::{
        FromRequest, Multipart, Request,
        multipart::{MultipartError, MultipartRejection},
    },
    http::header,
};
use domain::{count::grouped, limit::SCHEMA_FORM_FILE_BYTES_MAX, schema_form::Mark};
use serde_json::Value;
use std::collections::BTreeMap;
use wire::Code;

/// Most fields of a form. The editor of a view has at most 17 for each of 50 questions.
const FIELDS_MAX: usize = 1_024;

/// Names that begin so are those of answers, and a group of check boxes sends one several times.
const ANSWERS: &str = "answer.";
/// The name of an answer that is one group of check boxes.
const ANSWER: &str = "answer";
/// The same of the check boxes of sessions, of causes of failures, of tasks and of entities.
const SELECTED: [&str; 4] = ["session", "cause", "task", "entity"];
/// The same of a task's input.
const INPUTS: [&str; 2] = ["input.", "input"];
/// Names that begin so are those of proposed values.
const VALUES: &str = "value.";

/// Whether a field holds a password. Whoever asks or proposes chooses the keys of answers and values, so theirs say
/// nothing.
pub fn is_password(name: &str) -> bool {
    name.contains("password") && !name.starts_with(ANSWERS) && !name.starts_with(VALUES)
}

/// Whether a field that was sent several times has all values. A group of check boxes sends one for each.
fn has_all_values(name: &str) -> bool {
    let [below_input, input] = INPUTS;
    name.starts_with(ANSWERS)
        || name == ANSWER
        || name.starts_with(below_input)
        || name == input
        || SELECTED.contains(&name)
}

/// The fields of a posted form, by name. Of a field that was sent twice the last value counts; an answer, an input, and
/// what is selected in a list have all values as lines.
pub struct Form(BTreeMap<String, String>);

impl<S: Send + Sync> FromRequest<S> for Form {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        Ok(Self::parse(&urlencoded(request, state).await?))
    }
}

/// The body of a request, if it is a form as browsers send it without files.
pub async fn urlencoded<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Problem> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    if !kind.split(';').next().is_some_and(|k| k.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded")) {
        let wanted = "the form must be sent as application/x-www-form-urlencoded";
        return Err(Problem::detailed(Code::UnsupportedMediaType, wanted));
    }
    Bytes::from_request(request, state).await.map_err(|e| Problem::internal(e.to_string()))
}

impl Form {
    /// Reads an urlencoded body. Fields after the first [`FIELDS_MAX`] are left out.
    fn parse(body: &[u8]) -> Self {
        let mut form = Self(BTreeMap::new());
        for (name, value) in form_urlencoded::parse(body).into_owned().take(FIELDS_MAX) {
            form.add(name, value);
        }
        form
    }

    fn add(&mut self, name: String, value: String) {
        match self.0.get_mut(&name).filter(|_| has_all_values(&name)) {
            Some(values) => {
                values.push('\n');
                values.push_str(&value);
            }
            None => {
                self.0.insert(name, value);
            }
        }
    }

    /// Creates a form from fields that were not sent urlencoded.
    pub const fn of(fields: BTreeMap<String, String>) -> Self {
        Self(fields)
    }

    /// Whether a field was sent.
    pub fn has(&self, field: &str) -> bool {
        self.0.contains_key(field)
    }

    /// Fields whose names begin with `prefix`, each with the rest of its name and its value.
    pub fn below<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value.as_str())))
    }

    /// The value of a field with LF as line ends. Empty if the field was not sent.
    pub fn text(&self, field: &str) -> String {
        self.0.get(field).map(|text| text.replace("\r\n", "\n")).unwrap_or_default()
    }

    /// All fields with LF as line ends, except passwords.
    pub fn typed(&self) -> Vec<(String, String)> {
        let typed = self.0.iter().filter(|(name, _)| !is_password(name));
        typed.map(|(name, value)| (name.clone(), value.replace("\r\n", "\n"))).collect()
    }

    /// The value of a field without surrounding spaces. `None` if it is empty.
    pub fn optional(&self, field: &str) -> Option<String> {
        let text = self.text(field).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// The state of the refused form: the typed text except passwords, and the errors.
    pub fn refused(&self, form: &str, problem: &Problem) -> FormState {
        let wire = problem.to_wire(String::new());
        let mut errors: Vec<FieldError> =
            wire.errors.into_iter().map(|e| FieldError { field: Some(e.field), message: e.message }).collect();
        if errors.is_empty() {
            errors.push(FieldError { field: None, message: wire.detail.unwrap_or(wire.title) });
        }
        FormState { errors, ..self.state_without_errors(form) }
    }

    /// [`Self::refused`] for a form with a list: errors that name a place in the list are at the row of its control.
    /// `rows` has the number in the form of each row that was read.
    pub fn refused_in_rows(&self, form: &str, problem: &Problem, (list, rows): (&str, &[usize])) -> FormState {
        let mut state = self.refused(form, problem);
        for error in &mut state.errors {
            error.field = error.field.take().map(|field| at_row(&field, list, rows));
        }
        state
    }

    /// The state of the form without errors: the typed text except passwords.
    pub fn state_without_errors(&self, form: &str) -> FormState {
        let values = self.0.iter().filter(|(name, _)| !is_password(name));
        FormState {
            form: form.to_owned(),
            values: values.map(|(name, value)| (name.clone(), value.clone())).collect(),
            errors: Vec::new(),
        }
    }
}

/// The state of the refused form of an object that exists. If someone else saved it since the form was read, the only
/// message says so.
pub fn or_stale(refused: FormState, problem: &Problem) -> FormState {
    if problem.code() != Code::StaleVersion {
        return refused;
    }
    let message = "Someone else saved this in the meantime. The form keeps what you typed. Open this page again to see \
                   their changes; saving again replaces them.";
    FormState { errors: vec![FieldError { field: None, message: message.to_owned() }], ..refused }
}

/// Converts the path of an error, such as `fields[1].options[2]`, to the name of the control in the form. `rows` has
/// the number in the form of each row that was read, because rows without a name are left out.
fn at_row(field: &str, list: &str, rows: &[usize]) -> String {
    let rest = field.strip_prefix(list).and_then(|rest| rest.strip_prefix('['));
    let Some((Ok(index), part)) =
        rest.and_then(|rest| rest.split_once("].")).map(|(n, part)| (n.parse::<usize>(), part))
    else {
        return field.to_owned();
    };
    let part = part.split('[').next().unwrap_or_default();
    rows.get(index).map_or_else(|| field.to_owned(), |row| format!("{list}[{row}].{part}"))
}

/// The parts of a posted upload, read one after the other.
pub struct UploadParts {
    upload: Multipart,
    /// The field at which an interrupted upload is shown as an error.
    field: &'static str,
}

impl UploadParts {
    /// Begins to read. `field` is the field at which an interrupted upload is shown as an error.
    ///
    /// # Errors
    /// [`Code::UnsupportedMediaType`] for a body that is not multipart.
    pub fn of(upload: Result<Multipart, MultipartRejection>, field: &'static str) -> Result<Self, Problem> {
        let upload = upload.map_err(|error| Problem::detailed(Code::UnsupportedMediaType, error.body_text()))?;
        Ok(Self { upload, field })
    }

    /// Returns the name and the bytes of the next part that has a name. `None` after the last one.
    pub async fn read_next(&mut self) -> Result<Option<(String, Bytes)>, Problem> {
        let field = self.field;
        let broken = move |error: MultipartError| Problem::field(Code::InvalidRequest, field, error.body_text());
        while let Some(part) = self.upload.next_field().await.map_err(broken)? {
            let Some(name) = part.name().map(str::to_owned) else { continue };
            return Ok(Some((name, part.bytes().await.map_err(broken)?)));
        }
        Ok(None)
    }
}

/// A posted form in which text files can take the place of typed texts.
pub struct FormWithFiles {
    /// The fields. A file that was chosen is the text of its field.
    pub form: Form,
    /// Why a file cannot be taken.
    pub refused: Option<Problem>,
}

impl<S: Send + Sync> FromRequest<S> for FormWithFiles {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if !is_multipart(&request) {
            return Ok(Self { form: Form::from_request(request, state).await?, refused: None });
        }
        let mut parts = UploadParts::of(Multipart::from_request(request, state).await, "file")?;
        let (mut sent, mut files) = (Self { form: Form(BTreeMap::new()), refused: None }, Vec::new());
        while let Some((name, bytes)) = parts.read_next().await? {
            sent.take(name, bytes, &mut files);
        }
        Ok(sent.with(files))
    }
}

fn is_multipart(request: &Request) -> bool {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    kind.trim_start().to_ascii_lowercase().starts_with("multipart/form-data")
}

impl FormWithFiles {
    /// The form, if its files can be taken.
    ///
    /// # Errors
    /// Why a file cannot be taken, at its field.
    pub fn readable(&self) -> Result<&Form, Problem> {
        self.refused.clone().map_or(Ok(&self.form), Err)
    }

    /// Takes a part. Parts after the first [`FIELDS_MAX`] are left out.
    fn take(&mut self, name: String, bytes: Bytes, files: &mut Vec<(String, String)>) {
        if self.form.0.len() + files.len() >= FIELDS_MAX {
            return;
        }
        let file_of = name.strip_suffix(Mark::File.as_str()).and_then(|name| name.strip_suffix('.'));
        match (file_of.map(str::to_owned), String::from_utf8(bytes.into())) {
            // Without a chosen file, browsers send an empty one.
            (Some(_), Ok(text)) if text.is_empty() => {}
            (Some(field), Ok(text)) if text.len() > SCHEMA_FORM_FILE_BYTES_MAX => {
                let (size, most) = (grouped(text.len() as u64), grouped(SCHEMA_FORM_FILE_BYTES_MAX as u64));
                let most = format!("This file has {size} bytes. At most {most} are allowed.");
                self.refused = Some(Problem::field(Code::InvalidRequest, field, most));
            }
            (Some(field), Ok(text)) => files.push((field, text)),
            (file_of, Err(_)) => {
                let field = file_of.unwrap_or(name);
                self.refused = Some(Problem::field(Code::InvalidRequest, field, "This is no text in UTF-8."));
            }
            (None, Ok(text)) => self.form.add(name, text),
        }
    }

    /// The form with the texts of files in the place of those that were typed.
    fn with(mut self, files: Vec<(String, String)>) -> Self {
        self.form.0.extend(files);
        self
    }
}

/// A posted upload, read as form fields.
pub struct Upload {
    /// The fields; none if the upload cannot be read.
    pub form: Form,
    /// Why it cannot be read.
    unreadable: Option<Problem>,
}

impl Upload {
    /// Reads the parts. A chosen file becomes the field `source`. The error about a file that is not UTF-8 contains
    /// `advice`.
    pub async fn of(parts: Result<Multipart, MultipartRejection>, parts_max: usize, advice: &str) -> Self {
        match fields(parts, parts_max, advice).await {
            Ok(fields) => Self { form: Form::of(fields), unreadable: None },
            Err(problem) => Self { form: Form::of(BTreeMap::new()), unreadable: Some(problem) },
        }
    }

    /// Returns the fields, or why the upload cannot be read.
    pub fn read(&self) -> Result<&Form, Problem> {
        self.unreadable.clone().map_or(Ok(&self.form), Err)
    }
}

async fn fields(
    parts: Result<Multipart, MultipartRejection>,
    parts_max: usize,
    advice: &str,
) -> Result<BTreeMap<String, String>, Problem> {
    let mut parts = UploadParts::of(parts, "file")?;
    let mut fields = BTreeMap::new();
    while let Some((name, bytes)) = parts.read_next().await? {
        let text = text_of(bytes, advice)?;
        if fields.len() >= parts_max {
            return Err(Problem::field(Code::InvalidRequest, "file", format!("at most {parts_max} parts")));
        }
        add_part(&mut fields, name, text);
    }
    Ok(fields)
}

fn text_of(bytes: Bytes, advice: &str) -> Result<String, Problem> {
    let wrong = |_| Problem::field(Code::InvalidRequest, "file", format!("not UTF-8; {advice}"));
    String::from_utf8(bytes.into()).map_err(wrong)
}

/// Adds a part to the fields. A chosen file is the field `source`, whatever text the form sends for it.
fn add_part(fields: &mut BTreeMap<String, String>, name: String, text: String) {
    match name.as_str() {
        // Without a chosen file, browsers send an empty one.
        "file" if text.is_empty() => {}
        "file" => {
            fields.insert("source".to_owned(), text);
        }
        "source" if fields.contains_key("source") => {}
        _ => {
            fields.insert(name, text);
        }
    }
}

/// The problem of fields whose text cannot be read.
pub fn unreadable(wrong: Vec<FieldError>) -> Problem {
    let field = |error: FieldError| domain::issue::Issue::new(error.field.unwrap_or_default(), error.message);
    Problem::from(ledger::Error::Invalid(wrong.into_iter().map(field).collect()))
}

/// Reads JSON from a text area. JSON is kept as typed, other text becomes a JSON string, and `None` means an empty
/// field.
pub fn json_or_text(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    match serde_json::from_str::<&serde_json::value::RawValue>(text) {
        Ok(json) => Some(json.get().to_owned()),
        Err(_) => Some(Value::from(text).to_string()),
    }
}

/// Reads the value in a text area as [`json_or_text`] does, where the value counts and not how it is written.
pub fn value_or_text(text: &str) -> Option<Value> {
    let text = text.trim();
    (!text.is_empty()).then(|| serde_json::from_str(text).unwrap_or_else(|_| text.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_input_is_json_where_it_is_and_text_where_it_is_not() {
        assert_eq!(json_or_text("  "), None);
        assert_eq!(json_or_text(" {\"a\": 1.50} ").as_deref(), Some("{\"a\": 1.50}"));
        assert_eq!(json_or_text("hello \"you\"").as_deref(), Some(r#""hello \"you\"""#));
    }

    #[test]
    fn the_last_value_of_a_field_counts_and_an_answer_keeps_all() {
        let form = Form::parse(b"title=one&answer.colour=red&title=two&answer.colour=green+blue");
        assert_eq!((form.text("title"), form.text("answer.colour")), ("two".into(), "red\ngreen blue".into()));
    }

    #[test]
    fn each_selected_row_of_a_list_counts() {
        for name in ["session", "cause", "task", "entity"] {
            let form = Form::parse(format!("{name}=1&next=a&{name}=2&next=b&{name}=7").as_bytes());
            assert_eq!((form.text(name), form.text("next")), ("1\n2\n7".into(), "b".into()));
        }
    }

    #[test]
    fn a_message_finds_the_row_of_its_control() {
        let rows = [0, 3];
        assert_eq!(at_row("fields[1].slug", "fields", &rows), "fields[3].slug");
        assert_eq!(at_row("fields[0].options[1]", "fields", &rows), "fields[0].options");
        assert_eq!(at_row("fields[7].slug", "fields", &rows), "fields[7].slug");
        assert_eq!(at_row("name", "fields", &rows), "name");
    }

    #[test]
    fn a_refused_form_keeps_the_typed_text_without_passwords() {
        let fields = [("email", "a@b"), ("password", "secret"), ("answer.password_rule", "long")];
        let form = Form(fields.map(|(k, v)| (k.to_owned(), v.to_owned())).into());
        let state = form.refused("", &Problem::field(Code::InvalidRequest, "email", "wrong"));
        assert_eq!(state.value("email"), Some("a@b"));
        assert_eq!(state.value("password"), None);
        assert_eq!(state.value("answer.password_rule"), Some("long"));
        assert_eq!(state.error("email"), Some("wrong"));
    }
}
