//! /export: what to export, and the exports of this workspace that are still there.

use super::form::{Choice, fields};
use crate::{
    document::render,
    form::FormState,
    render::static_html,
    shell::{Place, Shell, frame},
    ui::{notice, page_head::page_head, time::moment},
};
use domain::Timestamp;
use leptos::prelude::*;

/// Fields that show their own errors.
const FIELDS: [&str; 11] = [
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
];

/// An export of the workspace, as a row.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Id of the export job, a UUIDv7.
    pub id: String,
    /// What it is: "SFT as JSON lines".
    pub title: String,
    /// Where it stands, in words.
    pub state: String,
    /// When it was begun.
    pub begun_at: Timestamp,
}

/// What /export shows.
#[derive(Debug, Clone)]
pub struct Props {
    /// What is chosen.
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
        let head = page_head("Training data".to_owned(), vec![("Insights".to_owned(), "/insights".to_owned())], ());
        let body = view! {
            {head}
            <p class="meta">"Export the prompts and answers of agents as training examples, with the feedback of people and reviewers. Rules remove secrets of known forms. Check the preview before you share the file."</p>
            <form class="form" method="post" action="/export">
                {notice::refused(form.general(&FIELDS))}
                {fields(&choice, &form)}
                <div class="form-actions">
                    <button class="button" type="submit" name="step" value="preview" data-look="primary">"Preview"</button>
                    <button class="button" type="submit" name="step" value="export">"Export"</button>
                    <span class="meta">"A preview writes no file."</span>
                </div>
            </form>
            {static_html(table(&entries, kept_max))}
        };
        frame(shell, Place::Insights, body)
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
            <section class="section" aria-labelledby="exports-title">
                <h2 id="exports-title">"Recent"</h2>
                <div class="table-frame" tabindex="0" role="group" aria-labelledby="exports-title">
                    <table class="table">
                        <thead><tr><th scope="col">"Export"</th><th scope="col">"State"</th><th scope="col">"Started"</th></tr></thead>
                        <tbody>{rows}</tbody>
                    </table>
                </div>
                <p class="meta">{format!("The newest {kept_max} are kept until the server stops. You can export the same data again at any time.")}</p>
            </section>
        }
    })
}
