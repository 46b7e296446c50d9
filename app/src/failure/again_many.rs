//! The page that says what running the failures of several causes again would do. Its form is that of the bulk changes
//! of sessions.

use super::{
    cause::TITLE_CHARS,
    list::PATH,
    parts::{title, window_label},
};
use crate::{
    document::render,
    paced_run::{PaceChoice, pace_fields},
    render::static_html,
    sessions::{BULK_PATH, session_fields},
    shell::{RailEntry, Shell, frame},
    text::{
        number::{counted, grouped},
        shorten::one_line,
    },
    ui::{
        button::{Button, ButtonLink, Look},
        notice::{Notice, Tone},
        page_head::PageHead,
        table::{Column, Table},
    },
};
use domain::{
    failure::cause::Window,
    id::{CauseId, SessionId},
    limit::BULK_SESSIONS_MAX,
    session::BulkVerb,
};
use leptos::prelude::*;
use std::collections::BTreeMap;

/// A cause of the selection.
#[derive(Debug, Clone)]
pub struct CauseRow {
    /// The cause.
    pub id: CauseId,
    /// Its error code.
    pub code: String,
    /// Its normalised message.
    pub message: String,
    /// Number of its sessions that would run again.
    pub ready: u64,
    /// Number of its sessions that cannot be run again.
    pub refused: u64,
    /// Whether it has more sessions than one request takes.
    pub has_more: bool,
}

/// Data of the page.
#[derive(Debug, Clone)]
pub struct CausesAgainProps {
    /// Time range of the failures.
    pub window: Window,
    /// The selected causes.
    pub causes: Vec<CauseRow>,
    /// Number of selected causes that do not exist any more.
    pub missing: u64,
    /// The sessions that would run again.
    pub sessions: Vec<SessionId>,
    /// Number of sessions that cannot be run again, by reason.
    pub refusals: BTreeMap<String, u64>,
    /// Address of the list in which the causes were selected.
    pub next: String,
    /// How fast the sessions can be run again.
    pub pace: PaceChoice,
}

