//! What choosing memories adds to a claim: the same claims for an agent with documents and for one without.

use super::{GOAL, SOME, SOME_DOCUMENTS};
use crate::{
    goal::{Bench, Series, Site},
    http::{Connection, Request, credentials},
    load::{self, ClaimScript},
    report::{Bound, Finding, Rounds},
    seed::memory::Language,
};
use anyhow::Result;

/// The agent without documents.
const NONE: &str = "bench-blank";
/// Claims of one round and agent.
const CLAIMS: usize = 400;

/// Measures with messages as `message` makes them. `how` says in the report on which engine, and what else differs.
pub async fn measure(bench: &mut Bench, site: &Site, how: &str, message: fn(&mut Language) -> String) -> Result<()> {
    let (target, token) = (site.server.address(), &site.account.token);
    let mut language = Language::new(13);
    let (mut with, mut without) = (Series::default(), Series::default());
    let mut added = Rounds::default();
    for _ in 0..bench.plan.rounds {
        for (agent, series) in [(NONE, &mut without), (SOME, &mut with)] {
            let mut connection = Connection::open(target).await?;
            for _ in 0..CLAIMS {
                let body = format!(
                    "{{\"sessionType\":\"agent\",\"agentSlug\":\"{agent}\",\"title\":\"{}\",\"input\":{{\"ask\":\"{}\"}}}}",
                    message(&mut language),
                    message(&mut language),
                );
                connection.call(&Request::post(target, "/api/sessions", &credentials(token), &body)).await?;
            }
            let claims = vec![ClaimScript::new(target, token, agent)];
            let mut window = bench.plan.window.cold();
            window.measure *= 4;
            series.push(load::run(target, claims, window, site.server.pid()).await?.0);
        }
        added.push((with.p50_us.last() - without.p50_us.last()) / 1e3);
    }
    let what = format!("memories added to a claim at {SOME_DOCUMENTS} documents on {how}, p50");
    let facts = format!("with: {}; without: {}", with.facts("claim"), without.facts("claim"));
    let finding = Finding::lowest(GOAL, what, "ms", &added).facts(facts);
    let errors = with.errors + without.errors;
    bench
        .found(finding.goals(Bound::AtMost(3.0), Bound::AtMost(1.0)).broken_if(errors > 0, format!("{errors} errors")));
    Ok(())
}
