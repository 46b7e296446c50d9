//! Queries of pages: everything that a page shows is read at one point in time.

use crate::{
    criteria_set::{brand_safety, compliance},
    entity::{acme, company},
    feedback_request::{ask, request},
    gate::{decide, gate_of, gated, says, staged},
    memory::{AGENT, put},
    thread::rested,
};
use chrono::TimeDelta;
use domain::{
    action::ActionStatus,
    event::NewEvent,
    gate::{GateState, Verdict},
    id::GateId,
    limit::UNDO_SECONDS_MAX,
    role::Role,
    session::{Status, Type},
    work_queue::Bucket,
};
use ledger::{
    action::{self, NewAction},
    entity::import::{self, NewImport},
    event::Read,
    feedback_request::{Form, NewRequest},
    gate::{self, GateFilter},
    member, memory,
    page::{
        self,
        inbox::{ListRequest, Opened, Selected, Waiting},
        memory::Selection,
        memory_document::Part,
        session::{LogWindow, OpensAt},
    },
    session::{self, Failure, ListSessions, NewSession},
    token,
    view::{self, NewView},
    work_queue::QueueScope,
};
use serde_json::{Value, json};
use store::{Access, Mode, Store};
use testkit::{Fixture, on_both_engines, text};
use tokio::sync::oneshot;

on_both_engines!(
    a_snapshot_shows_one_moment_whatever_is_committed_while_it_is_read,
    a_page_is_one_snapshot,
    a_page_of_what_is_set_up_is_one_snapshot,
    a_memory_is_searched_and_a_document_opened_in_one_snapshot,
    a_forms_page_offers_the_entities_of_its_questions,
    an_item_of_the_inbox_offers_the_entities_of_its_questions,
    settings_are_one_snapshot_and_the_persons_sign_ins,
    a_sessions_page_holds_what_is_around_it_and_names_its_error,
    a_page_that_begins_between_calls_and_results_begins_with_the_calls,
    a_sessions_retries_are_found_behind_any_number_of_newer_sessions,
    what_a_person_can_undo_is_found_behind_any_number_of_others_decisions,
    the_action_of_a_filter_is_offered_behind_any_number_of_newer_actions,
);

/// What the list of sessions has beside it.
const BESIDE: page::sessions::Beside<'static> = page::sessions::Beside { timezone: "UTC", people: true };

/// Pages read through `Store::snapshot` (`a_page_is_one_snapshot`). In this test another transaction commits between
/// two queries of a snapshot.
async fn a_snapshot_shows_one_moment_whatever_is_committed_while_it_is_read(f: Fixture) {
    let session = f.running().await;
    let (tenant_id, id, access) = (session.tenant_id, session.id, Access::from(&f.member));
    let store = Store::open(&f.engine.database(), Mode::Tool).await.unwrap();
    let (looked, has_looked) = oneshot::channel();
    let (wrote, has_written) = oneshot::channel::<()>();
    let reader = store.clone();
    let reading = tokio::spawn(async move {
        let read = reader.snapshot::<_, store::Error, _>(access, async move |conn| {
            let first = store::session::find(conn, tenant_id, id).await?.unwrap();
            looked.send(()).unwrap();
            has_written.await.unwrap();
            let again = store::session::find(conn, tenant_id, id).await?.unwrap();
            let log = store::event::before(conn, tenant_id, id, first.head_sequence + 9, &[], 9).await?;
            Ok((first, again, log.items.last().map(|event| event.sequence)))
        });
        read.await.unwrap()
    });
    has_looked.await.unwrap();
    // One transaction changes the session's row and its log.
    f.append(id, session.attempt, vec![text("meanwhile")]).await.unwrap();
    wrote.send(()).unwrap();
    let (first, again, newest) = reading.await.unwrap();
    assert_eq!(first, again);
    assert_eq!((newest, first.head_sequence), (Some(session.head_sequence), session.head_sequence));
    // The snapshot's transaction has ended: the next read sees the change.
    let now = store.read(access, async move |conn| store::session::find(conn, tenant_id, id).await).await.unwrap();
    assert_eq!(now.unwrap().head_sequence, session.head_sequence + 1);
    store.close().await;
    f.done().await;
}

