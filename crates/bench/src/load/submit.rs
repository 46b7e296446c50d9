//! Submissions of a form: by people without an account, one browser for each connection.

use super::{Script, expect};
use crate::{
    http::{Answer, Connection, Request},
    ids::Ids,
};
use anyhow::{Context as _, Result};
use memchr::memmem;
use std::net::SocketAddr;
use uuid::fmt::Hyphenated;

/// Placeholder of the id of a submission.
const NO_ID: &str = "00000000-0000-7000-8000-000000000000";

/// A browser that opened a link: the path of the form, its cookies, and the key that its page carries.
pub struct OpenForm {
    pub path: String,
    pub cookie: String,
    key: String,
}

/// Opens a link as a new browser.
pub async fn open_form(target: SocketAddr, link: &str) -> Result<OpenForm> {
    let mut connection = Connection::open(target).await?;
    let request = Request::get(target, link, &["accept: text/html".to_owned()]);
    let entered = connection.exchange(request.bytes(), crate::http::Body::Keep).await?;
    expect(&entered, 303)?;
    let path = entered.header("location").context("the link leads nowhere")?.to_owned();
    let lines = entered.head.lines().filter_map(|line| line.split_once(':'));
    let set = lines.filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
    let pairs: Vec<_> = set.filter_map(|(_, value)| value.split(';').next()).map(str::trim).collect();
    let cookie = format!("cookie: {}", pairs.join("; "));
    let page = Request::get(target, &path, &[cookie.clone(), "accept: text/html".to_owned()]);
    let page = String::from_utf8_lossy(connection.call(&page).await?.body).into_owned();
    let key = page.split("name=\"_key\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
    Ok(OpenForm { path, cookie, key: key.context("the page carries no key")?.to_owned() })
}

/// A browser that submits the form again and again. Each submission has an id of its own.
pub struct SubmitScript {
    request: Request,
    id_at: usize,
    ids: Ids,
}

impl SubmitScript {
    pub fn new(target: SocketAddr, form: &OpenForm) -> Result<Self> {
        let body = format!("_key={}&_rev=0&_version=1&_id={NO_ID}&name=Zoe&mood=4&why=It+went+well", form.key);
        let request = Request::form_with(target, &form.path, std::slice::from_ref(&form.cookie), &body);
        let id_at = memmem::find(request.body(), NO_ID.as_bytes()).context("the body has no id")?;
        Ok(Self { request, id_at, ids: Ids::new() })
    }
}

impl Script for SubmitScript {
    fn request(&mut self) -> Option<&[u8]> {
        let id = &mut self.request.body_mut()[self.id_at..self.id_at + Hyphenated::LENGTH];
        self.ids.next().as_hyphenated().encode_lower(id);
        Some(self.request.bytes())
    }

    fn settle(&mut self, answer: &Answer<'_>) -> Result<u64> {
        expect(answer, 303)?;
        Ok(1)
    }
}
