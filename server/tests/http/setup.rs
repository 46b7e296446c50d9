//! A server that is not set up: the host names that it answers to, and the set-up code.

use crate::app::{App, PASSWORD};
use reqwest::{Method, Response, StatusCode};
use std::time::Duration;

/// Headers of one request.
type Headers<'a> = &'a [(&'a str, &'a str)];

async fn ask(app: &App, method: Method, path: &str, headers: Headers<'_>, form: &[(&str, &str)]) -> Response {
    let mut request = app.http.request(method.clone(), format!("{}{path}", app.url)).header("accept", "text/html");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = if method == Method::POST { request.form(form) } else { request };
    request.send().await.unwrap()
}

/// Waits for the set-up code in the server's log.
async fn code(app: &App) -> String {
    loop {
        if let Some((_, code)) = app.log().split_once("asked for the set-up code: ") {
            return code.lines().next().unwrap().to_owned();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

const FORM: [(&str, &str); 3] = [("workspace", "Acme"), ("email", "ada@acme.test"), ("password", PASSWORD)];

#[tokio::test]
async fn before_set_up_only_names_that_no_one_can_rebind_are_answered() {
    let app = App::start_empty("", &[], &[]);
    let port = app.address.rsplit_once(':').unwrap().1.to_owned();
    for host in ["localhost", "127.0.0.1", "[::1]", "app.localhost", "192.168.1.5"] {
        let page = ask(&app, Method::GET, "/setup", &[("host", &format!("{host}:{port}"))], &[]).await;
        assert_eq!(page.status(), StatusCode::OK, "{host}");
    }
    for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example"] {
        let host = format!("{host}:{port}");
        let origin = format!("http://{host}");
        let headers = [
            ("host", host.as_str()),
            ("origin", origin.as_str()),
            ("sec-fetch-site", "same-origin"),
            ("x-forwarded-host", "localhost"),
            ("forwarded", "host=localhost"),
        ];
        for path in ["/", "/setup", "/sign-in", "/today", "/pkg/x"] {
            let refused = ask(&app, Method::GET, path, &headers, &[]).await;
            assert_eq!(refused.status(), StatusCode::MISDIRECTED_REQUEST, "{host} {path}");
        }
        let refused = ask(&app, Method::POST, "/setup", &headers, &FORM).await;
        assert_eq!(refused.status(), StatusCode::MISDIRECTED_REQUEST, "{host}");
        // Health checks answer under any name, and the API needs a token.
        assert_eq!(ask(&app, Method::GET, "/healthz", &headers, &[]).await.status(), StatusCode::OK);
        assert_eq!(ask(&app, Method::GET, "/api/me", &headers, &[]).await.status(), StatusCode::UNAUTHORIZED);
    }
    app.until_logged(0, "unknown_host").await;
}

#[tokio::test]
async fn a_browser_elsewhere_is_asked_for_the_code_and_one_here_is_not() {
    let app = App::start_empty("", &[], &[]);
    let port = app.address.rsplit_once(':').unwrap().1.to_owned();
    let (elsewhere, here) = (format!("192.168.1.5:{port}"), format!("localhost:{port}"));
    let origin = format!("http://{elsewhere}");
    for headers in [&[("host", elsewhere.as_str())][..], &[("host", &here), ("x-forwarded-for", "192.0.2.7")]] {
        let page = ask(&app, Method::GET, "/setup", headers, &[]).await.text().await.unwrap();
        assert!(page.contains("name=\"code\""), "{headers:?}");
    }
    let page = ask(&app, Method::GET, "/setup", &[("host", &here)], &[]).await.text().await.unwrap();
    assert!(!page.contains("name=\"code\""), "{page}");

    let headers = [("host", elsewhere.as_str()), ("origin", origin.as_str())];
    for wrong in ["", "0000-0000-0000-0000"] {
        let form = [&FORM[..], &[("code", wrong)]].concat();
        let refused = ask(&app, Method::POST, "/setup", &headers, &form).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY, "{wrong}");
        assert!(refused.headers().get("set-cookie").is_none());
    }
    let code = code(&app).await;
    let done = ask(&app, Method::POST, "/setup", &headers, &[&FORM[..], &[("code", &code)]].concat()).await;
    assert_eq!(done.status(), StatusCode::SEE_OTHER, "{}", done.text().await.unwrap());

    // After the set-up every host name is accepted, and pages need a sign-in.
    let foreign = ask(&app, Method::GET, "/sign-in", &[("host", "log.example.org")], &[]).await;
    assert_eq!(foreign.status(), StatusCode::OK);
    let again = ask(&app, Method::POST, "/setup", &headers, &[&FORM[..], &[("code", &code)]].concat()).await;
    assert_eq!(again.status(), StatusCode::CONFLICT);
}

#[tokio::test]
async fn a_browser_on_this_machine_sets_up_without_the_code() {
    let app = App::start_empty("", &[], &[]);
    let done = ask(&app, Method::POST, "/setup", &[("origin", &app.url)], &FORM).await;
    assert_eq!(done.status(), StatusCode::SEE_OTHER, "{}", done.text().await.unwrap());
}

#[tokio::test]
async fn behind_a_public_url_everyone_is_asked_for_the_code() {
    let app = App::start_empty("", &["--public-url", "https://log.example.org"], &[]);
    for host in ["log.example.org", "localhost", "127.0.0.1"] {
        let page = ask(&app, Method::GET, "/setup", &[("host", host)], &[]).await;
        assert_eq!(page.status(), StatusCode::OK, "{host}");
        assert!(page.text().await.unwrap().contains("name=\"code\""), "{host}");
    }
    let origin = ("origin", "https://log.example.org");
    let refused = ask(&app, Method::POST, "/setup", &[("host", "127.0.0.1"), origin], &FORM).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let foreign = ask(&app, Method::GET, "/setup", &[("host", "log.example.org.evil.example")], &[]).await;
    assert_eq!(foreign.status(), StatusCode::MISDIRECTED_REQUEST);
}