/// Returns the data of a page, after asserting that reading it used one snapshot and no other query.
pub(crate) async fn one_snapshot<T>(f: &Fixture, page: impl Future<Output = ledger::Result<T>>) -> T {
    let before = f.ledger.stats();
    let read = page.await.unwrap();
    let after = f.ledger.stats();
    assert_eq!((after.reads - before.reads, after.snapshots - before.snapshots), (1, 1));
    read
}

/// Reads a page of one statement, which needs no snapshot.
async fn one_read<T>(f: &Fixture, page: impl Future<Output = ledger::Result<T>>) -> T {
    let before = f.ledger.stats().reads;
    let read = page.await.unwrap();
    assert_eq!(f.ledger.stats().reads - before, 1);
    read
}

async fn a_page_is_one_snapshot(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (waiting, gate) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    let (l, m, id) = (&f.ledger, &f.member, waiting.id);
    one_snapshot(&f, page::session::read(l, m, id, LogWindow::Fitting, |_| Vec::new())).await;
    one_snapshot(&f, page::session::around(l, m, id)).await;
    let all = |_: &[(String, u64)]| Vec::new();
    one_snapshot(&f, page::session::events(l, m, id, Read::default(), Some(all))).await;
    let filter = GateFilter::In(GateState::Open);
    let request = ListRequest { filter, everyone: true, line: None, cursor: None };
    let (list, detail) = one_snapshot(&f, page::inbox::read(l, m, request.clone(), Selected::First)).await;
    let Some(Opened::Gate(detail)) = detail else { panic!("{detail:?}") };
    assert_eq!(list.items.iter().map(|item| item.gate.id).collect::<Vec<_>>(), [gate.gate.id]);
    assert_eq!((detail.found.item.gate.id, detail.relations.len()), (gate.gate.id, 0));
    assert_eq!(detail.events.last().map(|event| event.sequence), Some(waiting.head_sequence));
    one_snapshot(&f, page::inbox::list(l, m, request)).await;
    let waits = one_snapshot(&f, page::inbox::waiting(l, m, id)).await;
    let Waiting::Gate(item) = waits else { panic!("{waits:?}") };
    assert_eq!(item.gate.id, gate.gate.id);
    let opened = one_snapshot(&f, page::inbox::opened(l, &f.operator, gate.gate.id)).await;
    let Opened::Gate(detail) = opened else { panic!("{opened:?}") };
    let waiting = one_snapshot(&f, page::inbox::count(l, &f.operator, 10)).await;
    assert_eq!((waiting.gates, waiting.questions), (1, 0));
    let offered = &detail.relations["company"];
    assert_eq!((&offered.options[..], offered.has_more), (&[(acme.id, "Acme".to_owned())][..], false));
    let talk = rested(&f).await;
    let waits = one_snapshot(&f, page::inbox::waiting(l, m, talk.id)).await;
    let Waiting::Session(found) = waits else { panic!("{waits:?}") };
    assert_eq!(found.id, talk.id);
    let list = one_snapshot(&f, page::chat::list(l, m, None)).await;
    assert_eq!(list.rows.iter().map(|row| row.session.id).collect::<Vec<_>>(), [talk.id]);
    one_snapshot(&f, page::chat::by_ids(l, m, vec![talk.id, id])).await;
    let talk = one_snapshot(&f, page::chat::read(l, m, talk.id, None, Vec::new())).await;
    assert_eq!((talk.turns, talk.slice.events.len() as u64), (1, talk.session.head_sequence));
    let others = page::chat::read(l, &f.other_member, talk.session.id, None, Vec::new()).await;
    assert!(matches!(others, Err(ledger::Error::NotFound("thread"))), "{others:?}");
    let list = one_snapshot(&f, page::entity::list(l, m, Some("company".into()), None, None)).await;
    assert_eq!(list.entities.iter().map(|entity| entity.id).collect::<Vec<_>>(), [acme.id]);
    let page = one_snapshot(&f, page::entity::read(l, m, acme.id, None)).await;
    assert_eq!((page.sessions.len(), page.tasks.len(), page.versions.len()), (1, 1, 1));
    let list = one_snapshot(&f, page::action::list(l, m, ActionStatus::Active, None, None, None)).await;
    assert_eq!(
        list.actions.iter().map(|(action, newest)| (action.id, newest.session_id)).collect::<Vec<_>>(),
        [(of.id, Some(id))]
    );
    let page = one_snapshot(&f, page::action::read(l, m, of.id)).await;
    assert_eq!((page.newest.session_id, page.runs.len(), page.form_options.targets.options.len()), (Some(id), 1, 1));
    one_snapshot(&f, page::find::read(l, m, "acme", 5)).await;
    let list = ListSessions { limit: 9, ..ListSessions::default() };
    one_snapshot(&f, page::sessions::read(l, m, list, BESIDE)).await;
    one_snapshot(&f, page::sessions::by_ids(l, m, vec![id], true)).await;
    let today = one_snapshot(&f, page::today::read(l, &f.operator, QueueScope::Mine, "UTC")).await;
    let waits = &today.sections[0];
    assert_eq!((waits.bucket, today.counts.needs_me, waits.rows.len()), (Bucket::NeedsMe, 1, 1));
    assert_eq!(waits.rows[0].gate.as_ref().map(|item| item.gate.session_id), Some(id));
    one_snapshot(&f, page::today::section(l, m, QueueScope::Mine, Bucket::Failed, "UTC")).await;
    let page = one_snapshot(&f, page::working_on::read(l, m, Some("nothing".into()), "UTC")).await;
    assert_eq!((page.tasks.items.len(), page.day.sessions.len()), (0, 0));
    let page = one_snapshot(&f, page::memory::runs(l, m, "scout")).await;
    assert!(page.runs.is_empty() && page.writer.is_none(), "{page:?}");
    let insights = one_snapshot(&f, page::insight::read(l, m, 7)).await;
    assert_eq!(insights.actions.iter().map(|action| action.id).collect::<Vec<_>>(), [of.id]);
    assert_eq!(insights.record.insights.days.len(), 7);
    f.done().await;
}

