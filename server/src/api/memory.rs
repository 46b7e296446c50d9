//! Memory documents of agents.

use crate::{
    extract::{AgentSlug, Caller, JsonBody, Limit, Params, Sequence, checked_limit, query_id},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use domain::{id::SessionId, memory::Folder};
use ledger::{
    ListPage, MemoryVersionRecord, memory as use_case, memory_forget,
    page::{self, People},
};
use serde::Deserialize;
use wire::{
    Code, Page,
    memory::{
        EraseMemory, ErasedMemory, FoundMemories, MemoryBlame, MemoryDiff, MemoryDocument, MemoryDocumentText,
        MemoryToolAnswer, MemoryToolCommand, MemoryVersion, RenameMemory, RevertMemory, WriteMemory,
    },
};

/// The query of [`list`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListQuery {
    /// Documents of this folder.
    #[param(value_type = Option<wire::schema::MemoryFolder>)]
    folder: Option<String>,
    /// List deleted and erased documents too.
    #[serde(default)]
    #[param(value_type = Option<bool>)]
    with_deleted: bool,
    /// Words that the path has, and `title:` with a part of it. A minus excludes. Another field is refused.
    #[param(value_type = Option<wire::schema::SearchLine>)]
    q: Option<String>,
    /// 1 to 1,000; default 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Limit,
    /// `nextCursor` of the page before.
    #[param(value_type = Option<wire::schema::Cursor>)]
    cursor: Option<String>,
}

/// List the memory documents of an agent
///
/// By path, without their texts.
#[utoipa::path(
    get, path = "/api/agents/{slug}/memory", operation_id = "listMemory", tag = "memory",
    params(("slug" = wire::schema::Slug, Path, description = "The agent"), ListQuery),
    responses(
        (status = 200, description = "A page", body = Page<MemoryDocument>),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
    Params(query): Params<ListQuery>,
) -> Result<Json<Page<MemoryDocument>>, Problem> {
    let folder = query.folder.map(|name| {
        Folder::parse(&name).ok_or_else(|| Problem::field(Code::InvalidRequest, "folder", "not a folder of a memory"))
    });
    let page = ListPage { limit: query.limit.0, cursor: query.cursor };
    let (folder, with_deleted, line) = (folder.transpose()?, query.with_deleted, query.q);
    let listing = use_case::Listing { folder, with_deleted, line, page };
    let listed = use_case::list(&state.ledger, caller.scope(), &agent, listing).await?;
    Ok(Json(wire_map::page(listed, wire_map::memory_document)))
}

/// The query of [`read`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadQuery {
    /// Path of the document.
    #[param(value_type = wire::schema::MemoryPath)]
    path: String,
    /// The version; default the newest. With it a deleted document is read too.
    #[param(value_type = Option<u64>, minimum = 1, maximum = 9007199254740991_u64)]
    version: Option<Sequence>,
}

/// Read a memory document
#[utoipa::path(
    get, path = "/api/agents/{slug}/memory/document", operation_id = "getMemory", tag = "memory",
    params(("slug" = wire::schema::Slug, Path, description = "The agent"), ReadQuery),
    responses(
        (status = 200, description = "The document with its text", body = MemoryDocumentText),
    ),
)]
pub async fn read(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
    Params(query): Params<ReadQuery>,
) -> Result<Json<MemoryDocumentText>, Problem> {
    let path = use_case::path(&query.path)?;
    let (ledger, scope) = (&state.ledger, caller.scope());
    Ok(Json(match query.version {
        Some(version) => {
            wire_map::memory_version_text(use_case::read_version(ledger, scope, &agent, path, version.0).await?)
        }
        None => wire_map::memory_text(use_case::read(ledger, scope, &agent, path).await?),
    }))
}

/// The query of [`write`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PathQuery {
    /// Path of the document.
    #[param(value_type = wire::schema::MemoryPath)]
    path: String,
}

