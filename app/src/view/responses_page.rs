//! The page /views/{slug}/responses: counts of the answers, and the responses as a table.

use super::{answer_chart::answer_chart, response_filter::filter_form};
use crate::{
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{number, number::counted, shorten::one_line},
    ui::{
        badge::Badge,
        button::ButtonLink,
        empty::Empty,
        icon::Icon,
        notice::{Notice, Tone},
        page_head::PageHead,
        pager::Pager,
        section::Section,
        table::{Column, Table},
        time::moment,
    },
};
use domain::{
    Timestamp,
    response::ResponseStatus,
    response_chart::Chart,
    response_table::Column as AnswerColumn,
    session::Status,
    view::{Answers, Field},
};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::view::View;

pub use super::response_filter::ResponseFilter;

/// Longest answer in a cell, characters. The session has the whole answer.
const CELL_CHARS_MAX: usize = 200;
/// Longest question above a column, characters.
const HEAD_CHARS_MAX: usize = 60;

/// What a row of the table shows of a response.
#[derive(Debug, Clone)]
pub struct ResponseRow {
    /// Id of the response and of its session.
    pub id: String,
    /// The respondent, as far as the viewer may know.
    pub who: String,
    /// The address that a lead gave.
    pub email: Option<String>,
    /// What became of the response.
    pub status: ResponseStatus,
    /// Version that it answers.
    pub version: u64,
    /// Whether it came after its question had expired or was answered.
    pub late: bool,
    /// Time of the submission, or of the last save (UTC).
    pub at: Timestamp,
    /// Results of the safety gate for its ratings: "0.75", or why it is blocked.
    pub scores: Vec<String>,
    /// The answers, in the order of the columns.
    pub cells: Vec<String>,
}

/// The answer in a column, for people: with the labels of the version that it is for, and with groups of three digits
/// in large numbers. Empty without an answer.
pub fn answer_text(column: &AnswerColumn, fields: &[Field], answers: &Answers) -> String {
    match column.value(answers) {
        Some(value) if value.is_number() => number::display_text(value),
        _ => column.display_text(fields, answers),
    }
}

/// Data of the page.
#[derive(Debug, Clone)]
pub struct ResponsesProps {
    /// Title, slug and id of what was answered.
    pub form: View,
    /// Number of submitted responses, whatever the filter.
    pub submitted: u64,
    /// Number of drafts that can still be submitted.
    pub drafts: u64,
    /// Versions with responses, newest first.
    pub versions: Vec<u64>,
    /// The content of the page.
    pub filter: ResponseFilter,
    /// The questions above the columns.
    pub columns: Vec<String>,
    /// Number of questions that have no column, because the table would be too wide.
    pub left_out: usize,
    /// Whether a response has a score.
    pub has_scores: bool,
    /// The responses of this page, newest first.
    pub rows: Vec<ResponseRow>,
    /// Counts of the answers.
    pub charts: Vec<Chart>,
    /// Number of responses that the charts count.
    pub counted: u64,
    /// Whether there are older ones that the charts do not count.
    pub is_partial: bool,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    /// Whether the page begins after a cursor.
    pub is_continued: bool,
}

/// Renders the page.
pub fn responses_page(shell: &Shell, props: ResponsesProps) -> String {
    let title = format!("Responses to {}", one_line(&props.form.title, 100));
    render(shell, &title, || {
        let path = format!("/views/{}", props.form.slug);
        let crumbs = vec![("Forms".to_owned(), "/views".to_owned()), (one_line(&props.form.title, 60), path.clone())];
        let drafts = (props.drafts > 0).then(|| format!(", {} open", counted(props.drafts, "draft")));
        let total = format!("{} submitted{}", counted(props.submitted, "response"), drafts.unwrap_or_default());
        let has_any = props.submitted + props.drafts > 0 || !props.versions.is_empty();
        let csv = (!props.rows.is_empty()).then(|| {
            let href = |bom| props.filter.csv_href(props.form.id, bom);
            view! {
                <ButtonLink href=href(true) attr:download="">"CSV for spreadsheets"</ButtonLink>
                <ButtonLink href=href(false) attr:download="">"Download CSV"</ButtonLink>
            }
        });
        let body = if !has_any {
            let sentence = "No one has answered this form yet.";
            view! { <Empty sentence=sentence link=Some(("Open the form’s page", path.clone()))/> }.into_any()
        } else {
            view! {
                {filter_form(&path, &props.filter, &props.versions)}
                {filtered(&path, &props)}
            }
            .into_any()
        };
        let page = view! {
            <PageHead title=title.clone() crumbs=crumbs>{csv}</PageHead>
            <p class="meta">{total}</p>
            {body}
        };
        frame(shell, RailEntry::Actions, page)
    })
}

