//! `GET /find?q=`: the palette's search, in sections with a limit each. Records are searched by name, questions and
//! memory by their words. The first entries are pages that have no shortcut, and the last one leads to the search over
//! all events.

use super::{
    chat,
    shell::{PageRejection, Viewer},
};
use crate::{extract::Params, state::AppState};
use app::{
    memory::{View, document_href},
    palette::{SearchResult, results_fragment},
    ui::badge::word,
};
use axum::{Router, extract::State, response::Html, routing::get};
use domain::{id::ActionId, session::Session};
use ledger::{ActionRecord, EntityRecord, page::find as page, search::FoundRecord};
use serde::Deserialize;

/// Most results of each kind.
const OF_EACH: usize = 5;
/// Longest search text, in characters, as the field permits.
const QUERY_CHARS_MAX: usize = 200;

/// Pages without a shortcut, which would be part of what the browser loads with every page.
const PAGES: [(&str, &str); 2] = [("Go to Failures", "/failures"), ("Go to Tools", "/tools")];

pub fn router() -> Router<AppState> {
    Router::new().route("/find", get(find))
}

#[derive(Deserialize)]
struct FindQuery {
    #[serde(default)]
    q: String,
}

async fn find(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<FindQuery>,
) -> Result<Html<String>, PageRejection> {
    let text: String = query.q.trim().chars().take(QUERY_CHARS_MAX).collect();
    if text.is_empty() {
        return Ok(Html(String::new()));
    }
    let known = page::read(&state.ledger, &viewer.scope, &text, OF_EACH as u32).await?;
    Ok(Html(results_fragment(&results(&state, &viewer, known, &text))))
}

fn results(state: &AppState, viewer: &Viewer, known: page::SearchResults, text: &str) -> Vec<SearchResult> {
    let mut found: Vec<SearchResult> = pages(text).collect();
    found.extend(known.actions.into_iter().map(task));
    found.extend(
        known.tools.into_iter().map(|tool| hit("Tools", tool.name, "tool: run", format!("/tools/{}#run", tool.slug))),
    );
    found.extend(known.entities.into_iter().map(entity));
    found.extend(agents(state, viewer, known.partners, text));
    found.extend(known.sessions.into_iter().map(session));
    found.extend(known.questions.into_iter().map(question));
    found.extend(known.documents.into_iter().map(document));
    found.push(all_events(text));
    found
}

/// Pages whose names contain every word of the text, as the palette compares those that it knows.
fn pages(text: &str) -> impl Iterator<Item = SearchResult> {
    let folded = text.to_lowercase();
    let is_wanted = move |(title, _): &(&str, &str)| {
        let title = title.to_lowercase();
        folded.split_whitespace().all(|word| title.contains(word))
    };
    PAGES.into_iter().filter(is_wanted).map(|(title, href)| hit("Pages", title.to_owned(), "page", href.to_owned()))
}

fn task(action: ActionRecord) -> SearchResult {
    hit("Tasks", action.name, "task", format!("/actions/{}", action.id))
}

fn entity(entity: EntityRecord) -> SearchResult {
    hit("Entities", entity.title, "entity", format!("/entities/{}", entity.id))
}

fn question(found: FoundRecord) -> SearchResult {
    hit("Questions", found.name, "question", format!("/inbox/{}", found.id))
}

/// A document, with its agent, because agents have documents at the same paths.
fn document(found: FoundRecord) -> SearchResult {
    let agent = found.agent_slug.unwrap_or_default();
    let href = document_href(&agent, &found.name, View::Text);
    hit("Memory", found.name, &format!("memory of {agent}"), href)
}

/// Agents whose names contain the text. Conversations can be started with agents, by slug, and with actions, by id.
/// Actions are in the results already.
fn agents(state: &AppState, viewer: &Viewer, partners: Vec<ActionRecord>, text: &str) -> Vec<SearchResult> {
    let folded = text.to_lowercase();
    let agents = chat::conversation_partners(state, viewer, partners).into_iter().map(|(value, _)| value);
    let agents = agents.filter(|agent| agent.parse::<ActionId>().is_err() && agent.to_lowercase().contains(&folded));
    agents.take(OF_EACH).map(agent).collect()
}

fn agent(slug: String) -> SearchResult {
    let href = format!("/chat?agent={}", form_urlencoded::byte_serialize(slug.as_bytes()).collect::<String>());
    hit("Agents", slug, "agent: chat", href)
}

fn session(session: Session) -> SearchResult {
    let status = word(session.status()).to_lowercase();
    hit("Sessions", session.title, &format!("session, {status}"), format!("/sessions/{}", session.id))
}

/// The search for the typed text in the events of all sessions.
fn all_events(text: &str) -> SearchResult {
    let href = format!("/search?q={}", form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>());
    hit("Everything", format!("Search all events for “{text}”"), "search", href)
}

fn hit(section: &'static str, title: String, kind: &str, href: String) -> SearchResult {
    SearchResult { title, kind: kind.to_owned(), href, section }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_without_a_shortcut_are_found_by_their_names() {
        let found = |text: &str| pages(text).map(|page| page.href).collect::<Vec<_>>();
        assert_eq!(found("fail"), ["/failures"]);
        assert_eq!(found("Go to TOOLS"), ["/tools"]);
        assert_eq!(found("go to"), ["/failures", "/tools"]);
        assert_eq!(found("weather"), Vec::<String>::new());
    }
}
