//! G13, G14: pages rendered on the server, and how much a browser fetches for the first one.

use super::{Bench, Series, Site, transcript};
use crate::{
    http::{Connection, Request, credentials},
    load::{self, GetScript, Held, claimed_sessions},
    process::figure,
    report::{Bound, Finding, Rounds},
};
use anyhow::Result;
use std::{collections::BTreeSet, path::PathBuf};
use tokio::process::Command;

const EVENTS: usize = 100;
const READERS: usize = 4;
const SVELTE: &str = "Svelte 5 in Node";
/// Pages of 100 events that it rendered per second of CPU time on another machine, from memory, and nothing else: what
/// is compared with where it cannot be run.
const SVELTE_PER_CPU_SECOND: f64 = 5_635.0;
/// What browsers accept: files come with brotli, and what is made on the fly with gzip.
const BROWSER_ENCODINGS: &str = "gzip, deflate, br";
/// What a page can ask a browser to fetch before it is whole.
const FILE_ENDINGS: [&str; 7] = [".css", ".js", ".wasm", ".svg", ".png", ".ico", ".woff2"];
/// A page that names more files than this is not read correctly.
const FILES_MAX: usize = 64;

pub async fn measure(bench: &mut Bench, site: &Site) -> Result<()> {
    if bench.wants(&["G13"]) {
        transcript_page(bench, site).await?;
    }
    if bench.wants(&["G14"]) {
        first_page(bench, site).await?;
    }
    Ok(())
}

/// A page of events three ways, in turns: by the server; from memory, as the reference renders it, without HTTP,
/// sign-in and database; and by the reference.
async fn transcript_page(bench: &mut Bench, site: &Site) -> Result<()> {
    let held = claimed_sessions(site.server.address(), &site.account.token, 1).await?.remove(0);
    transcript::fill(site, &held, EVENTS).await?;
    let path = format!("/sessions/{}", held.id);
    let files = page_data(bench, site, &held).await?;
    let seconds = bench.plan.window.measure.as_secs_f64().to_string();
    let (mut served, mut alone, mut svelte) = (Rendered::default(), Rounds::default(), Rounds::default());
    for _ in 0..bench.plan.rounds {
        if let Some(references) = &bench.references {
            let mut script = references.script("svelte-page.js");
            svelte.push(figure(script.args(&files).args(["1", &seconds])).await?);
        }
        served.round(bench, site, &path).await?;
        if let Some(renderer) = &bench.renderer {
            alone.push(figure(Command::new(renderer).args(&files).args(["1", &seconds])).await?);
        }
    }
    let is_measured = bench.references.is_some();
    let beside = |finding: Finding| {
        if is_measured {
            finding.against(SVELTE, svelte.highest(), svelte.median())
        } else {
            finding.against_constant(SVELTE, SVELTE_PER_CPU_SECOND)
        }
    };
    bench.found(beside(served.finding("G13", format!("page of {EVENTS} events, per second of CPU time"))));
    if bench.renderer.is_some() {
        let what = format!("page of {EVENTS} events over HTTP, per second of CPU time");
        let whole = served.finding("G13", what).against("the same rendered alone", alone.highest(), alone.median());
        bench.found(whole.goals(Bound::AtLeast(0.7), Bound::AtLeast(0.85)));
    }
    let what = format!("the same page rendered alone, as the reference does, {EVENTS} events");
    let alone = Finding::highest("G13", what, "/s", &alone).broken_if(bench.renderer.is_none(), "needs --renderer");
    bench.found(beside(alone).goals(Bound::AtLeast(1.0), Bound::AtLeast(2.0)));
    Ok(())
}

/// What the page is rendered from, as the API says it: the files that both renderers read.
async fn page_data(bench: &Bench, site: &Site, held: &Held) -> Result<Vec<PathBuf>> {
    let target = site.server.address();
    let mut connection = Connection::open(target).await?;
    let session = format!("/api/sessions/{}", held.id);
    let mut files = Vec::new();
    for (name, path) in [
        ("me.json", "/api/me".to_owned()),
        ("session.json", session.clone()),
        ("events.json", format!("{session}/events?limit={EVENTS}")),
    ] {
        let file = bench.work.join(name);
        let request = Request::get(target, &path, &credentials(&site.account.token));
        std::fs::write(&file, connection.call(&request).await?.body)?;
        files.push(file);
    }
    Ok(files)
}

/// Pages per second of the server's CPU time.
#[derive(Default)]
pub struct Rendered {
    per_cpu_second: Rounds,
    series: Series,
}

impl Rendered {
    /// Asks for a page again and again, as a browser that is signed in and takes no compression.
    async fn round(&mut self, bench: &Bench, site: &Site, path: &str) -> Result<()> {
        self.round_as(bench, site, path, &site.cookie).await
    }

