//! The runs of a tool, and how it can be run.

use super::input::{self, Drawn};
use crate::{
    FormState,
    entity::People,
    render::static_html,
    result::write_result,
    sessions::cost_words,
    shell::Shell,
    text::{duration, html::Html, shorten},
    ui::{
        badge::StatusBadge,
        empty::Empty,
        section::Section,
        table::{Column, Table},
        time::moment,
    },
};
use domain::tool::{
    form::{self, Fields, NodeKind, ROOT},
    run::ToolRun,
};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::{session::Session, tool::ToolVersion};

/// Longest message of an error that is shown, bytes.
const ERROR_BYTES_MAX: usize = 2_000;

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
    /// The part of the form that the last button was about; empty if there was none.
    pub focus: String,
}

/// What the form holds: what was typed, or else the input of an earlier run, or else the defaults.
fn texts(run: &Run, schema: &Value) -> Fields {
    if !run.form.values.is_empty() {
        let typed = run.form.values.iter();
        return typed.map(|(name, text)| (name.clone(), text.replace("\r\n", "\n"))).collect();
    }
    let before = run.again.as_ref().and_then(|again| recorded(again.input.as_deref()?));
    before.map_or_else(|| form::begin(schema), |before| form::write(schema, &before))
}

/// The form that runs the published version.
pub(super) fn run_section(shell: &Shell, slug: &str, run: &Run, may_run: bool) -> InertElement {
    let Some(version) = &run.published else {
        return static_html(view! {
            <Section name="run" id="run" title="Run">
                <p class="meta">"Only a published tool can be run."</p>
            </Section>
        });
    };
    if !may_run {
        return static_html(view! {
            <Section name="run" id="run" title="Run">
                <p class="meta">"This tool is for people of other roles or groups."</p>
            </Section>
        });
    }
    let schema = &version.definition.input_schema;
    let texts = texts(run, schema);
    let root = form::draw(schema, &texts);
    let state = FormState {
        form: run.form.form.clone(),
        values: texts.iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect(),
        errors: run.form.errors.clone(),
    };
    let Drawn { html: fields, names, takes_files } = input::draw(slug, &root, &state, &run.focus);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let general = run.form.general(&names);
    // A form of one text area for JSON has its own button.
    let as_json = (!matches!(root.kind, NodeKind::Json(_)) && !is_empty(&root.kind)).then(|| {
        let step = format!("json:{ROOT}");
        view! { <button class="button" type="submit" name="step" value=step formnovalidate=true data-look="quiet">"Type the input as JSON"</button> }
    });
    let empty = is_empty(&root.kind).then(|| view! { <p class="meta">"This tool takes no input."</p> });
    let again = run.again.as_ref().map(|again| {
        let href = format!("/sessions/{}", again.id);
        let private = (!version.definition.private_fields.is_empty()).then_some(" Private values are not kept.");
        view! { <p class="meta">"Filled in with the input of "<a href=href>"an earlier run"</a>"."{private}</p> }
    });
    let asks = version.definition.requires_confirmation.then(|| {
        view! { <p class="meta">"A person has to approve the call before it is made."</p> }
    });
    static_html(view! {
        <Section name="run" id="run" title="Run">
            <form class="form" method="post" action=format!("/tools/{slug}/run#run") enctype=takes_files.then_some("multipart/form-data")>
                // Enter in a field presses the first button, which must not be one that changes the form.
                <button class="hidden-text" type="submit" tabindex="-1" aria-hidden="true">"Run"</button>
                <input type="hidden" name="idempotencyKey" value=format!("{}-{slug}", shell.form_key)/>
                <Refused messages=general/>
                {empty}
                {fields}
                {again}
                {asks}
                <div class="form-actions"><Button look=Look::Primary attr:data-key="run">"Run"</Button>{as_json}</div>
            </form>
        </Section>
    })
}

/// Whether a form has no fields.
fn is_empty(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Object { members, more: None } if members.is_empty())
}

fn recorded(input: &RawValue) -> Option<Value> {
    serde_json::from_str(input.get()).ok().filter(|value| *value != Value::Null)
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
    let latest = run.runs.iter().find(|session| session.result.is_some() || session.error.is_some()).map(latest);
    static_html(view! {
        <Section name="runs" id="runs" title="Runs">
            <Table caption="Runs, newest first" columns=columns>{rows}</Table>
            {more}
            {latest}
        </Section>
    })
}

/// What the newest run that has ended returned, or why it failed.
fn latest(session: &Session) -> impl IntoView + use<> {
    let id = session.id.to_string();
    let mut html = Html::default();
    if let Some(result) = session.result.as_deref() {
        write_result(&mut html, result, &id);
    } else if let Some(error) = &session.error {
        html.raw("<div class=\"result-error\"><p dir=\"auto\">").text(shorten::head(&error.message, ERROR_BYTES_MAX));
        if let Some(code) = &error.code {
            html.raw(" <code>").text(code).raw("</code>");
        }
        html.raw("</p>");
        if let Some(advice) = error.code.as_deref().and_then(advice) {
            html.raw("<p>").raw(advice).raw("</p>");
        }
        html.raw("</div>");
    }
    view! {
        <h3>"Result of "<a href=format!("/sessions/{id}")>"the newest run that has ended"</a></h3>
        <div inner_html=html.finish()></div>
    }
}

/// What to do about a run that failed with this code.
fn advice(code: &str) -> Option<&'static str> {
    Some(match code {
        "may_have_run" => "Find out from the service whether the call took effect before you run the tool again.",
        "time_limit" => "Run it again, or give the tool a longer time limit.",
        "unreachable" | "no_answer" => "Run it again later. If it fails again, check the address of the tool.",
        "answer_too_large" => "Ask the service for less.",
        "call_refused" => "Whoever runs this server can allow the address in its settings.",
        "call_invalid" => "Check the input, and whether all secrets of the tool are set.",
        "tool_unavailable" => "An admin has to set the secrets of the tool again.",
        "output_invalid" => "Change the output schema of the tool, or what the tool returns.",
        "input_invalid" => "Run it again with an input that the input schema allows.",
        _ => return None,
    })
}

/// A row of the table. `again` is the slug of the tool if the reader may run it again.
fn row(session: &Session, again: Option<&str>, people: &People) -> impl IntoView + use<> {
    let lasted = session.duration_ms.map(duration::words).unwrap_or_default();
    let version = ToolRun::of_metadata(session.metadata.get()).map(|run| match run.revision {
        Some(_) => "test".to_owned(),
        None => run.version.to_string(),
    });
    let version = version.unwrap_or_default();
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
