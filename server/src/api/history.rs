//! The turns of an agent's conversations, across its sessions.

use crate::{
    extract::{AgentSlug, Caller, Params, checked_limit},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use ledger::history as use_case;
use serde::Deserialize;
use wire::history::History;

/// Query of the turns on a channel.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChannelQuery {
    /// Name of the platform.
    #[param(value_type = wire::schema::Slug)]
    platform: String,
    /// Id of the channel on its platform.
    #[param(value_type = wire::schema::Key)]
    channel: String,
    /// 1 to 200; default 200.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Query of the turns past the watermark.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnsummarisedQuery {
    /// 1 to 200; default 200.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// List the newest turns on a channel
///
/// The newest messages and results of tools of the agent's conversations on one channel, oldest first. The newest 50
/// conversations of the channel are read. Incognito conversations name no channel.
#[utoipa::path(
    get, path = "/api/agents/{slug}/history/channel", operation_id = "listChannelHistory", tag = "memory",
    params(("slug" = wire::schema::Slug, Path, description = "The agent"), ChannelQuery),
    responses(
        (status = 200, description = "The turns", body = History),
    ),
)]
pub async fn channel(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
    Params(query): Params<ChannelQuery>,
) -> Result<Json<History>, Problem> {
    let channel = (query.platform, query.channel);
    let found = use_case::recent(&state.ledger, caller.scope(), &agent, channel, checked_limit(query.limit)?).await?;
    Ok(Json(wire_map::history(found)))
}

/// List the turns that are not summarised yet
///
/// What the agent's memory writer has not read: the turns past its watermarks, of the 50 such sessions that began
/// first, on all channels, oldest first. The next run may read others: new sessions come before a backlog. Empty for an
/// agent without a writer.
#[utoipa::path(
    get, path = "/api/agents/{slug}/history/unsummarised", operation_id = "listUnsummarisedHistory", tag = "memory",
    params(("slug" = wire::schema::Slug, Path, description = "The agent"), UnsummarisedQuery),
    responses(
        (status = 200, description = "The turns", body = History),
    ),
)]
pub async fn unsummarised(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
    Params(query): Params<UnsummarisedQuery>,
) -> Result<Json<History>, Problem> {
    let found = use_case::since_watermark(&state.ledger, caller.scope(), &agent, checked_limit(query.limit)?).await?;
    Ok(Json(wire_map::history(found)))
}
