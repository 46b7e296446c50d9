//! /agents: the list, and the page of one.

use super::{
    form::{Form, UploadParts},
    people::people_of,
    shell::{PageRejection, Viewer, redirect_with_notice, refuse, render},
    stalled::stalled_of,
};
use crate::{extract::AgentSlug, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    agent::{self as ui, CardPreview, Erasures, Figures, ListProps, ListedAgent, Props, Workers},
};
use axum::{
    Router,
    body::Bytes,
    extract::{Multipart, State, multipart::MultipartRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use domain::{insight, memory::CardFormat};
use ledger::{
    Ledger, Scope,
    memory::{self, AppliedCard, CardChangeKind},
    page::memory as page,
};
use std::collections::BTreeMap;
use wire::Code;

/// Most parts of the form that gives a card.
const CARD_PARTS_MAX: usize = 4;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/agents", get(list))
        .route("/agents/{slug}", get(show))
        .route("/agents/{slug}/card", post(give_card))
}

async fn list(State(state): State<AppState>, viewer: Viewer) -> Result<Response, PageRejection> {
    let page::Agents { agents, of_any } = page::agents(&state.ledger, &viewer.scope).await?;
    let props = ListProps { agents: agents.into_iter().map(listed).collect(), of_any: of_any.map(workers_of) };
    Ok(render(StatusCode::OK, move || ui::list_page(&viewer.shell, props)).await)
}

fn listed((slug, of): (String, page::ListedAgent)) -> ListedAgent {
    ListedAgent {
        slug,
        documents: of.documents,
        sessions: of.sessions,
        failed: of.failed,
        queued: of.queued,
        running: of.running,
        idle: of.idle,
        waiting: of.waiting,
        workers: of.workers.map(workers_of),
    }
}

const fn workers_of(of: page::Workers) -> Workers {
    Workers { connected: of.connected, seen_at: of.seen_at }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    AgentSlug(agent): AgentSlug,
) -> Result<Response, PageRejection> {
    let props = read(&state, &viewer.scope, agent).await?;
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

async fn read(state: &AppState, scope: &Scope, agent: String) -> Result<Props, PageRejection> {
    let found = page::agent(&state.ledger, scope, &agent).await?;
    Ok(props_of(agent, found))
}

fn props_of(agent: String, found: page::Agent) -> Props {
    let erasures = erasures_of(&found);
    let part = found.insights.insights.agents.iter().find(|part| part.slug.as_deref() == Some(agent.as_str()));
    let figures = part.map(|part| figures_of(&part.figures));
    let writer = found.insights.writers.into_iter().find(|of| of.agent == agent).map(wire_map::writer_figures);
    Props {
        card: found.card.map(wire_map::character_card),
        documents: found.totals.map_or(0, |totals| totals.documents),
        recent: found.recent.into_iter().map(wire_map::memory_version).collect(),
        figures,
        is_cut: found.insights.is_cut,
        ratings_missing: found.insights.ratings_missing.map(wire_map::ratings_missing),
        writer,
        workers: found.workers.map(workers_of),
        erasures,
        stalled: stalled_of(found.stalled),
        people: people_of(found.people),
        preview: None,
        form: FormState::default(),
        agent,
    }
}

fn figures_of(of: &insight::Figures) -> Figures {
    Figures {
        sessions: of.sessions,
        completed: of.completed,
        failed: of.failed,
        positive: of.ratings.positive,
        negative: of.ratings.negative,
        input_tokens: of.input_tokens,
        output_tokens: of.output_tokens,
        metered: of.metered,
        priced: of.priced,
        cost_usd: (of.priced > 0).then_some(of.cost_usd),
    }
}

fn erasures_of(found: &page::Agent) -> Erasures {
    Erasures {
        sessions: found.erased.sessions,
        is_more: found.is_more_erased,
        events: found.erased.events,
        older_than: found.erased.older_than,
        at: found.erased.at,
        documents: found.erased_documents,
    }
}

/// The form that gives a card: its fields, and the file.
struct CardForm {
    fields: Form,
    file: Bytes,
}

async fn card_form(upload: Result<Multipart, MultipartRejection>) -> Result<CardForm, Problem> {
    let mut parts = UploadParts::of(upload, "card")?;
    let (mut fields, mut file) = (BTreeMap::new(), Bytes::new());
    while let Some((name, bytes)) = parts.read_next().await? {
        if name == "card" {
            file = bytes;
        } else if fields.len() < CARD_PARTS_MAX {
            fields.insert(name, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    Ok(CardForm { fields: Form::of(fields), file })
}

/// What the button of the form asks for.
#[derive(Debug, PartialEq, Eq)]
enum CardStep {
    /// Show what this file would change.
    Preview(Bytes),
    /// Give the agent the card that was shown. The texts are the digests of the card and of the versions that it
    /// changes.
    Apply { digest: String, base: String },
}

impl TryFrom<CardForm> for CardStep {
    type Error = Problem;

    fn try_from(CardForm { fields, file }: CardForm) -> Result<Self, Problem> {
        let typed = |field: &str| fields.text(field).trim().to_owned();
        match fields.text("step").as_str() {
            "apply" => Ok(Self::Apply { digest: typed("digest"), base: typed("base") }),
            // Without a chosen file, browsers send an empty one.
            "preview" if file.is_empty() => Err(Problem::field(Code::InvalidRequest, "card", "choose a file")),
            "preview" => Ok(Self::Preview(file)),
            _ => Err(Problem::field(Code::InvalidRequest, "step", "preview or apply")),
        }
    }
}

/// Shows what a card would change, or gives the card that was shown to the agent.
async fn give_card(
    State(state): State<AppState>,
    viewer: Viewer,
    AgentSlug(agent): AgentSlug,
    parts: Result<Multipart, MultipartRejection>,
) -> Result<Response, PageRejection> {
    let form = card_form(parts).await?;
    match take(&state.ledger, &viewer.scope, &agent, form).await {
        Ok(None) => Ok(redirect_with_notice(&format!("/agents/{agent}"), "card_given").into_response()),
        Ok(Some(preview)) => {
            let status = if preview.has_moved { StatusCode::CONFLICT } else { StatusCode::OK };
            let props = Props { preview: Some(preview), ..read(&state, &viewer.scope, agent).await? };
            Ok(render(status, move || ui::page(&viewer.shell, props)).await)
        }
        Err(problem) => refused(&state, viewer, agent, problem).await,
    }
}

/// Takes one step of the form. Returns the preview, also if documents have moved since the last one. `None` if the
/// agent has the card now.
async fn take(ledger: &Ledger, scope: &Scope, agent: &str, form: CardForm) -> Result<Option<CardPreview>, Problem> {
    match CardStep::try_from(form)? {
        CardStep::Preview(file) => {
            let preview = memory::preview_card(ledger, scope, agent, CardFormat::of(&file), file.into()).await?;
            Ok(Some(preview_of(preview)))
        }
        CardStep::Apply { digest, base } => match memory::apply_card(ledger, scope, agent, &digest, &base).await? {
            AppliedCard::Applied(_) => Ok(None),
            AppliedCard::Moved(preview) => Ok(Some(CardPreview { has_moved: true, ..preview_of(preview) })),
        },
    }
}

/// Shows the page with the reason why a card was refused.
async fn refused(state: &AppState, viewer: Viewer, agent: String, problem: Problem) -> Result<Response, PageRejection> {
    if matches!(problem.code(), Code::NotFound | Code::Forbidden) {
        return Err(problem.into());
    }
    let form = Form::of(BTreeMap::new()).refused("card", &problem);
    let props = Props { form, ..read(state, &viewer.scope, agent).await? };
    Ok(refuse(&problem, move || ui::page(&viewer.shell, props)).await)
}

fn preview_of(preview: memory::CardPreview) -> CardPreview {
    let what = |kind| match kind {
        CardChangeKind::Made => "is created",
        CardChangeKind::Changed => "gets a new version",
        CardChangeKind::Deleted => "is deleted; its history is kept",
    };
    let changes = preview.changes.into_iter();
    let changes = changes.map(|change| (change.path, what(change.kind), wire_map::memory_diff_lines(change.lines)));
    CardPreview {
        name: preview.name,
        digest: preview.digest.to_string(),
        base: preview.base.to_string(),
        has_moved: false,
        is_same: preview.is_same,
        changes: changes.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(fields: &[(&str, &str)], file: &'static str) -> Result<CardStep, String> {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let form = CardForm { fields: Form::of(fields), file: Bytes::from_static(file.as_bytes()) };
        CardStep::try_from(form).map_err(|problem| problem.lines().join("; "))
    }

    #[test]
    fn a_cost_that_no_session_reported_is_not_known() {
        let none = insight::Figures { sessions: 2, ..insight::Figures::default() };
        let of = |priced, cost_usd| figures_of(&insight::Figures { priced, cost_usd, ..none.clone() });
        assert_eq!(of(0, 0.0).cost_usd, None);
        assert_eq!((of(1, 0.0).priced, of(1, 0.0).cost_usd), (1, Some(0.0)));
        assert_eq!(of(2, 1.5).cost_usd, Some(1.5));
    }

    #[test]
    fn the_button_says_whether_a_card_is_shown_or_given() {
        assert_eq!(step(&[("step", "preview")], "{}"), Ok(CardStep::Preview(Bytes::from_static(b"{}"))));
        let given = [("step", "apply"), ("digest", " 0a "), ("base", "0b")];
        let apply = CardStep::Apply { digest: "0a".into(), base: "0b".into() };
        assert_eq!(step(&given, ""), Ok(apply));
        assert!(step(&[("step", "preview")], "").unwrap_err().contains("choose a file"));
        assert!(step(&[], "{}").unwrap_err().contains("preview or apply"));
    }
}
