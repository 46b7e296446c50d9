//! The form of a tool's input, filled without scripts: rows, variants, free keys, JSON and text files.

use crate::{
    app::{App, Who},
    browser::{Browser, with_file},
};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

/// Publishes a tool that a worker runs.
async fn publish(app: &App, slug: &str, schema: Value) {
    let tool = json!({ "slug": slug, "name": "Order", "kind": "worker", "inputSchema": schema });
    app.post(Who::Operator, "/api/tools", tool).await;
    app.post(Who::Operator, &format!("/api/tools/{slug}/publish"), json!({})).await;
}

fn order() -> Value {
    json!({
        "type": "object", "required": ["customer", "pay"],
        "$defs": { "line": { "type": "object", "required": ["article"], "properties": {
            "article": { "type": "string" }, "count": { "type": "integer", "minimum": 1, "default": 1 } } } },
        "properties": {
            "customer": { "type": "object", "required": ["name"], "properties": {
                "name": { "type": "string", "minLength": 2 },
                "address": { "type": "object", "properties": { "street": { "type": "string" } } } } },
            "lines": { "type": "array", "maxItems": 3, "items": { "$ref": "#/$defs/line" } },
            "labels": { "type": "object", "additionalProperties": { "type": "string" } },
            "pay": { "oneOf": [
                { "type": "object", "required": ["kind", "card"], "properties": {
                    "kind": { "const": "card" }, "card": { "type": "string" }, "memo": { "type": "string" } } },
                { "type": "object", "required": ["kind", "iban"], "properties": {
                    "kind": { "const": "bank" }, "iban": { "type": "string" }, "memo": { "type": "string" } } },
            ] },
            "content": { "type": "string" },
            "anything": {},
        },
    })
}

/// The controls of a form as a browser would send them: what the page has, with these texts typed over it.
fn sent<'a>(page: &'a str, typed: &[(&'a str, &'a str)], button: &[(&'a str, &'a str)]) -> Vec<(String, String)> {
    let form = page.split("<form ").find(|part| part.contains("name=\"_rev\"")).unwrap();
    let form = form.split("</form>").next().unwrap();
    let mut fields = Vec::new();
    for tag in form.split('<').filter(|tag| tag.starts_with("input ") || tag.starts_with("textarea ")) {
        let attribute = |name: &str| {
            let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
            Some(rest.split('"').next().unwrap().replace("&quot;", "\"").replace("&lt;", "<").replace("&amp;", "&"))
        };
        let Some(name) = attribute("name").filter(|_| attribute("type").as_deref() != Some("file")) else { continue };
        let text = match tag.starts_with("textarea ") {
            true => tag.split_once('>').unwrap().1.trim_start_matches('\n').to_owned(),
            false => attribute("value").unwrap_or_default(),
        };
        fields.push((name, text));
    }
    // Of a select the chosen option.
    for part in form.split("<select ").skip(1) {
        let name = part.split_once("name=\"").unwrap().1.split('"').next().unwrap();
        let options = part.split("</select>").next().unwrap();
        let chosen = options.split("<option ").find(|option| option.split('>').next().unwrap().contains("selected"));
        let value =
            chosen.and_then(|option| option.split_once("value=\"")).map(|(_, rest)| rest.split('"').next().unwrap());
        fields.push((name.to_owned(), value.unwrap_or_default().to_owned()));
    }
    for (name, text) in typed {
        fields.retain(|(other, _)| other != name);
        fields.push(((*name).to_owned(), (*text).to_owned()));
    }
    fields.extend(button.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())));
    fields
}

async fn send(ada: &mut Browser<'_>, slug: &str, fields: &[(String, String)]) -> Response {
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    ada.post(&format!("/tools/{slug}/run"), &fields).await
}

