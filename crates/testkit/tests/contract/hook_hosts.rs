//! Hooks as hosts really call them: prompts that no person typed, subagents in the background, limits of the context.

use crate::hook::{payload, send};
use domain::{
    hook::Source,
    id::SessionId,
    limit::{ACTIVITY_LINES_MAX, HOOK_CONTEXT_BYTES_MAX, HOOK_CONTEXT_UNITS_MAX},
    session::{Status, Type},
};
use ledger::{
    event::{self as events, Append},
    hook::{Hook, record},
    human,
    memory::{self, Write},
    session::{self, ListSessions},
};
use serde_json::{Value, json};
use testkit::{Fixture, human as did, on_both_engines};

on_both_engines!(
    a_prompt_that_no_person_typed_is_not_recorded_as_a_persons,
    a_message_that_is_steered_into_a_turn_is_not_recorded_as_a_persons,
    a_turn_with_a_subagent_in_the_background_ends_once,
    the_context_keeps_the_limit_of_each_host_and_is_cut_by_whole_items,
);

async fn hooked(f: &Fixture) -> SessionId {
    let agents = ListSessions { session_type: Some(Type::Agent), ..ListSessions::default() };
    session::list(&f.ledger, &f.admin, agents).await.unwrap().items[0].id
}

/// Kind, text and origin of each prompt of the log.
async fn prompts(f: &Fixture, id: SessionId) -> Vec<(String, String, Option<String>)> {
    let log = f.log(id).await;
    let prompts = log.iter().filter_map(|event| {
        let metadata: Value = serde_json::from_str(&event.metadata).unwrap();
        let content: Value = serde_json::from_str(&event.content).unwrap();
        let origin = metadata["notTyped"].as_str().map(str::to_owned);
        (metadata["hook"] == "UserPromptSubmit")
            .then(|| (event.kind.clone(), content[0]["text"].as_str().unwrap().to_owned(), origin))
    });
    prompts.collect()
}

fn prompt(text: &str, turn: &str) -> Value {
    payload("UserPromptSubmit", json!({ "prompt": text, "prompt_id": turn }))
}

async fn a_prompt_that_no_person_typed_is_not_recorded_as_a_persons(f: Fixture) {
    let note = "<task-notification>\n<task-id>a1</task-id>\n<summary>done</summary>\n</task-notification>";
    let go_on = "Continue from where you left off.";
    human::start(&f.ledger, &f.member, crate::human::task(&f, "Close the books").await).await.unwrap();
    // A resumed session can begin with it: it gives the session no title.
    for (text, turn, typed) in [(go_on, "p-0", false), ("Fix the import.", "p-1", true), (note, "p-2", false)] {
        let answer = send(&f, &f.member, prompt(text, turn)).await.unwrap();
        assert_eq!(answer.additional_context.is_some(), typed, "{text}");
        assert_eq!(session::get(&f.ledger, &f.admin, hooked(&f).await).await.unwrap().status(), Status::Running);
    }
    let id = hooked(&f).await;
    assert_eq!(session::get(&f.ledger, &f.admin, id).await.unwrap().title, "ledger: Fix the import.");
    assert_eq!(
        prompts(&f, id).await,
        [
            ("external.event".to_owned(), go_on.to_owned(), Some("continued".to_owned())),
            ("user.message".to_owned(), "Fix the import.".to_owned(), None),
            ("external.event".to_owned(), note.to_owned(), Some("task_notification".to_owned())),
        ]
    );
    f.assert_verified().await;
    f.done().await;
}

async fn a_message_that_is_steered_into_a_turn_is_not_recorded_as_a_persons(f: Fixture) {
    let codex = |text: &str, turn: &str| {
        let sent = json!({ "session_id": "c", "hook_event_name": "UserPromptSubmit", "prompt": text, "turn_id": turn });
        Hook { source: Source::Codex, body: sent.to_string(), id: None, at: None }
    };
    for (text, turn) in [
        ("Add a sitemap.", "t-1"),
        ("In XML.", "t-1"),
        ("In XML.", "t-1"),
        ("<hook_prompt>go on", "t-1"),
        ("Thanks.", "t-2"),
    ] {
        record(&f.ledger, &f.member, codex(text, turn)).await.unwrap();
    }
    let said: Vec<_> = prompts(&f, hooked(&f).await).await;
    let said: Vec<_> = said.iter().map(|(kind, text, origin)| (&**kind, &**text, origin.as_deref())).collect();
    assert_eq!(
        said,
        [
            ("user.message", "Add a sitemap.", None),
            ("external.event", "In XML.", Some("steered")),
            ("external.event", "<hook_prompt>go on", Some("hook")),
            ("user.message", "Thanks.", None),
        ]
    );
    f.done().await;
}

