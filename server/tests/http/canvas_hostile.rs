//! Hostile texts in blocks of every type: the page, its versions and who changed what, both exports, and suggestions
//! show them as text.

use crate::{
    app::{App, Who},
    browser::Browser,
    markup::assert_inert,
};
use reqwest::Method;
use serde_json::{Map, Value, json};

/// Texts that would run a script, end an element or an attribute, lead elsewhere, control a terminal, or change what is
/// read, if a page took them for more than text.
const HOSTILE: [&str; 16] = [
    "<script>alert(1)</script>",
    "</script></title></textarea></select></style><img src=x onerror=alert(1)>",
    "\"><img src=x onerror=alert(1)>",
    "\" onmouseover=\"alert(1)\" autofocus onfocus=\"alert(1)",
    "' onfocus='alert(1)' autofocus='",
    "<svg/onload=alert(1)>",
    "<iframe srcdoc=\"<script>alert(1)</script>\"></iframe>",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "[x](javascript:alert(1)) ![x](data:text/html;base64,PHNjcmlwdD4=)",
    "--><!--><img src=x onerror=alert(1)>-->",
    "\u{1b}[31mred\u{1b}[0m\u{1b}]8;;https://x.test\u{7}link\u{1b}]8;;\u{7}",
    "\u{202e}\u{2066}txt.exe\u{200b}\u{feff}",
    "__proto__ constructor prototype",
    "\n# forged\n- [x] forged\n| forged |\n```\n# forged",
    "{{7*7}}${7*7}<%= 7*7 %>",
];

/// What blocks are made of: the types of the editor, a field of an entity, and two that it does not know.
const TYPES: [&str; 9] = ["heading", "text", "checklist", "table", "code", "result", "field", "drawing", "a string"];

const COUNTS: [usize; 4] = [1, 2, 7, 40];

/// A hostile text with a mark of its own at the beginning.
fn text(at: usize) -> String {
    format!("{} {}", mark(at), HOSTILE[at % HOSTILE.len()])
}

/// The same with all of them.
fn all_texts() -> String {
    format!("{} {}", mark(0), HOSTILE.join(" "))
}

fn mark(at: usize) -> String {
    format!("mark{at:03}x")
}

/// A block of a type with this text in each of its members.
fn block(kind: &str, text: &str) -> Value {
    match kind {
        "heading" => json!({ "type": kind, "heading": text, "text": text, "order": "a0" }),
        "text" => json!({ "type": kind, "heading": text, "text": text, "order": "a0", "indent": 9 }),
        "checklist" => {
            let items = json!({ "i": { "text": text, "done": true, "order": "a0" }, text: { "text": text } });
            json!({ "type": kind, "heading": text, "items": items, "order": "a0" })
        }
        "table" => {
            let columns = json!({ "c": { "name": text, "order": "a0" } });
            let rows = json!({ "r": { "cells": { "c": text }, "order": "a0" } });
            json!({ "type": kind, "heading": text, "columns": columns, "rows": rows, "order": "a0" })
        }
        "code" => json!({ "type": kind, "language": text, "text": text, "order": "a0" }),
        "result" => {
            let value = json!({ "note": text, "url": text, "image": "data:image/svg+xml,<svg onload=alert(1)>" });
            json!({ "type": kind, "heading": text, "session": text, "value": value, "order": "a0" })
        }
        "field" => json!({ "type": "text", "heading": text, "field": text, "text": text, "order": "a0" }),
        "drawing" => json!({ "type": text, "heading": text, "shape": { "path": text }, "order": "a0" }),
        _ => json!(text),
    }
}

/// A key with a hostile text: at most 200 bytes are allowed.
fn key(at: usize) -> String {
    format!("b{at:03} {}", HOSTILE[at % HOSTILE.len()])
}

fn blocks(kind: &str, count: usize) -> Value {
    // A checklist has its text in a key too, for which all of them are too long.
    let is_joined = count == 1 && kind != "checklist";
    let text = |at: usize| if is_joined { all_texts() } else { text(at) };
    let blocks: Map<String, Value> = (0..count).map(|at| (key(at), block(kind, &text(at)))).collect();
    json!({ "blocks": blocks })
}

async fn created(ada: &Browser<'_>, document: &Value) -> Value {
    let new = json!({ "title": HOSTILE[1], "document": document });
    let response = ada.call(Method::POST, "/api/canvases").json(&new).send().await.unwrap();
    let (status, made) = (response.status(), response.json::<Value>().await.unwrap());
    assert_eq!(status, 201, "{made}");
    made
}

