//! Props that several pages of the gallery share.

use super::sample::{self, ago, log, me, now, session};
use app::{FieldError, FormState, SessionEntry, Shell, Theme, session as session_page, today};
use domain::{role::Role, session::Status, work_queue::Bucket};

/// The shell of a signed-in admin.
pub fn shell() -> Shell {
    Shell {
        css_href: "/style/main.css".into(),
        pages_css_href: "/style/pages.css".into(),
        js_href: "/pkg/shiftbook.js".into(),
        wasm_href: "/pkg/shiftbook_bg.wasm".into(),
        tree_js_href: "/pkg/tree.js".into(),
        scrub_js_href: "/pkg/scrub.js".into(),
        nonce: "gallery".into(),
        theme: Theme::System,
        viewer: Some(me(Role::Admin)),
        working_on: None,
        workspaces: Vec::new(),
        needs_me: 0,
        saved: Vec::new(),
        live_mark: String::new(),
        notice: None,
        now: now(),
        form_key: "key".into(),
    }
}

/// The shell of a visitor who is not signed in.
pub fn stranger() -> Shell {
    Shell { viewer: None, ..shell() }
}

/// The state of a refused form.
pub fn refused(form: &str, values: &[(&str, &str)], errors: &[(Option<&str>, &str)]) -> FormState {
    FormState {
        form: form.into(),
        values: values.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        errors: errors
            .iter()
            .map(|(field, message)| FieldError { field: field.map(str::to_owned), message: (*message).to_owned() })
            .collect(),
    }
}

/// Session titles: usual, long, right-to-left, without spaces.
pub const TITLES: [&str; 6] = [
    "Triage support mail of 20 November",
    "Find duplicates in the customer list and propose merges for everything above 95 % similarity, leaving the rest for a person to look at in the morning",
    "Daily cash position",
    "راجع صندوق الوارد 📬 اليوم",
    "Reconcile invoices with bank statement",
    "x_very_long_identifier_without_any_space_that_a_machine_has_written_into_the_title_field_and_nobody_has_looked_at_yet",
];

/// Sessions with each status.
pub fn entries(count: u32) -> Vec<SessionEntry> {
    (0..count)
        .map(|n| {
            let status = Status::ALL[n as usize % 10];
            let title = TITLES[n as usize % TITLES.len()];
            SessionEntry {
                action_name: Some("Triage support mail".into()),
                ..SessionEntry::new(session(n, status, title, i64::from(n) * 37 + 3))
            }
        })
        .collect()
}

/// How to connect an agent, without a token.
pub fn connect() -> app::Connect {
    app::Connect {
        base_url: "http://127.0.0.1:4210".into(),
        token: None,
        may_create_token: true,
        agent_slug: "scout".into(),
        connection: None,
    }
}

/// A section of Today with this many entries.
pub fn section(bucket: Bucket, count: u32) -> today::Section {
    let status = bucket.statuses().first().copied().unwrap_or(Status::Pending);
    let sessions = if bucket == Bucket::Delegatable { 0 } else { count };
    let log = log();
    today::Section {
        bucket,
        progress: Default::default(),
        sessions: (0..sessions)
            .map(|n| SessionEntry {
                action_name: Some("Triage support mail".into()),
                last_event: log.get(n as usize * 2 + 5).cloned(),
                failure: (bucket == Bucket::Failed).then(|| sample::failure(n)),
                ..SessionEntry::new(session(
                    n + 1,
                    bucket.statuses().get(n as usize % 2).copied().unwrap_or(status),
                    TITLES[n as usize % 6],
                    i64::from(n) * 47 + 6,
                ))
            })
            .collect(),
        actions: (0..count - sessions)
            .map(|n| {
                sample::action(
                    n,
                    ["Triage support mail", "Daily cash position", "Weekly report"][n as usize % 3],
                    Some("scout"),
                )
            })
            .collect(),
        gates: Default::default(),
        has_more: count > 5,
        total: (count > 5).then_some(1_240),
        everyone: false,
        unassigned_failures: 0,
    }
}

/// The page of a session with these events.
pub fn log_props(session: wire::session::Session, events: Vec<wire::event::Event>) -> session_page::Props {
    session_page::Props {
        summary: session_page::Summary {
            gate: None,
            may_forget: true,
            may_share: true,
            may_label: true,
            assignee: None,
            rating: if session.status.is_final() { session_page::Rating::Ask } else { session_page::Rating::Silent },
            failure: matches!(session.status, Status::Failed | Status::Expired).then(|| sample::failure(0)),
            session,
            action_name: Some("Triage support mail".into()),
            action_status: None,
            promoted: None,
            promotion_waits_at: None,
            output: None,
            timeline: events.clone(),
            shown: (0, 0),
            offer: Default::default(),
            alike: None,
            error_sequence: None,
            kind_counts: Vec::new(),
        },
        events,
        opens_at: Default::default(),
        titles: Default::default(),
        is_rated: false,
        has_earlier: false,
        has_later: false,
        kinds: String::new(),
        find: Default::default(),
        parent: None,
        children: Vec::new(),
        has_more_children: false,
        graph: Default::default(),
        retries: Vec::new(),
        promotion: None,
        calls: Vec::new(),
        form: FormState::default(),
        progress_script: String::new(),
    }
}

/// A running session.
pub fn running() -> wire::session::Session {
    let mut running = session(1, Status::Running, TITLES[0], 20);
    running.started_at = Some(ago(19));
    running
}
