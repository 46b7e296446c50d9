//! Rules over the API.

use crate::{
    app::{App, Who},
    browser::Browser,
    prepare::in_an_hour,
};
use reqwest::{Method, Response};
use serde_json::{Value, json};

const ADMIN: &str = "ada@acme.test";

/// A rule of scout for refunds of at most 50 EUR, three a day.
pub fn small_refunds() -> Value {
    json!({
        "subject": { "agent": "scout", "kind": "tool", "tool": "refund", "fields": ["amount", "currency"] },
        "conditions": [{ "field": "amount", "atMost": 50 }, { "field": "currency", "oneOf": ["EUR"] }],
        "limits": { "perDay": 3, "expiresAt": in_an_hour()["until"], "canaryPercent": 0 },
    })
}

async fn read(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::Null))
}

async fn by_admin(browser: &Browser<'_>, method: Method, path: &str, body: &Value) -> (u16, Value) {
    read(browser.call(method, path).json(body).send().await.unwrap()).await
}

async fn ask(app: &App, who: Who, method: Method, path: &str) -> (u16, Value) {
    read(app.request(who, method, path).send().await.unwrap()).await
}

/// Lets the agent ask for a refund of this amount. Returns the approval.
async fn refund(app: &App, amount: f64) -> Value {
    let new = json!({ "sessionType": "agent", "agentSlug": "scout" });
    let session = app.post(Who::Member, "/api/sessions", new).await["id"].as_str().unwrap().to_owned();
    app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["scout"] })).await;
    let call = json!({
        "toolCallId": "c", "toolName": "refund", "toolInput": { "currency": "EUR", "amount": amount },
    });
    let pause = json!({ "attempt": 1, "status": "awaiting_tool", "pausedToolCall": call });
    app.post(Who::Worker, &format!("/api/sessions/{session}/yield"), pause).await;
    for state in ["held", "open", "settled"] {
        let (_, page) = ask(app, Who::Admin, Method::GET, &format!("/api/approvals?state={state}")).await;
        let found = page["items"].as_array().unwrap().iter().find(|item| item["sessionId"] == json!(session));
        if let Some(found) = found {
            return found.clone();
        }
    }
    panic!("no approval of {session}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_is_made_decides_is_changed_suspended_and_deleted() {
    let app = App::start();
    let admin = Browser::of(&app, ADMIN).await;
    let (status, made) = by_admin(&admin, Method::POST, "/api/rules", &small_refunds()).await;
    assert_eq!((status, &made["version"], &made["state"]), (201, &json!(1), &json!("active")), "{made}");
    assert_eq!((&made["subject"], &made["conditions"]), (&small_refunds()["subject"], &small_refunds()["conditions"]));
    assert!(made["sentence"].as_str().unwrap().starts_with("Approve refund calls of scout if amount is at most 50"));
    let id = made["id"].as_str().unwrap();
    let path = format!("/api/rules/{id}");

    let approval = refund(&app, 50.0).await;
    assert_eq!(
        (&approval["decision"]["decision"], &approval["decision"]["email"]),
        (&json!("approve"), &json!(format!("rule:{id}")))
    );
    let asked = refund(&app, 51.0).await;
    assert_eq!(asked["state"], "open");
    let (_, decisions) = ask(&app, Who::Member, Method::GET, &format!("{path}/decisions")).await;
    let decided: Vec<_> = decisions["items"].as_array().unwrap().iter().map(|item| &item["approvalId"]).collect();
    assert_eq!((decided, &decisions["items"][0]["version"]), (vec![&approval["id"]], &json!(1)));
    let (status, tested) = by_admin(&admin, Method::POST, "/api/rules/back-test", &small_refunds()).await;
    assert_eq!((status, &tested["undecided"], &tested["asked"]), (200, &json!(1), &json!(1)), "{tested}");
    assert_eq!(tested["approvals"][1]["asksWhy"], "outside");

    let mut limits = small_refunds()["limits"].clone();
    limits["perDay"] = json!(1);
    let change = json!({ "version": 1, "limits": limits });
    let (status, changed) = by_admin(&admin, Method::PATCH, &path, &change).await;
    assert_eq!((status, &changed["version"], &changed["limits"]["perDay"]), (200, &json!(2), &json!(1)));
    assert_eq!(changed["decided7d"], 1);
    let (status, stale) = by_admin(&admin, Method::PATCH, &path, &change).await;
    assert_eq!((status, &stale["code"]), (409, &json!("stale_version")));
    assert_eq!(refund(&app, 5.0).await["state"], "open", "one of the day was decided by version 1");

    let (status, suspended) = ask(&app, Who::Admin, Method::POST, &format!("{path}/suspend")).await;
    assert_eq!((status, &suspended["state"], &suspended["suspendedWhy"]), (200, &json!("suspended"), &json!("admin")));
    let (status, resumed) = by_admin(&admin, Method::POST, &format!("{path}/resume"), &json!({})).await;
    assert_eq!((status, &resumed["state"], &resumed["suspendedWhy"]), (200, &json!("active"), &Value::Null));
    let (_, list) = ask(&app, Who::Member, Method::GET, "/api/rules").await;
    assert_eq!(list["items"], json!([resumed]));
    let (status, _) = ask(&app, Who::Admin, Method::DELETE, &path).await;
    assert_eq!(status, 204);
    let (status, gone) = ask(&app, Who::Member, Method::GET, &path).await;
    assert_eq!((status, &gone["state"]), (200, &json!("deleted")));
    let (status, refused) = by_admin(&admin, Method::POST, &format!("{path}/resume"), &json!({})).await;
    assert_eq!((status, &refused["code"]), (409, &json!("wrong_status")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_make_no_rules_and_wrong_rules_are_named_by_their_places() {
    let app = App::start();
    for who in [Who::Admin, Who::Operator, Who::Member, Who::Worker] {
        let request = app.request(who, Method::POST, "/api/rules").json(&small_refunds());
        assert_eq!(request.send().await.unwrap().status().as_u16(), 403, "{who:?}");
    }
    let admin = Browser::of(&app, ADMIN).await;
    for (pointer, value, field) in [
        ("/limits/perDay", json!(0), "limits.perDay"),
        ("/limits/canaryPercent", json!(101), "limits.canaryPercent"),
        ("/limits/expiresAt", json!("2020-01-01T00:00:00Z"), "limits.expiresAt"),
        ("/conditions/0/field", json!("other"), "conditions[0].field"),
        ("/conditions/0/atMost", json!(1e15), "conditions[0].atMost"),
        ("/conditions/1/oneOf", json!([]), "conditions[1]"),
        ("/conditions/1/oneOf", json!(["EUR", "USD"]), "conditions"),
        ("/subject/kind", json!("question"), "subject.kind"),
        ("/subject/tool", Value::Null, "subject.tool"),
        ("/subject/agent", json!("A b"), "subject.agent"),
    ] {
        let mut rule = small_refunds();
        *rule.pointer_mut(pointer).unwrap() = value;
        for path in ["/api/rules", "/api/rules/back-test"] {
            let (status, refused) = by_admin(&admin, Method::POST, path, &rule).await;
            let fields: Vec<_> = refused["errors"].as_array().unwrap().iter().map(|error| &error["field"]).collect();
            assert_eq!(
                (status, fields.first().and_then(|field| field.as_str())),
                (422, Some(field)),
                "{pointer}: {refused}"
            );
        }
    }
    let mut unknown = small_refunds();
    unknown["deny"] = json!(true);
    let (status, refused) = by_admin(&admin, Method::POST, "/api/rules", &unknown).await;
    assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!("deny")), "{refused}");
    let (status, refused) = ask(&app, Who::Member, Method::GET, "/api/rules/nothing").await;
    assert_eq!((status, &refused["code"]), (400, &json!("invalid_id")), "{refused}");
}

#[tokio::test]
async fn the_page_of_a_new_rule_says_what_a_rule_is_made_from_if_its_address_does_not() {
    let app = App::start();
    let admin = Browser::of(&app, ADMIN).await;
    for path in ["/rules/new", "/rules/new?from="] {
        let page = admin.page(path).await;
        assert!(page.contains("A rule is made from items that people have approved."), "{page}");
        assert!(page.contains("There are no such items now.") && !page.contains("Create rule"), "{page}");
    }
    for (from, status) in [("x", 400), ("01890a5d-ac96-774b-bcce-b302099a8057", 404)] {
        let refused = admin.ask(Method::GET, &format!("/rules/new?from={from}"), &[]).await;
        assert_eq!(refused.status().as_u16(), status, "{from}");
    }
}
