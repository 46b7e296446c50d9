//! /agents: the list, and the page of one.

use super::{
    form::Form,
    people::people_of,
    shell::{PageRejection, Viewer, redirect_with_notice, refuse, render},
    stalled::stalled_of,
};
use crate::{extract::AgentSlug, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    agent::{self as ui, CardPreview, Erasures, Figures, ListProps, ListedAgent, Props},
};
use axum::{
    Router,
    body::Bytes,
    extract::{
        Multipart, State,
        multipart::{MultipartError, MultipartRejection},
    },
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use domain::memory::CardFormat;
use ledger::{
    Scope,
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
    let agents = page::agents(&state.ledger, &viewer.scope).await?.into_iter();
    let listed = agents.map(|(slug, of)| ListedAgent { slug, documents: of.documents, sessions: of.sessions });
    let props = ListProps { agents: listed.collect() };
    Ok(render(StatusCode::OK, move || ui::list_page(&viewer.shell, props)).await)
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
    let writer = found.insights.writers.into_iter().find(|of| of.agent == agent).map(wire_map::writer_figures);
    let erasures = Erasures {
        sessions: found.erased.sessions,
        is_more: found.is_more_erased,
        events: found.erased.events,
        older_than: found.erased.older_than,
        at: found.erased.at,
        documents: found.erased_documents,
    };
    Ok(Props {
        card: found.card.map(wire_map::character_card),
        documents: found.totals.map_or(0, |totals| totals.documents),
        recent: found.recent.into_iter().map(wire_map::memory_version).collect(),
        figures,
        writer,
        erasures,
        stalled: stalled_of(found.stalled),
        people: people_of(found.people),
        preview: None,
        form: FormState::default(),
        agent,
    })
}

/// The form that gives a card: its fields, and the file.
struct CardForm {
    fields: Form,
    file: Bytes,
}

async fn card_form(upload: Result<Multipart, MultipartRejection>) -> Result<CardForm, Problem> {
    let mut upload = upload.map_err(|error| Problem::detailed(Code::UnsupportedMediaType, error.body_text()))?;
    let broken = |error: MultipartError| Problem::field(Code::InvalidRequest, "card", error.body_text());
    let (mut fields, mut file) = (BTreeMap::new(), Bytes::new());
    while let Some(part) = upload.next_field().await.map_err(broken)? {
        let Some(name) = part.name().map(str::to_owned) else { continue };
        let bytes = part.bytes().await.map_err(broken)?;
        if name == "card" {
            file = bytes;
        } else if fields.len() < CARD_PARTS_MAX {
            fields.insert(name, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    Ok(CardForm { fields: Form::of(fields), file })
}

/// Shows what a card would change, or gives the card that was shown to the agent.
async fn give_card(
    State(state): State<AppState>,
    viewer: Viewer,
    AgentSlug(agent): AgentSlug,
    parts: Result<Multipart, MultipartRejection>,
) -> Result<Response, PageRejection> {
    let form = card_form(parts).await?;
    let problem = match card_step(&state, &viewer.scope, &agent, form).await {
        Ok(None) => return Ok(redirect_with_notice(&format!("/agents/{agent}"), "card_given").into_response()),
        Ok(Some(preview)) => {
            let status = if preview.has_moved { StatusCode::CONFLICT } else { StatusCode::OK };
            let props = Props { preview: Some(preview), ..read(&state, &viewer.scope, agent).await? };
            return Ok(render(status, move || ui::page(&viewer.shell, props)).await);
        }
        Err(problem) => problem,
    };
    if matches!(problem.code(), Code::NotFound | Code::Forbidden) {
        return Err(problem.into());
    }
    let form = Form::of(BTreeMap::new()).refused("card", &problem);
    let props = Props { form, ..read(&state, &viewer.scope, agent).await? };
    Ok(refuse(&problem, move || ui::page(&viewer.shell, props)).await)
}

/// Takes one step of the form. Returns the preview, also if documents have moved since the last one. `None` if the
/// agent has the card now.
async fn card_step(
    state: &AppState,
    scope: &Scope,
    agent: &str,
    CardForm { fields, file }: CardForm,
) -> Result<Option<CardPreview>, Problem> {
    match fields.text("step").as_str() {
        "apply" => {
            let (digest, base) = (fields.text("digest"), fields.text("base"));
            match memory::apply_card(&state.ledger, scope, agent, digest.trim(), base.trim()).await? {
                AppliedCard::Given(_) => Ok(None),
                AppliedCard::Moved(preview) => Ok(Some(CardPreview { has_moved: true, ..shown(preview) })),
            }
        }
        // Without a chosen file, browsers send an empty one.
        "preview" if file.is_empty() => Err(Problem::field(Code::InvalidRequest, "card", "choose a file")),
        "preview" => {
            let format = CardFormat::of(&file);
            let preview = memory::preview_card(&state.ledger, scope, agent, format, file.into()).await?;
            Ok(Some(shown(preview)))
        }
        _ => Err(Problem::field(Code::InvalidRequest, "step", "preview or apply")),
    }
}

fn shown(preview: memory::CardPreview) -> CardPreview {
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
