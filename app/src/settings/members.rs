//! Members and invitations of the workspace. Inviting posts `email` and `role` to /settings/invitations; withdrawing
//! posts to /settings/invitations/{id}/withdraw. Admins get a page for each member.

use crate::{
    FormState,
    ui::{
        button::{Look, copy_line, link_small, submit, submit_small},
        field::{Field, input, select},
        notice,
        time::stamp,
    },
};
use domain::{
    limit::{INVITATION_DAYS, RESET_LINK_HOURS},
    member::MemberStatus,
    role::{ROLES, Role},
};
use leptos::prelude::*;
use wire::access::{Invitation, Member};

const _: () = assert!(INVITATION_DAYS == 7 && RESET_LINK_HOURS == 24, "the texts name these numbers");

/// A link created by this request. It cannot be shown again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLink {
    /// The complete URL, with its secret.
    pub url: String,
    /// E-mail address of the person it is for.
    pub email: String,
}

/// Shows the link with a copy button. `works_for` says how long it is valid.
pub fn new_link(link: NewLink, works_for: &'static str) -> impl IntoView {
    let NewLink { url, email } = link;
    let advice = format!(
        "Send it to {email} yourself: Shiftbook sends no e-mail. It works once, within {works_for}. Whoever has it can use it."
    );
    view! {
        <div class="secret" role="status">
            <p><strong>"Copy the link now. It is not shown again."</strong></p>
            {copy_line(url, "the link")}
            <p class="meta">{advice}</p>
        </div>
    }
}

/// The label of a role.
pub const fn role_word(role: Role) -> &'static str {
    match role {
        Role::Admin => "Admin",
        Role::Operator => "Operator",
        Role::Reviewer => "Reviewer",
        Role::Member => "Member",
    }
}

/// The offered roles as options, `(value, label)`.
pub fn role_options(offered: impl Fn(Role) -> bool) -> Vec<(String, String)> {
    ROLES
        .into_iter()
        .filter(|role| offered(*role))
        .map(|role| (role.as_str().to_owned(), role_word(role).to_owned()))
        .collect()
}

/// Data that only admins get.
#[derive(Debug, Clone, Default)]
pub struct Inviting {
    /// Invitations that have not been accepted.
    pub invitations: Vec<Invitation>,
    /// The link of an invitation created by this request.
    pub new_link: Option<NewLink>,
}

/// The lists and the form. `inviting` is present for admins.
pub fn members_section(members: Vec<Member>, inviting: Option<Inviting>, form: &FormState) -> impl IntoView + use<> {
    let administers = inviting.is_some();
    let rows = members.into_iter().map(|member| row(member, administers)).collect::<Vec<_>>();
    let invite = inviting.map(|inviting| invitations(inviting, form));
    view! {
        <section class="section" id="members" aria-labelledby="members-title">
            <h2 id="members-title">"Members"</h2>
            <div class="table-frame">
                <table class="table">
                    <thead>
                        <tr>
                            <th scope="col">"Who"</th>
                            <th scope="col">"Role"</th>
                            <th scope="col">"Joined"</th>
                            {administers.then(|| view! { <th scope="col"><span class="hidden-text">"Do"</span></th> })}
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            {invite}
        </section>
    }
}

fn row(member: Member, administers: bool) -> impl IntoView {
    let called = member.display_name().to_owned();
    let address = (!member.name.is_empty()).then(|| view! { <span class="meta">" " {member.email.clone()}</span> });
    let off =
        (member.status == MemberStatus::Deactivated).then(|| view! { <span class="meta">" · deactivated"</span> });
    let manage = administers.then(|| {
        let href = format!("/settings/members/{}", member.id);
        view! { <td class="table-number">{link_small("Manage", called.clone(), href)}</td> }
    });
    view! {
        <tr>
            <td class="table-main">{called.clone()}{address}</td>
            <td class="meta">{role_word(member.role)}{off}</td>
            <td class="meta">"since " {stamp(member.created_at)}</td>
            {manage}
        </tr>
    }
}

fn invitations(inviting: Inviting, form: &FormState) -> impl IntoView + use<> {
    let Inviting { invitations, new_link: link } = inviting;
    let address = Field::new("email", "E-mail").hint("You get a link to hand over. They choose their own password.");
    let rows = invitations
        .into_iter()
        .map(|invitation| {
            let withdraw = format!("/settings/invitations/{}/withdraw", invitation.id);
            let about = format!("the invitation of {}", invitation.email);
            view! {
                <tr>
                    <td class="table-main">{invitation.email}</td>
                    <td class="meta">{role_word(invitation.role)}</td>
                    <td class="meta">"until " {stamp(invitation.expires_at)}</td>
                    <td class="table-number">
                        <form method="post" action=withdraw>{submit_small("Withdraw", about)}</form>
                    </td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let open = (!rows.is_empty()).then(|| {
        view! {
            <h3 id="invitations">"Invited"</h3>
            <div class="table-frame">
                <table class="table">
                    <thead>
                        <tr>
                            <th scope="col">"E-mail"</th>
                            <th scope="col">"Role"</th>
                            <th scope="col">"The link works"</th>
                            <th scope="col"><span class="hidden-text">"Do"</span></th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        }
    });
    view! {
        {link.map(|link| new_link(link, "7 days"))}
        {open}
        <details class="sheet" open=form.is_refused()>
            <summary>"Invite someone"</summary>
            <form class="form" method="post" action="/settings/invitations">
                {notice::refused(form.general(&["email", "role"]))}
                <div class="form-row">
                    {input("invitation", address.required(), "email", "", "off", form)}
                    {select("invitation", Field::new("role", "Role"), role_options(|_| true), "member", form)}
                </div>
                <div class="form-actions">{submit("Create invitation", Look::Primary)}</div>
            </form>
        </details>
    }
}
