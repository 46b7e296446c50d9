//! The part of the form of a run that has its result written to an entity by a task when the run completes.

use super::promote_page::PromoteTarget;
use crate::{
    FormState,
    entity::Choices,
    render::static_html,
    schema_form::STEP,
    text::shorten::one_line,
    ui::{
        button::Button,
        field::{Field, Input, Select},
        popover::Sheet,
    },
};
use domain::limit::TOOL_POINTER_CHARS_MAX;
use leptos::{prelude::*, tachys::html::InertElement};

/// Name of the field with the task.
pub const TASK: &str = "_task";
/// Name of the field with the entity.
pub const ENTITY: &str = "_entity";
/// What names of fields with the part of the result for a field of the entity begin with. The slug follows.
pub const PART: &str = "_part.";
/// Name of the field that says for which task and entity the fields are shown.
pub const SHOWN: &str = "_shown";
/// The button that shows the fields of the chosen task.
pub const SHOW_FIELDS: &str = "output";

/// What the result of a run can be written by.
#[derive(Debug, Clone)]
pub struct Targets {
    /// Ids and names of tasks whose output is one entity.
    pub tasks: Vec<(String, String)>,
    /// Whether there are more tasks than these.
    pub has_more_tasks: bool,
    /// Entities that are offered.
    pub entities: Choices,
    /// What the chosen task writes, if one was chosen.
    pub target: Option<PromoteTarget>,
}

impl Targets {
    /// Names of the controls for the parts of the result.
    pub(super) fn part_names(&self) -> impl Iterator<Item = String> + '_ {
        self.target.iter().flat_map(|target| &target.fields).map(|field| format!("{PART}{}", field.slug))
    }
}

/// The controls. They are folded away until one of them was used.
pub(super) fn target_sheet(targets: &Targets, form: &FormState) -> InertElement {
    let mut tasks = vec![(String::new(), "Do not write it".to_owned())];
    tasks.extend(targets.tasks.iter().cloned());
    let hint = match targets.has_more_tasks {
        true => "Its safety rules and approval apply. Only the newest tasks are listed. The API takes the others.",
        false => "Its safety rules and approval apply.",
    };
    let task = Field::new(TASK, "Task").hint(hint);
    let entity =
        Field::new(ENTITY, "Entity (optional)").hint("By default the one that the task is about, or a new one.");
    let entity = targets.entities.control("run", entity, "By the task", "", form);
    let is_used = [TASK, ENTITY]
        .iter()
        .any(|name| form.error(name).is_some() || form.value(name).is_some_and(|typed| !typed.trim().is_empty()));
    let fields = targets.target.as_ref().map(|target| part_fields(target, form));
    let word = if fields.is_some() { "Show the task's fields again" } else { "Show the task's fields" };
    static_html(view! {
        <Sheet summary="Write the result to an entity" open=is_used>
            <div class="form-row">
                <Select scope="run" field=task options=tasks form=form/>
                {entity}
            </div>
            {fields}
            <div class="form-actions">
                <Button name=STEP value=SHOW_FIELDS attr:formnovalidate="">{word}</Button>
            </div>
        </Sheet>
    })
}

/// A control for each field of the task, with the parts that the output schema of the tool names.
fn part_fields(target: &PromoteTarget, form: &FormState) -> InertElement {
    let controls = target.fields.iter().map(|field| {
        let (name, label) = (format!("{PART}{}", field.slug), one_line(&field.name, 120));
        let hint = if field.is_required { "Required." } else { "" };
        let (control, start) = (Field::new(&name, &label).hint(hint), field.pointer.clone());
        static_html(view! {
            <Input scope="run" field=control value=start chars_max=TOOL_POINTER_CHARS_MAX suggestions=target.pointers.clone() form=form/>
        })
    });
    let controls = controls.collect::<Vec<_>>();
    let about = match &target.entity {
        Some((_, title)) => format!("{}, for {}", target.name, one_line(title, 120)),
        None => format!("{}, for a new entity", target.name),
    };
    static_html(view! {
        <input type="hidden" name=SHOWN value=target.chosen.clone()/>
        <p dir="auto">{about}</p>
        <p class="meta">"Each field takes the part of the result at its JSON Pointer, such as /body/name. The sign # is the whole result. If all are empty, the result itself has the fields."</p>
        {controls}
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{render::to_html, tool::PromoteField};

    #[test]
    fn the_controls_are_folded_away_until_one_was_used() {
        let targets = Targets {
            tasks: vec![("t1".to_owned(), "Fill it in".to_owned())],
            has_more_tasks: false,
            entities: Choices::default(),
            target: None,
        };
        let html = |form: &FormState| to_html(target_sheet(&targets, form));
        let fresh = html(&FormState::default());
        assert!(fresh.contains("Fill it in") && fresh.contains("Do not write it"), "{fresh}");
        assert!(!fresh.contains("<details open class=\"sheet\""), "{fresh}");
        let values = [(TASK.to_owned(), "t1".to_owned())].into();
        let used = html(&FormState { form: "run".to_owned(), values, errors: Vec::new() });
        assert!(used.contains("<details open class=\"sheet\""), "{used}");
    }

    #[test]
    fn the_chosen_task_has_a_control_for_each_of_its_fields() {
        let field = |slug: &str, pointer: &str, is_required: bool| PromoteField {
            slug: slug.to_owned(),
            name: slug.to_uppercase(),
            pointer: pointer.to_owned(),
            is_required,
        };
        let target = PromoteTarget {
            task: "t1".to_owned(),
            name: "Fill it in".to_owned(),
            chosen: "t1/".to_owned(),
            entity: None,
            fields: vec![field("stage", "/body/stage", true), field("size", "", false)],
            pointers: vec!["/body/stage".to_owned()],
        };
        let targets =
            Targets { tasks: Vec::new(), has_more_tasks: false, entities: Choices::default(), target: Some(target) };
        assert_eq!(targets.part_names().collect::<Vec<_>>(), ["_part.stage", "_part.size"]);
        let values = [(TASK.to_owned(), "t1".to_owned()), ("_part.size".to_owned(), "#".to_owned())].into();
        let html = to_html(target_sheet(&targets, &FormState { form: "run".to_owned(), values, errors: Vec::new() }));
        for part in ["name=\"_part.stage\"", "value=\"/body/stage\"", "value=\"#\"", "Required.", "value=\"t1/\""] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
}