/// Write a memory document
///
/// Writes the next version, or makes the document. A text that is there already writes no version. The problem
/// `stale_version` has both sides in `recorded`: the text on which the request was based, the newest, and the one
/// that was to be written.
#[utoipa::path(
    put, path = "/api/agents/{slug}/memory/document", operation_id = "writeMemory", tag = "memory",
    request_body = WriteMemory,
    params(("slug" = wire::schema::Slug, Path, description = "The agent"), PathQuery),
    responses(
        (status = 200, description = "As it is now", body = MemoryDocument),
        (
            status = 409, description = "`stale_version`: someone wrote a newer version since it was read",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn write(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
    Params(query): Params<PathQuery>,
    JsonBody(body): JsonBody<WriteMemory>,
) -> Result<Json<MemoryDocument>, Problem> {
    let path = use_case::path(&query.path)?;
    let write = wire_map::memory_write(body);
    let written = use_case::write(&state.ledger, caller.scope(), &agent, path, write).await?;
    Ok(Json(wire_map::memory_document(written.document)))
}

/// The query of [`delete`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeleteQuery {
    /// Path of the document.
    #[param(value_type = wire::schema::MemoryPath)]
    path: String,
    /// The version that was read.
    #[param(value_type = u64, minimum = 1, maximum = 9007199254740991_u64)]
    base_version: Sequence,
    /// Shown in the history.
    #[serde(default)]
    #[param(value_type = Option<wire::schema::MemoryReason>)]
    reason: String,
    /// The session that the agent works on. Required from a worker token.
    #[serde(default, deserialize_with = "query_id")]
    #[param(value_type = Option<uuid::Uuid>)]
    session_id: Option<SessionId>,
}

/// Delete a memory document
///
/// Its versions are kept; reverting to one of them restores the document.
#[utoipa::path(
    delete, path = "/api/agents/{slug}/memory/document", operation_id = "deleteMemory", tag = "memory",
    params(("slug" = wire::schema::Slug, Path, description = "The agent"), DeleteQuery),
    responses(
        (status = 200, description = "As it is now", body = MemoryDocument),
        (
            status = 409, description = "`stale_version`: someone wrote a newer version since it was read",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn delete(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
    Params(query): Params<DeleteQuery>,
) -> Result<Json<MemoryDocument>, Problem> {
    let path = use_case::path(&query.path)?;
    let DeleteQuery { base_version, reason, session_id, .. } = query;
    let change = use_case::Change { base_version: base_version.0, reason, session_id };
    let deleted = use_case::delete(&state.ledger, caller.scope(), &agent, path, change).await?;
    Ok(Json(wire_map::memory_document(deleted)))
}

/// Rename a memory document
#[utoipa::path(
    post, path = "/api/agents/{slug}/memory/rename", operation_id = "renameMemory", tag = "memory",
    request_body = RenameMemory,
    params(("slug" = wire::schema::Slug, Path, description = "The agent")),
    responses(
        (status = 200, description = "As it is now", body = MemoryDocument),
        (
            status = 409, description = "`stale_version` as for a write; `name_taken`: the new path has a document",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn rename(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
    JsonBody(body): JsonBody<RenameMemory>,
) -> Result<Json<MemoryDocument>, Problem> {
    let (path, new_path) = (use_case::path(&body.path)?, use_case::path(&body.new_path)?);
    let change = use_case::Change { base_version: body.base_version, reason: body.reason, session_id: body.session_id };
    let renamed = use_case::rename(&state.ledger, caller.scope(), &agent, path, new_path, change).await?;
    Ok(Json(wire_map::memory_document(renamed)))
}

/// Revert a memory document
///
/// Writes the text of an earlier version as the newest one. Also brings a deleted document back.
#[utoipa::path(
    post, path = "/api/agents/{slug}/memory/revert", operation_id = "revertMemory", tag = "memory",
    request_body = RevertMemory,
    params(("slug" = wire::schema::Slug, Path, description = "The agent")),
    responses(
        (status = 200, description = "As it is now", body = MemoryDocument),
        (
            status = 409, description = "`stale_version`: someone wrote a newer version since it was read",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn revert(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
    JsonBody(body): JsonBody<RevertMemory>,
) -> Result<Json<MemoryDocument>, Problem> {
    let path = use_case::path(&body.path)?;
    let change = use_case::Change { base_version: body.base_version, reason: body.reason, session_id: body.session_id };
    let written = use_case::revert(&state.ledger, caller.scope(), &agent, path, body.to_version, change).await?;
    Ok(Json(wire_map::memory_document(written.document)))
}

/// Erase a memory document
///
/// Removes the texts of all its versions from the database, and with them proposals to change it and lines that were
/// denied for it. Digests, times and authors stay. It cannot be undone. Only admins may erase.
#[utoipa::path(
    post, path = "/api/agents/{slug}/memory/erase", operation_id = "eraseMemory", tag = "memory",
    request_body = EraseMemory,
    params(("slug" = wire::schema::Slug, Path, description = "The agent")),
    responses(
        (status = 200, description = "Erased", body = ErasedMemory),
    ),
)]
pub async fn erase(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
    JsonBody(body): JsonBody<EraseMemory>,
) -> Result<Json<ErasedMemory>, Problem> {
    let path = use_case::path(&body.path)?;
    let erased = memory_forget::erase(&state.ledger, caller.scope(), &agent, path).await?;
    Ok(Json(ErasedMemory { versions: erased.versions }))
}

/// The query of [`versions`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VersionsQuery {
    /// Path of a document; without it the versions of all documents are listed.
    #[param(value_type = Option<wire::schema::MemoryPath>)]
    path: Option<String>,
    /// 1 to 1,000; default 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Limit,
    /// `nextCursor` of the page before.
    #[param(value_type = Option<wire::schema::Cursor>)]
    cursor: Option<String>,
}

/// List the versions of memory documents
///
/// Newest first: of one document, or of all documents of the agent. Every version is kept.
#[utoipa::path(
    get, path = "/api/agents/{slug}/memory/versions", operation_id = "listMemoryVersions", tag = "memory",
    params(("slug" = wire::schema::Slug, Path, description = "The agent"), VersionsQuery),
    responses(
        (status = 200, description = "A page", body = Page<MemoryVersion>),
    ),
)]
pub async fn versions(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
    Params(query): Params<VersionsQuery>,
) -> Result<Json<Page<MemoryVersion>>, Problem> {
    let page = ListPage { limit: query.limit.0, cursor: query.cursor };
    let (ledger, scope) = (&state.ledger, caller.scope());
    let listed = match query.path {
        Some(path) => use_case::versions(ledger, scope, &agent, use_case::path(&path)?, page).await?,
        None => use_case::audit(ledger, scope, &agent, page).await?,
    };
    let people = page::people(ledger, scope).await?;
    Ok(Json(wire_map::page(listed, |record| named(record, &people))))
}

/// Converts a version, with the name of its author.
fn named(record: MemoryVersionRecord, people: &People) -> MemoryVersion {
    let author_name = people.name(&record.author);
    MemoryVersion { author_name, ..wire_map::memory_version(record) }
}

/// The query of [`diff`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DiffQuery {
    /// Path of the document.
    #[param(value_type = wire::schema::MemoryPath)]
    path: String,
    /// The older version; default the one before `to`. 0 is the empty text.
    #[param(value_type = Option<u64>, maximum = 9007199254740991_u64)]
    from: Option<Sequence>,
    /// The newer version; default the newest.
    #[param(value_type = Option<u64>, minimum = 1, maximum = 9007199254740991_u64)]
    to: Option<Sequence>,
}

/// Compare two versions of a memory document
///
/// By line, and changed lines by word.
#[utoipa::path(
    get, path = "/api/agents/{slug}/memory/diff", operation_id = "diffMemory", tag = "memory",
    params(("slug" = wire::schema::Slug, Path, description = "The agent"), DiffQuery),
    responses(
        (status = 200, description = "All lines of both", body = MemoryDiff),
    ),
)]
pub async fn diff(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
    Params(query): Params<DiffQuery>,
) -> Result<Json<MemoryDiff>, Problem> {
    let path = use_case::path(&query.path)?;
    let (from, to) = (query.from.map(|one| one.0), query.to.map(|one| one.0));
    let diff = use_case::diff(&state.ledger, caller.scope(), &agent, path, from, to).await?;
    Ok(Json(wire_map::memory_diff(diff)))
}