async fn a_memory_is_searched_and_a_document_opened_in_one_snapshot(f: Fixture) {
    put(&f, &f.operator, "topics/tea.md", 0, "green\n").await.unwrap();
    put(&f, &f.operator, "topics/tea.md", 1, "green\nblack\n").await.unwrap();
    let (l, m, at) = (&f.ledger, &f.member, memory::path("topics/tea.md").unwrap());
    let home = one_snapshot(&f, page::memory_home::read(l, m, None)).await;
    assert_eq!((home.agents.len(), home.found), (1, None));
    let home = one_snapshot(&f, page::memory_home::read(l, m, Some("black".into()))).await;
    assert_eq!(home.found.unwrap().iter().map(|found| found.line).collect::<Vec<_>>(), [2]);
    let document = |part| page::memory::memory(l, m, AGENT, Selection::Document(at.clone(), part));
    let history = |version, before| Part::History { version, before };
    let shown = one_snapshot(&f, document(Part::Text)).await.document.unwrap();
    assert_eq!((shown.text.as_str(), shown.versions.len(), shown.diff), ("green\nblack\n", 0, None));
    let shown = one_snapshot(&f, document(history(Some(1), None))).await.document.unwrap();
    assert_eq!((shown.versions.len(), shown.diff.map(|diff| diff.to.version)), (2, Some(1)));
    let shown = one_snapshot(&f, document(history(None, None))).await.document.unwrap();
    assert_eq!(shown.diff.map(|diff| (diff.to.version, diff.added, diff.removed)), Some((2, 1, 0)));
    let shown = one_snapshot(&f, document(history(None, Some(2)))).await.document.unwrap();
    assert_eq!((shown.versions.len(), shown.has_more_versions), (1, false));
    assert_eq!(shown.diff.map(|diff| diff.to.version), Some(1));
    let shown = one_snapshot(&f, document(Part::Origin)).await.document.unwrap();
    assert_eq!(shown.origin.iter().map(|line| line.version.version).collect::<Vec<_>>(), [1, 2]);
    let found = one_snapshot(&f, page::memory::memory(l, m, AGENT, Selection::Search("black".into()))).await;
    assert_eq!(found.found.unwrap().iter().map(|found| found.line).collect::<Vec<_>>(), [2]);
    let missing = document(history(Some(3), None)).await;
    assert!(matches!(missing, Err(ledger::Error::NotFound("version"))), "{missing:?}");
    f.done().await;
}

