//! /mcp-servers: list, add, one of them with the tools that it lists.

use super::{
    form::{Form, or_stale},
    shell::{PageRejection, Viewer, redirect_with_notice, render_or_refuse},
};
use crate::{extract::Params, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    mcp_server::{self as ui, ListProps, Props},
};
use axum::{
    Router,
    extract::{Path, State},
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{mcp::Transport, slug::is_slug, tool::Secret};
use ledger::{
    ListPage,
    mcp_server::{self, McpServerChange, NewMcpServer, SecretChange, delete, import, update},
};
use runner::execute::mcp::refresh;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Number of servers on a page.
const ROWS: u32 = 50;

pub fn router() -> Router<AppState> {
    Router::new().route("/mcp-servers", get(list).post(create)).route("/mcp-servers/{slug}", get(show).post(post))
}

#[derive(Default, Deserialize)]
struct ListQuery {
    cursor: Option<String>,
}

async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ListQuery>,
) -> Result<Response, PageRejection> {
    list_answer(&state, viewer, query.cursor, FormState::default(), None).await
}

async fn list_answer(
    state: &AppState,
    viewer: Viewer,
    cursor: Option<String>,
    form: FormState,
    problem: Option<Problem>,
) -> Result<Response, PageRejection> {
    let listed = mcp_server::list(&state.ledger, &viewer.scope, ListPage { limit: ROWS, cursor }).await?;
    let props = ListProps {
        servers: listed.items.into_iter().map(wire_map::mcp_server).collect(),
        next_cursor: listed.next_cursor,
        programs: programs(state, &viewer),
        form,
    };
    Ok(render_or_refuse(problem.as_ref(), move || ui::list_page(&viewer.shell, props)).await)
}

/// The programs that the workspace of a viewer may use.
fn programs(state: &AppState, viewer: &Viewer) -> Vec<String> {
    let workspace = viewer.shell.viewer.as_ref().map(|me| me.tenant.slug.as_str()).unwrap_or_default();
    state.mcp.programs_of(workspace).map(str::to_owned).collect()
}

async fn create(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    match mcp_server::create(&state.ledger, &viewer.scope, typed(&form)).await {
        Ok(made) => Ok(redirect_with_notice(&page_of(&made.slug), "mcp_server_saved").into_response()),
        Err(error) => {
            let problem = Problem::from(error);
            list_answer(&state, viewer, None, placed(&form, &problem), Some(problem)).await
        }
    }
}

fn page_of(slug: &str) -> String {
    format!("/mcp-servers/{slug}")
}

fn typed(form: &Form) -> NewMcpServer {
    NewMcpServer {
        slug: form.optional("slug"),
        name: form.text("name").trim().to_owned(),
        transport: transport(form),
        secret_headers: secret(form).into_iter().filter(|(_, value)| !value.expose().is_empty()).collect(),
    }
}

/// How the form says that a server is reached.
fn transport(form: &Form) -> Transport {
    if form.text("kind") == "stdio" {
        return Transport::Stdio { program: form.text("program").trim().to_owned() };
    }
    let lines = form.text("headers");
    let header = |line: &str| {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        (name.trim().to_owned(), value.trim().to_owned())
    };
    let headers = lines.lines().filter(|line| !line.trim().is_empty()).map(header).collect();
    Transport::Http { url: form.text("url").trim().to_owned(), headers }
}

/// The secret header of the form, if it names one.
fn secret(form: &Form) -> BTreeMap<String, Secret> {
    form.optional("secret_name").map(|name| (name, Secret::new(form.text("password")))).into_iter().collect()
}

/// The state of a refused form, with errors at the fields that it has.
fn placed(form: &Form, problem: &Problem) -> FormState {
    let mut state = or_stale(form.refused("mcp", problem), problem);
    for error in &mut state.errors {
        error.field = error.field.take().map(|field| field_of(&field).to_owned());
    }
    state
}

fn field_of(path: &str) -> &str {
    match path {
        "transport.url" => "url",
        "transport.program" => "program",
        _ if path.starts_with("transport.headers") => "headers",
        _ if path.starts_with("secretHeaders") => "password",
        other => other,
    }
}

/// The slug of a path. What no server can be named names no server.
fn known(slug: String) -> Result<String, Problem> {
    if is_slug(&slug) { Ok(slug) } else { Err(ledger::Error::NotFound("MCP server").into()) }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
) -> Result<Response, PageRejection> {
    answer(&state, viewer, &known(slug)?, FormState::default(), None).await
}

