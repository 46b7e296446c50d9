//! The page /sessions/bulk: what would happen to several sessions, and what happened.

use crate::{
    FormState,
    document::render,
    paced_run::{PaceChoice, pace_fields},
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::number::{counted, grouped},
    ui::{
        button::{Button, ButtonLink, Look},
        notice::{Notice, Refused, Tone},
        page_head::PageHead,
        table::{Column, Table},
    },
};
use domain::{id::SessionId, limit::BULK_NAMED_MAX, session::BulkVerb};
use leptos::prelude::*;
use std::collections::BTreeMap;
use wire::session_bulk::{BulkSessionResult, BulkSessionsResult};

/// Path of the page and of its form.
pub const PATH: &str = "/sessions/bulk";
/// Sessions that the page lists. The others are counted.
const LISTED_MAX: usize = 40;

/// Data of the page.
#[derive(Debug, Clone)]
pub struct BulkProps {
    /// What is done to each session.
    pub verb: BulkVerb,
    /// The tag, or the name of the member.
    pub word: String,
    /// Fields with which the form is sent: the tag, or the member.
    pub fields: Vec<(&'static str, String)>,
    /// Verb and fields that undo a change of tags or of the assignee. `None` if nothing does.
    pub undo: Option<(BulkVerb, Vec<(&'static str, String)>)>,
    /// What happens to the sessions. What happened counts all of them, and can name fewer.
    pub result: BulkSessionsResult,
    /// Whether nothing has been done yet.
    pub is_preview: bool,
    /// Address of the list in which the sessions were selected.
    pub next: String,
    /// Why the request was refused.
    pub form: FormState,
    /// How fast sessions can be run again.
    pub pace: PaceChoice,
}

impl BulkProps {
    /// Number of sessions of the request.
    fn total(&self) -> u64 {
        let BulkSessionsResult { ready, done, already, refused, .. } = &self.result;
        ready + done + already + refused
    }
}

/// Renders the page.
pub fn bulk_page(shell: &Shell, props: BulkProps) -> String {
    let title = title(props.verb, props.is_preview);
    render(shell, title, || {
        let crumbs = vec![("Sessions".to_owned(), props.next.clone())];
        let content = if props.form.is_refused() {
            let messages = props.form.general(&[]);
            let back = view! { <p><ButtonLink href=props.next.clone()>"Back to the list"</ButtonLink></p> };
            (static_html(view! { <Refused messages=messages/> }), static_html(back)).into_any()
        } else {
            (static_html(summary(&props)), static_html(form(&props)), static_html(table(&props))).into_any()
        };
        let page = view! { <PageHead title=title crumbs=crumbs/>{content} };
        frame(shell, RailEntry::Sessions, page)
    })
}

const fn title(verb: BulkVerb, is_preview: bool) -> &'static str {
    match (verb, is_preview) {
        (BulkVerb::RunAgain, true) => "Run again?",
        (BulkVerb::RunAgain, false) => "Run again",
        (BulkVerb::Cancel, true) => "Cancel?",
        (BulkVerb::Cancel, false) => "Cancelled",
        (BulkVerb::Acknowledge, true) => "Mark as seen?",
        (BulkVerb::Acknowledge, false) => "Marked as seen",
        (BulkVerb::Tag, true) => "Tag?",
        (BulkVerb::Tag, false) => "Tagged",
        (BulkVerb::Untag, true) => "Remove a tag?",
        (BulkVerb::Untag, false) => "Tag removed",
        (BulkVerb::Assign | BulkVerb::Unassign, true) => "Assign?",
        (BulkVerb::Assign | BulkVerb::Unassign, false) => "Assigned",
        (BulkVerb::AssignBack, true) => "Assign back?",
        (BulkVerb::AssignBack, false) => "Assigned back",
    }
}

/// The past participle of a verb, with its tag or member.
fn participle(props: &BulkProps) -> String {
    match props.verb {
        BulkVerb::RunAgain => "run again".to_owned(),
        BulkVerb::Cancel => "cancelled".to_owned(),
        BulkVerb::Acknowledge => "marked as seen".to_owned(),
        BulkVerb::Tag => format!("tagged {}", props.word),
        BulkVerb::Untag => format!("without the tag {}", props.word),
        BulkVerb::Assign => format!("assigned to {}", props.word),
        BulkVerb::Unassign => "assigned to no one".to_owned(),
        BulkVerb::AssignBack => "assigned back".to_owned(),
    }
}

/// What would happen or happened, as a sentence.
fn sentence(props: &BulkProps) -> String {
    let BulkSessionsResult { ready, done, already, refused, .. } = props.result;
    let participle = participle(props);
    let one_or_many = |count: u64, one: &'static str, many: &'static str| if count == 1 { one } else { many };
    let mut parts = Vec::new();
    if props.is_preview {
        parts.push(format!("{} will be {participle}", grouped(ready)));
    } else {
        parts.push(format!("{} {} {participle}", grouped(done), one_or_many(done, "is", "are")));
    }
    if already > 0 {
        parts.push(format!("{} {} {participle} before", grouped(already), one_or_many(already, "was", "were")));
    }
    if refused > 0 {
        parts.push(format!("{} cannot be {participle}", grouped(refused)));
    }
    format!("{}: {}.", counted(props.total(), "session"), parts.join(", "))
}

/// Whether it can be undone, and what else it does. Nothing if nothing would happen.
fn consequence(props: &BulkProps) -> Option<&'static str> {
    if !props.is_preview || props.result.ready == 0 {
        return None;
    }
    Some(match props.verb {
        BulkVerb::RunAgain if props.result.ready <= BULK_NAMED_MAX as u64 => {
            "Each becomes a new session. The next page can undo it: it cancels the new sessions."
        }
        BulkVerb::RunAgain => "Each becomes a new session. So many cannot be undone at once.",
        BulkVerb::Cancel => "The sessions that they started are cancelled too. This cannot be undone; logs are kept.",
        BulkVerb::Acknowledge => "This cannot be undone. The failures are still in the log.",
        BulkVerb::AssignBack => "Each is assigned to whom it was assigned before. The logs keep both changes.",
        BulkVerb::Tag | BulkVerb::Untag | BulkVerb::Assign | BulkVerb::Unassign => {
            if props.result.ready <= BULK_NAMED_MAX as u64 {
                "The next page can undo it."
            } else {
                "So many cannot be undone at once."
            }
        }
    })
}

fn summary(props: &BulkProps) -> impl IntoView + use<> {
    let more = props.result.has_more.then_some("More sessions match than one request can take: these are the newest.");
    let tone = if props.is_preview { Tone::Wait } else { Tone::Good };
    let rest = [consequence(props), more].into_iter().flatten().map(|text| view! { <p>{text}</p> });
    let rest = rest.collect::<Vec<_>>();
    let sentence = sentence(props);
    view! { <Notice tone=tone><p>{sentence}</p>{rest}</Notice> }
}

/// Fields of a form with the ids of sessions.
pub fn session_fields(ids: Vec<SessionId>) -> Vec<AnyView> {
    let field = |id: SessionId| view! { <input type="hidden" name="session" value=id.to_string()/> }.into_any();
    ids.into_iter().map(field).collect()
}

/// What a form of the page sends.
struct Sent {
    verb: BulkVerb,
    fields: Vec<(&'static str, String)>,
    sessions: Vec<SessionId>,
    look: Look,
    label: String,
}

/// The form that confirms the preview, or that undoes what happened.
fn form(props: &BulkProps) -> impl IntoView + use<> {
    let back = props.next.clone();
    let sent = if props.is_preview { confirmation(props) } else { undo(props) };
    let Some(Sent { verb, fields, sessions, look, label }) = sent else {
        return view! { <p><ButtonLink href=back>"Back to the list"</ButtonLink></p> }.into_any();
    };
    let fields = fields.into_iter().map(|(name, value)| view! { <input type="hidden" name=name value=value/> });
    let fields = fields.collect::<Vec<_>>();
    let has_pace = props.is_preview && props.verb == BulkVerb::RunAgain && props.result.ready > 1;
    // Those that are shown and counted, and no others: a form that is sent twice, or later, does nothing else.
    view! {
        <form method="post" action=PATH>
            <input type="hidden" name="verb" value=verb.as_str()/>
            <input type="hidden" name="next" value=back.clone()/>
            {fields}
            {session_fields(sessions)}
            {has_pace.then(|| pace_fields(&props.pace))}
            <div class="form-actions">
                <Button look=look name="step" value="run">{label}</Button>
                <ButtonLink href=back>"Back to the list"</ButtonLink>
            </div>
        </form>
    }
    .into_any()
}

/// What confirms the preview. `None` if nothing would happen.
fn confirmation(props: &BulkProps) -> Option<Sent> {
    let ready = props.result.sessions.iter().filter(|session| session.outcome == "ready");
    let sessions: Vec<SessionId> = ready.map(|session| session.session_id).collect();
    let (count, counted) = (grouped(props.result.ready), counted(props.result.ready, "session"));
    let (look, label) = match props.verb {
        BulkVerb::RunAgain => (Look::Primary, format!("Run {count} again")),
        BulkVerb::Cancel => (Look::Danger, format!("Cancel {counted}")),
        BulkVerb::Acknowledge => (Look::Primary, format!("Mark {count} as seen")),
        BulkVerb::Tag => (Look::Primary, format!("Tag {counted}")),
        BulkVerb::Untag => (Look::Primary, format!("Remove the tag from {counted}")),
        BulkVerb::Assign => (Look::Primary, format!("Assign {counted} to {}", props.word)),
        BulkVerb::Unassign => (Look::Primary, format!("Assign {counted} to no one")),
        BulkVerb::AssignBack => (Look::Primary, format!("Assign {counted} as before")),
    };
    let fields = props.fields.clone();
    (props.result.ready > 0).then_some(Sent { verb: props.verb, fields, sessions, look, label })
}

/// What undoes what happened. `None` if nothing does, or if the page does not name all of the sessions.
fn undo(props: &BulkProps) -> Option<Sent> {
    let look = Look::Plain;
    if let Some((verb, fields)) = props.undo.clone() {
        // The page names those to which it was done first, and then those to which it had been done before.
        let changed = props.result.sessions.iter().filter(|session| session.outcome == "done");
        let changed: Vec<SessionId> = changed.map(|session| session.session_id).collect();
        let done = usize::try_from(props.result.done).ok()?;
        let sessions = changed.get(..done).filter(|ids| !ids.is_empty())?.to_vec();
        return Some(Sent { verb, fields, sessions, look, label: "Undo".to_owned() });
    }
    let sessions = undone_by_cancelling(props);
    let label = format!("Undo: cancel {}", counted(sessions.len() as u64, "new session"));
    let sent = Sent { verb: BulkVerb::Cancel, fields: Vec::new(), sessions, look, label };
    (!sent.sessions.is_empty()).then_some(sent)
}

/// The sessions whose cancelling undoes what happened. None if the page does not name all of them.
fn undone_by_cancelling(props: &BulkProps) -> Vec<SessionId> {
    let new = props.result.sessions.iter().filter(|session| session.outcome == "done");
    let new: Vec<SessionId> = new.filter_map(|session| session.new_session_id).collect();
    let is_whole = !props.is_preview && new.len() as u64 == props.result.done;
    if is_whole { new } else { Vec::new() }
}

fn table(props: &BulkProps) -> impl IntoView + use<> {
    let listed = props.result.sessions.len().min(LISTED_MAX);
    let rows: Vec<_> = props.result.sessions.iter().take(listed).map(|session| row(props, session)).collect();
    let (head, caption) = if props.is_preview {
        ("What happens", "Sessions, and what happens to each")
    } else {
        ("What happened", "Sessions, and what happened to each")
    };
    let columns = vec![Column::text("Session"), Column::text(head)];
    let unlisted = props.total().saturating_sub(listed as u64);
    let reasons = (unlisted > 0).then(|| reasons(&props.result.sessions));
    let unlisted = (unlisted > 0).then(|| {
        let text = format!("And {} more.", grouped(unlisted));
        view! { <p class="meta">{text}</p> }
    });
    view! {
        {reasons}
        <Table caption=caption columns=columns>{rows}</Table>
        {unlisted}
    }
}

/// Why sessions are refused, with the number of sessions for each reason.
fn reasons(sessions: &[BulkSessionResult]) -> impl IntoView + use<> {
    let mut counts = BTreeMap::<String, u64>::new();
    for reason in sessions.iter().filter_map(|session| session.reason.clone()) {
        *counts.entry(reason).or_default() += 1;
    }
    let items = counts.into_iter().map(|(reason, count)| {
        let text = format!("{} cannot: {reason}", grouped(count));
        view! { <li>{text}</li> }
    });
    let items = items.collect::<Vec<_>>();
    (!items.is_empty()).then(|| view! { <ul>{items}</ul> })
}

fn row(props: &BulkProps, session: &BulkSessionResult) -> impl IntoView + use<> {
    let href = format!("/sessions/{}", session.session_id);
    let title = match &session.title {
        Some(title) => view! { <a class="quiet" href=href dir="auto">{title.clone()}</a> }.into_any(),
        None => session.session_id.to_string().into_any(),
    };
    let participle = participle(props);
    let new = session.new_session_id.map(|id| format!("/sessions/{id}"));
    let what = match (session.outcome.as_str(), new) {
        ("done", Some(href)) => view! { <a href=href>"Runs again"</a> }.into_any(),
        ("already", Some(href)) => view! { <a href=href>"Was run again before"</a> }.into_any(),
        ("ready", _) if props.is_preview => format!("Will be {participle}").into_any(),
        ("ready", _) => format!("Was not {participle}").into_any(),
        ("done", None) => format!("Is {participle}").into_any(),
        ("already", None) => format!("Was {participle} before").into_any(),
        _ => format!("Cannot: {}", session.reason.clone().unwrap_or_default()).into_any(),
    };
    view! {
        <tr>
            <td class="table-main">{title}</td>
            <td class="table-text">{what}</td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    fn session(number: u64, outcome: &str) -> BulkSessionResult {
        BulkSessionResult {
            session_id: format!("0190b0a0-0000-7000-8000-{number:012}").parse().unwrap(),
            title: Some(format!("Report {number}")),
            outcome: outcome.to_owned(),
            new_session_id: None,
            reason: (outcome == "refused").then(|| "it has not ended".to_owned()),
        }
    }

    fn props(verb: BulkVerb, is_preview: bool, outcomes: &[(&str, u64)]) -> BulkProps {
        let of = |name: &str| {
            let counts = outcomes.iter().filter(|(outcome, _)| *outcome == name).map(|(_, count)| *count);
            counts.sum::<u64>()
        };
        let all = outcomes.iter().flat_map(|(outcome, count)| (0..*count).map(move |number| (number, *outcome)));
        let result = BulkSessionsResult {
            sessions: all.map(|(number, outcome)| session(number, outcome)).collect(),
            ready: of("ready"),
            done: of("done"),
            already: of("already"),
            refused: of("refused"),
            has_more: false,
        };
        BulkProps {
            verb,
            word: "billing".into(),
            fields: vec![("tag", "billing".to_owned())],
            undo: (verb == BulkVerb::Tag).then(|| (BulkVerb::Untag, vec![("tag", "billing".to_owned())])),
            result,
            is_preview,
            next: "/sessions?q=tea".into(),
            form: FormState::default(),
            pace: PaceChoice::default(),
        }
    }

    #[test]
    fn the_sentence_counts_what_will_happen_and_what_cannot() {
        let preview = props(BulkVerb::Cancel, true, &[("ready", 9), ("already", 1), ("refused", 2)]);
        let words = "12 sessions: 9 will be cancelled, 1 was cancelled before, 2 cannot be cancelled.";
        assert_eq!(sentence(&preview), words);
        assert_eq!(sentence(&props(BulkVerb::RunAgain, false, &[("done", 1)])), "1 session: 1 is run again.");
        assert!(consequence(&preview).is_some_and(|text| text.contains("cannot be undone")));
        assert_eq!(consequence(&props(BulkVerb::Cancel, true, &[("refused", 2)])), None);
    }

    #[test]
    fn forty_sessions_are_listed_and_all_that_are_ready_are_confirmed() {
        let preview = props(BulkVerb::Cancel, true, &[("ready", 42), ("refused", 3)]);
        let html = to_html(table(&preview));
        assert_eq!(html.matches("<tr><td").count(), 40, "{html}");
        assert!(html.contains("And 5 more.") && html.contains("3 cannot: it has not ended"), "{html}");
        let html = to_html(form(&preview));
        assert_eq!(html.matches("name=\"session\"").count(), 42, "{html}");
        assert!(!html.contains("atATime"), "only sessions that run again have a pace");
        assert!(to_html(form(&props(BulkVerb::RunAgain, true, &[("ready", 42)]))).contains("name=\"atATime\""));
        assert!(html.contains("Cancel 42 sessions") && html.contains("href=\"/sessions?q=tea\""), "{html}");
    }

    #[test]
    fn undo_of_a_tag_is_about_those_that_got_it_and_only_if_the_page_names_them() {
        let mut tagged = props(BulkVerb::Tag, false, &[("done", 3), ("refused", 1)]);
        // One of the three had the tag before.
        tagged.result.done = 2;
        tagged.result.already = 1;
        assert!(
            sentence(&tagged).contains("2 are tagged billing, 1 was tagged billing before"),
            "{}",
            sentence(&tagged)
        );
        let html = to_html(form(&tagged));
        assert_eq!(html.matches("name=\"session\"").count(), 2, "{html}");
        for part in ["name=\"verb\" value=\"untag\"", "name=\"tag\" value=\"billing\"", "Undo"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        tagged.result.done = 4;
        assert!(!to_html(form(&tagged)).contains("Undo"), "the page names three of four");
        let preview = props(BulkVerb::Tag, true, &[("ready", 2)]);
        assert!(to_html(form(&preview)).contains("Tag 2 sessions") && consequence(&preview).is_some());
        let back = props(BulkVerb::AssignBack, true, &[("ready", 2)]);
        assert!(sentence(&back).contains("2 will be assigned back"), "{}", sentence(&back));
        assert!(consequence(&back).is_some_and(|text| text.contains("assigned before")));
    }

    #[test]
    fn a_sentence_agrees_with_its_number() {
        for (count, done, will) in [
            (1, "1 session: 1 is cancelled.", "1 session: 1 will be cancelled."),
            (2, "2 sessions: 2 are cancelled.", "2 sessions: 2 will be cancelled."),
            (7, "7 sessions: 7 are cancelled.", "7 sessions: 7 will be cancelled."),
            (40, "40 sessions: 40 are cancelled.", "40 sessions: 40 will be cancelled."),
        ] {
            assert_eq!(sentence(&props(BulkVerb::Cancel, false, &[("done", count)])), done);
            assert_eq!(sentence(&props(BulkVerb::Cancel, true, &[("ready", count)])), will);
        }
    }

    #[test]
    fn sessions_that_run_again_are_cancelled_by_undo_if_the_page_names_them_all() {
        let mut ran = props(BulkVerb::RunAgain, false, &[("done", 2), ("refused", 1)]);
        for session in ran.result.sessions.iter_mut().take(2) {
            session.new_session_id = Some(session.session_id);
        }
        let html = to_html(form(&ran));
        assert!(html.contains("Undo: cancel 2 new sessions") && html.contains("value=\"cancel\""), "{html}");
        ran.result.done = 3;
        assert!(!to_html(form(&ran)).contains("Undo"));
        assert!(!to_html(form(&props(BulkVerb::Cancel, false, &[("done", 2)]))).contains("Undo"));
    }
}
