//! /settings: the account, members, groups, approvals, tokens, appearance, keyboard.

use super::{
    form::Form,
    new_secret::{Made, carried},
    shell::{PageRejection, Viewer, redirect_with_notice, refuse, render},
    today,
};
use crate::{
    cookie::NewSecret,
    extract::Id,
    problem::Problem,
    state::{AppState, access_link_url},
    wire_map,
};
use app::{
    FormState,
    settings::{self as ui, EmailChoice, Inviting, NewLink, Props, TelemetryChoice, WebhookEntry},
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
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
    MemberRecord, email, gate,
    group::{self, GroupChange, NewGroup},
    page::settings as page,
    telemetry::TelemetryState,
    token,
};
use wire::Code;

/// Path of the page.
pub(super) const PAGE: &str = "/settings";
/// The secrets that the page shows.
const SECRETS: [NewSecret; 3] = [NewSecret::Token, NewSecret::Webhook, NewSecret::Invitation];

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/settings", get(show))
        .route("/settings/tokens", post(create_token))
        .route("/settings/tokens/{id}/revoke", post(revoke_token))
        .route("/settings/groups", post(create_group))
        .route("/settings/approvals", post(approvals))
        .route("/settings/telemetry", post(telemetry))
        .route("/settings/groups/{id}", post(change_group))
        .route("/settings/notifications", post(notifications))
}

async fn show(State(state): State<AppState>, viewer: Viewer, made: Made) -> Result<Response, PageRejection> {
    let props = with_secrets(read(&state, &viewer, viewer.form.clone()).await?, &viewer, &made);
    let shown: Vec<_> = SECRETS.into_iter().filter(|kind| made.secret(*kind, &viewer).is_some()).collect();
    let mut response = render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await;
    for kind in shown {
        made.forget(&state, kind, PAGE, &mut response);
    }
    Ok(response)
}

/// Adds the secrets that a form of the page has just made.
fn with_secrets(props: Props, viewer: &Viewer, made: &Made) -> Props {
    let secret = |kind: NewSecret| made.secret(kind, viewer);
    let new_link = secret(NewSecret::Invitation).and_then(|made| invited(viewer, &props.inviting, made));
    Props {
        new_token: secret(NewSecret::Token).map(str::to_owned),
        new_webhook: secret(NewSecret::Webhook).map(str::to_owned),
        inviting: Inviting { new_link, ..props.inviting },
        ..props
    }
}

/// The link of an invitation that was just made. `made` is its id, a dot and the secret.
fn invited(viewer: &Viewer, inviting: &Inviting, made: &str) -> Option<NewLink> {
    let (id, secret) = made.split_once('.')?;
    let invitation = inviting.invitations.iter().find(|invitation| invitation.id.to_string() == id)?;
    Some(NewLink { url: access_link_url(&viewer.origin, secret), email: invitation.email.clone() })
}

/// Reads the page and converts it.
pub(super) async fn read(state: &AppState, viewer: &Viewer, form: FormState) -> Result<Props, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, &viewer.secret).await?;
    let email = email_choice(page.own.as_ref(), state.sends_email);
    Ok(Props { email, form, base_url: viewer.origin.clone(), ..props(page) })
}

/// What the viewer can choose about e-mails.
fn email_choice(own: Option<&page::PersonalSettings>, sends_email: bool) -> EmailChoice {
    match own {
        _ if !sends_email => EmailChoice::NotSent,
        Some(own) => EmailChoice::Offered { wanted: own.wants_email },
        None => EmailChoice::NotForTokens,
    }
}

/// Converts what is stored.
fn props(page: page::Page) -> Props {
    let name = |member: &MemberRecord| (member.user_id.to_string(), member.display_name().to_owned());
    let people = page.members.iter().map(name).collect();
    let members = page.members.into_iter().filter(|member| member.status != MemberStatus::Removed);
    let (invitations, webhooks) = page.administered.map(|of| (of.invitations, of.webhooks)).unwrap_or_default();
    let (sign_ins, tokens) = page.own.map(|own| (own.sign_ins, own.tokens)).unwrap_or_default();
    Props {
        sign_ins: sign_ins.into_iter().map(wire_map::sign_in).collect(),
        members: members.map(wire_map::member).collect(),
        inviting: Inviting {
            invitations: invitations.into_iter().filter_map(wire_map::invitation).collect(),
            new_link: None,
        },
        people,
        undo_seconds: page.undo_seconds,
        telemetry: telemetry_choice(page.telemetry),
        groups: page.groups.into_iter().map(wire_map::group).collect(),
        tokens: tokens.into_iter().map(wire_map::token).collect(),
        webhooks: webhooks.into_iter().map(webhook_entry).collect(),
        ..Props::default()
    }
}