/// Sends a patch of the first version, which has one operation.
async fn patched(ada: &Browser<'_>, canvas: &Value, operation: Value) -> (u16, Value) {
    let patch = json!({ "opId": "ada:1", "base": canvas["version"], "ops": [operation] });
    let path = format!("/api/canvases/{}/patches", canvas["id"].as_str().unwrap());
    let response = ada.call(Method::POST, &path).json(&patch).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

async fn exported(ada: &Browser<'_>, id: &str, format: &str) -> String {
    let response = ada.call(Method::GET, &format!("/canvases/{id}/export?format={format}")).send().await.unwrap();
    let disposition = response.headers()["content-disposition"].to_str().unwrap().to_owned();
    assert!(disposition.starts_with("attachment; filename=\"canvas-"), "{disposition}");
    assert_eq!(response.headers()["x-content-type-options"], "nosniff");
    response.text().await.unwrap()
}

/// Looks at everything that shows a canvas with blocks of this type.
async fn looked_at(ada: &Browser<'_>, kind: &str, count: usize) {
    let what = format!("{count} of {kind}");
    let mut document = blocks(kind, count);
    let made = created(ada, &document).await;
    assert_eq!(made["document"], document, "{what}: stored as it was sent");
    let id = made["id"].as_str().unwrap();
    let last = block(kind, &text(count));
    let (status, answer) = patched(ada, &made, json!({ "op": "add", "path": "/blocks/z", "value": last })).await;
    assert_eq!((status, answer["committed"]["previous"].as_u64()), (200, made["version"].as_u64()), "{what}: {answer}");
    document["blocks"]["z"] = last;

    let page = ada.page(&format!("/canvases/{id}")).await;
    let versions = ada.page(&format!("/canvases/{id}/versions")).await;
    let first = ada.page(&format!("/canvases/{id}/versions?at={}", made["version"])).await;
    let markdown = exported(ada, id, "md").await;
    for at in 0..=count {
        let shown_in_first = at < count;
        for (name, text) in [("page", &page), ("versions", &versions), ("Markdown", &markdown)] {
            assert!(text.contains(&mark(at)), "{what}: block {at} is not in the {name}");
        }
        assert_eq!(first.contains(&mark(at)), shown_in_first, "{what}: block {at} in the first version");
    }
    if kind == "result" {
        let result = ada.page(&format!("/canvases/{id}?block=z")).await;
        assert!(result.contains(&mark(count)), "{what}: {result}");
        assert_inert(&format!("<main>{result}</main>"), &format!("{what}, as the editor gets it"));
    }
    let log = ada.page(&format!("/sessions/{id}")).await;
    for (name, html) in [("page", &page), ("versions", &versions), ("first version", &first), ("log", &log)] {
        assert_inert(html, &format!("{what}, {name}"));
    }
    assert_eq!(
        versions.matches("\"meta canvas-blame\">Changed by").count(),
        count + 1,
        "{what}: who changed each block"
    );
    let json: Value = serde_json::from_str(&exported(ada, id, "json").await).unwrap();
    assert_eq!(json, document, "{what}: exported as it is");
    // Text is Markdown of its author. What has one line in the export cannot begin another one.
    if ["heading", "checklist", "table"].contains(&kind) {
        let forged = markdown.lines().find(|line| line.contains("forged") && !line.contains("mark"));
        assert_eq!(forged, None, "{what}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_texts_in_blocks_of_every_type_stay_texts() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    for kind in TYPES {
        for count in COUNTS {
            looked_at(&ada, kind, count).await;
        }
    }
    assert_inert(&ada.page("/canvases").await, "the list");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_texts_in_suggestions_of_every_type_stay_texts() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let author = app.post(Who::Member, "/api/canvases", json!({ "title": "Own" })).await["createdBy"].clone();
    let mut last = String::new();
    for kind in TYPES {
        let made = created(&ada, &blocks(kind, 2)).await;
        let id = made["id"].as_str().unwrap();
        let role = json!({ "participant": author, "role": "suggest" });
        let put = ada.call(Method::PUT, &format!("/api/canvases/{id}/participants")).json(&role).send().await.unwrap();
        assert!(put.status().is_success());
        let operation = json!({ "op": "add", "path": "/blocks/z", "value": block(kind, &text(0)) });
        let patch = json!({ "opId": HOSTILE[2], "base": made["version"], "ops": [operation] });
        let sent = app.post(Who::Member, &format!("/api/canvases/{id}/patches"), patch).await;
        assert_eq!(sent["suggested"], "open", "{kind}: {sent}");
        last = ada.page(&format!("/canvases/{id}")).await;
        assert_inert(&last, &format!("a suggestion of {kind}"));
    }
    assert!(last.contains("Suggestions") && last.contains("Decline"), "{last}");
    let inbox = ada.page("/inbox/patches").await;
    assert_inert(&inbox, "the inbox");
    assert_eq!(inbox.matches("Suggested by").count(), TYPES.len(), "{inbox}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn words_of_10_000_characters_and_large_tables_are_shown_and_forbidden_keys_are_refused() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let word = "w".repeat(10_000);
    for kind in TYPES.into_iter().filter(|kind| *kind != "checklist") {
        let made = created(&ada, &json!({ "blocks": { "a": block(kind, &word) } })).await;
        let id = made["id"].as_str().unwrap();
        for path in [format!("/canvases/{id}"), format!("/canvases/{id}/versions")] {
            let page = ada.page(&path).await;
            assert!(page.contains(&word), "{kind}: {path}");
            assert_inert(&page, kind);
        }
        assert!(exported(&ada, id, "md").await.contains(&word), "{kind}");
    }
    let items = |count: usize| (0..count).map(|at| (format!("i{at:03}"), json!({}))).collect::<Map<_, _>>();
    // With more cells than a document has values, a table is shown as JSON.
    for (rows, cells) in [(150, 15_000), (201, 0)] {
        let table = json!({ "type": "table", "columns": items(100), "rows": items(rows), "order": "a0" });
        let made = created(&ada, &json!({ "blocks": { "t": table } })).await;
        let page = ada.page(&format!("/canvases/{}", made["id"].as_str().unwrap())).await;
        assert_eq!(page.matches("<td").count(), cells, "{rows} rows");
        assert_inert(&page, "a large table");
    }
    let made = created(&ada, &json!({ "blocks": {} })).await;
    for forbidden in ["__proto__", "constructor", "prototype"] {
        for operation in [
            json!({ "op": "add", "path": format!("/blocks/{forbidden}"), "value": 1 }),
            json!({ "op": "add", "path": "/blocks/a", "value": { forbidden: { "text": "x" } } }),
        ] {
            let (status, answer) = patched(&ada, &made, operation.clone()).await;
            assert_eq!((status, &answer["code"]), (422, &json!("invalid_request")), "{operation}: {answer}");
        }
    }
}