async fn a_turn_with_a_subagent_in_the_background_ends_once(f: Fixture) {
    let stop = |said: &str, tasks: Value| {
        payload("Stop", json!({ "last_assistant_message": said, "background_tasks": tasks }))
    };
    let shell = json!({ "id": "b1", "type": "shell", "command": "npm run dev" });
    let agent = json!({ "id": "a1", "type": "subagent", "description": "look around" });
    let status = async || session::get(&f.ledger, &f.admin, hooked(&f).await).await.unwrap().status();
    send(&f, &f.member, prompt("Look around.", "p-1")).await.unwrap();
    send(&f, &f.member, stop("An agent looks around.", json!([shell, agent]))).await.unwrap();
    assert_eq!(status().await, Status::Running, "its subagent works");
    send(&f, &f.member, payload("SubagentStop", json!({ "agent_id": "a1" }))).await.unwrap();
    send(&f, &f.member, prompt("<task-notification>done</task-notification>", "p-2")).await.unwrap();
    assert_eq!(status().await, Status::Running);
    send(&f, &f.member, stop("There are 12 notes.", json!([shell]))).await.unwrap();
    assert_eq!(status().await, Status::Idle, "a shell that runs on keeps no turn open");
    let id = hooked(&f).await;
    let log = f.log(id).await;
    assert_eq!(log.iter().filter(|event| event.kind == "agent.message").count(), 2);
    let ends = log.iter().filter(|event| event.metadata.contains(r#""to":"idle""#)).count();
    assert_eq!(ends, 1, "{log:#?}");
    f.assert_verified().await;
    f.done().await;
}

async fn the_context_keeps_the_limit_of_each_host_and_is_cut_by_whole_items(f: Fixture) {
    let task = crate::human::task(&f, "Close the books").await;
    let working = human::start(&f.ledger, &f.member, task).await.unwrap().session.id;
    for (number, source) in Source::ALL.into_iter().enumerate() {
        for topic in 0..8 {
            let path = memory::path(&format!("topics/books{topic}.md")).unwrap();
            let text = format!("# Books\n\n- The books close on Friday {}\n", "um zwölf Uhr ".repeat(30));
            memory::write(&f.ledger, &f.operator, source.as_str(), path, Write { text, ..Write::default() })
                .await
                .unwrap();
        }
        for (round, sign) in ["é", "語", "😀", "x"].into_iter().enumerate() {
            let notes = (0..ACTIVITY_LINES_MAX).map(|n| did("human.marker", &format!("{n} {}", sign.repeat(300))));
            let append = Append { session_id: working, attempt: None, events: notes.collect() };
            events::append(&f.ledger, &f.member, append).await.unwrap();
            let prompt = if source == Source::Gemini { "BeforeAgent" } else { "UserPromptSubmit" };
            let sent = json!({
                "session_id": format!("s-{number}"), "hook_event_name": prompt,
                "prompt": "When do the books close?", "turn_id": format!("t-{round}"),
            });
            let hook = Hook { source, body: sent.to_string(), id: None, at: None };
            let context = record(&f.ledger, &f.member, hook).await.unwrap().additional_context.unwrap();
            let (size, max) = match source {
                Source::Codex => (context.len(), HOOK_CONTEXT_BYTES_MAX),
                _ => (context.encode_utf16().count(), HOOK_CONTEXT_UNITS_MAX),
            };
            assert!(size <= max && max == 10_000, "{source:?} {sign}: {size}");
            let activity = context.split("</recent-activity").next().unwrap();
            let lines: Vec<&str> = activity.lines().filter(|line| line.starts_with("- ")).collect();
            assert!(lines.iter().all(|line| line.ends_with('"')), "whole lines only: {lines:?}");
            let last = format!("marker \"{} {sign}", ACTIVITY_LINES_MAX - 1);
            assert!(lines.last().unwrap().contains(&last), "the newest are kept: {lines:?}");
            assert_eq!(context.matches("<item ").count(), context.matches("</item>").count());
            assert_eq!(context.matches("<memory ").count(), context.matches("</memory>").count());
            let bytes_of_all: usize = 200 * ACTIVITY_LINES_MAX * sign.len();
            assert_eq!(
                lines.len() < ACTIVITY_LINES_MAX,
                source == Source::Codex && bytes_of_all > max,
                "{source:?} {sign}"
            );
        }
    }
    f.assert_verified().await;
    f.done().await;
}