fn filtered(path: &str, props: &ResponsesProps) -> InertElement {
    if props.rows.is_empty() {
        let clear = Some(("Clear the filter", format!("{path}/responses")));
        return static_html(view! { <Empty sentence="No response matches the filter." link=clear/> });
    }
    // The charts are about all responses of the filter. They are shown once, above the first page.
    let charts = (!props.is_continued && !props.charts.is_empty() && props.counted > 0).then(|| charts(props));
    let left_out = (props.left_out > 0).then(|| {
        let text =
            format!("{} not shown here. The CSV file has all of them.", counted(props.left_out as u64, "question"));
        view! { <p class="meta">{text}</p> }
    });
    let newest = props.is_continued.then(|| props.filter.href(path, None));
    let older = props.next_cursor.as_deref().map(|cursor| props.filter.href(path, Some(cursor)));
    static_html(view! {
        {charts}
        <Section name="responses" title="Responses">
            {table(props)}
            {left_out}
            <Pager newest=newest older=older/>
        </Section>
    })
}

fn charts(props: &ResponsesProps) -> InertElement {
    let partial = props.is_partial.then(|| {
        let text = format!("Only the newest {} are counted.", counted(props.counted, "response"));
        view! { <Notice tone=Tone::Wait><p>{text}</p></Notice> }
    });
    let all: Vec<_> = props.charts.iter().enumerate().map(|(at, chart)| answer_chart(at, chart)).collect();
    static_html(view! {
        <Section name="answers" title="Answers">
            <p class="meta">{format!("Counted: {}.", counted(props.counted, "submitted response"))}</p>
            {partial}
            {all}
        </Section>
    })
}

fn status_badge(status: ResponseStatus) -> impl IntoView {
    let (picture, word, colour) = match status {
        ResponseStatus::Draft => (Icon::Draft, "Draft", Status::Draft),
        ResponseStatus::Submitted => (Icon::Completed, "Submitted", Status::Completed),
        ResponseStatus::Promoted => (Icon::Completed, "Promoted", Status::Completed),
        ResponseStatus::Abandoned => (Icon::Abandoned, "Abandoned", Status::Abandoned),
    };
    view! { <Badge picture=picture word=word colour=colour/> }
}

fn table(props: &ResponsesProps) -> InertElement {
    let mut columns = vec![Column::text("Respondent"), Column::text("Status"), Column::text("When")];
    if props.has_scores {
        columns.push(Column::number("Score"));
    }
    let heads: Vec<String> = props.columns.iter().map(|label| one_line(label, HEAD_CHARS_MAX)).collect();
    columns.extend(heads.iter().map(Column::text));
    let rows: Vec<_> = props.rows.iter().map(|row| response_row(row, &heads, props.has_scores)).collect();
    static_html(view! { <Table caption="Responses, newest first" columns=columns>{rows}</Table> })
}

fn response_row(row: &ResponseRow, heads: &[String], has_scores: bool) -> InertElement {
    let email =
        row.email.clone().map(|email| view! { <div class="meta" dir="auto">{one_line(&email, HEAD_CHARS_MAX)}</div> });
    let late = row.late.then(|| view! { <span class="meta">" · late"</span> });
    let score = has_scores.then(|| {
        view! { <td class="meta table-number" data-label="Score">{row.scores.join(", ")}</td> }
    });
    let cells = row.cells.iter().zip(heads).map(|(cell, head)| {
        view! { <td class="meta table-text" dir="auto" data-label=head.clone()>{one_line(cell, CELL_CHARS_MAX)}</td> }
    });
    let cells = cells.collect::<Vec<_>>();
    static_html(view! {
        <tr>
            <td class="table-main">
                <a class="quiet" dir="auto" href=format!("/sessions/{}", row.id)>{one_line(&row.who, HEAD_CHARS_MAX)}</a>
                {email}
            </td>
            <td>{status_badge(row.status)}{late}<div class="meta">{format!("Version {}", row.version)}</div></td>
            <td class="meta">{moment(row.at)}</td>
            {score}
            {cells}
        </tr>
    })
}