/// Types into a page and presses a button that changes the form. Returns the next page.
async fn press(ada: &mut Browser<'_>, page: &str, typed: &[(&str, &str)], step: &str) -> String {
    let response = send(ada, "order", &sent(page, typed, &[("step", step)])).await;
    assert_eq!(response.status(), StatusCode::OK, "{step}");
    response.text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nested_input_is_filled_by_buttons_without_scripts() {
    let app = App::start();
    publish(&app, "order", order()).await;
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let page = ada.page("/tools/order").await;
    assert!(page.contains("name=\"input.customer.name\"") && page.contains("value=\"add:input.lines\""), "{page}");
    assert!(!page.contains("name=\"input.customer.address.street\""), "an optional group is added first");
    let page = press(&mut ada, &page, &[("input.customer.name", "Ada & Bob")], "on:input.customer.address").await;
    let page = press(&mut ada, &page, &[("input.customer.address.street", "Main")], "add:input.lines").await;
    let page = press(&mut ada, &page, &[("input.lines.0.article", "pen")], "add:input.lines").await;
    let page = press(&mut ada, &page, &[("input.lines.1.article", "ink")], "up:input.lines.1").await;
    for kept in ["Ada &amp; Bob", "value=\"Main\"", "id=\"run-input.lines.0\" tabindex=\"-1\" autofocus"] {
        assert!(page.contains(kept), "{kept}: {page}");
    }
    let page = press(&mut ada, &page, &[], "on:input.labels").await;
    let page = press(&mut ada, &page, &[], "add:input.labels").await;
    // Another variant keeps what was typed into the first.
    let typed =
        [("input.labels.0.~key", "a.b"), ("input.labels.0", "x"), ("input.pay.card", "4111"), ("input.pay.memo", "m")];
    let typed = [typed.as_slice(), &[("input.pay.~variant", "1")]].concat();
    let page = press(&mut ada, &page, &typed, "variant:input.pay").await;
    assert!(
        page.contains("name=\"input.pay.iban\"") && page.contains("name=\"input.pay.card\" value=\"4111\""),
        "{page}"
    );
    // An error is at its field, and nothing is lost.
    let wrong = sent(&page, &[("input.lines.1.count", "0"), ("input.customer.name", "A")], &[]);
    let refused = send(&mut ada, "order", &wrong).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let page = refused.text().await.unwrap();
    for field in ["input.lines.1.count", "input.customer.name", "input.pay.iban"] {
        assert!(page.contains(&format!("id=\"run-{field}-error\"")), "{field}: {page}");
    }
    let right = [("input.lines.1.count", "2"), ("input.customer.name", "Ada & Bob"), ("input.pay.iban", "NO1")];
    let begun = send(&mut ada, "order", &sent(&page, &right, &[])).await;
    assert_eq!(begun.status(), StatusCode::SEE_OTHER);
    let session = begun.headers()["location"].to_str().unwrap().to_owned();
    let recorded: Value =
        app.request(Who::Operator, Method::GET, &format!("/api{session}")).send().await.unwrap().json().await.unwrap();
    let expected = json!({
        "customer": { "name": "Ada & Bob", "address": { "street": "Main" } },
        "lines": [{ "article": "ink", "count": 1 }, { "article": "pen", "count": 2 }],
        "labels": { "a.b": "x" }, "pay": { "kind": "bank", "iban": "NO1", "memo": "m" },
    });
    assert_eq!(recorded["input"], expected);
    // "Run again" has the same fields.
    let again = ada.page(&format!("/tools/order?again={}", session.strip_prefix("/sessions/").unwrap())).await;
    for held in ["name=\"input.pay.iban\"", "value=\"NO1\"", "value=\"a.b\"", "name=\"input.lines.1.article\""] {
        assert!(again.contains(held), "{held}: {again}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_no_fields_is_json_or_a_text_file() {
    let app = App::start();
    publish(&app, "order", order()).await;
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let page = ada.page("/tools/order").await;
    assert!(page.contains("name=\"input.anything\"") && page.contains("Any value, as JSON."), "{page}");
    let typed = [("input.customer.name", "Ada"), ("input.anything", "{\n  \"a\": 1,\n}"), ("input.pay.card", "1")];
    let refused = send(&mut ada, "order", &sent(&page, &typed, &[])).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let text = refused.text().await.unwrap();
    assert!(text.contains("Line 3, column 1") && text.contains("id=\"run-input.anything-error\""), "{text}");
    // The whole input as JSON: an error of the schema names its line.
    let page = press(&mut ada, &page, &[("input.customer.name", "Ada")], "json:input").await;
    assert!(page.contains("name=\"input.~json\"") && page.contains("value=\"fields:input\""), "{page}");
    let json = "{\n  \"customer\": {\n    \"name\": \"A\"\n  },\n  \"pay\": { \"kind\": \"card\", \"card\": \"1\" }\n}";
    let refused = send(&mut ada, "order", &sent(&page, &[("input", json)], &[])).await.text().await.unwrap();
    assert!(refused.contains("line 3, customer/name: "), "{refused}");
    let page = press(&mut ada, &page, &[("input", json)], "fields:input").await;
    assert!(page.contains("name=\"input.pay.card\"") && !page.contains("name=\"input.~json\""), "{page}");
    // A file is the text of its field; one that is no text is refused at it.
    for (bytes, status) in
        [(b"from a file".to_vec(), StatusCode::SEE_OTHER), (vec![0xff, 0xfe], StatusCode::UNPROCESSABLE_ENTITY)]
    {
        let fields = sent(&page, &[("input.customer.name", "Ada")], &[]);
        let body = with_file(fields, ("input.content.~file", &bytes[..]));
        let request = ada.call(Method::POST, "/tools/order/run").body(body);
        let request = request.header("content-type", "multipart/form-data; boundary=edge");
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), status);
        match status {
            StatusCode::SEE_OTHER => {
                let path = format!("/api{}", response.headers()["location"].to_str().unwrap());
                let run: Value =
                    app.request(Who::Operator, Method::GET, &path).send().await.unwrap().json().await.unwrap();
                assert_eq!(run["input"]["content"], "from a file");
            }
            _ => assert!(response.text().await.unwrap().contains("id=\"run-input.content-error\"")),
        }
    }
}
