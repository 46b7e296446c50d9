//! The sign-in page: where it leads, and what it says to those who come too often.

use crate::{app::App, browser::Browser};
use reqwest::{Method, StatusCode};

const ADA: &str = "ada@acme.test";
/// An attempt that gets through doubles the wait, so a block is met long before.
const ATTEMPTS_MAX: u32 = 30;

#[tokio::test]
async fn a_slowed_down_sign_in_says_on_its_page_when_to_try_again() {
    let app = App::start();
    let browser = Browser::stranger(&app);
    for _ in 0..ATTEMPTS_MAX {
        let answer = browser.ask(Method::POST, "/sign-in", &[("email", ADA), ("password", "wrong")]).await;
        if answer.status() == StatusCode::UNAUTHORIZED {
            assert!(answer.headers().get("retry-after").is_none());
            continue;
        }
        assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
        let seconds: u64 = answer.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=300).contains(&seconds), "{seconds}");
        assert!(answer.headers()["content-type"].to_str().unwrap().starts_with("text/html"));
        let page = answer.text().await.unwrap();
        assert!(page.contains(&format!("too many attempts; try again in {seconds} s")), "{page}");
        assert!(page.contains(&format!("value=\"{ADA}\"")), "what was typed is still there");
        return;
    }
    panic!("{ATTEMPTS_MAX} wrong passwords were not slowed down");
}

#[tokio::test]
async fn control_characters_in_an_address_are_no_error_of_ours() {
    let app = App::start();
    let browser = Browser::of(&app, ADA).await;
    for path in [
        "/%00",
        "/sessions/%00",
        "/pkg/%00",
        "/t/acme/%00/x",
        "/t/%00/x/y",
        "/sessions?q=%00",
        "/sessions?status=%00",
        "/sessions?cursor=%00",
        "/entities?q=%00",
        "/entities?type=%00",
        "/chat?cursor=%00",
        "/inbox?state=%00&assignedTo=%00&cursor=%00",
        "/today?bucket=%00",
        "/today?notice=%00",
        "/working-on/day?timezone=%00",
        "/criteria-sets?cursor=%00",
        "/insights?days=%00",
        "/sign-in?next=%00",
        "/api/entities?q=%00",
        "/api/sessions?q=%00",
        "/api/actions?q=%00",
        "/api/approvals?agentSlug=%00",
        "/api/threads?agent=%00",
    ] {
        let answer = browser.ask(Method::GET, path, &[]).await;
        assert!(answer.status().as_u16() < 500, "{path}: {}", answer.status());
    }
}
