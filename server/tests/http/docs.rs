//! The documentation explains every problem code, and the routes that it names for operators are served.

use crate::app::{App, Who};
use reqwest::Method;

#[test]
fn every_problem_code_is_explained() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/errors.md")).unwrap();
    for code in wire::Code::ALL {
        let heading = format!("## {}", code.as_str());
        assert!(text.lines().any(|line| line.trim() == heading), "docs/errors.md has no `{heading}`");
    }
}

#[tokio::test]
async fn health_metrics_and_the_openapi_document_are_served() {
    let app = App::start();
    for path in ["/healthz", "/readyz", "/metrics", "/api/openapi.json"] {
        let response = app.request(Who::Anonymous, Method::GET, path).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
    }
    let help = app.cli().arg("--help").output().unwrap();
    assert!(String::from_utf8_lossy(&help.stdout).contains("shiftbook serve"));
    assert!(app.cli().arg("--version").output().unwrap().status.success());
}