/// Trace the lines of a memory document
///
/// For each line of the newest version the version that wrote it, and the events of sessions that it names.
#[utoipa::path(
    get, path = "/api/agents/{slug}/memory/blame", operation_id = "blameMemory", tag = "memory",
    params(("slug" = wire::schema::Slug, Path, description = "The agent"), PathQuery),
    responses(
        (status = 200, description = "The lines, in order", body = MemoryBlame),
    ),
)]
pub async fn blame(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
    Params(query): Params<PathQuery>,
) -> Result<Json<MemoryBlame>, Problem> {
    let path = use_case::path(&query.path)?;
    let lines = use_case::blame(&state.ledger, caller.scope(), &agent, path).await?;
    Ok(Json(wire_map::memory_blame(lines)))
}

/// The query of [`search`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SearchQuery {
    /// The words. Documents with one of them are found.
    #[param(value_type = wire::schema::MemoryQuery)]
    q: String,
    /// 1 to 50; default 50.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 50)]
    limit: Option<u32>,
}

/// Search the memory of an agent
///
/// The best are first: those with rare words of the query, many of them, and in the path.
#[utoipa::path(
    get, path = "/api/agents/{slug}/memory/search", operation_id = "searchMemory", tag = "memory",
    params(("slug" = wire::schema::Slug, Path, description = "The agent"), SearchQuery),
    responses(
        (status = 200, description = "What was found", body = FoundMemories),
    ),
)]
pub async fn search(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
    Params(query): Params<SearchQuery>,
) -> Result<Json<FoundMemories>, Problem> {
    let limit = checked_limit(query.limit)?;
    let found = use_case::search(&state.ledger, caller.scope(), Some(&agent), &query.q, limit).await?;
    Ok(Json(wire_map::found_memories(found)))
}

