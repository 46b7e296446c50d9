//! Responses as CSV, over the API and on the command line.

use crate::app::{App, Who};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

fn fields() -> Value {
    json!([
        { "key": "name", "label": "Your name?", "type": "short_text", "required": true },
        { "key": "count", "label": "How many?", "type": "number" },
        { "key": "tags", "label": "Tags?", "type": "multiple_choice", "options": ["a", "b", "c", "a|c"] },
    ])
}

async fn published(app: &App, slug: &str, config: Value) -> String {
    let new = json!({ "title": "Check", "slug": slug, "fields": fields(), "publishConfig": config });
    let made = app.post(Who::Operator, "/api/views", new).await;
    let id = made["id"].as_str().unwrap().to_owned();
    app.post(Who::Operator, &format!("/api/views/{id}/publish"), json!({})).await;
    id
}

async fn answer(app: &App, view: &str, n: usize, answers: Value) {
    let body = json!({ "submissionId": format!("s{n}"), "answers": answers });
    app.post(Who::Member, &format!("/api/views/{view}/submit-interaction"), body).await;
}

async fn csv(app: &App, who: Who, view: &str, query: &str) -> (StatusCode, String) {
    let path = format!("/api/views/{view}/responses.csv{query}");
    let answer = app.request(who, Method::GET, &path).send().await.unwrap();
    let status = answer.status();
    if status.is_success() {
        assert_eq!(answer.headers()["content-type"], "text/csv; charset=utf-8; header=present");
        let name = answer.headers()["content-disposition"].to_str().unwrap().to_owned();
        assert!(name.starts_with("attachment; filename=\"check-") && name.ends_with("-responses.csv\""), "{name}");
    }
    (status, answer.text().await.unwrap())
}

#[tokio::test]
async fn a_table_of_responses_is_csv_in_which_nothing_is_calculated() {
    let app = App::start();
    let view = published(&app, "check-csv", json!({ "responses": "many" })).await;
    answer(&app, &view, 1, json!({ "name": "=HYPERLINK(\"http://evil.example\",\"x\")", "count": -2.5 })).await;
    answer(&app, &view, 2, json!({ "name": "Zoë, \u{202e}the \"one\"", "tags": ["a", "c"] })).await;
    let (status, text) = csv(&app, Who::Member, &view, "").await;
    assert_eq!(status, StatusCode::OK);
    let lines: Vec<_> = text.split("\r\n").collect();
    assert_eq!(
        lines[0],
        "id,version,status,respondentKind,respondentId,respondentName,respondentEmail,late,createdAt,savedAt,\
         submittedAt,promotedEntityId,score,answers.name,answers.count,answers.tags"
    );
    assert!(lines[1].ends_with(",\"Zoë, \u{202e}the \"\"one\"\"\",,a|c"), "{}", lines[1]);
    assert!(lines[1].contains(",1,submitted,token,"), "{}", lines[1]);
    assert!(lines[2].ends_with(",\"'=HYPERLINK(\"\"http://evil.example\"\",\"\"x\"\")\",-2.5,"), "{}", lines[2]);
    assert_eq!((lines.len(), lines[3]), (4, ""), "the last line ends as the others");
    let (_, none) = csv(&app, Who::Member, &view, "?status=draft").await;
    assert!(none.starts_with("id,version,") && none.ends_with(",score\r\n") && none.lines().count() == 1, "{none}");
    let (_, one) = csv(&app, Who::Member, &view, "?version=1&createdFrom=2000-01-01T00:00:00Z").await;
    assert_eq!(one, text);
    let marked = app.request(Who::Member, Method::GET, &format!("/api/views/{view}/responses.csv?bom=true"));
    let marked = marked.send().await.unwrap().bytes().await.unwrap();
    assert_eq!(marked.strip_prefix("\u{feff}".as_bytes()), Some(text.as_bytes()), "the text of an answer has no mark");
    answer(&app, &view, 3, json!({ "name": "x", "tags": ["a|c"] })).await;
    let (_, more) = csv(&app, Who::Member, &view, "").await;
    assert!(more.lines().nth(1).unwrap().ends_with(r",x,,a\|c"), "{more}");
    for wrong in ["?bom=x", "?limit=1", "?status=odd", "?createdFrom=soon", "?version=x"] {
        assert_eq!(csv(&app, Who::Member, &view, wrong).await.0, StatusCode::UNPROCESSABLE_ENTITY, "{wrong}");
    }
    let foreign = app.request(Who::Stranger, Method::GET, &format!("/api/views/{view}/responses.csv"));
    assert_eq!(foreign.send().await.unwrap().status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn large_numbers_are_grouped_on_the_page_and_raw_in_files_and_answers() {
    let app = App::start();
    let view = published(&app, "check-large", json!({ "responses": "many" })).await;
    for (n, count) in [json!(1_290_000), json!(-125_000.5), json!(2_026)].into_iter().enumerate() {
        answer(&app, &view, n, json!({ "name": "61000", "count": count })).await;
    }
    let page = app.request(Who::Member, Method::GET, "/views/check-large/responses").send().await.unwrap();
    let page = page.text().await.unwrap();
    for part in [">1,290,000<", ">-125,000.5<", ">2026<", ">61000<"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let (_, file) = csv(&app, Who::Member, &view, "").await;
    assert!(file.contains(",1290000,") && file.contains(",-125000.5,") && !file.contains("1,290"), "{file}");
    let list = app.request(Who::Member, Method::GET, &format!("/api/views/{view}/responses")).send().await.unwrap();
    assert!(list.text().await.unwrap().contains("\"count\":1290000"));
}

#[tokio::test]
async fn a_table_longer_than_one_read_is_whole_and_the_command_prints_the_same() {
    let app = App::start();
    let view = published(&app, "check-long", json!({ "responses": "many" })).await;
    for n in 0..203 {
        answer(&app, &view, n, json!({ "name": format!("n{n}") })).await;
    }
    let (_, text) = csv(&app, Who::Operator, &view, "").await;
    let rows: Vec<_> = text.lines().skip(1).collect();
    assert_eq!(rows.len(), 203);
    for (at, row) in rows.iter().enumerate() {
        assert!(row.contains(&format!(",n{},", 202 - at)), "row {at}: {row}");
    }
    let run = |arguments: &[&str]| {
        let mut command = app.cli();
        command.args(["view", "responses"]).args(arguments).args(["--url", &app.url]);
        let done = command.env("SHIFTBOOK_TOKEN", app.token(Who::Operator).unwrap()).output().unwrap();
        (done.status.success(), String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap())
    };
    let (_, printed, _) = run(&["check-long", "--csv"]);
    assert_eq!(printed, text);
    let (_, marked, _) = run(&["check-long", "--csv", "--bom"]);
    assert_eq!(marked.strip_prefix('\u{feff}'), Some(text.as_str()));
    let (_, listed, _) = run(&["check-long", "--status", "submitted", "--view-version", "1"]);
    assert_eq!(listed.lines().count(), 203);
    assert!(listed.lines().all(|line| line.contains("\tsubmitted\tv1\ttoken\t")), "{listed}");
    let (worked, _, error) = run(&["nothing"]);
    assert!(!worked && error.contains("there is no view `nothing`"), "{error}");
}
