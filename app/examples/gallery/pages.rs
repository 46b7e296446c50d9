//! All other pages, in each state.

use super::{
    props::{TITLES, connect, entries, log_props, refused, running, section, shell, stranger},
    sample::{self, log, long_log, me, session},
};
use app::{
    FormState, Shell, action, api_docs, error_page, session as session_page, sessions, settings, setup, sign_in, today,
};
use domain::{
    id::{ActionId, SessionId},
    role::Role,
    search::Line,
    session::Status,
    work_queue::Bucket,
};
use serde_json::Value;
use std::collections::HashMap;
use std::{error::Error, fs};
use wire::Code;

/// The page whose rendering time is limited, and a function that renders it.
pub fn hundred_events() -> (impl Fn(session_page::Props) -> String, session_page::Props) {
    let shell = shell();
    (move |props| session_page::page(&shell, props), log_props(running(), long_log(1, 100)))
}

/// All pages, as file name and HTML.
pub fn all() -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let shell = shell();
    let mut pages: Vec<(&str, String)> = Vec::new();

    pages.push(("setup-empty", setup::page(&stranger(), false, &FormState::default())));
    let form = refused(
        "",
        &[("workspace", "Northwind"), ("email", "ada@")],
        &[(Some("email"), "That is not an e-mail address."), (Some("password"), "At least 10 characters.")],
    );
    pages.push(("setup-failing", setup::page(&stranger(), false, &form)));
    pages.push((
        "sign-in",
        sign_in::page(&Shell { notice: Some("signed_out".into()), ..stranger() }, &sign_in::Props::default()),
    ));
    let form = refused("", &[("email", "ada@northwind.example")], &[(None, "That e-mail and password do not match.")]);
    let failing = sign_in::Props { next: Some("/today".into()), form, kept: None };
    pages.push(("sign-in-failing", sign_in::page(&stranger(), &failing)));
    let fields = vec![("text".to_owned(), "What is the stage of Acme?\nAnd who owns it?".to_owned())];
    let kept = sign_in::KeptForm { action: "/chat/01935f00-0000-7000-8000-000000000001/messages".into(), fields };
    pages.push(("sign-in-sent", sign_in::resend_page(&stranger(), &kept, "ada@acme.test", "/chat")));
    let props = sign_in::Props { kept: Some(kept), ..sign_in::Props::default() };
    pages.push(("sign-in-kept", sign_in::page(&stranger(), &props)));

    let sections =
        |counts: [u32; 5]| Bucket::ALL.into_iter().zip(counts).map(|(b, n)| section(b, n)).collect::<Vec<_>>();
    pages.push((
        "today-empty",
        today::page(
            &shell,
            today::Props { sections: sections([0; 5]), connect: Some(connect()), ..today::Props::default() },
        ),
    ));
    pages.push((
        "today",
        today::page(
            &shell,
            today::Props { counts: [2, 3, 2, 1, 4], sections: sections([2, 3, 2, 1, 4]), ..today::Props::default() },
        ),
    ));
    pages.push((
        "today-full",
        today::page(
            &shell,
            today::Props {
                counts: [20, 20, 20, 20, 20],
                sections: sections([20, 20, 20, 20, 20]),
                ..today::Props::default()
            },
        ),
    ));
    pages.push((
        "today-picked",
        today::page(
            &shell,
            today::Props {
                picked: Some(Bucket::Failed),
                counts: [2, 3, 2, 3, 4],
                sections: sections([2, 3, 2, 3, 4]),
                ..today::Props::default()
            },
        ),
    ));

    pages.extend(super::inbox::all(&shell)?);
    pages.extend(super::chat::all(&shell));

    pages.push((
        "sessions-empty",
        sessions::page(&shell, sessions::Props { connect: Some(connect()), ..sessions::Props::default() }),
    ));
    pages.push((
        "sessions",
        sessions::page(
            &shell,
            sessions::Props { entries: entries(12), next_cursor: Some("abc".into()), ..sessions::Props::default() },
        ),
    ));
    pages.push((
        "sessions-full",
        sessions::page(
            &shell,
            sessions::Props {
                entries: entries(100),
                is_continued: true,
                next_cursor: Some("abc".into()),
                ..sessions::Props::default()
            },
        ),
    ));
    let filter = sessions::Filter { line: Line::parse("zebra")?, ..sessions::Filter::default() };
    pages.push(("sessions-none", sessions::page(&shell, sessions::Props { filter, ..sessions::Props::default() })));

    let noticed = Shell { notice: Some("retried".into()), ..self::shell() };
    pages.push((
        "session-empty",
        session_page::page(&noticed, log_props(session(0, Status::Pending, "Weekly report", 0), Vec::new())),
    ));
    let mut props = log_props(running(), log());
    props.children = vec![
        session(4, Status::Completed, "Look up order 4733", 12),
        session(5, Status::Running, "Draft an answer", 3),
    ];
    props.parent = Some(session(8, Status::Running, "Morning round", 60));
    pages.push(("session", session_page::page(&shell, props)));
    let first: Vec<_> = log().into_iter().take(7).collect();
    pages.push(("session-live", session_page::page(&shell, log_props(running(), first))));
    // Each event alone, as the live tail renders it.
    let id = running().id.to_string();
    pages.push((
        "fragment-rows",
        log().into_iter().map(|e| session_page::rows_fragment(&id, &[e], &HashMap::new())).collect(),
    ));
    let mut ended = running();
    ended.status = Status::Completed;
    let mut props = log_props(ended, log());
    props.summary.rating = session_page::Rating::Skip;
    pages.push(("fragment-summary", session_page::moving_fragment(&shell, &props)));
    let mut props = log_props(running(), long_log(99_801, 200));
    props.has_earlier = true;
    props.summary.session.head_sequence = 100_000;
    props.summary.kind_counts = vec![
        ("agent.message".into(), 25_000),
        ("agent.tool_call".into(), 50_000),
        ("agent.thinking".into(), 25_000),
        ("session.error".into(), 3),
    ];
    pages.push(("session-full", session_page::page(&shell, props)));
    let mut props = log_props(session(3, Status::Failed, TITLES[5], 20), log());
    props.retries = vec![session(6, Status::Completed, "Triage support mail, again", 2)];
    pages.push(("session-failing", session_page::page(&shell, props)));

    pages.push((
        "actions-empty",
        action::list_page(&shell, action::ListProps { members: sample::members(), ..action::ListProps::default() }),
    ));
    let list = |n: u32| {
        let newest = |s: Status| wire::action::TaskStatus {
            action_id: ActionId(sample::uuid("01935f00-0000-7000-8000-0000000000a1")),
            session_id: Some(SessionId(sample::uuid("01935f00-0000-7000-8000-000000000001"))),
            status: Some(s),
            duration_ms: Some(83_000),
            error: None,
            recent_events: Vec::new(),
        };
        (0..n)
            .map(|i| {
                (
                    sample::action(
                        i,
                        [
                            "Triage support mail",
                            "Daily cash position",
                            "Weekly report for everybody who cares about numbers",
                        ][i as usize % 3],
                        (i % 3 != 1).then_some("scout"),
                    ),
                    Some(newest(Status::ALL[i as usize % 10])),
                )
            })
            .collect::<Vec<_>>()
    };
    pages.push((
        "actions",
        action::list_page(
            &shell,
            action::ListProps { actions: list(5), members: sample::members(), ..action::ListProps::default() },
        ),
    ));
    let form = refused(
        "create",
        &[("name", ""), ("outputConfig", "{broken"), ("slug", "Not A Slug")],
        &[
            (Some("name"), "1 to 200 characters."),
            (Some("outputConfig"), "This is not valid JSON (line 1)."),
            (Some("slug"), "Lower-case letters, digits and dashes."),
        ],
    );
    pages.push((
        "actions-failing",
        action::list_page(
            &shell,
            action::ListProps { actions: list(3), members: sample::members(), form, ..action::ListProps::default() },
        ),
    ));
    let one = |runs: u32, form: FormState| action::Props {
        action: sample::action(1, "Triage support mail", Some("scout")),
        task_status: (runs > 0).then(|| wire::action::TaskStatus {
            action_id: ActionId(sample::uuid("01935f00-0000-7000-8000-0000000000a1")),
            session_id: Some(SessionId(sample::uuid("01935f00-0000-7000-8000-000000000001"))),
            status: Some(Status::Failed),
            duration_ms: Some(83_000),
            error: Some("IMAP server closed the connection".into()),
            recent_events: Vec::new(),
        }),
        runs: entries(runs),
        has_more_runs: runs > 5,
        targets: action::Targets::default(),
        reviewing: action::ReviewOptions::default(),
        members: sample::members(),
        form,
    };
    pages.push(("action-empty", action::page(&shell, one(0, FormState::default()))));
    pages.push(("action", action::page(&shell, one(8, FormState::default()))));
    pages.push((
        "action-failing",
        action::page(
            &shell,
            one(2, refused("trigger", &[("input", "{\"since\": ")], &[(Some("input"), "At most 262,144 bytes.")])),
        ),
    ));

    let base_url = "http://127.0.0.1:4210".to_owned();
    pages.push((
        "settings",
        settings::page(
            &shell,
            settings::Props {
                members: sample::members(),
                tokens: sample::tokens(),
                base_url: base_url.clone(),
                ..settings::Props::default()
            },
        ),
    ));
    pages.push((
        "settings-token",
        settings::page(
            &Shell { notice: Some("token_created".into()), ..self::shell() },
            settings::Props {
                members: sample::members(),
                tokens: sample::tokens(),
                new_token: connect().token,
                base_url: base_url.clone(),
                ..settings::Props::default()
            },
        ),
    ));
    let member = Shell { viewer: Some(me(Role::Member)), ..self::shell() };
    pages.push((
        "settings-member",
        settings::page(&member, settings::Props { members: sample::members(), base_url, ..settings::Props::default() }),
    ));

    let document: Value = match fs::read_to_string("target/openapi.json") {
        Ok(text) => serde_json::from_str(&text)?,
        Err(_) => serde_json::from_str(include_str!("openapi.json"))?,
    };
    pages.push(("api-docs", api_docs::page(&shell, &document)));
    let failure = |code, has_sign_in| error_page::Failure {
        code,
        detail: None,
        request_id: "01935f02-7d1c-7b3e-9f51-2f6f7c1b9a10".into(),
        has_sign_in,
        again: None,
    };
    for (name, code, has_sign_in) in [
        ("error-404", Code::NotFound, true),
        ("error-500", Code::Internal, true),
        ("error-500-stranger", Code::Internal, false),
    ] {
        pages.push((name, error_page::page(&stranger(), &failure(code, has_sign_in))));
    }
    Ok(pages.into_iter().map(|(name, html)| (name.to_owned(), html)).collect())
}
