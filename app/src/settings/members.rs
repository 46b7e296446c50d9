//! Members and invitations of the workspace. Inviting posts `email` and `role` to /settings/invitations; withdrawing
//! posts to /settings/invitations/{id}/withdraw. Admins get a page for each member.

use crate::{
    FormState,
    ui::{
        button::{Button, ButtonLink, CopyLine, Look},
        field::{Field, Input, Select},
        notice::Refused,
        popover::Sheet,
        section::Section,
        table::{Column, Table},
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

/// A link that was just created. It cannot be shown again.
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
        <div class="secret" id="new-link" role="group" aria-labelledby="new-link-title" tabindex="-1">
            <p><strong id="new-link-title">"Copy the link now. It is not shown again."</strong></p>
            <CopyLine text=url what="the link"/>
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
    /// The link of an invitation that was just created.
    pub new_link: Option<NewLink>,
}

/// The lists and the form. `inviting` is present for admins.
pub fn members_section(members: Vec<Member>, inviting: Option<Inviting>, form: &FormState) -> impl IntoView + use<> {
    let administers = inviting.is_some();
    let rows = members.into_iter().map(|member| row(member, administers)).collect::<Vec<_>>();
    let invite = inviting.map(|inviting| invitations(inviting, form));
    let mut columns = vec![Column::text("Who"), Column::text("Role"), Column::text("Joined")];
    if administers {
        columns.push(Column::hidden("Do"));
    }
    view! {
        <Section name="members" id="members" title="Members">
            <Table caption="Members" columns=columns>{rows}</Table>
            {invite}
        </Section>
    }
}

fn row(member: Member, administers: bool) -> impl IntoView {
    let called = member.display_name().to_owned();
    let address = (!member.name.is_empty()).then(|| view! { <span class="meta">" " {member.email.clone()}</span> });
    let off =
        (member.status == MemberStatus::Deactivated).then(|| view! { <span class="meta">" · deactivated"</span> });
    let manage = administers.then(|| {
        let href = format!("/settings/members/{}", member.id);
        view! { <td class="table-number"><ButtonLink href=href small=true about=called.clone()>"Manage"</ButtonLink></td> }
    });
    view! {
        <tr>
            <td class="table-main">{called.clone()}{address}</td>
            <td class="meta">{role_word(member.role)}{off}</td>
            <td class="meta">{stamp(member.created_at)}</td>
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
                        <form method="post" action=withdraw><Button small=true about=about>"Withdraw"</Button></form>
                    </td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let open = (!rows.is_empty()).then(|| {
        view! {
            <h3 id="invitations">"Invited"</h3>
            <Table caption="Invitations" columns=vec![Column::text("E-mail"), Column::text("Role"), Column::text("The link works"), Column::hidden("Do")]>{rows}</Table>
        }
    });
    view! {
        {link.map(|link| new_link(link, "7 days"))}
        {open}
        <Sheet summary="Invite someone" open=form.is_refused()>
            <form class="form" method="post" action="/settings/invitations">
                <Refused messages=form.general(&["email", "role"])/>
                <div class="form-row">
                    <Input scope="invitation" field=address.required() kind="email" form=form/>
                    <Select scope="invitation" field=Field::new("role", "Role") options=role_options(|_| true) value="member" form=form/>
                </div>
                <div class="form-actions"><Button look=Look::Primary>"Create invitation"</Button></div>
            </form>
        </Sheet>
    }
}
