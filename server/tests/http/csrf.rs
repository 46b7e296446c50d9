//! P-24: a browser request from another site changes nothing.

use crate::app::App;
use reqwest::{Method, StatusCode};

/// Every page form, and the API as a script of another site would call it.
const UNSAFE: [(Method, &str); 25] = [
    (Method::POST, "/actions"),
    (Method::POST, "/sessions/00000000-0000-7000-8000-000000000000/feedback"),
    (Method::POST, "/chat"),
    (Method::POST, "/chat/00000000-0000-7000-8000-000000000000/messages"),
    (Method::POST, "/chat/00000000-0000-7000-8000-000000000000/interrupt"),
    (Method::POST, "/chat/00000000-0000-7000-8000-000000000000/end"),
    (Method::POST, "/working-on/start"),
    (Method::POST, "/working-on/stop"),
    (Method::POST, "/working-on/create"),
    (Method::POST, "/inbox/decisions"),
    (Method::POST, "/inbox/undo"),
    (Method::POST, "/settings/tokens"),
    (Method::POST, "/settings/invitations"),
    (Method::POST, "/settings/name"),
    (Method::POST, "/settings/password"),
    (Method::POST, "/settings/sign-ins/end-others"),
    (Method::POST, "/link"),
    (Method::POST, "/settings/appearance"),
    (Method::POST, "/workspace"),
    (Method::POST, "/api/actions"),
    (Method::POST, "/api/sessions"),
    (Method::POST, "/api/sessions/claim"),
    (Method::POST, "/api/sessions/human/start"),
    (Method::POST, "/api/sessions/human/stop"),
    // Last: it works, and ends the sign-in.
    (Method::POST, "/sign-out"),
];

#[tokio::test]
async fn requests_of_other_sites_are_refused_and_our_own_are_not() {
    let app = App::start();
    let cookie = app.cookie().await;
    let kinds = ["application/x-www-form-urlencoded", "text/plain", "application/json"];
    for (method, path) in UNSAFE {
        for kind in kinds {
            for foreign in [
                vec![("sec-fetch-site", "cross-site")],
                vec![("sec-fetch-site", "same-site")],
                vec![("origin", "https://evil.test")],
                vec![("origin", "null")],
                vec![("sec-fetch-site", "cross-site"), ("origin", app.url.as_str())],
                vec![],
            ] {
                let mut request = app.http.request(method.clone(), format!("{}{path}", app.url));
                request = request.header("cookie", &cookie).header("content-type", kind).body("name=x");
                for (name, value) in &foreign {
                    request = request.header(*name, *value);
                }
                let status = request.send().await.unwrap().status();
                assert_eq!(status, StatusCode::FORBIDDEN, "{method} {path} as {kind} with {foreign:?}");
            }
        }
        let own = app.http.request(method.clone(), format!("{}{path}", app.url)).header("cookie", &cookie);
        let own = own.header("sec-fetch-site", "same-origin").header("content-type", kinds[0]).body("");
        assert_ne!(own.send().await.unwrap().status(), StatusCode::FORBIDDEN, "{method} {path} of our own page");
    }
    let response = app
        .http
        .post(format!("{}/sign-in", app.url))
        .header("origin", &app.url)
        .form(&[("email", "ada@acme.test"), ("password", crate::app::PASSWORD)])
        .send()
        .await
        .unwrap();
    let cookie = response.headers()["set-cookie"].to_str().unwrap();
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age="] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
}

#[tokio::test]
async fn no_get_changes_anything_and_every_page_carries_the_headers() {
    let app = App::start();
    let cookie = app.cookie().await;
    for path in [
        "/today",
        "/inbox",
        "/chat",
        "/working-on",
        "/sessions",
        "/actions",
        "/settings",
        "/sign-in",
        "/api/docs",
        "/nowhere",
    ] {
        let request =
            app.http.get(format!("{}{path}", app.url)).header("cookie", &cookie).header("accept", "text/html");
        let response = request.send().await.unwrap();
        let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
        for part in ["default-src 'none'", "'nonce-", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"]
        {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"), "{path}: {policy}");
        assert_eq!(response.headers()["x-content-type-options"], "nosniff");
        assert_eq!(response.headers()["cache-control"], "no-store");
        assert!(response.headers().contains_key("x-request-id"));
    }
    for path in ["/sign-out", "/settings/tokens", "/workspace"] {
        let status =
            app.http.get(format!("{}{path}", app.url)).header("cookie", &cookie).send().await.unwrap().status();
        assert!(status == 405 || status == 404, "GET {path} answered {status}");
    }
}
