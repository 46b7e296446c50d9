//! The page /failures/{id}/run-again: what would happen to the sessions, and what happened.

use super::{cause::TITLE_CHARS, list::PATH};
use crate::{
    document::render,
    paced_run::{PaceChoice, pace_fields},
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{number, shorten::one_line},
    ui::{
        button::{Button, ButtonLink, Look},
        notice::{Notice, Tone},
        page_head::PageHead,
        table::{Column, Table},
    },
};
use domain::id::CauseId;
use leptos::prelude::*;
use wire::failure_cause::{CauseRunAgain, SessionRunAgain};

/// Data of the page.
#[derive(Debug, Clone)]
pub struct AgainProps {
    /// The cause.
    pub id: CauseId,
    /// Normalised message of the cause.
    pub message: String,
    /// What happens to each session.
    pub result: CauseRunAgain,
    /// Whether nothing has been started yet.
    pub is_preview: bool,
    /// How fast the sessions can be run again.
    pub pace: PaceChoice,
}

/// Renders the page.
pub fn again_page(shell: &Shell, props: AgainProps) -> String {
    let title = if props.is_preview { "Run again?" } else { "Run again" };
    render(shell, title, || {
        let href = format!("{PATH}/{}", props.id);
        let crumbs =
            vec![("Failures".to_owned(), PATH.to_owned()), (one_line(&props.message, TITLE_CHARS), href.clone())];
        let page = view! {
            <PageHead title=title crumbs=crumbs/>
            {static_html(summary(&props))}
            {static_html(form(&props, href))}
            {static_html(table(&props))}
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

/// What would happen or happened, as sentences.
fn summary(props: &AgainProps) -> impl IntoView + use<> {
    let CauseRunAgain { ready, started, already, refused, has_more, .. } = &props.result;
    let verb = |count: u64, one: &str, many: &str| (if count == 1 { one } else { many }).to_owned();
    let mut words = Vec::new();
    if props.is_preview {
        let new = verb(*ready, "a new session", "new sessions");
        words.push(format!("{} would run again as {new}.", number::counted(*ready, "session")));
    } else {
        words.push(format!("{} {} again.", number::counted(*started, "session"), verb(*started, "runs", "run")));
    }
    if *already > 0 {
        words.push(format!("{} {} run again before.", number::grouped(*already), verb(*already, "was", "were")));
    }
    if *refused > 0 {
        words.push(format!("{} cannot be run again; the reasons are below.", number::grouped(*refused)));
    }
    if *has_more {
        words.push("More sessions of this time are left for another run.".to_owned());
    }
    let tone = if props.is_preview { Tone::Wait } else { Tone::Good };
    view! { <Notice tone=tone><p>{words.join(" ")}</p></Notice> }
}

fn form(props: &AgainProps, href: String) -> impl IntoView + use<> {
    let ready = props.result.ready;
    if !props.is_preview || ready == 0 {
        return view! { <p><ButtonLink href=href>"Back to the cause"</ButtonLink></p> }.into_any();
    }
    // Those that are shown, and no others: a form that is sent twice, or later, starts nothing else.
    let shown = props.result.sessions.iter().filter(|session| session.outcome == "ready");
    let shown = shown.map(|session| {
        view! { <input type="hidden" name=format!("items[{}]", session.session_id) value="on"/> }
    });
    let label = format!("Run {} again", number::grouped(ready));
    view! {
        <form method="post" action=format!("{href}/run-again")>
            <input type="hidden" name="which" value="chosen"/>
            {shown.collect::<Vec<_>>()}
            {(ready > 1).then(|| pace_fields(&props.pace))}
            <div class="form-actions">
                <Button look=Look::Primary name="step" value="run">{label}</Button>
                <ButtonLink href=href.clone()>"Back"</ButtonLink>
            </div>
        </form>
    }
    .into_any()
}

fn table(props: &AgainProps) -> impl IntoView + use<> {
    let CauseRunAgain { ready, started, already, refused, sessions, .. } = &props.result;
    let rows: Vec<_> = sessions.iter().map(row).collect();
    let (head, caption) = if props.is_preview {
        ("What happens", "Sessions, and what happens to each")
    } else {
        ("What happened", "Sessions, and what happened to each")
    };
    let columns = vec![Column::text("Session"), Column::text(head)];
    // The address of what happened names a part of many sessions.
    let unlisted = (ready + started + already + refused).saturating_sub(rows.len() as u64);
    let unlisted = (unlisted > 0).then(|| {
        let text = format!("And {} more.", number::grouped(unlisted));
        view! { <p class="meta">{text}</p> }
    });
    view! {
        <Table caption=caption columns=columns>{rows}</Table>
        {unlisted}
    }
}

fn row(session: &SessionRunAgain) -> impl IntoView + use<> {
    let title = session.title.clone().unwrap_or_else(|| session.session_id.to_string());
    let new = session.new_session_id.map(|id| format!("/sessions/{id}"));
    let what = match (session.outcome.as_str(), new) {
        ("started", Some(href)) => view! { <a href=href>"Runs again"</a> }.into_any(),
        ("already", Some(href)) => view! { <a href=href>"Was run again before"</a> }.into_any(),
        ("ready", _) => "Would run again".into_any(),
        _ => format!("Cannot: {}", session.reason.clone().unwrap_or_default()).into_any(),
    };
    view! {
        <tr>
            <td class="table-main"><a class="quiet" href=format!("/sessions/{}", session.session_id) dir="auto">{title}</a></td>
            <td class="table-text">{what}</td>
        </tr>
    }
}