async fn a_page_of_what_is_set_up_is_one_snapshot(f: Fixture) {
    let (company, set, team) = (company(&f).await, brand_safety(&f).await, compliance(&f).await);
    let (l, m) = (&f.ledger, &f.member);
    let page = one_snapshot(&f, page::entity_type::read(l, m, company.id)).await;
    assert_eq!((page.of.id, page.types.len()), (company.id, 1));
    let page = one_snapshot(&f, page::criteria_set::read(l, m, set.id, None)).await;
    assert_eq!((&page.set, &page.versions[..], page.has_more_versions), (&set, std::slice::from_ref(&set), false));
    assert!(page.people.members.iter().any(|member| Some(member.user_id) == m.user_id()));
    let unknown = page::criteria_set::read(l, m, set.id, Some(2)).await;
    assert!(matches!(unknown, Err(ledger::Error::NotFound(_))), "{unknown:?}");
    let new = NewImport { source: "Name,Size\nAcme,1\n".into(), mapping: None };
    let begun = import::begin(l, m, company.id, new).await.unwrap();
    let page = one_snapshot(&f, page::import::read(l, m, begun.id)).await;
    assert_eq!((page.import.id, page.of.id), (begun.id, company.id));
    let by_token = one_snapshot(&f, page::settings::read(l, &f.worker, "")).await;
    assert_eq!((&by_token.groups[..], by_token.members.len()), (std::slice::from_ref(&team), 4));
    assert!(by_token.own.is_none() && by_token.administered.is_none());
    f.done().await;
}

async fn a_forms_page_offers_the_entities_of_its_questions(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let asks = json!([
        { "key": "customer", "label": "Which customer?", "type": "entity", "entityType": "company" },
        { "key": "why", "label": "Why?", "type": "long_text" },
    ]);
    let new = NewView { title: "Visit".into(), fields: serde_json::from_value(asks).unwrap(), ..NewView::default() };
    let (l, m) = (&f.ledger, &f.member);
    let draft = view::create(l, &f.operator, new).await.unwrap();
    let page = one_snapshot(&f, page::answer::read(l, m, &draft.slug)).await;
    assert_eq!((page.view_id, page.entities.len()), (draft.id, 0), "a draft offers nothing");
    view::publish(l, &f.operator, draft.id, None).await.unwrap();
    let page = one_snapshot(&f, page::answer::read(l, m, &draft.slug)).await;
    let offered = one_snapshot(&f, page::answer::entities(l, m, &draft.fields)).await;
    assert_eq!((page.entities.len(), &page.entities), (1, &offered));
    assert_eq!(offered["customer"], [(acme.id, "Acme".to_owned())]);
    let hidden = page::answer::read(l, &f.stranger, &draft.slug).await;
    assert!(matches!(hidden, Err(ledger::Error::NotFound("view"))), "{hidden:?}");
    f.done().await;
}

