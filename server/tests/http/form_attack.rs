//! Attacks on links to forms: every secret and cookie that someone could have, on every route that takes one. Each is
//! answered with the same page, and writes nothing.

use crate::{
    app::{App, Who},
    browser::Browser,
    form::{carried, enter, publish, questions, responses},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use testkit::Raw;
use uuid::Uuid;

/// A form with a link, and a browser that opened it.
struct Opened<'a> {
    view: Uuid,
    secret: String,
    link: String,
    browser: Browser<'a>,
    page: String,
}

impl<'a> Opened<'a> {
    async fn new(app: &'a App, who: Who, tenant: &str) -> Self {
        let slug = format!("attack-{}", fastrand::u32(..));
        let config = json!({ "gate": "none", "responses": "many", "embedOrigins": ["https://a.example"] });
        let view = publish(app, tenant, &slug, &config, &questions()).await;
        let made = app.post(who, &format!("/api/views/{view}/links"), json!({})).await;
        let secret = made["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        let link = made["link"]["id"].as_str().unwrap().to_owned();
        let (browser, path) = enter(app, &secret).await;
        let page = browser.page(&path).await;
        Self { view, secret, link, browser, page }
    }

    /// Cookies of this browser, sent to the form of another link.
    fn jar_for(&self, other: &Self) -> Vec<(String, String)> {
        self.browser.jar.iter().map(|(pair, path)| (pair.clone(), path.replace(&self.link, &other.link))).collect()
    }

    fn key(&self) -> String {
        carried(&self.page).into_iter().find(|(name, _)| name == "_key").unwrap().1
    }
}

/// An attempt: whose cookies and key go to which form.
struct Attempt {
    what: &'static str,
    jar: Vec<(String, String)>,
    key: String,
    link: String,
    /// Whether the page, too, has to stay closed. A stolen key alone closes only what writes.
    reads: bool,
}

async fn text_of(answer: reqwest::Response, what: &str) -> String {
    assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{what}");
    assert!(answer.headers().get("set-cookie").is_none(), "{what} gets a cookie");
    answer.text().await.unwrap().split("<body").nth(1).unwrap().to_owned()
}

/// Changes one character of a text.
fn guess(secret: &str) -> String {
    let mut guess = secret.to_owned();
    let at = guess.len() - 3;
    let other = if &guess[at..=at] == "a" { "b" } else { "a" };
    guess.replace_range(at..=at, other);
    guess
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_token_opens_or_writes_anything_but_its_own_form() {
    let app = App::start_with("[forms]\nrequests_per_minute = 10000\n", &[], &[]);
    let own = Opened::new(&app, Who::Operator, "acme").await;
    let other = Opened::new(&app, Who::Operator, "acme").await;
    let foreign = Opened::new(&app, Who::Stranger, "other").await;
    let revoked = Opened::new(&app, Who::Operator, "acme").await;
    let expired = Opened::new(&app, Who::Operator, "acme").await;
    let withdrawn = Opened::new(&app, Who::Operator, "acme").await;
    let revoke = app.request(Who::Operator, Method::DELETE, &format!("/api/view-links/{}", revoked.link));
    assert_eq!(revoke.send().await.unwrap().status(), StatusCode::NO_CONTENT);
    let mut raw = Raw::of_sqlite(&app.data_dir().join("shiftbook.sqlite3")).await;
    raw.expire_view_link(expired.link.parse().unwrap()).await;
    app.post(Who::Operator, &format!("/api/views/{}/unpublish", withdrawn.view), json!({})).await;
    let (second, _) = enter(&app, &own.secret).await;

    let attempts = [
        Attempt { what: "no cookies", jar: vec![], key: own.key(), link: own.link.clone(), reads: true },
        Attempt {
            what: "another form's cookies",
            jar: own.jar_for(&other),
            key: own.key(),
            link: other.link.clone(),
            reads: true,
        },
        Attempt {
            what: "another form's cookies with this form's key",
            jar: own.jar_for(&other),
            key: other.key(),
            link: other.link.clone(),
            reads: true,
        },
        Attempt {
            what: "another workspace's cookies",
            jar: foreign.jar_for(&own),
            key: foreign.key(),
            link: own.link.clone(),
            reads: true,
        },
        Attempt {
            what: "cookies for another workspace",
            jar: own.jar_for(&foreign),
            key: own.key(),
            link: foreign.link.clone(),
            reads: true,
        },
        Attempt {
            what: "cookies of a revoked link",
            jar: revoked.browser.jar.clone(),
            key: revoked.key(),
            link: revoked.link.clone(),
            reads: true,
        },
        Attempt {
            what: "cookies of an expired link",
            jar: expired.browser.jar.clone(),
            key: expired.key(),
            link: expired.link.clone(),
            reads: true,
        },
        Attempt {
            what: "cookies of a withdrawn form",
            jar: withdrawn.browser.jar.clone(),
            key: withdrawn.key(),
            link: withdrawn.link.clone(),
            reads: true,
        },
        Attempt {
            what: "another browser's key",
            jar: second.jar.clone(),
            key: own.key(),
            link: own.link.clone(),
            reads: false,
        },
        Attempt {
            what: "no key",
            jar: own.browser.jar.clone(),
            key: String::new(),
            link: own.link.clone(),
            reads: false,
        },
        Attempt {
            what: "a guessed key",
            jar: own.browser.jar.clone(),
            key: guess(&own.key()),
            link: own.link.clone(),
            reads: false,
        },
        Attempt {
            what: "a link that does not exist",
            jar: own.browser.jar.clone(),
            key: own.key(),
            link: Uuid::nil().to_string(),
            reads: true,
        },
    ];
    let mut pages = Vec::new();
    for Attempt { what, jar, key, link, reads } in &attempts {
        let mut attacker = Browser::stranger(&app);
        // A browser sends each cookie to its path only. An attacker does not.
        attacker.jar = jar.iter().map(|(pair, _)| (pair.clone(), "/".to_owned())).collect();
        let form = [("_key", key.as_str()), ("_rev", "0"), ("name", "Eve"), ("email", "eve@x.test")];
        if *reads {
            let answer = attacker.ask(Method::GET, &format!("/forms/{link}"), &[]).await;
            pages.push((*what, text_of(answer, what).await));
        }
        for route in ["", "/draft", "/lead"] {
            let answer = attacker.ask(Method::POST, &format!("/forms/{link}{route}"), &form).await;
            pages.push((*what, text_of(answer, &format!("{what}, {route}")).await));
        }
    }
    for (what, secret) in [
        ("a guessed secret", guess(&own.secret)),
        ("a revoked secret", revoked.secret.clone()),
        ("an expired secret", expired.secret.clone()),
        ("the secret of a withdrawn form", withdrawn.secret.clone()),
        ("a secret without its prefix", own.secret[4..].to_owned()),
        ("an API token", own.key()),
    ] {
        for path in [format!("/f/{secret}"), format!("/embed/{secret}")] {
            let answer = Browser::stranger(&app).ask(Method::GET, &path, &[]).await;
            pages.push((what, text_of(answer, what).await));
        }
        let form = [("_link", own.link.as_str()), ("_key", ""), ("_browser", ""), ("_clearance", ""), ("name", "Eve")];
        let answer = Browser::stranger(&app).ask(Method::POST, &format!("/embed/{secret}"), &form).await;
        pages.push((what, text_of(answer, what).await));
    }
    for (what, page) in &pages {
        assert_eq!(*page, pages[0].1, "{what} is answered like no other");
    }
    for form in [&own, &other, &revoked, &expired, &withdrawn] {
        assert_eq!(responses(&app, form.view).await, Vec::<Value>::new(), "an attack wrote a response");
    }
    let sessions = app.request(Who::Stranger, Method::GET, "/api/responses").send().await.unwrap();
    assert_eq!(sessions.json::<Value>().await.unwrap()["items"], json!([]));
}

/// What a page in a frame carries is bound to its link and to each other, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_frame_carries_opens_no_other_form() {
    let app = App::start();
    let (own, other) = (Opened::new(&app, Who::Operator, "acme").await, Opened::new(&app, Who::Operator, "acme").await);
    let frame = async |secret: &str| {
        let page = Browser::stranger(&app).ask(Method::GET, &format!("/embed/{secret}"), &[]).await;
        carried(&page.text().await.unwrap())
    };
    let (first, second, of_other) = (frame(&own.secret).await, frame(&own.secret).await, frame(&other.secret).await);
    let value = |of: &[(String, String)], name: &str| of.iter().find(|(n, _)| n == name).unwrap().1.clone();
    let with = |name: &str, text: String| {
        let mut form = first.clone();
        form.retain(|(n, _)| n != name);
        form.push((name.to_owned(), text));
        form
    };
    for (what, form) in [
        ("another link", with("_link", value(&of_other, "_link"))),
        ("another browser", with("_browser", value(&second, "_browser"))),
        ("another browser's clearance", with("_clearance", value(&second, "_clearance"))),
        ("another browser's key", with("_key", value(&second, "_key"))),
        ("another form's clearance", with("_clearance", value(&of_other, "_clearance"))),
        ("no key", with("_key", String::new())),
    ] {
        let mut fields: Vec<_> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        fields.push(("name", "Eve"));
        let answer = Browser::stranger(&app).ask(Method::POST, &format!("/embed/{}", own.secret), &fields).await;
        text_of(answer, what).await;
    }
    assert_eq!(responses(&app, own.view).await, Vec::<Value>::new());
    let mut fields: Vec<_> = first.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    fields.push(("name", "Zoe"));
    let answer = Browser::stranger(&app).ask(Method::POST, &format!("/embed/{}", own.secret), &fields).await;
    assert_eq!(answer.status(), StatusCode::OK, "unchanged, it is taken");
}
