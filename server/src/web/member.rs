//! Members in the settings: invitations, and the page of one member.

use super::{
    form::Form,
    new_secret::{Made, carried},
    settings::{PAGE, read, refused, role},
    shell::{PageRejection, Viewer, redirect_with_notice, refuse, render},
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
    settings::{self as ui, MemberProps, NewLink},
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use domain::id::{LinkId, UserId};
use ledger::{
    AccessLinkRecord,
    member::{self, Withdrawal},
    page,
};

/// Where both pages show a link that was just made.
const NEW_LINK: &str = "#new-link";

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/settings/invitations", post(invite))
        .route("/settings/invitations/{id}/withdraw", post(withdraw_invitation))
        .route("/settings/members/{id}", get(show))
        .route("/settings/members/{id}/role", post(set_role))
        .route("/settings/members/{id}/reset-link", post(reset_link))
        .route("/settings/members/{id}/deactivate", post(deactivate))
        .route("/settings/members/{id}/activate", post(activate))
        .route("/settings/members/{id}/remove", post(remove))
}

async fn invite(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let (made, secret) = match make_invitation(&state, &viewer, &form).await {
        Ok(made) => made,
        Err(problem) => return refused(&state, viewer, form.refused("invitation", &problem), &problem).await,
    };
    let value = format!("{}.{secret}", made.id);
    match carried(&state, &viewer, (NewSecret::Invitation, &value), (PAGE, NEW_LINK)) {
        Some(redirect) => Ok(redirect),
        None => invited(&state, viewer, made.email, &secret).await,
    }
}

/// The settings with the link of an invitation that was just made.
async fn invited(state: &AppState, viewer: Viewer, email: String, secret: &str) -> Result<Response, PageRejection> {
    let mut props = read(state, &viewer, FormState::default()).await?;
    props.inviting.new_link = Some(new_link(&viewer, secret, email));
    Ok(render(StatusCode::CREATED, move || ui::page(&viewer.shell, props)).await)
}

/// A link that was just made, as the pages show it. `email` is the address of the person it is for.
fn new_link(viewer: &Viewer, secret: &str, email: String) -> NewLink {
    NewLink { url: access_link_url(&viewer.origin, secret), email }
}

/// Makes the invitation that the form describes. Returns it and its secret.
async fn make_invitation(
    state: &AppState,
    viewer: &Viewer,
    form: &Form,
) -> Result<(AccessLinkRecord, String), Problem> {
    Ok(member::invite(&state.ledger, &viewer.scope, &form.text("email"), role(form)?).await?)
}

async fn withdraw_invitation(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<LinkId>,
) -> Result<Redirect, PageRejection> {
    member::withdraw_invitation(&state.ledger, &viewer.scope, id).await?;
    Ok(redirect_with_notice("/settings", "invitation_withdrawn"))
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<UserId>,
    made: Made,
) -> Result<Response, PageRejection> {
    let mut props = read_one(&state, &viewer, id, FormState::default()).await?;
    let email = props.member.email.clone();
    let secret = made.secret(NewSecret::ResetLink, &viewer);
    props.new_link = secret.map(|secret| new_link(&viewer, secret, email));
    let mut response = render(StatusCode::OK, move || ui::member_page(&viewer.shell, props)).await;
    if secret.is_some() {
        made.forget(&state, NewSecret::ResetLink, &page_of(id), &mut response);
    }
    Ok(response)
}

async fn read_one(
    state: &AppState,
    viewer: &Viewer,
    id: UserId,
    form: FormState,
) -> Result<MemberProps, PageRejection> {
    let member = page::member::read(&state.ledger, &viewer.scope, id).await?;
    Ok(MemberProps { member: wire_map::member(member), new_link: None, form })
}

/// Answers after a change of a member: a redirect to `on`, or the member's page with the refusal.
async fn answer<T>(
    state: &AppState,
    viewer: Viewer,
    id: UserId,
    (outcome, on): (ledger::Result<T>, Redirect),
) -> Result<Response, PageRejection> {
    match outcome {
        Ok(_) => Ok(on.into_response()),
        Err(error) => {
            let problem = Problem::from(error);
            let form = Form::of([].into()).refused("", &problem);
            let props = read_one(state, &viewer, id, form).await?;
            Ok(refuse(&problem, move || ui::member_page(&viewer.shell, props)).await)
        }
    }
}

/// Path of the page of a member.
fn page_of(id: UserId) -> String {
    format!("/settings/members/{id}")
}

fn back(id: UserId, notice: &str) -> Redirect {
    redirect_with_notice(&page_of(id), notice)
}

async fn set_role(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<UserId>,
    form: Form,
) -> Result<Response, PageRejection> {
    let changed = member::set_role(&state.ledger, &viewer.scope, id, role(&form)?).await;
    // Admins who gave up their own role may not see the page any more.
    let on = if viewer.scope.user_id() == Some(id) {
        redirect_with_notice("/settings", "role_saved")
    } else {
        back(id, "role_saved")
    };
    answer(&state, viewer, id, (changed, on)).await
}

async fn reset_link(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<UserId>,
) -> Result<Response, PageRejection> {
    let page = page_of(id);
    match member::reset_link(&state.ledger, &viewer.scope, id).await {
        Ok((made, secret)) => match carried(&state, &viewer, (NewSecret::ResetLink, &secret), (&page, NEW_LINK)) {
            Some(redirect) => Ok(redirect),
            None => reset(&state, viewer, id, (made.email, &secret)).await,
        },
        Err(error) => answer(&state, viewer, id, (Err::<(), _>(error), back(id, ""))).await,
    }
}

/// The page of a member with the link for a new password that was just made.
async fn reset(
    state: &AppState,
    viewer: Viewer,
    id: UserId,
    (email, secret): (String, &str),
) -> Result<Response, PageRejection> {
    let mut props = read_one(state, &viewer, id, FormState::default()).await?;
    props.new_link = Some(new_link(&viewer, secret, email));
    Ok(render(StatusCode::CREATED, move || ui::member_page(&viewer.shell, props)).await)
}

async fn deactivate(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<UserId>,
) -> Result<Response, PageRejection> {
    let done = member::withdraw(&state.ledger, &viewer.scope, id, Withdrawal::Deactivate).await;
    answer(&state, viewer, id, (done, back(id, "member_deactivated"))).await
}

async fn activate(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<UserId>,
) -> Result<Response, PageRejection> {
    let done = member::activate(&state.ledger, &viewer.scope, id).await;
    answer(&state, viewer, id, (done, back(id, "member_activated"))).await
}

async fn remove(State(state): State<AppState>, viewer: Viewer, Id(id): Id<UserId>) -> Result<Response, PageRejection> {
    let removed = member::withdraw(&state.ledger, &viewer.scope, id, Withdrawal::Remove).await;
    answer(&state, viewer, id, (removed, redirect_with_notice("/settings", "member_removed"))).await
}
