//! Pages of conversations, in each state.

use super::sample::{ago, event, text, uuid};
use app::{
    Connect, FieldError, FormState, Shell,
    chat::{Conversation, Entry, Gate, ListProps, Props, list_page, page},
    session::Rating,
};
use domain::{id::SessionId, session::Status, thread::SummaryBy};
use serde_json::json;
use wire::thread::{MemoryStatus, Thread, ThreadSummary};

const LONG: &str = "x_very_long_identifier_without_any_space_that_a_machine_has_written_and_nobody_has_looked_at_yet";

fn thread(n: u32, status: Status, title: &str) -> Thread {
    Thread {
        id: SessionId(uuid(&format!("01935f00-0000-7000-8000-{n:012}"))),
        title: title.into(),
        agent_slug: Some("clerk".into()),
        action_id: None,
        status,
        end_reason: None,
        incognito: n % 3 == 2,
        turn_count: Some(2),
        channel: None,
        head_sequence: 14,
        created_by: "user:u1".into(),
        created_at: ago(i64::from(n) * 40 + 12),
        updated_at: ago(i64::from(n) * 40 + 1),
        completed_at: status.is_final().then(|| ago(1)),
    }
}

fn conversation(status: Status, has_failed: bool) -> Conversation {
    let mut events = vec![
        event(2, 0, "user.message", text("What is the stage of Acme?\nAnd who spoke with them last?"), json!({})),
        event(
            5,
            900,
            "agent.tool_call",
            json!([{ "type": "tool-call", "toolCallId": "c", "toolName": "search_entities", "input": {} }]),
            json!({}),
        ),
        event(
            7,
            2_400,
            "agent.message",
            text(
                "**Acme Corp** is in *Lead*.\n\n- Last call: Lee, on Friday\n- Next step: `send_offer`\n\n| Stage | Since |\n|---|---|\n| Lead | 3 November |",
            ),
            json!({}),
        ),
        event(9, 40_000, "user.message", text(&format!("راجع صندوق الوارد 📬 {LONG}")), json!({})),
    ];
    if has_failed {
        events.push(event(
            12,
            44_000,
            "session.error",
            text("the model's service answered 503: it is overloaded"),
            json!({}),
        ));
    } else if status != Status::Pending && status != Status::Running {
        events.push(event(12, 44_000, "agent.message", text("Nothing has come in."), json!({})));
    }
    let summary = ThreadSummary {
        title: "Acme".into(),
        turns: 2,
        duration_ms: 726_000,
        first_request: Some("What is the stage of Acme? And who spoke with them last?".into()),
        last_reply: Some("Nothing has come in.".into()),
        by: SummaryBy::Agent,
        closing: Some("You asked for Acme's stage: it is Lead. Nobody has spoken with them since Monday.".into()),
        closing_missing: None,
    };
    Conversation {
        thread: thread(1, status, "What is the stage of Acme?"),
        events,
        others: Default::default(),
        resend_id: String::new(),
        has_earlier: false,
        before: None,
        summary: status.is_final().then_some(summary),
        gate: (status == Status::WaitingHuman).then(|| Gate { id: "g".into(), is_question: true, may_decide: true }),
        memory: Some(MemoryStatus {
            thread_id: None,
            status: Some(status),
            incognito: false,
            turn_count: 2,
            event_count: 14,
            session_feedback_count: Some(0),
            own_feedback_count: Some(3),
            ratings_missing: None,
            feedback_backend: "sqlite".into(),
        }),
        rating: if status.is_final() { Rating::Ask } else { Rating::Silent },
    }
}

fn list(count: u32, with: bool, form: FormState) -> ListProps {
    let statuses =
        [Status::Idle, Status::Running, Status::Pending, Status::WaitingHuman, Status::Completed, Status::Failed];
    let titles = ["What is the stage of Acme?", LONG, "راجع صندوق الوارد 📬 اليوم", "Conversation with clerk"];
    let entry = |n: u32| Entry {
        thread: thread(n, statuses[n as usize % 6], titles[n as usize % 4]),
        last: Some(event(
            7,
            0,
            "agent.message",
            text("**Acme Corp** is in *Lead*, since the third of November, as far as the log tells."),
            json!({}),
        )),
    };
    let with = if with {
        vec![("clerk".into(), "clerk".into()), ("a1".into(), "scout · Triage support mail".into())]
    } else {
        Vec::new()
    };
    ListProps {
        entries: (0..count).map(entry).collect(),
        next_cursor: (count > 5).then(|| "c".into()),
        is_continued: false,
        with,
        chosen: None,
        connect: Connect {
            base_url: "http://127.0.0.1:4210".into(),
            token: None,
            may_create_token: true,
            agent_slug: "scout".into(),
            connection: None,
        },
        form,
    }
}

fn refused(form: &str, field: &str, typed: &str, message: &str) -> FormState {
    FormState {
        form: form.into(),
        values: [(field.to_owned(), typed.to_owned())].into(),
        errors: vec![FieldError { field: Some(field.into()), message: message.into() }],
    }
}

/// All pages, as file name and HTML.
pub fn all(shell: &Shell) -> Vec<(&'static str, String)> {
    let of = |conversation: Conversation| page(shell, Props { conversation, form: FormState::default() });
    let mut rated = conversation(Status::Completed, false);
    rated.rating = Rating::Positive;
    vec![
        ("chat-list", list_page(shell, list(8, true, FormState::default()))),
        ("chat-list-fresh", list_page(shell, list(0, false, FormState::default()))),
        ("chat-list-refused", list_page(shell, list(1, true, refused("begin", "message", " ", "needs a text")))),
        ("chat-queued", of(conversation(Status::Pending, false))),
        ("chat-thinking", of(conversation(Status::Running, false))),
        ("chat-rest", of(conversation(Status::Idle, false))),
        ("chat-failed-turn", of(conversation(Status::Idle, true))),
        ("chat-asks", of(conversation(Status::WaitingHuman, false))),
        ("chat-ended", of(conversation(Status::Completed, false))),
        ("chat-rated", of(rated)),
        (
            "chat-refused",
            page(
                shell,
                Props {
                    conversation: conversation(Status::Running, false),
                    form: refused("say", "text", "Typed ahead", "a turn is under way"),
                },
            ),
        ),
    ]
}
