//! The forms of a memory document: what they ask for, and where a refused one is shown.

use super::form::Form;
use crate::problem::Problem;
use app::{FieldError, FormState, memory::View};
use domain::memory::MemoryPath;
use ledger::{
    Error,
    memory::{self, Change, Conflict, Write},
};
use wire::Code;

/// The message beside a rename or deletion that names an older version than the newest.
const CHANGED: &str = "Someone changed this document after you opened this page. Nothing was renamed or deleted. \
                       Read the newest version, which this page shows, and then rename or delete the document again if \
                       you still want to.";
/// The message beside a text whose document has another path, or none.
const GONE: &str = "This document was renamed or erased meanwhile. Nothing was saved. The form has what you typed. If \
                    the document was renamed, open it at its new path and put your change there. Create writes a new \
                    document; leave out of it what was erased.";

/// What the button of a form asks for.
#[derive(Debug, Clone)]
pub enum Step {
    /// Show the text before it is saved.
    Preview,
    /// Make a document, or its next version.
    Write(Write),
    /// Make the text of this version the newest one.
    Revert(u64, Change),
    /// Give the document this path.
    Rename(MemoryPath, Change),
    /// Delete the document, and keep its versions.
    Delete(Change),
    /// Erase the document with its versions. The word was typed that confirms it.
    Erase,
}

/// Reads the path of the document, and what is done with it.
///
/// # Errors
/// [`Error::Invalid`] for a path that is none, for an erasure that is not confirmed, and for an unknown button.
pub fn read(form: &Form) -> Result<(MemoryPath, Step), Error> {
    let path = memory::path(&form.text("path"))?;
    let base_version = form.text("baseVersion").parse().unwrap_or_default();
    let reason = form.text("reason").trim().to_owned();
    let change = |reason| Change { base_version, reason, session_id: None };
    let step = match form.text("step").as_str() {
        "preview" => Step::Preview,
        "create" | "save" => Step::Write(Write { base_version, text: form.text("text"), reason, ..Write::default() }),
        "revert" => Step::Revert(form.text("toVersion").parse().unwrap_or_default(), change(reason)),
        "rename" => {
            let new_path = MemoryPath::parse(&form.text("newPath"));
            Step::Rename(new_path.map_err(|why| Error::invalid("newPath", why.to_string()))?, change(reason))
        }
        "delete" => Step::Delete(change(reason)),
        "erase" if form.text("confirm").trim() == "erase" => Step::Erase,
        "erase" => return Err(Error::invalid("confirm", "type the word erase")),
        _ => return Err(Error::invalid("step", "not a step of this form")),
    };
    Ok((path, step))
}

/// Returns the name under which the page shows a refused form, the path of the document beside it, and the view of the
/// document. The path is empty if there is no document. `sides` has both sides of a conflict: a new document whose path
/// another one has is shown as a change of that one.
pub fn refused(form: &Form, sides: Option<&Conflict>) -> (&'static str, String, View) {
    let name = match form.text("step").as_str() {
        "create" => "new",
        "save" | "preview" => "edit",
        // The text of the earlier version is compared with the newest one, and can be saved.
        "revert" if sides.is_some() => "edit",
        _ => "change",
    };
    let exists = name != "new" || sides.is_some_and(|sides| sides.current.is_some());
    let path = if exists { form.text("path") } else { String::new() };
    let view = if name == "change" { View::Text } else { View::Edit };
    (if name == "new" && sides.is_some() { "edit" } else { name }, path, view)
}

/// The state of the refused form that is shown under this name. After a conflict the text of a revert is that of the
/// earlier version, and the message of a rename or deletion says what to do.
pub fn state(form: &Form, name: &str, problem: &Problem, sides: Option<&Conflict>) -> FormState {
    let mut state = form.refused(name, problem);
    let Some(sides) = sides else { return state };
    match form.text("step").as_str() {
        "revert" => {
            state.values.insert("text".to_owned(), sides.wanted.clone());
        }
        "rename" | "delete" => state.errors = vec![general(CHANGED)],
        _ => {}
    }
    state
}

