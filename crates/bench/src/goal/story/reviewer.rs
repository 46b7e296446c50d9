//! A reviewer: the inbox, what is alike decided at once, and a rule that decides it from then on.

use super::{AGENT, HTML, JSON, REFUND, WAITING, form, page, read, step::Step};
use crate::{
    goal::{Bench, Site},
    http::{Connection, encoded},
    ids,
};
use anyhow::{Context as _, Result, ensure};
use serde_json::json;

/// Decisions on all items of the group. Each is undone, and an item has a bound on its decisions.
const BATCHES: usize = 50;
/// Rules that are made, one after another: each is deleted, and deleted ones stay.
const RULES: usize = 50;
/// Days until a rule ends.
const RULE_DAYS: i64 = 30;

pub async fn measure(bench: &mut Bench, site: &Site) -> Result<()> {
    let mut connection = Connection::open(site.server.address()).await?;
    let group = waiting(site, &mut connection).await?;
    inbox(bench, site, &mut connection, &group).await?;
    batch(bench, site, &mut connection, &group).await?;
    rules(bench, site, &mut connection, &group).await
}

/// Id and digest of an item.
type Item = (String, String);

/// The items of the group.
async fn waiting(site: &Site, connection: &mut Connection) -> Result<Vec<Item>> {
    let found = read(site, connection, "/api/approvals?limit=1000").await?;
    let items = found["items"].as_array().context("a list of approvals")?;
    let all: usize = WAITING.iter().map(|(_, count)| count).sum();
    ensure!(items.len() == all, "{} approvals wait, and not {all}", items.len());
    let of_tool = items.iter().filter(|item| item["task"]["pausedToolCall"]["toolName"] == REFUND);
    let group = of_tool.filter_map(|item| Some((item["id"].as_str()?.to_owned(), item["digest"].as_str()?.to_owned())));
    let group: Vec<_> = group.collect();
    ensure!(group.len() == WAITING[0].1, "{} calls of {REFUND}", group.len());
    Ok(group)
}

/// The list with its first item, the page of an item, and an item alone, as the next one is read by a key.
async fn inbox(bench: &mut Bench, site: &Site, connection: &mut Connection, group: &[Item]) -> Result<()> {
    let all: usize = WAITING.iter().map(|(_, count)| count).sum();
    let mut list = Step::new(format!("/inbox with {all} items, {} in all", bench.plan.story.items))?;
    let mut pages = Step::new("/inbox/{id}, the list with an item")?;
    let mut details = Step::new("/inbox/{id}/detail, an item alone")?;
    for (id, _) in group.iter().cycle().take(bench.plan.story_requests) {
        let shown = list.take(connection, &page(site, "/inbox")).await?;
        ensure!(shown.contains(REFUND), "the inbox shows no call of {REFUND}");
        pages.take(connection, &page(site, &format!("/inbox/{id}"))).await?;
        details.take(connection, &page(site, &format!("/inbox/{id}/detail"))).await?;
    }
    [list, pages, details].into_iter().for_each(|step| step.found(bench));
    Ok(())
}

/// Approves the whole group, and undoes it outside of the step.
async fn batch(bench: &mut Bench, site: &Site, connection: &mut Connection, group: &[Item]) -> Result<()> {
    let items = |with_digest: bool| -> String {
        let item = |(id, digest): &Item| format!("&items[{id}]={}", if with_digest { digest.as_str() } else { "" });
        group.iter().map(item).collect()
    };
    let decide = form(site, "/fn/inbox/decide-many", JSON, &format!("decision=approve{}", items(true)));
    let undo = form(site, "/fn/inbox/undo", JSON, items(false).trim_start_matches('&'));
    let mut batch = Step::new(format!("{} decisions at once", group.len()))?;
    for _ in 0..BATCHES.min(bench.plan.story_requests) {
        batch.take(connection, &decide).await?;
        connection.call(&undo).await?;
    }
    batch.found(bench);
    Ok(())
}

/// The suggested rule, what it would have decided, and the rule itself, which is deleted outside of the step.
async fn rules(bench: &mut Bench, site: &Site, connection: &mut Connection, group: &[Item]) -> Result<()> {
    let from = &group.first().context("an item")?.0;
    let (test, save) = (rule_form("test"), rule_form("save"));
    let mut list = Step::new("/rules with suggestions")?;
    let mut new = Step::new("/rules/new with what the rule would have decided")?;
    let mut tested = Step::new("another rule against 90 days")?;
    let mut made = Step::new("making a rule")?;
    for _ in 0..RULES.min(bench.plan.story_requests) {
        let shown = list.take(connection, &page(site, "/rules")).await?;
        ensure!(shown.contains("/rules/new?from="), "no rule is suggested");
        new.take(connection, &page(site, &format!("/rules/new?from={from}"))).await?;
        tested.take(connection, &form(site, "/rules", HTML, &test)).await?;
        made.take(connection, &form(site, "/rules", HTML, &save)).await?;
        let stored = read(site, connection, "/api/rules").await?;
        let path = format!("/rules/{}", stored["items"][0]["id"].as_str().context("the rule that was made")?);
        connection.call(&form(site, &path, HTML, "do=delete")).await?;
    }
    [list, new, tested, made].into_iter().for_each(|step| step.found(bench));
    Ok(())
}

/// The fields of the editor, and which button was pressed.
fn rule_form(pressed: &str) -> String {
    let subject = json!({ "agent": AGENT, "kind": "tool", "tool": REFUND, "fields": ["amount", "currency"] });
    let fields = [
        ("subject", subject.to_string()),
        ("version", "0".to_owned()),
        ("condition.0.test", "range".to_owned()),
        ("condition.0.least", "5".to_owned()),
        ("condition.0.most", "49".to_owned()),
        ("condition.1.test", "one_of".to_owned()),
        ("condition.1.values", "EUR".to_owned()),
        ("per_day", "100".to_owned()),
        ("canary_percent", "10".to_owned()),
        ("until", ids::day_after(RULE_DAYS)),
        ("do", pressed.to_owned()),
    ];
    fields.map(|(name, value)| format!("{name}={}", encoded(&value))).join("&")
}