async fn an_item_of_the_inbox_offers_the_entities_of_its_questions(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let asks = json!([{ "key": "customer", "label": "Which customer?", "type": "entity", "entityType": "company" }]);
    let form = || Form::Fields(serde_json::from_value(asks.clone()).unwrap());
    let (parked, running) = (f.running().await, f.running().await);
    let blocking = ask(&f, &parked, NewRequest { form: form(), ..request(&parked, "parks", true) }).await.request;
    let open = ask(&f, &running, NewRequest { form: form(), ..request(&running, "runs", false) }).await.request;
    for id in [gate_of(&f, parked.id).await.gate.id, GateId(open.id.0)] {
        let opened = one_snapshot(&f, page::inbox::opened(&f.ledger, &f.operator, id)).await;
        let (request, offered) = match opened {
            Opened::Gate(detail) => (blocking.id, detail.entities),
            Opened::Question(question) => (question.asked.request.id, question.entities),
        };
        assert_eq!(offered["customer"], [(acme.id, "Acme".to_owned())], "{request}");
    }
    f.done().await;
}

async fn settings_are_one_snapshot_and_the_persons_sign_ins(f: Fixture) {
    let (l, invited) = (&f.ledger, "new@acme.test");
    member::invite(l, &f.admin, invited, Role::Member).await.unwrap();
    token::create_personal(l, &f.member, "mine", Role::Member, None).await.unwrap();
    let read = async |who| {
        let before = l.stats();
        let page = page::settings::read(l, who, "").await.unwrap();
        let after = l.stats();
        // Sign-ins reach across workspaces, so they are not part of the snapshot.
        assert_eq!((after.reads - before.reads, after.snapshots - before.snapshots), (2, 1));
        page
    };
    let admin = read(&f.admin).await;
    let administered = admin.administered.unwrap();
    let invitations = administered.invitations.iter().map(|link| link.email.as_str());
    assert_eq!((invitations.collect::<Vec<_>>(), administered.webhooks.len()), (vec![invited], 0));
    let (all, member) = (admin.own.unwrap().tokens, read(&f.member).await);
    assert!(member.administered.is_none(), "only admins see invitations and webhooks");
    let own = member.own.unwrap();
    assert_eq!((own.tokens.len(), own.tokens[0].name.as_str(), own.wants_email), (1, "mine", false));
    assert!(all.len() > 1 && all.contains(&own.tokens[0]));
    let mia = f.member.user_id().unwrap();
    assert_eq!(one_read(&f, page::member::read(l, &f.admin, mia)).await.user_id, mia);
    let hidden = page::member::read(l, &f.operator, mia).await;
    assert!(matches!(hidden, Err(ledger::Error::NotFound("member"))), "{hidden:?}");
    f.done().await;
}

