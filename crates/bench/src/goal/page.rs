//! G13, G14: pages rendered on the server, and how much a browser fetches for the first one.

use super::{Bench, Series, Site, transcript};
use crate::{
    http::{Connection, Request, credentials},
    load::{self, GetScript, Held, claimed_sessions},
    report::{Bound, Finding, Rounds},
};
use anyhow::{Result, ensure};
use std::{collections::BTreeSet, process::Command};

const EVENTS: usize = 100;
const READERS: usize = 4;
const SVELTE: &str = "Svelte 5 in Node";
/// Pages of 100 events that it renders per second of CPU time: from memory, and nothing else.
const SVELTE_PER_CPU_SECOND: f64 = 5_635.0;
/// What a page can ask a browser to fetch before it is whole.
const FILE_ENDINGS: [&str; 7] = [".css", ".js", ".wasm", ".svg", ".png", ".ico", ".woff2"];
/// A page that names more files than this is not read correctly.
const FILES_MAX: usize = 64;

pub async fn measure(bench: &mut Bench, site: &Site) -> Result<()> {
    if bench.wants(&["G13"]) {
        let held = claimed_sessions(site.server.address(), &site.account.token, 1).await?.remove(0);
        transcript::fill(site, &held, EVENTS).await?;
        let path = format!("/sessions/{}", held.id);
        let pages = rendered(bench, site, &path).await?;
        let what = format!("page of {EVENTS} events, per second of CPU time");
        bench.found(pages.finding("G13", what).against_constant(SVELTE, SVELTE_PER_CPU_SECOND));
        alone(bench, site, &held).await?;
    }
    if bench.wants(&["G14"]) {
        first_page(bench, site).await?;
    }
    Ok(())
}

/// The same page rendered from memory, as the reference renders it: without HTTP, sign-in and database.
async fn alone(bench: &mut Bench, site: &Site, held: &Held) -> Result<()> {
    let Some(renderer) = bench.renderer.clone() else {
        bench.found(Finding::new("G13", "the page rendered alone", "/s", 0.0).broken_if(true, "needs --renderer"));
        return Ok(());
    };
    let mut program = Command::new(renderer);
    let target = site.server.address();
    let mut connection = Connection::open(target).await?;
    let session = format!("/api/sessions/{}", held.id);
    for (name, path) in [
        ("me.json", "/api/me".to_owned()),
        ("session.json", session.clone()),
        ("events.json", format!("{session}/events?limit={EVENTS}")),
    ] {
        let file = bench.work.join(name);
        let request = Request::get(target, &path, &credentials(&site.account.token));
        std::fs::write(&file, connection.call(&request).await?.body)?;
        program.arg(file);
    }
    program.args([bench.plan.rounds.to_string(), bench.plan.window.measure.as_secs_f64().to_string()]);
    let output = program.output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut rounds = Rounds::default();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        rounds.push(line.parse()?);
    }
    let what = format!("the same page rendered alone, as the reference does, {EVENTS} events");
    let finding = Finding::highest("G13", what, "/s", &rounds).against_constant(SVELTE, SVELTE_PER_CPU_SECOND);
    bench.found(finding.goals(Bound::AtLeast(1.0), Bound::AtLeast(2.0)));
    Ok(())
}

/// Pages per second of the server's CPU time.
pub struct Rendered {
    per_cpu_second: Rounds,
    series: Series,
}

impl Rendered {
    pub fn finding(&self, goal: &'static str, what: String) -> Finding {
        let broken = self.series.first_error.as_deref().unwrap_or_default();
        Finding::highest(goal, what, "/s", &self.per_cpu_second)
            .facts(self.series.facts("page"))
            .broken_if(self.series.errors > 0, format!("{} errors ({broken})", self.series.errors))
    }
}

/// Asks for a page again and again, as a browser that is signed in and takes no compression.
pub async fn rendered(bench: &Bench, site: &Site, path: &str) -> Result<Rendered> {
    let target = site.server.address();
    let page = Request::get(target, path, &[site.cookie.clone(), "accept: text/html".into()]);
    let mut rendered = Rendered { per_cpu_second: Rounds::default(), series: Series::default() };
    for _ in 0..bench.plan.rounds {
        let readers = (0..READERS).map(|_| GetScript(page.clone())).collect();
        let (load, _) = load::run(target, readers, bench.plan.window, site.server.pid()).await?;
        rendered.per_cpu_second.push(load.per_cpu_second());
        rendered.series.push(load);
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
    let compressed = [site.cookie.clone(), "accept: text/html".to_owned(), "accept-encoding: br".to_owned()];
    let page = connection.call(&Request::get(target, "/today", &compressed)).await?.body_bytes;
    let (mut total, mut parts) = (page, vec![format!("/today {page} bytes")]);
    for path in &known {
        let Ok(answer) = connection.call(&Request::get(target, path, &["accept-encoding: br".to_owned()])).await else {
            continue;
        };
        total += answer.body_bytes;
        parts.push(format!("{path} {}", answer.body_bytes));
    }
    let is_bare = known.is_empty();
    let finding = Finding::new("G14", "first page with all its files, brotli", "KiB", total as f64 / 1_024.0)
        .goals(Bound::AtMost(300.0), Bound::AtMost(150.0))
        .broken_if(is_bare, "the binary holds no site: build it with `cargo xtask build`")
        .facts(parts.join(", "));
    bench.found(finding);
    Ok(())
}

/// Paths in quotes that end like a file. Relative ones (`./x.js`) stand in `folder`.
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