/// Renders the page.
pub fn causes_again_page(shell: &Shell, props: CausesAgainProps) -> String {
    const TITLE: &str = "Run again?";
    render(shell, TITLE, || {
        let crumbs = vec![("Failures".to_owned(), props.next.clone())];
        let page = view! {
            <PageHead title=TITLE crumbs=crumbs/>
            {static_html(summary(&props))}
            {static_html(form(&props))}
            {static_html(table(&props))}
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

/// What would happen, as a sentence.
fn sentence(props: &CausesAgainProps) -> String {
    let sessions = props.sessions.len() as u64;
    let new = if sessions == 1 { "a new session" } else { "new sessions" };
    let causes = counted(props.causes.len() as u64, "cause");
    let mut words = vec![format!("{} of {causes} would run again as {new}.", counted(sessions, "session"))];
    if props.missing > 0 {
        let verb = if props.missing == 1 { "does" } else { "do" };
        words.push(format!("{} {verb} not exist any more.", counted(props.missing, "cause")));
    }
    if props.causes.iter().any(|cause| cause.has_more) {
        let most = grouped(BULK_SESSIONS_MAX as u64);
        words.push(format!("One request takes {most} sessions at most. The others are left for another one."));
    }
    words.join(" ")
}

fn summary(props: &CausesAgainProps) -> impl IntoView + use<> {
    let reasons = props.refusals.iter().map(|(reason, count)| {
        let text = format!("{} cannot: {reason}", grouped(*count));
        view! { <p>{text}</p> }
    });
    let reasons = reasons.collect::<Vec<_>>();
    let sentence = sentence(props);
    view! { <Notice tone=Tone::Wait><p>{sentence}</p>{reasons}</Notice> }
}

/// The form that runs the sessions that are counted, and no others.
fn form(props: &CausesAgainProps) -> impl IntoView + use<> {
    let (count, back) = (props.sessions.len() as u64, props.next.clone());
    if count == 0 {
        return view! { <p><ButtonLink href=back>"Back to the list"</ButtonLink></p> }.into_any();
    }
    let label = format!("Run {} again", grouped(count));
    view! {
        <form method="post" action=BULK_PATH>
            <input type="hidden" name="verb" value=BulkVerb::RunAgain.as_str()/>
            <input type="hidden" name="next" value=back.clone()/>
            {session_fields(props.sessions.clone())}
            {(count > 1).then(|| pace_fields(&props.pace))}
            <div class="form-actions">
                <Button look=Look::Primary name="step" value="run">{label}</Button>
                <ButtonLink href=back>"Back to the list"</ButtonLink>
            </div>
        </form>
    }
    .into_any()
}

fn table(props: &CausesAgainProps) -> impl IntoView + use<> {
    let rows: Vec<_> = props.causes.iter().map(|cause| row(props.window, cause)).collect();
    let columns = vec![Column::text("Cause"), Column::number("Run again"), Column::number("Cannot")];
    let caption = format!("Causes, and their failures: {}", window_label(props.window));
    view! { <Table caption=caption columns=columns>{rows}</Table> }
}

fn row(window: Window, cause: &CauseRow) -> impl IntoView + use<> {
    let title = title(&cause.code, &one_line(&cause.message, TITLE_CHARS));
    let more = cause.has_more.then(|| view! { <span class="meta">" and more"</span> });
    view! {
        <tr>
            <td class="table-main"><a class="quiet" href=format!("{PATH}/{}?window={window}", cause.id) dir="auto">{title}</a></td>
            <td class="table-number">{grouped(cause.ready)}{more}<span class="unit">" would run again"</span></td>
            <td class="table-number">{grouped(cause.refused)}<span class="unit">" cannot"</span></td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    fn session(number: u64) -> SessionId {
        format!("0190b0a1-0000-7000-8000-{number:012}").parse().unwrap()
    }

    fn props(sessions: u64, missing: u64, has_more: bool) -> CausesAgainProps {
        let cause = |number: u64, ready: u64| CauseRow {
            id: format!("0190b0a0-0000-7000-8000-{number:012}").parse().unwrap(),
            code: "auth".into(),
            message: "token <b>expired".into(),
            ready,
            refused: 2,
            has_more,
        };
        CausesAgainProps {
            window: Window::Day,
            causes: vec![cause(1, sessions), cause(2, 0)],
            missing,
            sessions: (1..=sessions).map(session).collect(),
            refusals: [("it is archived".to_owned(), 4)].into(),
            next: "/failures?window=24h&state=open".into(),
            pace: PaceChoice::default(),
        }
    }

    #[test]
    fn the_sentence_counts_sessions_and_causes() {
        assert_eq!(sentence(&props(1, 0, false)), "1 session of 2 causes would run again as a new session.");
        let many = sentence(&props(34, 1, true));
        assert!(many.starts_with("34 sessions of 2 causes would run again as new sessions. 1 cause does"), "{many}");
        assert!(many.contains("One request takes 500 sessions at most."), "{many}");
    }

    #[test]
    fn the_form_names_each_session_and_offers_a_pace_for_several() {
        let several = props(3, 0, false);
        let html = to_html(form(&several));
        assert_eq!(html.matches("name=\"session\"").count(), 3, "{html}");
        assert!(html.contains("name=\"verb\" value=\"run_again\"") && html.contains("name=\"atATime\""), "{html}");
        let next = "name=\"next\" value=\"/failures?window=24h&amp;state=open\"";
        assert!(html.contains("Run 3 again") && html.contains(next), "{html}");
        assert!(!to_html(form(&props(1, 0, false))).contains("atATime"));
        assert!(!to_html(form(&props(0, 0, false))).contains("<form"));
        let html = to_html((summary(&several), table(&several)));
        assert!(html.contains("4 cannot: it is archived") && html.contains("token &lt;b&gt;expired"), "{html}");
    }
}
