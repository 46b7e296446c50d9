//! G24: canvases: patches on one canvas and on many, how soon a patch is with another client, what opening costs after
//! many patches, and the memory of open canvases.

use super::{Bench, Series, Site};
use crate::{
    histogram::Histogram,
    http::{Body, Connection, Request, Stream, credentials},
    load::{self, PatchScript},
    process::person,
    report::{Bound, Finding},
};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Map, Value, json};
use std::{
    fs,
    time::{Duration, Instant},
};
use tokio::{
    task::JoinSet,
    time::{sleep, sleep_until, timeout},
};

pub const GOAL: &str = "G24";
/// People who edit. A canvas takes as many, and 20 patches of each in a second.
const PEOPLE: usize = 100;
/// Editors whose patches are timed, and the pause between two patches of one of them.
const EDITORS: usize = 20;
const PAUSE: Duration = Duration::from_millis(100);
/// Canvases that are open at once.
const OPEN: usize = 200;
/// Text of a block of an open canvas.
const BLOCK_BYTES: usize = 500;
/// How long a follower may take to get the last patch.
const CATCH_UP_MAX: Duration = Duration::from_secs(60);
/// Time after which memory is read.
const SETTLE: Duration = Duration::from_secs(1);

pub async fn measure(bench: &mut Bench) -> Result<()> {
    let data_dir = bench.work.join("canvases");
    let account = bench.spec.account(&data_dir).await?;
    bench.spec.people(&data_dir, PEOPLE).await?;
    let site = Site::open(&bench.spec, &data_dir, account).await?;
    let people = people(&site).await?;
    rates(bench, &site, &people).await?;
    ways(bench, &site, &people).await?;
    opening(bench, &site, &people).await?;
    open_canvases(bench, &site).await?;
    site.server.stop().await?;
    fs::remove_dir_all(&data_dir)?;
    Ok(())
}

/// Someone who edits.
struct Person {
    id: String,
    headers: Vec<String>,
}

/// Signs everyone in.
async fn people(site: &Site) -> Result<Vec<Person>> {
    let target = site.server.address();
    let mut connection = Connection::open(target).await?;
    let mut people = Vec::with_capacity(PEOPLE);
    for at in 0..PEOPLE {
        let cookie = site.server.sign_in_as(&person(at)).await?;
        let headers = vec![cookie, format!("origin: http://{target}")];
        let me = connection.call(&Request::get(target, "/api/me", &headers)).await?;
        let me: Value = serde_json::from_slice(me.body)?;
        let id = me["user"]["id"].as_str().context("/api/me names no user")?.to_owned();
        people.push(Person { id, headers });
    }
    Ok(people)
}

/// Makes a canvas with a block for each of these people, who edit it. Returns its id and version.
async fn canvas(site: &Site, people: &[&Person], text: &str) -> Result<(String, u64)> {
    let (target, headers) = (site.server.address(), credentials(&site.account.token));
    let mut connection = Connection::open(target).await?;
    let block = |at: usize| (format!("b{at}"), json!({ "type": "text", "text": text, "order": "a0" }));
    let blocks: Map<String, Value> = (0..people.len().max(1)).map(block).collect();
    let new = json!({ "title": "Bench", "document": { "blocks": blocks } }).to_string();
    let made = connection.call(&Request::post(target, "/api/canvases", &headers, &new)).await?;
    let made: Value = serde_json::from_slice(made.body)?;
    let id = made["id"].as_str().context("the canvas has no id")?.to_owned();
    let version = made["version"].as_u64().context("the canvas has no version")?;
    let path = format!("/api/canvases/{id}/participants");
    for person in people {
        let participant = json!({ "participant": format!("user:{}", person.id), "role": "edit" }).to_string();
        connection.call(&Request::put(target, &path, &headers, &participant)).await?;
    }
    Ok((id, version))
}

/// A person at a block.
fn script(site: &Site, (id, head): &(String, u64), person: &Person, at: usize) -> PatchScript {
    PatchScript::new(site.server.address(), id, person.headers.clone(), &format!("b{at}"), *head)
}

