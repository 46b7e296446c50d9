//! The task that writes the result of a run to an entity, in the form of the run.

use super::{form::Form, tool_input::Pressed, tool_result::choice_key};
use app::{
    FieldError, FormState,
    tool::{ENTITY, PART, SHOWN, TASK},
};
use domain::{
    id::{ActionId, EntityId},
    issue::Issue,
};
use ledger::{Error, tool_run::PromoteRun};
use std::{collections::BTreeMap, str::FromStr};

/// What the form asks for; `None` without a task.
///
/// # Errors
/// [`Error::Invalid`] at the control that cannot be read, or that needs a task; at the task if the form shows the
/// fields of another one.
pub fn output_of(form: &Form) -> ledger::Result<Option<PromoteRun>> {
    let (action_id, entity_id) = (id_of::<ActionId>(form, TASK)?, id_of::<EntityId>(form, ENTITY)?);
    let fields = parts(form);
    let Some(action_id) = action_id else {
        let is_alone = entity_id.is_some() || !fields.is_empty();
        return if is_alone { Err(Error::invalid(TASK, "choose a task, or empty the fields below")) } else { Ok(None) };
    };
    if form.has(SHOWN) && !shows(form, (action_id, entity_id)) {
        return Err(Error::invalid(TASK, "the fields below are now those of this task and entity: check them"));
    }
    Ok(Some(PromoteRun { action_id, entity_id, fields }))
}

/// The chosen task and entity; `None` if there is none that can be read.
pub fn chosen(form: &Form) -> Option<(ActionId, Option<EntityId>)> {
    Some((id_of(form, TASK).ok()??, id_of(form, ENTITY).ok()?))
}

/// Whether the form shows the fields of this task and entity.
fn shows(form: &Form, (task, entity): (ActionId, Option<EntityId>)) -> bool {
    form.text(SHOWN) == choice_key(task, entity)
}

fn id_of<T: FromStr>(form: &Form, field: &str) -> ledger::Result<Option<T>> {
    let parse = |text: String| text.parse::<T>().map_err(|_| Error::invalid(field, "an id, or nothing"));
    form.optional(field).map(parse).transpose()
}

/// The JSON Pointer of each field. `#` before one is left out, so that `#` alone is the whole result.
fn parts(form: &Form) -> BTreeMap<String, String> {
    let typed = form.below(PART).map(|(slug, pointer)| (slug, pointer.trim()));
    let typed = typed.filter(|(_, pointer)| !pointer.is_empty());
    typed.map(|(slug, pointer)| (slug.to_owned(), pointer.strip_prefix('#').unwrap_or(pointer).to_owned())).collect()
}

/// Moves errors of the output to their controls.
pub fn at_controls(state: &mut FormState) {
    for error in &mut state.errors {
        let Some(path) = error.field.as_deref().and_then(|field| field.strip_prefix("output.")) else { continue };
        let control = match (path, path.strip_prefix("fields.")) {
            ("entityId", _) => ENTITY.to_owned(),
            (_, Some(slug)) => format!("{PART}{slug}"),
            _ => TASK.to_owned(),
        };
        error.field = Some(control);
    }
}

/// Keeps what was chosen when a button has changed the form. Parts that were typed for another task are left out.
pub fn with_target(mut pressed: Pressed, form: &Form) -> Pressed {
    let keeps_parts = chosen(form).is_some_and(|chosen| shows(form, chosen));
    for (name, text) in form.typed() {
        if [TASK, ENTITY].contains(&name.as_str()) || (keeps_parts && name.starts_with(PART)) {
            pressed.state.values.insert(name, text);
        }
    }
    pressed
}

/// Why the fields of the chosen task are not shown, at its control.
pub fn not_shown(refused: Option<&Issue>) -> FieldError {
    let error =
        |control: &str, message: &str| FieldError { field: Some(control.to_owned()), message: message.to_owned() };
    match refused {
        None => error(TASK, "choose a task"),
        Some(issue) if issue.field == "entity" => error(ENTITY, &issue.message),
        Some(issue) => error(TASK, &issue.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01935f00-0000-7000-8000-0000000000a1";
    const OTHER: &str = "01935f00-0000-7000-8000-0000000000a2";

    fn form(typed: &[(&str, &str)]) -> Form {
        Form::of(typed.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    fn refused(typed: &[(&str, &str)]) -> String {
        match output_of(&form(typed)) {
            Err(Error::Invalid(issues)) => issues[0].field.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_form_without_a_task_asks_for_nothing_and_parts_are_by_field() {
        assert!(output_of(&form(&[(TASK, ""), ("_part.stage", " ")])).unwrap().is_none());
        let shown = format!("{ID}/");
        let typed = [
            (TASK, ID),
            (SHOWN, shown.as_str()),
            ("_part.stage", " /body/stage "),
            ("_part.note", "#"),
            ("_part.size", "#/body/size"),
            ("_part.parent", ""),
        ];
        let asked = output_of(&form(&typed)).unwrap().unwrap();
        let expected = [("note", ""), ("size", "/body/size"), ("stage", "/body/stage")];
        assert_eq!(asked.fields, expected.map(|(field, at)| (field.to_owned(), at.to_owned())).into());
        assert!(asked.entity_id.is_none());
        assert_eq!(refused(&[("_part.stage", "/a")]), TASK);
        assert_eq!(refused(&[(TASK, "x")]), TASK);
        assert_eq!(refused(&[(TASK, ID), (ENTITY, "x")]), ENTITY);
        // The fields are those of another task, or of another entity.
        assert_eq!(refused(&[(TASK, OTHER), (SHOWN, shown.as_str())]), TASK);
        assert_eq!(refused(&[(TASK, ID), (ENTITY, OTHER), (SHOWN, shown.as_str())]), TASK);
    }

    #[test]
    fn parts_of_another_task_are_not_kept() {
        let kept = |shown: &str| {
            let state = FormState::default();
            let form = form(&[(TASK, ID), (ENTITY, OTHER), (SHOWN, shown), ("_part.stage", "/a"), ("input.x", "1")]);
            let kept = with_target(Pressed { state, focus: String::new() }, &form);
            kept.state.values.into_keys().collect::<Vec<_>>()
        };
        assert_eq!(kept(&format!("{ID}/{OTHER}")), [ENTITY, "_part.stage", TASK]);
        assert_eq!(kept(&format!("{ID}/")), [ENTITY, TASK]);
    }

    #[test]
    fn errors_are_at_their_controls() {
        let error = |field: &str| FieldError { field: Some(field.to_owned()), message: "wrong".to_owned() };
        let fields = ["output.actionId", "output.entityId", "output.fields.stage", "output.fields", "input.city"];
        let errors = fields.map(error).into();
        let mut state = FormState { form: "run".to_owned(), values: BTreeMap::new(), errors };
        at_controls(&mut state);
        let placed: Vec<_> = state.errors.iter().filter_map(|error| error.field.as_deref()).collect();
        assert_eq!(placed, [TASK, ENTITY, "_part.stage", TASK, "input.city"]);
        assert_eq!(not_shown(None).field.as_deref(), Some(TASK));
        assert_eq!(not_shown(Some(&Issue::new("entity", "none"))).field.as_deref(), Some(ENTITY));
    }
}