    /// The same as a browser with this cookie line.
    pub async fn round_as(&mut self, bench: &Bench, site: &Site, path: &str, cookie: &str) -> Result<()> {
        let target = site.server.address();
        let page = Request::get(target, path, &[cookie.to_owned(), "accept: text/html".into()]);
        let readers = (0..READERS).map(|_| GetScript(page.clone())).collect();
        let (load, _) = load::run(target, readers, bench.plan.window, site.server.pid()).await?;
        self.per_cpu_second.push(load.per_cpu_second());
        self.series.push(load);
        Ok(())
    }

    /// CPU time of a page in each round, microseconds.
    pub fn cpu_us(&self) -> Rounds {
        self.per_cpu_second.inverted(1e6)
    }

    pub fn finding(&self, goal: &'static str, what: String) -> Finding {
        let broken = self.series.first_error.as_deref().unwrap_or_default();
        Finding::highest(goal, what, "/s", &self.per_cpu_second)
            .facts(self.series.facts("page"))
            .broken_if(self.series.errors > 0, format!("{} errors ({broken})", self.series.errors))
    }
}

/// All rounds of a page that is compared with nothing.
pub async fn rendered(bench: &Bench, site: &Site, path: &str) -> Result<Rendered> {
    let mut rendered = Rendered::default();
    for _ in 0..bench.plan.rounds {
        rendered.round(bench, site, path).await?;
    }
    Ok(rendered)
}

/// Bytes of /today and of every file it names, as a browser with brotli receives them.
async fn first_page(bench: &mut Bench, site: &Site) -> Result<()> {
    let target = site.server.address();
    let mut connection = Connection::open(target).await?;
    let plain = [site.cookie.clone(), "accept: text/html".to_owned()];
    let html = connection.call(&Request::get(target, "/today", &plain)).await?.body.to_vec();
    let mut known: BTreeSet<String> = files_named(&html, "/");
    let mut open: Vec<String> = known.iter().filter(|path| path.ends_with(".js")).cloned().collect();
    while let Some(script) = open.pop() {
        // A script may name files that do not exist, and no browser asks for.
        let Ok(answer) = connection.call(&Request::get(target, &script, &[])).await else { continue };
        let text = answer.body.to_vec();
        let folder = script.rsplit_once('/').map_or("/", |(folder, _)| folder);
        for path in files_named(&text, &format!("{folder}/")) {
            if known.len() < FILES_MAX && known.insert(path.clone()) && path.ends_with(".js") {
                open.push(path);
            }
        }
    }
    let packed = format!("accept-encoding: {BROWSER_ENCODINGS}");
    let compressed = [site.cookie.clone(), "accept: text/html".to_owned(), packed.clone()];
    let page = connection.call(&Request::get(target, "/today", &compressed)).await?.body_bytes;
    let (mut total, mut parts) = (page, vec![format!("/today {page} bytes")]);
    for path in &known {
        let Ok(answer) = connection.call(&Request::get(target, path, std::slice::from_ref(&packed))).await else {
            continue;
        };
        total += answer.body_bytes;
        parts.push(format!("{path} {}", answer.body_bytes));
    }
    let is_bare = known.is_empty();
    let finding =
        Finding::new("G14", "first page with all its files, as a browser gets them", "KiB", total as f64 / 1_024.0)
            .goals(Bound::AtMost(300.0), Bound::AtMost(150.0))
            .broken_if(is_bare, "the binary holds no site: build it with `cargo xtask build`")
            .facts(parts.join(", "));
    bench.found(finding);
    Ok(())
}

/// Paths in quotes that end like a file. Relative ones (`./x.js`) are in `folder`.
fn files_named(text: &[u8], folder: &str) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(text);
    let quoted = text.split(['"', '\'', '`', '(', ')', ' ']);
    let files = quoted.filter(|part| FILE_ENDINGS.iter().any(|ending| part.ends_with(ending)));
    let absolute = files.filter_map(|part| match part.strip_prefix("./") {
        Some(rest) => Some(format!("{folder}{rest}")),
        None => (part.starts_with('/') && !part.starts_with("//")).then(|| part.to_owned()),
    });
    absolute.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_page_are_found() {
        let html = br#"<link rel="stylesheet" href="/pkg/main.1.css"><script>import("/pkg/app.2.js")</script><a href="/today">x.js</a>"#;
        let files: Vec<_> = files_named(html, "/").into_iter().collect();
        assert_eq!(files, ["/pkg/app.2.js", "/pkg/main.1.css"]);
        let script = b"import { a } from './snippets/b.js'; new URL('https://x.test/c.js')";
        assert_eq!(files_named(script, "/pkg/").into_iter().collect::<Vec<_>>(), ["/pkg/snippets/b.js"]);
    }
}