async fn a_sessions_page_holds_what_is_around_it_and_names_its_error(f: Fixture) {
    let session = f.running().await;
    f.append(session.id, session.attempt, vec![text("a"), text("b")]).await.unwrap();
    let failure = Failure { attempt: session.attempt, message: "no".into(), code: None, usage: None };
    session::fail(&f.ledger, &f.worker, session.id, failure).await.unwrap();
    let repeat = session::retry(&f.ledger, &f.operator, session.id).await.unwrap();
    let child = NewSession { parent_id: Some(session.id), ..NewSession::of_type(Type::Tool) };
    let child = session::create(&f.ledger, &f.operator, child).await.unwrap();
    let read = async |id, part, kind: Option<&'static str>| {
        let kinds = move |_: &[(String, u64)]| kind.map(str::to_owned).into_iter().collect();
        page::session::read(&f.ledger, &f.member, id, part, kinds).await.unwrap()
    };
    let page = read(session.id, LogWindow::Fitting, None).await;
    let log = f.log(session.id).await;
    assert_eq!(page.events.slice.events, log);
    let error = log.iter().find(|event| event.kind == "session.error").unwrap();
    assert_eq!((page.opens_at, page.around.error_sequence), (OpensAt::Start, Some(error.sequence)));
    assert_eq!((page.has_earlier, page.has_later), (false, false));
    let around = page.around;
    assert_eq!(around.retries.iter().map(|session| session.id).collect::<Vec<_>>(), [repeat.id]);
    assert_eq!(around.children.iter().map(|session| session.id).collect::<Vec<_>>(), [child.id]);
    assert_eq!((around.parent.is_none(), around.gate.is_none(), around.has_more_children), (true, true, false));
    assert_eq!(around.failure.unwrap().session_id, session.id);
    assert_eq!(around.kind_counts.iter().map(|(_, count)| count).sum::<u64>(), log.len() as u64);
    let later = read(session.id, LogWindow::After(error.sequence - 1), Some("session.error")).await;
    assert_eq!(later.events.slice.events, std::slice::from_ref(error));
    assert_eq!((later.has_earlier, later.has_later, later.opens_at), (true, false, OpensAt::Start));
    let child = read(child.id, LogWindow::Fitting, None).await;
    assert_eq!((child.around.parent.map(|parent| parent.id), child.opens_at), (Some(session.id), OpensAt::End));
    let missing = page::session::around(&f.ledger, &f.stranger, session.id).await;
    assert!(matches!(missing, Err(ledger::Error::NotFound("session"))), "{missing:?}");
    f.done().await;
}

async fn a_page_that_begins_between_calls_and_results_begins_with_the_calls(f: Fixture) {
    let session = f.running().await;
    let pair = |call: &str| {
        let event = |kind: &str, part: &str| {
            let content = json!([{ "type": part, "toolCallId": call, "toolName": "find" }]);
            let content = Some(serde_json::value::to_raw_value(&content).unwrap());
            NewEvent { kind: kind.into(), content, ..text("") }
        };
        [event("agent.tool_call", "tool-call"), event("agent.tool_result", "tool-result")]
    };
    let [[call_a, result_a], [call_b, result_b]] = [pair("a"), pair("b")];
    f.append(session.id, session.attempt, vec![text("first"), call_a, call_b, text("between"), result_b, result_a])
        .await
        .unwrap();
    let log = f.log(session.id).await;
    let first = log.iter().position(|event| event.kind == "agent.tool_call").unwrap();
    let after = log[first + 2].sequence;
    let none = |_: &[(String, u64)]| Vec::new();
    let page = page::session::read(&f.ledger, &f.member, session.id, LogWindow::After(after), none).await.unwrap();
    assert_eq!(page.events.slice.events, log[first..], "the page begins with the first call");
    assert!(page.has_earlier);
    let all = None::<fn(&[(String, u64)]) -> Vec<String>>;
    let forward = Read { after_sequence: Some(after), ..Read::default() };
    let further = page::session::events(&f.ledger, &f.member, session.id, forward, all).await.unwrap();
    assert_eq!(further.slice.events, log[first + 3..], "who reads forward has the calls");
    let backward = Read { before_sequence: Some(after + 2), limit: 1, ..Read::default() };
    let earlier = page::session::events(&f.ledger, &f.member, session.id, backward, all).await.unwrap();
    assert_eq!(
        earlier.slice.events.first(),
        Some(&log[first + 1]),
        "a page that is read backwards begins with the call"
    );
    let only = |kind: &'static str| move |_: &[(String, u64)]| vec![kind.to_owned()];
    let results = only("agent.tool_result");
    let page = page::session::read(&f.ledger, &f.member, session.id, LogWindow::After(after), results).await.unwrap();
    assert_eq!(page.events.slice.events.len(), 2, "a filter without calls adds none");
    f.done().await;
}