/// Patches in a second: everyone on one canvas, and everyone on a canvas of their own.
async fn rates(bench: &mut Bench, site: &Site, people: &[Person]) -> Result<()> {
    let target = site.server.address();
    let (mut hot, mut apart, mut limited) = (Series::default(), Series::default(), [0, 0]);
    for _ in 0..bench.plan.rounds {
        let all: Vec<_> = people.iter().collect();
        let one = canvas(site, &all, "").await?;
        let scripts = people.iter().enumerate().map(|(at, person)| script(site, &one, person, at)).collect();
        let (load, scripts) = load::run(target, scripts, bench.plan.window, site.server.pid()).await?;
        limited[0] += scripts.iter().map(|script| script.limited).sum::<u64>();
        hot.push(load);
        let mut scripts = Vec::with_capacity(people.len());
        for person in people {
            scripts.push(script(site, &canvas(site, &[person], "").await?, person, 0));
        }
        let (load, scripts) = load::run(target, scripts, bench.plan.window, site.server.pid()).await?;
        limited[1] += scripts.iter().map(|script| script.limited).sum::<u64>();
        apart.push(load);
    }
    for (series, limited, what) in [
        (hot, limited[0], format!("patches of {PEOPLE} people on one canvas")),
        (apart, limited[1], format!("patches of {PEOPLE} people on a canvas each")),
    ] {
        let mut finding = series.finding(GOAL, what, "patch");
        finding.facts.push_str(&format!("; {limited} requests beyond 20 in a second of one person"));
        bench.found(finding);
    }
    Ok(())
}

/// How long a patch takes from its request to another client, while many edit.
async fn ways(bench: &mut Bench, site: &Site, people: &[Person]) -> Result<()> {
    let editors: Vec<_> = people.iter().take(EDITORS).collect();
    let one = canvas(site, &editors, "").await?;
    let each = bench.plan.lag_events.div_ceil(EDITORS as u64).max(20);
    let count = usize::try_from(each)? * EDITORS;
    let mut followers = JoinSet::new();
    for person in &editors {
        let mut headers = person.headers.clone();
        headers.push("accept: text/event-stream".into());
        let path = format!("/api/sessions/{}/events/stream?afterSequence={}", one.0, one.1);
        let follow = Request::get(site.server.address(), &path, &headers);
        let stream = Stream::open(Connection::open(site.server.address()).await?, &follow, one.1).await?;
        followers.spawn(arrivals(stream, count));
    }
    let mut writers = JoinSet::new();
    for (at, person) in editors.iter().enumerate() {
        writers.spawn(paced(Connection::open(site.server.address()).await?, script(site, &one, person, at), each, at));
    }
    let mut sent: Vec<(u64, Instant)> = Vec::with_capacity(count);
    while let Some(written) = writers.join_next().await {
        sent.extend(written??);
    }
    let mut times = Histogram::new()?;
    while let Some(arrived) = timeout(CATCH_UP_MAX, followers.join_next()).await.context("followers wait")? {
        let arrived = arrived??;
        for (version, at) in &sent {
            let place = usize::try_from(version - one.1 - 1)?;
            let arrived = arrived.get(place).context("a patch did not arrive")?;
            times.record(arrived.saturating_duration_since(*at));
        }
    }
    let rate = format!("{EDITORS} editors at 10 patches a second each, each followed by all");
    for (share, name, most) in [(0.5, "p50", 50_000.0), (0.99, "p99", 200_000.0)] {
        let what = format!("a patch from its request to another client, {name}");
        let facts = format!("{rate}; {}", times.summary());
        let mut finding = Finding::new(GOAL, what, "µs", times.quantile_us(share)).facts(facts);
        finding.must = Some(Bound::AtMost(most));
        bench.found(finding);
    }
    Ok(())
}

/// When each patch arrived at a follower.
async fn arrivals(mut stream: Stream, count: usize) -> Result<Vec<Instant>> {
    let mut arrived = Vec::with_capacity(count);
    while arrived.len() < count {
        stream.read().await?;
        arrived.resize(usize::try_from(stream.seen.count)?, Instant::now());
    }
    ensure!(stream.seen.gaps == 0, "{} patches are missing from the stream", stream.seen.gaps);
    Ok(arrived)
}

