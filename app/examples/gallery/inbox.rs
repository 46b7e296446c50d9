//! Pages of the inbox, in each state.

use super::sample::{ago, log, now};
use app::{
    FieldError, FormState, Shell,
    inbox::{self, Detail, ItemFilter, List, Props},
};
use chrono::TimeDelta;
use serde_json::{Value, json};
use std::{collections::BTreeMap, error::Error};
use wire::approval::{Approval, ApprovalDetail};

type Made<T> = Result<T, Box<dyn Error>>;

fn approval(n: u32, more: Value) -> Made<Approval> {
    let mut item = json!({
        "id": format!("01935f00-0000-7000-8000-{n:012}"), "kind": "output", "state": "open",
        "sessionId": format!("01935f01-0000-7000-8000-{n:012}"), "actionId": "01935f00-0000-7000-8000-0000000000a1",
        "actionName": "Qualify leads", "agentSlug": "scout", "entityId": format!("01935f02-0000-7000-8000-{n:012}"),
        "entityTitle": format!("Acme Corp {n}"), "title": "Qualify leads", "digest": format!("{n:064x}"), "score": null, "flags": [],
        "similarKey": format!("one {n}"), "reviewers": [{"kind": "group", "id": "01890000-0000-7000-8000-0000000000d2", "name": "Sales leads"}], "quorum": 1, "approvals": 0,
        "mayDecide": true, "mayNotDecideBecause": null, "requestedBy": "system", "openedAt": ago(i64::from(n) * 9 + 4),
        "dueAt": null, "remindedAt": null, "escalatedAt": null, "snoozedUntil": null, "heldUntil": null, "settledAt": null,
        "decision": null, "proposed": {"stage": "Won", "amount": 12000},
        "task": {"kind": "output", "stagedOutput": {"stage": "Won", "amount": 12000}},
    });
    if let (Some(item), Value::Object(more)) = (item.as_object_mut(), more) {
        item.extend(more);
    }
    // Raw JSON can be deserialized only from text.
    Ok(serde_json::from_str(&item.to_string())?)
}

fn call(n: u32, tool: &str, input: Value) -> Made<Approval> {
    let task = json!({"kind": "tool", "pausedToolCall": {"toolCallId": "c", "toolName": tool, "toolInput": input}});
    let more =
        json!({"kind": "tool", "title": tool, "entityId": null, "entityTitle": null, "proposed": input, "task": task});
    approval(n, more)
}

fn question(n: u32) -> Made<Approval> {
    let message = "Two customers are called Acme. Which one is meant?";
    let task = json!({"kind": "question", "question": {"message": message}});
    approval(
        n,
        json!({"kind": "question", "title": message, "entityId": null, "entityTitle": null, "proposed": null, "task": task}),
    )
}

const LONG: &str = "x_very_long_identifier_without_any_space_that_a_machine_has_written_into_the_title_field_and_nobody_has_looked_at_yet";

fn normal() -> Made<Vec<Approval>> {
    let due = |minutes| json!(now() + TimeDelta::minutes(minutes));
    Ok(vec![
        approval(1, json!({"dueAt": due(42), "flags": ["claim-safety: unsupported"], "score": 0.75}))?,
        call(
            2,
            "send_mail",
            json!({"to": "lee@customer.example", "subject": "Re: Wrong size", "body": "Hello Lee,\n\nwe are sorry."}),
        )?,
        question(3)?,
        approval(4, json!({"quorum": 2, "approvals": 1, "entityTitle": "راجع صندوق الوارد 📬 اليوم"}))?,
        approval(
            5,
            json!({"mayDecide": false, "mayNotDecideBecause": "only the reviewers of this item can decide it", "entityTitle": LONG}),
        )?,
    ])
}

fn full() -> Made<Vec<Approval>> {
    let mut items = normal()?;
    for n in 10..60 {
        let stage = if n == 33 { "Lost" } else { "Won" };
        let values = json!({"stage": stage, "owner": format!("owner {n}")});
        let task = json!({"kind": "output", "stagedOutput": values});
        items.push(approval(n, json!({"similarKey": "leads", "proposed": values, "task": task}))?);
    }
    Ok(items)
}

fn detail(approval: Approval, form: FormState) -> Made<Detail> {
    let entity = json!({
        "id": "01890000-0000-7000-8000-0000000000d3", "typeId": "01890000-0000-7000-8000-0000000000d4", "typeSlug": "deals", "title": "Acme Corp 1", "fields": {"stage": "Lead", "amount": 12000, "note": "Called in May."},
        "version": 3, "createdBy": "user:u1", "updatedBy": "user:u1", "createdAt": ago(9_000), "updatedAt": ago(200),
    });
    let at = ago(300);
    let item: ApprovalDetail = serde_json::from_str(&json!({
        "approval": approval, "entity": approval.entity_id.as_ref().map(|_| entity),
        "fields": [
            {"slug": "stage", "name": "Stage", "type": "select", "options": ["Lead", "Won", "Lost"]},
            {"slug": "amount", "name": "Amount", "type": "number"}, {"slug": "closes", "name": "Closes", "type": "date"},
            {"slug": "note", "name": "Note", "type": "text"},
        ],
        "dimensions": [{"slug": "claim-safety", "name": "Claim safety", "type": "select", "options": [{"value": "pass"}, {"value": "fail", "hardBlock": true}]}],
        "decisions": [], "denialsMax": 3, "undoSeconds": 5,
        "denials": [{"gateId": "01890000-0000-7000-8000-0000000000d1", "note": "The amount has no source. Name the mail it comes from.", "by": "ada@northwind.example", "at": at}],
    }).to_string())?;
    let events = log().into_iter().skip(4).take(8).collect();
    Ok(Detail {
        item,
        next: None,
        goes_on: false,
        events,
        titles: Default::default(),
        relations: Default::default(),
        entities: app::form_page::EntityOptions::new(),
        now: now(),
        timezone: "UTC".to_owned(),
        viewer_id: None,
        styles: String::new(),
        schema: None,
        form,
    })
}