async fn a_sessions_retries_are_found_behind_any_number_of_newer_sessions(f: Fixture) {
    let old = f.pending().await;
    session::cancel(&f.ledger, &f.operator, old.id, None).await.unwrap();
    let mut repeats = Vec::new();
    for _ in 0..2 {
        f.clock.advance(TimeDelta::seconds(1));
        repeats.insert(0, session::retry(&f.ledger, &f.operator, old.id).await.unwrap().id);
    }
    f.clock.advance(TimeDelta::seconds(1));
    let newer = [f.pending().await, f.pending().await, f.pending().await];
    let found = session::retries(&f.ledger, &f.member, old.id, 3).await.unwrap();
    assert_eq!(found.iter().map(|session| session.id).collect::<Vec<_>>(), repeats);
    let newest = session::retries(&f.ledger, &f.member, old.id, 1).await.unwrap();
    assert_eq!(newest.iter().map(|session| session.id).collect::<Vec<_>>(), repeats[..1]);
    assert_eq!(session::retries(&f.ledger, &f.member, newer[0].id, 3).await.unwrap(), []);
    let elsewhere = session::retries(&f.ledger, &f.stranger, old.id, 3).await;
    assert!(matches!(elsewhere, Err(ledger::Error::NotFound(_))), "{elsewhere:?}");
    f.done().await;
}

async fn what_a_person_can_undo_is_found_behind_any_number_of_others_decisions(f: Fixture) {
    gate::set_undo_seconds(&f.ledger, &f.admin, UNDO_SECONDS_MAX).await.unwrap();
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let mut mine = Vec::new();
    for by in [f.admin, f.admin, f.admin, f.operator, f.operator] {
        f.clock.advance(TimeDelta::seconds(1));
        let (session, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
        assert_eq!(session.status(), Status::WaitingHuman);
        decide(&f, &by, item.gate.id, says(Verdict::Approve)).await.unwrap();
        if by == f.operator {
            mine.insert(0, item.gate.id);
        }
    }
    let held = async |scope, limit| {
        let held = gate::held(&f.ledger, scope, limit).await.unwrap();
        held.into_iter().map(|item| item.gate.id).collect::<Vec<_>>()
    };
    assert_eq!(held(&f.operator, 3).await, mine);
    assert_eq!(held(&f.operator, 1).await, mine[..1]);
    assert_eq!(held(&f.admin, 9).await.len(), 3);
    assert_eq!((held(&f.member, 3).await, held(&f.worker, 3).await), (vec![], vec![]));
    gate::undo(&f.ledger, &f.operator, mine[0]).await.unwrap();
    assert_eq!(held(&f.operator, 3).await, mine[1..]);
    // The time to undo is over, although no sweep has run yet.
    f.clock.advance(TimeDelta::seconds(i64::from(UNDO_SECONDS_MAX)));
    assert_eq!(held(&f.operator, 3).await, []);
    f.done().await;
}

async fn the_action_of_a_filter_is_offered_behind_any_number_of_newer_actions(f: Fixture) {
    let make = |name: String| {
        let new = NewAction { name, ..NewAction::default() };
        action::create(&f.ledger, &f.operator, new)
    };
    let first = make("First".to_owned()).await.unwrap();
    f.clock.advance(TimeDelta::seconds(1));
    for n in 0..200 {
        make(format!("Newer {n}")).await.unwrap();
    }
    let list = |action_id| ListSessions { action_id, limit: 9, ..ListSessions::default() };
    let all = one_snapshot(&f, page::sessions::read(&f.ledger, &f.member, list(None), BESIDE)).await;
    assert!(all.actions.iter().all(|action| action.id != first.id), "all actions are offered");
    let filtered = one_snapshot(&f, page::sessions::read(&f.ledger, &f.member, list(Some(first.id)), BESIDE)).await;
    assert_eq!(filtered.actions.len(), all.actions.len() + 1);
    assert_eq!(filtered.actions.last().map(|action| action.id), Some(first.id));
    let newest = all.actions[0].id;
    let filtered = one_snapshot(&f, page::sessions::read(&f.ledger, &f.member, list(Some(newest)), BESIDE)).await;
    assert_eq!(filtered.actions.len(), all.actions.len(), "an action is offered twice");
    f.done().await;
}