/// The state of the form of a new document with the text typed for a document that is not there any more.
pub fn gone(form: &Form, problem: &Problem) -> FormState {
    let mut state = form.refused("new", problem);
    if problem.code() == Code::StaleVersion {
        state.errors.clear();
    }
    state.errors.insert(0, general(GONE));
    state
}

fn general(message: &str) -> FieldError {
    FieldError { field: None, message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "topics/tea.md";

    fn form(step: &str, fields: &[(&str, &str)]) -> Form {
        let all = [("step", step), ("path", PATH), ("baseVersion", "4"), ("reason", " why ")];
        let all = all.iter().chain(fields);
        Form::of(all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    fn step(step: &str, fields: &[(&str, &str)]) -> Step {
        let (path, step) = read(&form(step, fields)).unwrap();
        assert_eq!(path.as_str(), PATH);
        step
    }

    fn wrong(step: &str, fields: &[(&str, &str)]) -> String {
        let refused = read(&form(step, fields)).unwrap_err();
        let Error::Invalid(wrong) = refused else { panic!("{refused:?}") };
        wrong[0].field.clone()
    }

    #[test]
    fn each_button_is_a_step() {
        assert!(matches!(step("preview", &[]), Step::Preview));
        let Step::Write(write) = step("save", &[("text", "a\r\nb")]) else { panic!() };
        assert_eq!((write.base_version, write.text.as_str(), write.reason.as_str()), (4, "a\nb", "why"));
        let Step::Revert(to, change) = step("revert", &[("toVersion", "2")]) else { panic!() };
        assert_eq!((to, change.base_version, change.reason.as_str()), (2, 4, "why"));
        let Step::Rename(to, _) = step("rename", &[("newPath", "topics/coffee.md")]) else { panic!() };
        assert_eq!(to.as_str(), "topics/coffee.md");
        assert!(matches!(step("delete", &[]), Step::Delete(_)));
        assert!(matches!(step("erase", &[("confirm", " erase ")]), Step::Erase));
    }

    #[test]
    fn a_form_that_asks_for_nothing_is_refused_at_its_field() {
        assert_eq!(wrong("save", &[("path", "tea")]), "path");
        assert_eq!(wrong("rename", &[("newPath", "tea")]), "newPath");
        assert_eq!(wrong("erase", &[("confirm", "yes")]), "confirm");
        assert_eq!(wrong("burn", &[]), "step");
    }

    #[test]
    fn a_refused_form_is_shown_beside_the_document_that_it_is_about() {
        let sides = Conflict { path: PATH.into(), given: 0, base: None, current: None, wanted: String::new() };
        let shown = |step: &str, sides: Option<&Conflict>| {
            let (name, path, view) = refused(&form(step, &[]), sides);
            (name, !path.is_empty(), view)
        };
        assert_eq!(shown("create", None), ("new", false, View::Edit));
        assert_eq!(shown("create", Some(&sides)), ("edit", false, View::Edit));
        assert_eq!(shown("save", None), ("edit", true, View::Edit));
        assert_eq!(shown("delete", None), ("change", true, View::Text));
        assert_eq!(shown("delete", Some(&sides)), ("change", true, View::Text));
        assert_eq!(shown("revert", None), ("change", true, View::Text));
        assert_eq!(shown("revert", Some(&sides)), ("edit", true, View::Edit));
    }

    #[test]
    fn a_text_without_its_document_keeps_the_errors_of_its_fields() {
        let form = form("save", &[("text", "typed")]);
        let general = |state: &FormState| state.general(&["path", "text", "reason"]);
        let stale = gone(&form, &Problem::new(Code::StaleVersion));
        assert_eq!((stale.value("text"), general(&stale)), (Some("typed"), vec![GONE.to_owned()]));
        let wrong = gone(&form, &Problem::field(Code::InvalidRequest, "text", "too long"));
        assert_eq!((wrong.error("text"), general(&wrong)), (Some("too long"), vec![GONE.to_owned()]));
    }
}
