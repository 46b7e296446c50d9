//! A form in a frame: what its script asks.

use crate::{
    app::{App, Who},
    browser::Browser,
    form::{publish, responses, send},
};
use reqwest::StatusCode;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frame_learns_which_questions_do_not_apply_and_nothing_is_recorded() {
    let app = App::start();
    let config = json!({ "gate": "none", "embedOrigins": ["https://a.example"] });
    let fields = json!([
        { "key": "a", "label": "Choose", "type": "single_choice", "options": ["x", "y"], "required": true },
        { "key": "t", "label": "More", "type": "long_text", "showIf": { "field": "a", "equals": "y" } },
        { "key": "when", "label": "When", "type": "date_time" },
    ]);
    let view = publish(&app, "acme", "asks-frame", &config, &fields).await;
    let made = app.post(Who::Operator, &format!("/api/views/{view}/links"), json!({})).await;
    let path = format!("/embed/{}", made["url"].as_str().unwrap().rsplit('/').next().unwrap());
    let anybody = Browser::stranger(&app);
    let page = anybody.page(&path).await;
    assert!(page.contains("data-asks") && !page.contains("data-draft"), "{page}");
    for (chosen, off) in [("", json!(["t"])), ("x", json!(["t"])), ("y", json!([]))] {
        let asked = send(&anybody, &path, &page, &[("a", chosen), ("_asks", "1")]).await;
        assert_eq!(asked.status(), StatusCode::OK, "{chosen}");
        assert_eq!(asked.json::<Value>().await.unwrap(), json!({ "off": off }), "{chosen}");
    }
    assert!(responses(&app, view).await.is_empty(), "asking records nothing");
    let foreign = page.replace("name=\"_key\" value=\"", "name=\"_key\" value=\"x");
    let refused = send(&anybody, &path, &foreign, &[("a", "y"), ("_asks", "1")]).await;
    assert_eq!(refused.status(), StatusCode::NOT_FOUND);
    let given = [("a", "y"), ("t", "more"), ("when", "2026-03-01T09:30"), ("when.zone", "+05:45")];
    let sent = send(&anybody, &path, &page, &given).await;
    assert_eq!(sent.status(), StatusCode::OK);
    let recorded = &responses(&app, view).await[0];
    assert_eq!(recorded["answers"], json!({ "a": "y", "t": "more", "when": "2026-03-01T09:30:00+05:45" }));
}
