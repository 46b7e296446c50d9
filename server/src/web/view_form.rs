//! Reads the form of a view's editor.

use super::form::Form;
use crate::problem::Problem;
use app::{
    FormState,
    view::{Draft, Row, control_of},
};
use chrono::{NaiveDateTime, Utc};
use domain::{
    Timestamp,
    issue::Issue,
    limit::VIEW_FIELDS_MAX,
    view::{Gate, Publication, Responses},
};
use ledger::{
    ViewRecord,
    view::{NewView, ViewChange},
};

/// What the editor holds of a stored view.
pub fn draft_of(view: &ViewRecord) -> Draft {
    Draft {
        slug: Some(view.slug.clone()),
        revision: view.revision,
        title: view.title.clone(),
        introduction: view.introduction.clone(),
        rows: view.fields.iter().map(Row::of).collect(),
        publication: view.publication.clone(),
        fields: view.fields.clone(),
    }
}

/// The view that the editor of a new one describes.
pub fn new_view(draft: &Draft, form: &Form) -> NewView {
    NewView {
        title: draft.title.clone(),
        slug: form.optional("slug"),
        introduction: draft.introduction.clone(),
        fields: draft.fields.clone(),
        publication: draft.publication.clone(),
    }
}

/// The change that makes a stored view what the editor holds.
pub fn view_change(draft: &Draft) -> ViewChange {
    ViewChange {
        revision: draft.revision,
        title: Some(draft.title.clone()),
        introduction: Some(draft.introduction.clone()),
        fields: Some(draft.fields.clone()),
        publication: Some(draft.publication.clone()),
    }
}

/// Reads the form. What cannot be read is named by its control.
pub fn read(form: &Form, before: Option<&ViewRecord>) -> (Draft, Vec<Issue>) {
    let rows = form.text("rows").parse::<usize>().unwrap_or_default().min(VIEW_FIELDS_MAX);
    let (publication, mut wrong) = publication(form);
    let mut draft = Draft {
        slug: before.map(|view| view.slug.clone()),
        revision: form.text("revision").parse().unwrap_or_default(),
        title: form.text("title").trim().to_owned(),
        introduction: form.text("introduction").trim_end().to_owned(),
        rows: (0..rows).map(|at| row(form, at)).collect(),
        publication,
        fields: Vec::new(),
    };
    wrong.extend(read_rows(&mut draft));
    (draft, wrong)
}

fn row(form: &Form, at: usize) -> Row {
    let text = |part: &str| form.text(&format!("fields[{at}].{part}"));
    let has = |part: &str| form.has(&format!("fields[{at}].{part}"));
    Row {
        key: text("key"),
        label: text("label"),
        kind: text("type"),
        help: text("help"),
        required: has("required"),
        hidden: has("hidden"),
        prefill: has("prefill"),
        default: text("default"),
        options: text("options"),
        minimum: text("minimum"),
        maximum: text("maximum"),
        low_label: text("lowLabel"),
        high_label: text("highLabel"),
        of: text("of"),
        if_field: text("ifField"),
        if_test: text("ifTest"),
        if_value: text("ifValue"),
    }
}

/// Reads the fields from the rows again, after one was read, moved, added or removed.
fn read_rows(draft: &mut Draft) -> Vec<Issue> {
    let mut wrong = Vec::new();
    draft.fields.clear();
    for (at, row) in draft.rows.iter().enumerate() {
        let (field, unreadable) = row.field(&draft.fields);
        wrong.extend(unreadable.into_iter().map(|(part, why)| Issue::new(format!("fields[{at}].{part}"), why)));
        draft.fields.push(field);
    }
    wrong
}

fn publication(form: &Form) -> (Publication, Vec<Issue>) {
    let name = |part: &str| format!("publishConfig.{part}");
    let mut wrong = Vec::new();
    let mut time = |part: &str| -> Option<Timestamp> {
        let text = form.optional(&name(part))?;
        let read = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S%.f"]
            .into_iter()
            .find_map(|format| NaiveDateTime::parse_from_str(&text, format).ok());
        if read.is_none() {
            wrong.push(Issue::new(name(part), "a day and a time as 2026-03-01T09:30"));
        }
        read.map(|at| at.and_local_timezone(Utc).single()).unwrap_or_default()
    };
    let (opens_at, closes_at) = (time("opensAt"), time("closesAt"));
    let most = form.optional(&name("maxResponses"));
    let max_responses = most.as_deref().and_then(|text| text.parse().ok());
    if most.is_some() && max_responses.is_none() {
        wrong.push(Issue::new(name("maxResponses"), "a whole number"));
    }
    let origins = form.text(&name("embedOrigins"));
    let publication = Publication {
        gate: Gate::parse(&form.text(&name("gate"))).unwrap_or_default(),
        audience: form.optional(&name("audience")),
        responses: Responses::parse(&form.text(&name("responses"))).unwrap_or_default(),
        max_responses,
        opens_at,
        closes_at,
        thanks: form.text(&name("thanks")).trim_end().to_owned(),
        redirect_url: form.optional(&name("redirectUrl")),
        embed_origins: origins.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect(),
        notify: form.has(&name("notify")),
    };
    (publication, wrong)
}