/// The page of a server, with the problem of a form that was refused.
async fn answer(
    state: &AppState,
    viewer: Viewer,
    slug: &str,
    form: FormState,
    problem: Option<Problem>,
) -> Result<Response, PageRejection> {
    let server = wire_map::mcp_server(mcp_server::get(&state.ledger, &viewer.scope, slug).await?);
    let tools = wire_map::mcp_tools(mcp_server::listing(&state.ledger, &viewer.scope, slug).await?);
    let refusals = problem.as_ref().filter(|_| !form.is_refused()).map(Problem::lines).unwrap_or_default();
    let props = Props { server, tools, programs: programs(state, &viewer), form, refusals };
    Ok(render_or_refuse(problem.as_ref(), move || ui::page(&viewer.shell, props)).await)
}

async fn post(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    form: Form,
) -> Result<Response, PageRejection> {
    let slug = known(slug)?;
    match change(&state, &viewer, &slug, &form).await {
        Ok((path, notice)) => Ok(redirect_with_notice(&path, notice).into_response()),
        Err(error) => {
            let problem = Problem::from(error);
            let typed = if form.text("do") == "save" { placed(&form, &problem) } else { FormState::default() };
            answer(&state, viewer, &slug, typed, Some(problem)).await
        }
    }
}

/// Does what the button says. Returns the path of the page after it, and its notice.
async fn change(state: &AppState, viewer: &Viewer, slug: &str, form: &Form) -> ledger::Result<(String, &'static str)> {
    let (ledger, scope) = (&state.ledger, &viewer.scope);
    let (page, tools, list) = (page_of(slug), "/tools".to_owned(), "/mcp-servers".to_owned());
    Ok(match form.text("do").as_str() {
        "refresh" => refresh(&state.mcp, ledger, scope, slug).await.map(|_| (page, "mcp_server_asked"))?,
        "import" => import(ledger, scope, slug, chosen(form)).await.map(|_| (tools, "mcp_tools_imported"))?,
        "save" => update(ledger, scope, slug, edited(form)).await.map(|_| (page, "mcp_server_saved"))?,
        "delete" => delete(ledger, scope, slug).await.map(|()| (list, "mcp_server_deleted"))?,
        _ => return Err(ledger::Error::invalid("do", "refresh, import, save or delete")),
    })
}

/// Names of the tools that are ticked.
fn chosen(form: &Form) -> Vec<String> {
    form.below("tools[").filter_map(|(name, _)| name.strip_suffix(']')).map(str::to_owned).collect()
}

fn edited(form: &Form) -> McpServerChange {
    let change = |value: Secret| {
        if value.expose().is_empty() { SecretChange::Delete } else { SecretChange::Set(value) }
    };
    McpServerChange {
        revision: form.text("revision").parse().unwrap_or_default(),
        name: Some(form.text("name").trim().to_owned()),
        transport: Some(transport(form)),
        secret_headers: secret(form).into_iter().map(|(name, value)| (name, change(value))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(fields: &[(&str, &str)]) -> Form {
        Form::of(fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn the_form_becomes_a_server_and_its_chosen_tools() {
        let http = form(&[("kind", "http"), ("url", " https://a.test/mcp "), ("headers", "X-Team: ops\n\nx-b\n")]);
        let headers = [("X-Team", "ops"), ("x-b", "")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let expected = Transport::Http { url: "https://a.test/mcp".to_owned(), headers: BTreeMap::from(headers) };
        assert_eq!(transport(&http), expected);
        let program = form(&[("kind", "stdio"), ("program", "files"), ("url", "x")]);
        assert_eq!(transport(&program), Transport::Stdio { program: "files".to_owned() });
        assert_eq!(chosen(&form(&[("tools[echo]", "on"), ("tools[a/b]", "on"), ("tools", "x")])), ["a/b", "echo"]);
        let emptied = edited(&form(&[("secret_name", "x-key"), ("password", "")]));
        assert_eq!(emptied.secret_headers["x-key"], SecretChange::Delete);
    }

    #[test]
    fn an_error_is_at_a_field_of_the_form() {
        for (path, field) in [
            ("transport.url", "url"),
            ("transport.headers.x-a", "headers"),
            ("secretHeaders.accept", "password"),
            ("name", "name"),
        ] {
            assert_eq!(field_of(path), field);
        }
    }
}
