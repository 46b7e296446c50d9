//! Who is in the workspace. Adding posts `email`, `role` and `password` to /settings/members.

use crate::{
    FormState,
    ui::{
        button::{Look, submit},
        field::{Field, input, select},
        notice,
        time::stamp,
    },
};
use domain::role::{ROLES, Role};
use leptos::prelude::*;
use wire::settings::Member;

/// A role in words.
pub const fn role_word(role: Role) -> &'static str {
    match role {
        Role::Admin => "Admin",
        Role::Operator => "Operator",
        Role::Reviewer => "Reviewer",
        Role::Member => "Member",
    }
}

/// Roles to choose from.
pub fn role_options(offered: impl Fn(Role) -> bool) -> Vec<(String, String)> {
    ROLES
        .into_iter()
        .filter(|role| offered(*role))
        .map(|role| (role.as_str().to_owned(), role_word(role).to_owned()))
        .collect()
}

/// List and form.
pub fn members_section(members: Vec<Member>, administers: bool, form: &FormState) -> impl IntoView + use<> {
    let rows = members
        .into_iter()
        .map(|member| {
            view! {
                <tr>
                    <td class="table-main">{member.email}</td>
                    <td class="meta">{role_word(member.role)}</td>
                    <td class="meta">"since " {stamp(member.created_at)}</td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let add = administers.then(|| {
        view! {
            <details class="sheet" open=form.is_refused()>
                <summary>"Add a member"</summary>
                <form class="form" method="post" action="/settings/members">
                    {notice::refused(form.general(&["email", "role", "password"]))}
                    <div class="form-row">
                        {input("member", Field::new("email", "E-mail").required(), "email", "", "off", form)}
                        {select("member", Field::new("role", "Role"), role_options(|_| true), "member", form)}
                    </div>
                    {input("member", Field::new("password", "First password").hint("At least 10 characters. Hand it over yourself: no mail is sent.").required(), "password", "", "new-password", form)}
                    <div class="form-actions">{submit("Add member", Look::Primary)}</div>
                </form>
            </details>
        }
    });
    view! {
        <section class="section" id="members" aria-labelledby="members-title">
            <h2 id="members-title">"Members"</h2>
            <div class="table-frame">
                <table class="table">
                    <thead>
                        <tr><th scope="col">"E-mail"</th><th scope="col">"Role"</th><th scope="col">"Joined"</th></tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            {add}
        </section>
    }
}
