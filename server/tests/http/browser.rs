//! A browser without scripts: signs in, keeps cookies with their paths, and does not follow redirects.

use crate::app::{App, PASSWORD};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use std::{io::Write as _, process::Stdio};

/// A browser of one person, with the cookies that it received and their paths.
pub struct Browser<'a> {
    app: &'a App,
    pub jar: Vec<(String, String)>,
}

impl<'a> Browser<'a> {
    /// A browser that is not signed in.
    pub fn stranger(app: &'a App) -> Self {
        Self { app, jar: Vec::new() }
    }

    /// A browser in which the person with this address is signed in.
    pub async fn of(app: &'a App, email: &str) -> Self {
        let form = [("email", email), ("password", PASSWORD)];
        let signed_in =
            app.http.post(format!("{}/sign-in", app.url)).header("origin", &app.url).form(&form).send().await.unwrap();
        let mut browser = Self::stranger(app);
        browser.keep(&signed_in);
        assert_eq!(browser.jar.len(), 1, "{signed_in:?}");
        browser
    }

    fn keep(&mut self, response: &Response) {
        for header in response.headers().get_all("set-cookie") {
            let mut parts = header.to_str().unwrap().split(';').map(str::trim);
            let pair = parts.next().unwrap().to_owned();
            let path = parts.find_map(|part| part.strip_prefix("Path=")).unwrap().to_owned();
            let name = pair.split('=').next().unwrap().to_owned() + "=";
            self.jar.retain(|(known, of)| !(known.starts_with(&name) && *of == path));
            self.jar.push((pair, path));
        }
    }

    /// Sends a request of a page.
    pub async fn ask(&self, method: Method, path: &str, form: &[(&str, &str)]) -> Response {
        self.try_ask(method, path, form).await.unwrap()
    }

    /// The same to a server that may be killed meanwhile.
    pub async fn try_ask(&self, method: Method, path: &str, form: &[(&str, &str)]) -> reqwest::Result<Response> {
        let sent = self.jar.iter().filter(|(_, of)| path.starts_with(of.as_str())).map(|(pair, _)| pair.as_str());
        let cookie = sent.collect::<Vec<_>>().join("; ");
        let request = self.app.http.request(method.clone(), format!("{}{path}", self.app.url));
        let request = request.header("cookie", cookie).header("origin", &self.app.url).header("accept", "text/html");
        let request = if method == Method::POST { request.form(form) } else { request };
        request.send().await
    }

    /// A call of a script on a page.
    pub fn call(&self, method: Method, path: &str) -> RequestBuilder {
        let cookie = self.jar.iter().map(|(pair, _)| pair.as_str()).collect::<Vec<_>>().join("; ");
        let request = self.app.http.request(method, format!("{}{path}", self.app.url));
        request.header("cookie", cookie).header("origin", &self.app.url).header("accept", "application/json")
    }

    /// Returns the text of a page, which must exist.
    pub async fn page(&self, path: &str) -> String {
        let response = self.ask(Method::GET, path, &[]).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        response.text().await.unwrap()
    }

    /// Posts a form and keeps the cookies of the answer.
    pub async fn post(&mut self, path: &str, form: &[(&str, &str)]) -> Response {
        self.ask_and_keep(Method::POST, path, form).await
    }

    /// Starts a conversation, and keeps the cookies that come back.
    pub async fn start_chat(&mut self, form: &[(&str, &str)]) -> Response {
        self.post("/fn/chat/start", &[form, &[("next", "/chat/{id}"), ("page", "/chat")]].concat()).await
    }

    /// Posts a form of a conversation: `send`, `interrupt` or `end`. Keeps the cookies that come back.
    pub async fn chat(&mut self, does: &str, id: &str, form: &[(&str, &str)]) -> Response {
        let page = format!("/chat/{id}");
        let fields = [form, &[("session_id", id), ("next", &page)]].concat();
        self.post(&format!("/fn/chat/{does}"), &fields).await
    }

    /// Sends a request and keeps the cookies of the answer.
    pub async fn ask_and_keep(&mut self, method: Method, path: &str, form: &[(&str, &str)]) -> Response {
        let response = self.ask(method, path, form).await;
        self.keep(&response);
        response
    }
}

/// Returns the address to which a form leads that has made a secret: of `page`, which shows it once at this fragment.
pub fn shown_at(made: &Response, page: &str, fragment: &str) -> String {
    let to = made.headers()["location"].to_str().unwrap();
    assert_eq!(made.status(), StatusCode::SEE_OTHER, "{to}");
    assert!(to.starts_with(&format!("{page}?made=")) && to.ends_with(fragment), "{to}");
    to.strip_suffix(fragment).unwrap().to_owned()
}

/// The body of a form with a text file, of the type `multipart/form-data; boundary=edge`: its fields, and the field
/// and the bytes of the file.
pub fn with_file(
    fields: impl IntoIterator<Item = (impl AsRef<str>, impl AsRef<str>)>,
    (name, bytes): (&str, &[u8]),
) -> Vec<u8> {
    let part = |name: &str, more: &str, value: &[u8]| {
        let head = format!("--edge\r\ncontent-disposition: form-data; name=\"{name}\"{more}\r\n\r\n");
        [head.as_bytes(), value, b"\r\n"].concat()
    };
    let mut body = Vec::new();
    for (name, text) in fields {
        body.extend(part(name.as_ref(), "", text.as_ref().as_bytes()));
    }
    body.extend(part(name, "; filename=\"note.txt\"", bytes));
    body.extend(b"--edge--\r\n");
    body
}

/// Adds a member to the first workspace.
pub fn add_person(app: &App, email: &str) {
    add_person_to(app, "acme", email);
}

/// Adds a member to this workspace.
pub fn add_person_to(app: &App, workspace: &str, email: &str) {
    let words = ["user", "add", "--tenant", workspace, "--email", email, "--role", "member", "--password-stdin"];
    let mut add = app.cli().args(words).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    add.stdin.take().unwrap().write_all(PASSWORD.as_bytes()).unwrap();
    assert!(add.wait().unwrap().success());
}

/// The ratings of a session, as the operator's command lists them.
pub fn ratings(app: &App, id: &str) -> Vec<Value> {
    let output = app.cli().args(["feedback", "list", "--thread", id]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
