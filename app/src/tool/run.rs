//! The runs of a tool, and how it can be run.

use super::start::Start;
use crate::{
    FieldError, FormState,
    entity::People,
    inbox::{FormField, schema_fields, typed_value},
    render::static_html,
    sessions::cost_words,
    text::duration,
    trigger::INPUT,
    ui::{
        badge::StatusBadge,
        empty::Empty,
        section::Section,
        table::{Column, Table},
        time::moment,
    },
};
use domain::{
    session::Status,
    tool::{Definition, run::ToolRun},
};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::{session::Session, tool::ToolVersion};

/// How a tool can be run, and its runs.
#[derive(Debug, Clone)]
pub struct Run {
    /// The version that new runs use; `None` if the tool is not published.
    pub published: Option<ToolVersion>,
    /// The run whose input the form begins with.
    pub again: Option<Session>,
    /// Its newest runs, newest first.
    pub runs: Vec<Session>,
    /// Whether there are more runs than these.
    pub has_more_runs: bool,
    /// State of the form that runs the tool.
    pub form: FormState,
    /// What the form begins with, if it was not refused.
    pub start: Start,
}

/// The fields of a tool's input.
pub(super) fn fields(definition: &Definition) -> Vec<FormField> {
    schema_fields(&definition.input_schema, (INPUT, |base, key| format!("{base}.{key}")), "Input")
}

/// The input that was typed, as JSON; `None` if nothing was.
///
/// # Errors
/// One error for each field whose text cannot be parsed, with the name of the field.
pub fn typed_input(
    definition: &Definition,
    typed: impl Fn(&str) -> Option<String>,
) -> Result<Option<String>, Vec<FieldError>> {
    Ok(typed_value(&fields(definition), typed)?.map(|value| value.to_string()))
}

/// The name of the field for a place in an input, such as `input/team/0`: that of the whole top-level member. The rest
/// of the place is returned too.
pub fn input_field(place: &str) -> (String, Option<&str>) {
    let Some(rest) = place.strip_prefix(INPUT).and_then(|rest| rest.strip_prefix('/')) else {
        return (place.to_owned(), None);
    };
    let (member, below) = rest.split_once('/').map_or((rest, None), |(member, below)| (member, Some(below)));
    (format!("{INPUT}.{}", member.replace("~1", "/").replace("~0", "~")), below)
}

/// The table of runs.
pub(super) fn runs_section(slug: &str, run: &Run, may_run: bool, people: &People) -> InertElement {
    if run.runs.is_empty() {
        return static_html(view! {
            <Section name="runs" id="runs" title="Runs">
                <Empty sentence="This tool has not been run yet."/>
            </Section>
        });
    }
    let rows = run.runs.iter().map(|session| row(session, may_run.then_some(slug), people)).collect::<Vec<_>>();
    let columns = vec![
        Column::text("Status"),
        Column::text("Who"),
        Column::text("When"),
        Column::text("Version"),
        Column::number("Duration"),
        Column::number("Cost"),
        Column::hidden("Run again"),
    ];
    let more = run.has_more_runs.then(|| view! { <p class="meta">"Older runs are in the list of sessions."</p> });
    static_html(view! {
        <Section name="runs" id="runs" title="Runs">
            <Table caption="Runs, newest first" columns=columns>{rows}</Table>
            {more}
        </Section>
    })
}

/// A row of the table. `again` is the slug of the tool if the reader may run it again.
fn row(session: &Session, again: Option<&str>, people: &People) -> impl IntoView + use<> {
    let lasted = session.duration_ms.map(duration::words).unwrap_or_default();
    let version = ToolRun::of_metadata(session.metadata.get()).map(|run| run.version.to_string()).unwrap_or_default();
    // The form has links to the drafts of the reader.
    let again = again.filter(|_| session.status != Status::Draft).map(|slug| {
        let href = format!("/tools/{slug}?again={}#run", session.id);
        view! { <a href=href>"Run again"</a> }
    });
    view! {
        <tr>
            <td><a class="quiet" href=format!("/sessions/{}", session.id)><StatusBadge status=session.status/></a></td>
            <td class="meta">{people.word(&session.created_by)}</td>
            <td class="meta">{moment(session.created_at)}</td>
            <td class="meta">{version}</td>
            <td class="meta table-number">{lasted}</td>
            <td class="meta table-number">{cost_words(session)}</td>
            <td>{again}</td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_error_below_a_member_is_at_the_field_of_the_member() {
        assert_eq!(input_field("input/team"), ("input.team".to_owned(), None));
        assert_eq!(input_field("input/a~1b/0/c"), ("input.a/b".to_owned(), Some("0/c")));
        assert_eq!(input_field("input"), ("input".to_owned(), None));
        assert_eq!(input_field("slug"), ("slug".to_owned(), None));
    }

    #[test]
    fn what_is_typed_becomes_the_input() {
        let definition: Definition = serde_json::from_value(json!({
            "name": "Weather", "kind": "worker",
            "inputSchema": { "type": "object", "properties": { "days": { "type": "integer" } } },
        }))
        .unwrap();
        let typed =
            |text: &'static str| typed_input(&definition, move |name| (name == "input.days").then(|| text.to_owned()));
        assert_eq!(typed("3"), Ok(Some("{\"days\":3}".to_owned())));
        assert_eq!(typed("soon").unwrap_err()[0].field.as_deref(), Some("input.days"));
    }
}