/// Sends patches at a pace. Returns the version of each, and when it was sent.
async fn paced(
    mut connection: Connection,
    mut script: PatchScript,
    count: u64,
    editor: usize,
) -> Result<Vec<(u64, Instant)>> {
    // Editors do not send all in the same moment.
    let mut next = Instant::now() + PAUSE * u32::try_from(editor)? / u32::try_from(EDITORS)?;
    let mut sent = Vec::new();
    for _ in 0..count {
        sleep_until(next.into()).await;
        next += PAUSE;
        let (request, at) = (script.make(), Instant::now());
        let answer = connection.exchange(request.bytes(), Body::Keep).await?.require_success()?;
        sent.push((script.take(answer.body)?, at));
    }
    Ok(sent)
}

/// Opening a canvas after few patches and after many.
async fn opening(bench: &mut Bench, site: &Site, people: &[Person]) -> Result<()> {
    let all: Vec<_> = people.iter().collect();
    let (few, many) = bench.plan.canvas_patches;
    let mut opened = Vec::new();
    for patches in [few, many] {
        let one = canvas(site, &all, "").await?;
        fill(site, &one, people, patches).await?;
        opened.push(open_times(bench, site, &one.0).await?);
    }
    let [before, after] = [&opened[0], &opened[1]].map(|times| times.quantile_us(0.5));
    let what = format!("opening a canvas after {many} patches, p50");
    let mut finding = Finding::new(GOAL, what, "µs", after)
        .against(format!("after {few}"), before, before)
        .facts(format!("after {many}: {}; after {few}: {}", opened[1].summary(), opened[0].summary()));
    finding.must = Some(Bound::AtMost(1.5));
    bench.found(finding);
    Ok(())
}

/// Sends patches until the canvas has so many.
async fn fill(site: &Site, one: &(String, u64), people: &[Person], patches: u64) -> Result<()> {
    let each = patches.div_ceil(people.len() as u64);
    let mut writers = JoinSet::new();
    for (at, person) in people.iter().enumerate() {
        let connection = Connection::open(site.server.address()).await?;
        writers.spawn(filled(connection, script(site, one, person, at), each));
    }
    while let Some(written) = writers.join_next().await {
        written??;
    }
    Ok(())
}

/// Sends so many patches, no faster than one person may.
async fn filled(mut connection: Connection, mut script: PatchScript, count: u64) -> Result<()> {
    let mut made = 0;
    while made < count {
        let request = script.make();
        let answer = connection.exchange(request.bytes(), Body::Keep).await?;
        if answer.status == 429 {
            sleep(PAUSE).await;
            continue;
        }
        script.take(answer.require_success()?.body)?;
        made += 1;
    }
    Ok(())
}

async fn open_times(bench: &Bench, site: &Site, canvas: &str) -> Result<Histogram> {
    let (target, headers) = (site.server.address(), credentials(&site.account.token));
    let mut connection = Connection::open(target).await?;
    let open = Request::get(target, &format!("/api/canvases/{canvas}"), &headers);
    let mut times = Histogram::new()?;
    for _ in 0..bench.plan.lag_events {
        let began = Instant::now();
        connection.call(&open).await?;
        times.record(began.elapsed());
    }
    Ok(times)
}

/// Memory that the server takes while many canvases are open, each followed by one client.
async fn open_canvases(bench: &mut Bench, site: &Site) -> Result<()> {
    let target = site.server.address();
    let mut made = Vec::with_capacity(OPEN);
    let text = "x".repeat(BLOCK_BYTES);
    for _ in 0..OPEN {
        made.push(canvas(site, &[], &text).await?);
    }
    sleep(SETTLE).await;
    let before = site.server.memory_mib()?.0;
    let mut headers = credentials(&site.account.token);
    headers.push("accept: text/event-stream".into());
    let mut streams = Vec::with_capacity(OPEN);
    for (id, version) in &made {
        let path = format!("/api/sessions/{id}/events/stream?afterSequence={version}");
        let follow = Request::get(target, &path, &headers);
        streams.push(Stream::open(Connection::open(target).await?, &follow, *version).await?);
    }
    sleep(SETTLE).await;
    let open = site.server.memory_mib()?.0;
    drop(streams);
    let what = format!("memory of {OPEN} open canvases");
    let facts = format!("{before:.1} MiB without them, {open:.1} MiB with them");
    bench.found(Finding::new(GOAL, what, "MiB", open - before).facts(facts));
    Ok(())
}
