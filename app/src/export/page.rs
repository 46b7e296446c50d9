//! /export: what to export, and the exports of this workspace that are still there.

use super::{
    StartExport,
    form::{Choice, LABELS, fields, label_fields},
};
use crate::{
    document::render,
    form::FormState,
    render::static_html,
    server_function::page_fields,
    shell::{RailEntry, Shell, frame},
    ui::{
        button::{Button, Look},
        notice::Refused,
        page_head::PageHead,
        section::Section,
        table::{Column, Table},
        time::moment,
    },
};
use domain::Timestamp;
use leptos::{prelude::*, server_fn::ServerFn as _};

/// Fields that show their own errors.
const FIELDS: [&str; 12] = [
    "format",
    "fileType",
    "minFeedback",
    "source",
    "minConfidence",
    "sessionRating",
    "since",
    "until",
    "agents",
    "actions",
    "validationShare",
    "mergeRoles",
];

/// An export of the workspace, as a row.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Id of the export job, a UUIDv7.
    pub id: String,
    /// What it is: "SFT as JSON lines".
    pub title: String,
    /// Its progress, in words.
    pub state: String,
    /// When it was begun.
    pub begun_at: Timestamp,
}

/// What /export shows.
#[derive(Debug, Clone)]
pub struct Props {
    /// What is chosen, unless the form was refused.
    pub choice: Choice,
    /// A refused form.
    pub form: FormState,
    /// Exports that are there, newest first.
    pub entries: Vec<Entry>,
    /// How many of a workspace are kept.
    pub kept_max: usize,
}

/// The whole page.
pub fn page(shell: &Shell, props: Props) -> String {
    render(shell, "Training data", || {
        let Props { choice, form, entries, kept_max } = props;
        let form = form.of(StartExport::PATH);
        let head =
            view! { <PageHead title="Training data" crumbs=vec![("Insights".to_owned(), "/insights".to_owned())]/> };
        let of_labels = label_fields(&choice, &form);
        let body = view! {
            {head}
            <p class="meta">"Export the prompts and answers of agents as training examples, with the feedback of people and reviewers. Secrets in known formats are removed. Check the preview before you share the file."</p>
            <form class="form" method="post" action=StartExport::PATH>
                {page_fields("/exports/{id}", "/export")}
                <Refused messages=form.general(&FIELDS)/>
                {fields(&choice, &form)}
                <div class="form-actions">
                    <Button name="step" value="preview" look=Look::Primary>"Preview"</Button>
                    <Button name="step" value="export">"Export"</Button>
                    <span class="meta">"A preview writes no file."</span>
                </div>
            </form>
            <Section name="labels" title="Labels of memories">
                <p class="meta">"One row for each memory that was considered for a prompt, with its rank, its ratings and its label: numbers, no texts."</p>
                <form class="form" method="post" action=StartExport::PATH>
                    {page_fields("/exports/{id}", "/export")}
                    {of_labels}
                    <div class="form-actions"><Button name="step" value=LABELS>"Export labels"</Button></div>
                </form>
            </Section>
            {static_html(table(&entries, kept_max))}
        };
        frame(shell, RailEntry::Insights, body)
    })
}

fn table(entries: &[Entry], kept_max: usize) -> impl IntoView + use<> {
    (!entries.is_empty()).then(|| {
        let rows = entries
            .iter()
            .map(|entry| {
                view! {
                    <tr>
                        <td class="table-main"><a href=format!("/exports/{}", entry.id)>{entry.title.clone()}</a></td>
                        <td class="meta">{entry.state.clone()}</td>
                        <td class="meta">{moment(entry.begun_at)}</td>
                    </tr>
                }
            })
            .collect::<Vec<_>>();
        view! {
            <Section name="exports" title="Recent">
                <Table caption="Exports, newest first" columns=vec![Column::text("Export"), Column::text("State"), Column::text("Started")] focusable=true>{rows}</Table>
                <p class="meta">{format!("The newest {kept_max} are kept until the server stops. You can export the same data again at any time.")}</p>
            </Section>
        }
    })
}
