//! Signed-in people: the identities of the matrix.

use crate::app::{App, PASSWORD, Who};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use std::{io::Write as _, process::Stdio, sync::Mutex};

/// Header, and parameter of a form's address, with which a page names its owner.
pub const OWNER_HEADER: &str = "x-shiftbook-owner";

/// A person with a browser.
pub struct Person {
    /// Name of the person's column in the table.
    pub name: &'static str,
    pub email: &'static str,
    /// Cookie of the sign-in; `None` for a person who is not signed in.
    cookie: Mutex<Option<String>>,
}

impl Person {
    /// A request with this person's cookie and the headers that a browser sends for a page of the server.
    pub fn request(&self, app: &App, method: Method, path: &str) -> RequestBuilder {
        let request = app.http.request(method.clone(), format!("{}{path}", app.url));
        let request = request.header("sec-fetch-site", "same-origin");
        let request = if method == Method::GET { request } else { request.header("origin", &app.url) };
        match self.cookie() {
            Some(cookie) => request.header("cookie", cookie),
            None => request,
        }
    }

    pub fn cookie(&self) -> Option<String> {
        self.cookie.lock().unwrap().clone()
    }

    /// Posts JSON and expects success.
    pub async fn post(&self, app: &App, path: &str, body: Value) -> Value {
        let answer = self.request(app, Method::POST, path).json(&body).send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert!(status.is_success(), "{} POST {path}: {status} {text}", self.name);
        serde_json::from_str(&text).unwrap()
    }

    pub async fn get(&self, app: &App, path: &str) -> Value {
        let answer = self.request(app, Method::GET, path).send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert!(status.is_success(), "{} GET {path}: {status} {text}", self.name);
        serde_json::from_str(&text).unwrap()
    }

    /// The owner of the pages that this person sees now: workspace and person.
    pub async fn owner(&self, app: &App) -> String {
        let me = self.get(app, "/api/me").await;
        format!("{}/{}", me["tenant"]["id"].as_str().unwrap(), me["user"]["id"].as_str().unwrap())
    }

    /// Signs the person in again, if their account permits it.
    pub async fn sign_in(&self, app: &App) {
        let form = [("email", self.email), ("password", PASSWORD)];
        let request = app.http.post(format!("{}/sign-in", app.url)).header("origin", &app.url).form(&form);
        let answer: Response = request.send().await.unwrap();
        if let Some(cookie) = answer.headers().get("set-cookie") {
            let cookie = cookie.to_str().unwrap().split(';').next().unwrap();
            *self.cookie.lock().unwrap() = Some(cookie.to_owned());
        }
    }

    /// Whether the cookie is still valid.
    pub async fn is_signed_in(&self, app: &App) -> bool {
        let me = self.request(app, Method::GET, "/api/me").send().await.unwrap();
        me.status().is_success()
    }
}

/// The people of the matrix. Mia owns the objects of the requests. The admin is last, because their requests may
/// remove the objects. The second field is the export that all rows share.
pub struct People(pub Vec<Person>, pub Mutex<Option<String>>);

/// Name, e-mail address, workspace and role.
const SIGNED_IN: [(&str, &str, &str, &str); 8] = [
    ("owner", "mia@acme.test", "acme", "member"),
    ("member", "max@acme.test", "acme", "member"),
    ("reviewer", "rea@acme.test", "acme", "reviewer"),
    ("operator", "otto@acme.test", "acme", "operator"),
    ("foreign", "sam@other.test", "other", "admin"),
    ("removed", "rex@acme.test", "acme", "member"),
    ("inactive", "dora@acme.test", "acme", "member"),
    ("admin", "ada@acme.test", "acme", "admin"),
];

impl People {
    /// Adds the people and signs them in. Then one is removed and one deactivated.
    pub async fn of(app: &App) -> Self {
        let mut people = vec![Person { name: "nobody", email: "nobody@acme.test", cookie: Mutex::default() }];
        for (name, email, workspace, role) in SIGNED_IN {
            if name != "admin" {
                add(app, email, workspace, role);
            }
            let person = Person { name, email, cookie: Mutex::default() };
            person.sign_in(app).await;
            assert!(person.is_signed_in(app).await, "{name}");
            people.push(person);
        }
        let people = Self(people, Mutex::default());
        for (name, change) in [("removed", None), ("inactive", Some(json!({ "status": "deactivated" })))] {
            let id = member_id(app, people.named(name).email).await.unwrap();
            let path = format!("/api/members/{id}");
            let request = match change {
                None => app.request(Who::Admin, Method::DELETE, &path),
                Some(change) => app.request(Who::Admin, Method::PATCH, &path).json(&change),
            };
            let answer = request.send().await.unwrap();
            assert!(answer.status().is_success(), "{name}: {}", answer.text().await.unwrap());
            // The server caches for a second to whom a cookie belongs.
            while people.named(name).is_signed_in(app).await {
                tokio::task::yield_now().await;
            }
        }
        people
    }

    pub fn named(&self, name: &str) -> &Person {
        self.0.iter().find(|person| person.name == name).unwrap()
    }
}

pub fn add(app: &App, email: &str, workspace: &str, role: &str) {
    let words = ["user", "add", "--tenant", workspace, "--email", email, "--role", role, "--password-stdin"];
    let mut add = app.cli().args(words).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    add.stdin.take().unwrap().write_all(PASSWORD.as_bytes()).unwrap();
    assert!(add.wait().unwrap().success());
}

/// The id of the person with this address, if they are a member of the first workspace.
pub async fn member_id(app: &App, email: &str) -> Option<String> {
    let members = app.request(Who::Admin, Method::GET, "/api/members").send().await.unwrap();
    let members: Value = members.json().await.unwrap();
    let found = members["members"].as_array().unwrap().iter().find(|member| member["email"] == email);
    found.map(|member| member["id"].as_str().unwrap().to_owned())
}
