//! /agents: the list, and the page of one.

use super::{
    people::people_of,
    shell::{PageRejection, Viewer, render},
};
use crate::{extract::AgentSlug, state::AppState, wire_map};
use app::agent::{self as ui, Figures, ListProps, ListedAgent, Props};
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use ledger::page::memory as page;
use std::collections::BTreeMap;

pub fn router() -> Router<AppState> {
    Router::new().route("/agents", get(list)).route("/agents/{slug}", get(show))
}

async fn list(State(state): State<AppState>, viewer: Viewer) -> Result<Response, PageRejection> {
    let found = page::agents(&state.ledger, &viewer.scope).await?;
    let mut agents: BTreeMap<String, ListedAgent> = BTreeMap::new();
    let mut entry = |slug: String, change: &mut dyn FnMut(&mut ListedAgent)| {
        let listed = agents.entry(slug.clone()).or_insert_with(|| ListedAgent { slug, ..ListedAgent::default() });
        change(listed);
    };
    for memory in found.memories {
        entry(memory.agent, &mut |listed| listed.documents = memory.documents);
    }
    for slug in found.actions.into_iter().filter_map(|action| action.agent_slug) {
        entry(slug, &mut |_| {});
    }
    for part in found.insights.insights.agents {
        let sessions = part.figures.sessions;
        if let Some(slug) = part.slug {
            entry(slug, &mut |listed| listed.sessions = sessions);
        }
    }
    let props = ListProps { agents: agents.into_values().collect() };
    Ok(render(StatusCode::OK, move || ui::list_page(&viewer.shell, props)).await)
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    AgentSlug(agent): AgentSlug,
) -> Result<Response, PageRejection> {
    let found = page::agent(&state.ledger, &viewer.scope, &agent).await?;
    let part = found.insights.insights.agents.iter().find(|part| part.slug.as_deref() == Some(agent.as_str()));
    let figures = part.map(|part| Figures {
        sessions: part.figures.sessions,
        completed: part.figures.completed,
        failed: part.figures.failed,
        positive: part.figures.ratings.positive,
        negative: part.figures.ratings.negative,
        input_tokens: part.figures.input_tokens,
        output_tokens: part.figures.output_tokens,
        cost_usd: part.figures.cost_usd,
    });
    let props = Props {
        card: found.card.map(wire_map::character_card),
        documents: found.totals.map_or(0, |totals| totals.documents),
        recent: found.recent.into_iter().map(wire_map::memory_version).collect(),
        figures,
        people: people_of(found.people),
        agent,
    };
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}
