//! /settings: the account, members, groups, approvals, tokens, appearance, keyboard.

use super::{
    account,
    form::Form,
    members,
    shell::{PageRejection, Viewer, redirect_with_notice, refuse, render},
    webhooks,
};
use crate::{cookie, extract::Id, problem::Problem, state::AppState, wire_map};
use app::{
    FormState, Theme,
    settings::{self as ui, EmailChoice, Props},
};
use axum::{
    Router,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header::SET_COOKIE},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use domain::{
    id::{GroupId, TokenId, UserId},
    limit::UNDO_SECONDS_MAX,
    member::MemberStatus,
    role::{Permission, Role, TokenScope},
};
use ledger::{
    email, gate,
    group::{self, GroupChange, NewGroup},
    member, token,
};
use wire::Code;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/settings", get(show))
        .route("/settings/tokens", post(create_token))
        .route("/settings/tokens/{id}/revoke", post(revoke_token))
        .route("/settings/groups", post(create_group))
        .route("/settings/approvals", post(approvals))
        .route("/settings/groups/{id}", post(change_group))
        .route("/settings/notifications", post(notifications))
        .route("/settings/appearance", post(appearance))
}

async fn show(State(state): State<AppState>, viewer: Viewer, headers: HeaderMap) -> Result<Response, PageRejection> {
    let mut props = read(&state, &viewer, FormState::default()).await?;
    let made = viewer.scope.user_id().and_then(|user| cookie::new_token(&headers, user));
    props.new_token = made.map(str::to_owned);
    let forgets = props.new_token.as_ref().and_then(|_| state.cookies.clear_new_token());
    let mut response = render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await;
    if let Some(cookie) = forgets {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}

/// Everything that the page shows.
pub(super) async fn read(state: &AppState, viewer: &Viewer, form: FormState) -> Result<Props, PageRejection> {
    let everybody = member::list_all(&state.ledger, &viewer.scope).await?;
    let people =
        everybody.iter().map(|member| (member.user_id.to_string(), member.display_name().to_owned())).collect();
    let members = everybody.into_iter().filter(|member| member.status != MemberStatus::Removed);
    let undo_seconds = gate::undo_seconds(&state.ledger, &viewer.scope).await?;
    let groups = group::list(&state.ledger, &viewer.scope).await?;
    let tokens = match viewer.scope.user_id() {
        Some(_) => token::list(&state.ledger, &viewer.scope).await?,
        None => Vec::new(),
    };
    let webhooks = match viewer.scope.may(Permission::Administer) {
        true => webhooks::entries(state, viewer).await?,
        false => Vec::new(),
    };
    let email = match state.sends_email {
        true => EmailChoice::Offered { wanted: email::is_wanted(&state.ledger, &viewer.scope).await? },
        false => EmailChoice::NotSent,
    };
    Ok(Props {
        sign_ins: account::sign_ins(state, viewer).await?,
        members: members.map(wire_map::member).collect(),
        inviting: members::inviting(state, viewer).await?,
        people,
        undo_seconds,
        groups: groups.into_iter().map(wire_map::group).collect(),
        tokens: tokens.into_iter().map(wire_map::token).collect(),
        new_token: None,
        webhooks,
        new_webhook: None,
        email,
        form,
        base_url: viewer.origin.clone(),
    })
}

/// The secret travels to the page that shows it in a cookie of a minute: nothing is stored here, and loading that page
/// again neither shows it nor makes another token.
async fn create_token(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let made = match (role(&form), scope(&form)) {
        (Ok(role), Ok(scope)) => {
            let name = form.text("name");
            // Who does not administer the workspace has tokens of their own and no others.
            let for_me = form.has("for_me") || !viewer.scope.may(Permission::Administer);
            let made = match for_me {
                true => token::create_personal(&state.ledger, &viewer.scope, name.trim(), role, scope).await,
                false => token::create(&state.ledger, &viewer.scope, name.trim(), role, scope).await,
            };
            made.map_err(Problem::from)
        }
        (Err(problem), _) | (_, Err(problem)) => Err(problem),
    };
    match made {
        Ok((_, secret)) => {
            let cookie = viewer.scope.user_id().and_then(|user| state.cookies.set_new_token(user, &secret));
            let Some(cookie) = cookie else {
                // A program has no cookies: its answer is the page itself.
                let props = Props { new_token: Some(secret), ..read(&state, &viewer, FormState::default()).await? };
                return Ok(render(StatusCode::CREATED, move || ui::page(&viewer.shell, props)).await);
            };
            let mut response = Redirect::to("/settings#new-token").into_response();
            response.headers_mut().append(SET_COOKIE, cookie);
            Ok(response)
        }
        Err(problem) => refused(&state, viewer, form.refused("token", &problem), &problem).await,
    }
}

async fn revoke_token(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<TokenId>,
) -> Result<Redirect, PageRejection> {
    token::revoke(&state.ledger, &viewer.scope, id).await?;
    Ok(redirect_with_notice("/settings", "token_revoked"))
}

async fn create_group(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let new = NewGroup { name: form.text("name").trim().to_owned(), slug: form.optional("slug"), members: Vec::new() };
    match group::create(&state.ledger, &viewer.scope, new).await {
        Ok(_) => Ok(redirect_with_notice("/settings", "group_created").into_response()),
        Err(error) => {
            let problem = Problem::from(error);
            refused(&state, viewer, form.refused("group", &problem), &problem).await
        }
    }
}

/// Adds a member to a group or removes one.
async fn change_group(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<GroupId>,
    form: Form,
) -> Result<Response, PageRejection> {
    let person = |field: &str| -> Result<Vec<UserId>, Problem> {
        let Some(text) = form.optional(field) else { return Ok(Vec::new()) };
        let wrong = |_| Problem::field(Code::InvalidRequest, field, "a member of this workspace");
        text.parse().map(|id| vec![id]).map_err(wrong)
    };
    let changed = match (person("add"), person("remove")) {
        (Ok(add_members), Ok(remove_members)) => {
            let change = GroupChange { name: None, add_members, remove_members };
            group::update(&state.ledger, &viewer.scope, id, change).await.map_err(Problem::from)
        }
        (Err(problem), _) | (_, Err(problem)) => Err(problem),
    };
    match changed {
        Ok(_) => Ok(redirect_with_notice("/settings", "group_saved").into_response()),
        Err(problem) => refused(&state, viewer, form.refused(&format!("group-{id}"), &problem), &problem).await,
    }
}

async fn approvals(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let saved = match form.text("undoSeconds").trim().parse() {
        Ok(seconds) => gate::set_undo_seconds(&state.ledger, &viewer.scope, seconds).await.map_err(Problem::from),
        Err(_) => {
            let wanted = format!("a whole number from 0 to {UNDO_SECONDS_MAX}");
            Err(Problem::field(Code::InvalidRequest, "undoSeconds", wanted))
        }
    };
    match saved {
        Ok(()) => Ok(redirect_with_notice("/settings", "approvals_saved").into_response()),
        Err(problem) => refused(&state, viewer, form.refused("approvals", &problem), &problem).await,
    }
}

async fn notifications(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Redirect, PageRejection> {
    email::set_wanted(&state.ledger, &viewer.scope, form.has("email")).await?;
    Ok(redirect_with_notice("/settings", "notifications_saved"))
}

async fn appearance(viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    // Only who is signed in has settings; the choice itself lives in the browser.
    let _ = viewer;
    let mut response = redirect_with_notice("/settings", "appearance_saved").into_response();
    let cookie = cookie::set_theme(Theme::parse(&form.text("theme")).as_str());
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}

/// The page again, with what was refused.
pub(super) async fn refused(
    state: &AppState,
    viewer: Viewer,
    form: FormState,
    problem: &Problem,
) -> Result<Response, PageRejection> {
    let props = read(state, &viewer, form).await?;
    Ok(refuse(problem, move || ui::page(&viewer.shell, props)).await)
}

pub(super) fn role(form: &Form) -> Result<Role, Problem> {
    Role::parse(&form.text("role"))
        .ok_or_else(|| Problem::field(Code::InvalidRequest, "role", "admin, operator, reviewer or member"))
}

fn scope(form: &Form) -> Result<Option<TokenScope>, Problem> {
    match form.optional("scope") {
        None => Ok(None),
        Some(text) => TokenScope::parse(&text)
            .map(Some)
            .ok_or_else(|| Problem::field(Code::InvalidRequest, "scope", "worker, or none")),
    }
}