/// The query of [`tool`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolQuery {
    /// The session that the agent works on. Required from a worker token.
    #[serde(default, deserialize_with = "query_id")]
    #[param(value_type = Option<uuid::Uuid>)]
    session_id: Option<SessionId>,
    /// The event in which the agent calls the tool, else the session's newest. What it writes records it as its origin.
    #[param(value_type = Option<u64>, minimum = 0, maximum = 9007199254740991_u64)]
    sequence: Option<Sequence>,
}

/// Run a command of Anthropic's memory tool
///
/// The body is the input of the tool, as a model makes it. What a model can correct is an answer with `isError` and
/// status 200, with the texts of Anthropic's SDK.
#[utoipa::path(
    post, path = "/api/agents/{slug}/memory/tool", operation_id = "callMemoryTool", tag = "memory",
    request_body = MemoryToolCommand,
    params(("slug" = wire::schema::Slug, Path, description = "The agent"), ToolQuery),
    responses(
        (status = 200, description = "The result for the model", body = MemoryToolAnswer),
    ),
)]
pub async fn tool(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
    Params(query): Params<ToolQuery>,
    JsonBody(body): JsonBody<MemoryToolCommand>,
) -> Result<Json<MemoryToolAnswer>, Problem> {
    let sequence = query.sequence.map(|one| one.0);
    let command = wire_map::memory_tool_command(body);
    let (ledger, scope) = (&state.ledger, caller.scope());
    let answer = use_case::tool(ledger, scope, &agent, query.session_id, sequence, command).await?;
    Ok(Json(MemoryToolAnswer { content: answer.text, is_error: answer.is_error, version: answer.version }))
}