/// A webhook with its newest messages.
fn webhook_entry(found: page::Webhook) -> WebhookEntry {
    let deliveries = found.deliveries.into_iter().map(wire_map::delivery).collect();
    WebhookEntry { webhook: wire_map::webhook(found.webhook), deliveries }
}

async fn create_token(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let secret = match make_token(&state, &viewer, &form).await {
        Ok(secret) => secret,
        Err(problem) => return refused(&state, viewer, form.refused("token", &problem), &problem).await,
    };
    let place = if form.text("next") == today::PAGE { (today::PAGE, "") } else { (PAGE, "#new-token") };
    if let Some(response) = carried(&state, &viewer, (NewSecret::Token, &secret), place) {
        return Ok(response);
    }
    let props = Props { new_token: Some(secret), ..read(&state, &viewer, FormState::default()).await? };
    Ok(render(StatusCode::CREATED, move || ui::page(&viewer.shell, props)).await)
}

/// Creates the token that the form describes, and returns its secret.
async fn make_token(state: &AppState, viewer: &Viewer, form: &Form) -> Result<String, Problem> {
    let (name, role, scope) = (form.text("name"), role(form)?, scope(form)?);
    // Who does not administer the workspace has tokens of their own and no others.
    let for_me = form.has("for_me") || !viewer.scope.may(Permission::Administer);
    let (_, secret) = match for_me {
        true => token::create_personal(&state.ledger, &viewer.scope, name.trim(), role, scope).await?,
        false => token::create(&state.ledger, &viewer.scope, name.trim(), role, scope).await?,
    };
    Ok(secret)
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
    let made = group::create(&state.ledger, &viewer.scope, new).await;
    saved(&state, viewer, &form, ("group", "group_created"), made).await
}

/// Adds a member to a group or removes one.
async fn change_group(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<GroupId>,
    form: Form,
) -> Result<Response, PageRejection> {
    let changed = match group_change(&form) {
        Ok(change) => group::update(&state.ledger, &viewer.scope, id, change).await.map_err(Problem::from),
        Err(problem) => Err(problem),
    };
    saved(&state, viewer, &form, (&format!("group-{id}"), "group_saved"), changed).await
}

fn group_change(form: &Form) -> Result<GroupChange, Problem> {
    let person = |field: &str| -> Result<Vec<UserId>, Problem> {
        let Some(text) = form.optional(field) else { return Ok(Vec::new()) };
        let wrong = |_| Problem::field(Code::InvalidRequest, field, "a member of this workspace");
        text.parse().map(|id| vec![id]).map_err(wrong)
    };
    Ok(GroupChange { name: None, add_members: person("add")?, remove_members: person("remove")? })
}

async fn approvals(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let saving = match form.text("undoSeconds").trim().parse() {
        Ok(seconds) => gate::set_undo_seconds(&state.ledger, &viewer.scope, seconds).await.map_err(Problem::from),
        Err(_) => {
            let wanted = format!("a whole number from 0 to {UNDO_SECONDS_MAX}");
            Err(Problem::field(Code::InvalidRequest, "undoSeconds", wanted))
        }
    };
    saved(&state, viewer, &form, ("approvals", "approvals_saved"), saving).await
}

async fn telemetry(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let saving = ledger::telemetry::answer(&state.ledger, &viewer.scope, form.has("enabled")).await;
    saved(&state, viewer, &form, ("telemetry", "telemetry_saved"), saving).await
}

/// What admins can choose about telemetry.
fn telemetry_choice(state: TelemetryState) -> TelemetryChoice {
    match state.opt_in.enabled {
        _ if state.is_forbidden => TelemetryChoice::Forbidden,
        None => TelemetryChoice::Unanswered,
        Some(enabled) => TelemetryChoice::Answered { enabled },
    }
}

async fn notifications(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Redirect, PageRejection> {
    email::set_wanted(&state.ledger, &viewer.scope, form.has("email")).await?;
    Ok(redirect_with_notice("/settings", "notifications_saved"))
}

/// Redirects to the page with a notice, or renders the page again with the refused form.
pub(super) async fn saved<T>(
    state: &AppState,
    viewer: Viewer,
    form: &Form,
    (name, notice): (&str, &str),
    outcome: Result<T, impl Into<Problem>>,
) -> Result<Response, PageRejection> {
    match outcome {
        Ok(_) => Ok(redirect_with_notice("/settings", notice).into_response()),
        Err(error) => {
            let problem = error.into();
            refused(state, viewer, form.refused(name, &problem), &problem).await
        }
    }
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
