//! An operator on Monday: three words lead to the tool call that broke, the failures of the weekend are a few causes,
//! and the sessions of a cause run again, five at a time.

use super::{HTML, form, page, read, step::Step};
use crate::{
    goal::{Bench, Site},
    http::{Connection, Request, encoded},
    seed::{memory::Language, sqlite::story::CAUSES},
};
use anyhow::{Context as _, Result, ensure};

/// What the operator remembers of the call that broke.
const WORDS: &str = "quarry+ledger+refused";
/// Events that the page of a session shows behind the one that its address names, as links of the search have it.
const BEHIND: u64 = 100;
/// Sessions that are run again with one request.
const PACE: usize = 5;

pub async fn measure(bench: &mut Bench, site: &Site) -> Result<()> {
    let mut connection = Connection::open(site.server.address()).await?;
    search(bench, site, &mut connection).await?;
    events(bench, site, &mut connection).await?;
    failures(bench, site, &mut connection).await?;
    run_again(bench, site, &mut connection).await
}

/// Three words as they were typed: those of the call that broke, and any others. Some of those are in every event.
async fn search(bench: &mut Bench, site: &Site, connection: &mut Connection) -> Result<()> {
    let events = bench.plan.story.events;
    let mut wanted = Step::new(format!("/search by three words of a failure, {events} events"))?;
    let mut pages = Step::new(format!("/search by any three words, {events} events"))?;
    let mut answers = Step::new(format!("GET /api/search by any three words, {events} events"))?;
    let mut language = Language::new(17);
    for _ in 0..bench.plan.story_requests {
        let found = wanted.take(connection, &page(site, &format!("/search?q={WORDS}"))).await?;
        ensure!(found.contains("<mark"), "the call that broke is not found");
        let words = [language.word(), language.word(), language.word()].join("+");
        pages.take(connection, &page(site, &format!("/search?q={words}"))).await?;
        let request = Request::get(site.server.address(), &format!("/api/search?q={words}"), &site.person());
        answers.take(connection, &request).await?;
    }
    [wanted, pages, answers].into_iter().for_each(|step| step.found(bench));
    Ok(())
}

/// The pages of the sessions that were found, at their events.
async fn events(bench: &mut Bench, site: &Site, connection: &mut Connection) -> Result<()> {
    let found = read(site, connection, &format!("/api/search?q={WORDS}")).await?;
    let items = found["items"].as_array().filter(|items| !items.is_empty()).context("no session is found")?;
    let links = items.iter().filter_map(|item| {
        let sequence = item["events"][0]["sequence"].as_u64()?;
        Some(format!("/sessions/{}?before={}", item["sessionId"].as_str()?, sequence + BEHIND))
    });
    let links: Vec<String> = links.collect();
    let mut pages = Step::new("the session's page, at the event that was found")?;
    for link in links.iter().cycle().take(bench.plan.story_requests) {
        pages.take(connection, &page(site, link)).await?;
    }
    pages.found(bench);
    Ok(())
}

/// The failures of the weekend, and each of their causes.
async fn failures(bench: &mut Bench, site: &Site, connection: &mut Connection) -> Result<()> {
    let causes = causes(site, connection).await?.1;
    let failures: usize = CAUSES.iter().map(|(.., count)| count).sum();
    let mut list = Step::new(format!("/failures of the weekend, {failures} as {}", CAUSES.len()))?;
    let mut pages = Step::new("the page of a cause")?;
    for (id, _) in causes.iter().cycle().take(bench.plan.story_requests) {
        list.take(connection, &page(site, "/failures?window=weekend")).await?;
        pages.take(connection, &page(site, &format!("/failures/{id}?window=weekend"))).await?;
    }
    list.found(bench);
    pages.found(bench);
    Ok(())
}

/// Begin and end of the weekend, and the causes that failed then: id and number of failures, most of them last.
async fn causes(site: &Site, connection: &mut Connection) -> Result<((String, String), Vec<(String, u64)>)> {
    let found = read(site, connection, "/api/failure-causes?window=weekend").await?;
    let text = |name: &str| found[name].as_str().map(encoded).context("a time");
    let items = found["items"].as_array().context("a list of causes")?;
    let cause = |item: &serde_json::Value| Some((item["id"].as_str()?.to_owned(), item["failures"].as_u64()?));
    let mut causes: Vec<_> = items.iter().filter_map(cause).collect();
    causes.sort_by_key(|(_, failures)| *failures);
    let mut counts: Vec<u64> = CAUSES.iter().map(|(.., count)| *count as u64).collect();
    counts.sort_unstable();
    ensure!(causes.iter().map(|(_, failures)| *failures).eq(counts), "other causes than were made: {causes:?}");
    Ok(((text("since")?, text("until")?), causes))
}

/// Runs all sessions of all causes again: asks what would happen to the five oldest, and then says yes.
async fn run_again(bench: &mut Bench, site: &Site, connection: &mut Connection) -> Result<()> {
    let ((since, until), causes) = causes(site, connection).await?;
    let mut asked = Step::new(format!("what would happen if {PACE} sessions run again"))?;
    let mut ran = Step::new(format!("{PACE} sessions run again"))?;
    for (id, failures) in causes {
        let path = format!("/failures/{id}/run-again");
        let oldest = format!("step=preview&which=all&limit={PACE}&since={since}&until={until}");
        let mut left = usize::try_from(failures)?;
        while left > 0 {
            let shown = asked.take(connection, &form(site, &path, HTML, &oldest)).await?;
            let named = shown.split("name=\"items[").skip(1);
            let ready: Vec<&str> = named.filter_map(|rest| rest.split(']').next()).collect();
            ensure!(ready.len() == PACE.min(left), "{} sessions are ready, of {left}", ready.len());
            let chosen: String = ready.iter().map(|id| format!("&items[{id}]=on")).collect();
            ran.take(connection, &form(site, &path, HTML, &format!("step=run&which=chosen{chosen}"))).await?;
            left -= ready.len();
        }
    }
    asked.found(bench);
    ran.found(bench);
    Ok(())
}