fn rich(n: u32) -> Made<Approval> {
    let values = json!({
        "stage": "Won", "amount": 12000, "closes": "2026-12-01", "note": "Signed on the call.\nPurchase order follows.",
        "claim-safety": "pass", "lines": [{"sku": "A-1", "count": 3}], "urgent": true,
    });
    let task = json!({"kind": "output", "stagedOutput": values});
    approval(
        n,
        json!({"proposed": values, "task": task, "flags": ["claim-safety: unsupported"], "score": 0.75, "dueAt": now() + TimeDelta::minutes(42)}),
    )
}

fn props(items: Vec<Approval>, detail: Option<Detail>) -> Props {
    let current = detail.as_ref().map(|detail| detail.item.approval.id.to_string());
    let list = List { items, now: now(), current, ..List::default() };
    Props { list, detail, opened: false }
}

/// All pages, as file name and HTML.
pub fn all(shell: &Shell) -> Made<Vec<(&'static str, String)>> {
    let shell = &Shell { needs_me: 5, ..shell.clone() };
    let nothing = Shell { needs_me: 0, ..shell.clone() };
    let one = |item| detail(item, FormState::default());
    let mut pages = vec![("inbox-empty", inbox::page(&nothing, props(Vec::new(), None)))];
    let mut items = normal()?;
    items[0] = rich(1)?;
    pages.push(("inbox", inbox::page(shell, props(items.clone(), Some(one(rich(1)?)?)))));
    pages
        .push(("inbox-item", inbox::page(shell, Props { opened: true, ..props(items.clone(), Some(one(rich(1)?)?)) })));
    pages.push((
        "inbox-tool",
        inbox::page(shell, Props { opened: true, ..props(items.clone(), Some(one(items[1].clone())?)) }),
    ));
    pages.push((
        "inbox-question",
        inbox::page(shell, Props { opened: true, ..props(items.clone(), Some(one(items[2].clone())?)) }),
    ));
    let decision = json!({"number": 1, "decision": "deny", "undoes": null, "userId": "01935f04-0000-7000-8000-000000000003", "email": "lin@northwind.example", "value": null, "note": "Not signed yet.", "at": ago(0)});
    let decided = approval(1, json!({"state": "settled", "mayDecide": false, "decision": decision}))?;
    pages.push((
        "inbox-decided",
        inbox::page(shell, Props { opened: true, ..props(items.clone(), Some(one(decided)?)) }),
    ));
    let held = |n| {
        approval(
            n,
            json!({"state": "held", "mayDecide": false, "heldUntil": now() + TimeDelta::seconds(4), "decision": {"number": 1, "decision": "approve", "undoes": null, "userId": "01935f04-0000-7000-8000-000000000001", "email": "ada@northwind.example", "value": null, "note": null, "at": now()}}),
        )
    };
    let mut props_full = props(full()?, Some(one(rich(1)?)?));
    props_full.list.held = vec![held(90)?, held(91)?];
    props_full.list.next_cursor = Some("abc".into());
    pages.push(("inbox-full", inbox::page(shell, props_full)));
    let mut failing = props(items.clone(), None);
    let message = "a safety rule blocks this: `claim-safety` is `fail`, which is a hard block";
    let form = FormState {
        form: "approve".into(),
        values: [
            ("value.claim-safety".to_owned(), "fail".to_owned()),
            ("value.lines".to_owned(), "[{\"sku\": ".to_owned()),
        ]
        .into(),
        errors: vec![
            FieldError { field: Some("claim-safety".into()), message: message.into() },
            FieldError { field: Some("value.lines".into()), message: "This is not valid JSON (line 1).".into() },
        ],
    };
    failing.detail = Some(detail(rich(1)?, form)?);
    failing.opened = true;
    failing.list.refused = BTreeMap::from([(
        items[1].id.to_string(),
        "it was decided already: approved by lin@northwind.example".to_owned(),
    )]);
    pages.push(("inbox-failing", inbox::page(shell, failing)));
    let snoozed = approval(7, json!({"snoozedUntil": now() + TimeDelta::hours(4)}))?;
    let mut aside = props(vec![snoozed.clone()], Some(one(snoozed)?));
    aside.list.filter = ItemFilter::Snoozed;
    pages.push(("inbox-snoozed", inbox::page(shell, aside)));
    Ok(pages)
}