/// Does what a button of the editor says: `add`, or `up:N`, `down:N`, `remove:N`. Others change nothing.
pub fn press(draft: &mut Draft, button: &str) {
    let (what, at) = button.split_once(':').unwrap_or((button, ""));
    let at = at.parse::<usize>().ok().filter(|at| *at < draft.rows.len());
    match (what, at) {
        ("add", _) if draft.rows.len() < VIEW_FIELDS_MAX => {
            draft.rows.push(Row { kind: "short_text".to_owned(), ..Row::default() });
        }
        ("up", Some(at)) if at > 0 => draft.rows.swap(at, at - 1),
        ("down", Some(at)) if at + 1 < draft.rows.len() => draft.rows.swap(at, at + 1),
        ("remove", Some(at)) => drop(draft.rows.remove(at)),
        _ => {}
    }
    read_rows(draft);
}

/// The state of the editor's form: each message at its control. Values of questions are in the draft, whose order a
/// button may have changed.
pub fn placed(form: &Form, problem: Option<&Problem>) -> FormState {
    let mut state = match problem {
        Some(problem) => form.refused("edit", problem),
        None => form.state_without_errors("edit"),
    };
    state.values.retain(|name, _| !name.starts_with("fields["));
    for error in &mut state.errors {
        error.field = error.field.take().map(|field| control(&field));
    }
    state
}

/// The control that the path of an error leads to.
fn control(path: &str) -> String {
    let Some((row, part)) = path.strip_prefix("fields[").and_then(|rest| rest.split_once("].")) else {
        return path.split("embedOrigins[").next().map_or_else(String::new, |start| {
            if start.len() < path.len() { format!("{start}embedOrigins") } else { path.to_owned() }
        });
    };
    format!("fields[{row}].{}", control_of(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(pairs: &[(&str, &str)]) -> Form {
        Form::of(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    fn two() -> Form {
        form(&[
            ("rows", "2"),
            ("title", "Check"),
            ("fields[0].label", "How many?"),
            ("fields[0].type", "integer"),
            ("fields[1].label", "Why?"),
            ("fields[1].type", "long_text"),
            ("fields[1].required", "on"),
            ("publishConfig.opensAt", "2026-03-01T09:30"),
        ])
    }

    #[test]
    fn buttons_add_remove_and_move_questions() {
        let (mut draft, wrong) = read(&two(), None);
        assert!(wrong.is_empty(), "{wrong:?}");
        let keys = |draft: &Draft| draft.fields.iter().map(|field| field.key.clone()).collect::<Vec<_>>();
        assert_eq!(keys(&draft), ["how_many", "why"]);
        press(&mut draft, "down:0");
        assert_eq!(keys(&draft), ["why", "how_many"]);
        press(&mut draft, "up:1");
        press(&mut draft, "add");
        assert_eq!(draft.rows.len(), 3);
        press(&mut draft, "remove:0");
        press(&mut draft, "remove:9");
        assert_eq!(keys(&draft), ["why", ""]);
        assert!(draft.fields[0].required);
    }

    #[test]
    fn what_cannot_be_read_is_named_by_its_control() {
        let pairs = [
            ("rows", "1"),
            ("fields[0].type", "number"),
            ("fields[0].minimum", "few"),
            ("publishConfig.maxResponses", "all"),
            ("publishConfig.closesAt", "soon"),
        ];
        let (_, wrong) = read(&form(&pairs), None);
        let names: Vec<_> = wrong.iter().map(|issue| issue.field.as_str()).collect();
        assert_eq!(names, ["publishConfig.closesAt", "publishConfig.maxResponses", "fields[0].minimum"]);
    }

    #[test]
    fn a_message_finds_its_control_and_the_typed_text_is_kept() {
        assert_eq!(control("fields[1].options[0].value"), "fields[1].options");
        assert_eq!(control("fields[1].showIf.field"), "fields[1].ifField");
        assert_eq!(control("publishConfig.embedOrigins[2]"), "publishConfig.embedOrigins");
        assert_eq!(control("title"), "title");
        let problem = ledger::Error::invalid("fields[0].maxLength", "no").into();
        let state = placed(&two(), Some(&problem));
        assert_eq!(state.error("fields[0].maximum"), Some("no"));
        assert_eq!((state.value("title"), state.value("fields[0].label")), (Some("Check"), None));
    }
}
