//! Patches of canvases: each connection is a person who changes a text of their own.

use super::Script;
use crate::http::{Answer, Body, Request};
use anyhow::{Context as _, Result, bail};
use memchr::memmem;
use std::net::SocketAddr;

/// Too many patches of this person in a second.
const TOO_MANY: u16 = 429;

/// A person who edits a block of a canvas.
pub struct PatchScript {
    target: SocketAddr,
    path: String,
    headers: Vec<String>,
    block: String,
    /// The newest version that this person knows.
    head: u64,
    made: u64,
    request: Option<Request>,
    /// Patches beyond the rate that one person may have.
    pub limited: u64,
}

impl PatchScript {
    /// A person, by the header lines of their browser, at a block of a canvas whose newest version is `head`.
    pub fn new(target: SocketAddr, canvas: &str, headers: Vec<String>, block: &str, head: u64) -> Self {
        let path = format!("/api/canvases/{canvas}/patches");
        Self { target, path, headers, block: block.to_owned(), head, made: 0, request: None, limited: 0 }
    }

    /// The next patch.
    pub fn make(&mut self) -> Request {
        self.made += 1;
        let (block, made, head) = (&self.block, self.made, self.head);
        let body = format!(
            "{{\"opId\":\"{block}-{head}:{made}\",\"base\":{head},\"ops\":[{{\"op\":\"replace\",\
             \"path\":\"/blocks/{block}/text\",\"value\":\"The second supplier delivers within four days, {made}.\"}}]}}"
        );
        Request::post(self.target, &self.path, &self.headers, &body)
    }

    /// Takes the answer to a patch. Returns its version.
    ///
    /// # Errors
    /// If it was rejected.
    pub fn take(&mut self, body: &[u8]) -> Result<u64> {
        if memmem::find(body, b"\"committed\":").is_none() {
            bail!("the patch was rejected: {}", String::from_utf8_lossy(&body[..body.len().min(300)]));
        }
        self.head = number(body, b"\"head\":").context("the answer has no head")?;
        Ok(self.head)
    }
}

/// The number after a member's name.
fn number(body: &[u8], name: &[u8]) -> Option<u64> {
    let rest = &body[memmem::rfind(body, name)? + name.len()..];
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
}

impl Script for PatchScript {
    fn request(&mut self) -> Option<&[u8]> {
        let made = self.make();
        Some(self.request.insert(made).bytes())
    }

    fn body(&self) -> Body {
        Body::Keep
    }

    fn settle(&mut self, answer: &Answer<'_>) -> Result<u64> {
        match answer.status {
            200 => self.take(answer.body).map(|_| 1),
            TOO_MANY => {
                self.limited += 1;
                Ok(0)
            }
            other => bail!("{other} instead of 200: {}", answer.head.lines().next().unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_patch_names_the_version_of_the_last_one() {
        let target = SocketAddr::from(([127, 0, 0, 1], 1));
        let mut script = PatchScript::new(target, "c", Vec::new(), "b7", 3);
        assert!(String::from_utf8_lossy(script.make().body()).contains("\"base\":3,"));
        let answer = br#"{"committed":{"sequence":41,"previous":3,"ops":[]},"head":41}"#;
        assert_eq!(script.take(answer).unwrap(), 41);
        let body = script.make();
        let body = String::from_utf8_lossy(body.body()).into_owned();
        assert!(body.contains("\"base\":41,") && body.contains("\"opId\":\"b7-41:2\""), "{body}");
        assert!(script.take(br#"{"rejected":{"reason":"stale"},"head":50}"#).is_err());
    }
}
