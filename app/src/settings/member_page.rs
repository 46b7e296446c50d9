//! The page /settings/members/{id}: actions of an admin on one member.

use super::members::{NewLink, new_link, role_options, role_word};
use crate::{
    FormState,
    document::render,
    render::static_html,
    shell::{Place, Shell, frame},
    ui::{
        button::{Look, submit},
        field::{Field, select},
        notice,
        page_head::page_head,
        time::stamp,
    },
};
use domain::member::MemberStatus;
use leptos::prelude::*;
use wire::access::Member;

/// Data of the page /settings/members/{id}.
#[derive(Debug, Clone)]
pub struct MemberProps {
    /// The member of whom the page is.
    pub member: Member,
    /// A link for a new password, created by this request.
    pub new_link: Option<NewLink>,
    /// State of a refused form.
    pub form: FormState,
}

/// Renders the page. Its forms post to /settings/members/{id}/role (field `role`), /reset-link, /deactivate,
/// /activate and /remove.
pub fn member_page(shell: &Shell, props: MemberProps) -> String {
    let title = props.member.display_name().to_owned();
    render(shell, &title, || {
        let MemberProps { member, new_link: link, form } = props;
        let to = |what: &str| format!("/settings/members/{}/{what}", member.id);
        let is_active = member.status == MemberStatus::Active;
        let general = notice::refused(form.general(&["role"]));
        let off = (!is_active).then(|| notice::caution("Deactivated: nothing can be done with this account here."));
        let page = view! {
            {page_head(member.display_name().to_owned(), vec![("Settings".to_owned(), "/settings#members".to_owned())], ())}
            <p class="meta">{member.email.clone()}" · "{role_word(member.role)}" · since "{stamp(member.created_at)}</p>
            {off}
            {general}
            {link.map(|link| new_link(link, "24 hours"))}
            <div class="settings">
                {static_html(role_section(&member, to("role"), &form.of("role")))}
                {is_active.then(|| static_html(reset_section(to("reset-link"))))}
                {static_html(if is_active { deactivate_section(to("deactivate")).into_any() } else { activate_section(to("activate")).into_any() })}
                {static_html(remove_section(to("remove")))}
            </div>
        };
        frame(shell, Place::Settings, page)
    })
}

fn role_section(member: &Member, action: String, form: &FormState) -> impl IntoView + use<> {
    view! {
        <section class="section" aria-labelledby="role-title">
            <h2 id="role-title">"Role"</h2>
            <form class="form" method="post" action=action>
                {select("role", Field::new("role", "Role"), role_options(|_| true), member.role.as_str(), form)}
                <div class="form-actions">{submit("Save role", Look::Plain)}</div>
            </form>
        </section>
    }
}

fn reset_section(action: String) -> impl IntoView {
    view! {
        <section class="section" aria-labelledby="reset-title">
            <h2 id="reset-title">"Forgotten password"</h2>
            <p>"A link lets them choose a new password. When they use it, they are signed out everywhere else."</p>
            <form method="post" action=action>
                <div class="form-actions">{submit("Create reset link", Look::Plain)}</div>
            </form>
        </section>
    }
}

fn deactivate_section(action: String) -> impl IntoView {
    view! {
        <section class="section" aria-labelledby="deactivate-title">
            <h2 id="deactivate-title">"Deactivate"</h2>
            <p>"They are signed out of this workspace, their own tokens stop working, and what they are working on is cancelled. You can activate them again: their tokens and groups are kept."</p>
            <form method="post" action=action>
                <div class="form-actions">{submit("Deactivate", Look::Plain)}</div>
            </form>
        </section>
    }
}

fn activate_section(action: String) -> impl IntoView {
    view! {
        <section class="section" aria-labelledby="activate-title">
            <h2 id="activate-title">"Activate"</h2>
            <p>"They can sign in again with their password, and their own tokens work again."</p>
            <form method="post" action=action>
                <div class="form-actions">{submit("Activate", Look::Primary)}</div>
            </form>
        </section>
    }
}

fn remove_section(action: String) -> impl IntoView {
    view! {
        <section class="section" aria-labelledby="remove-title">
            <h2 id="remove-title">"Remove"</h2>
            <p>"Like deactivating, but permanent: their own tokens are revoked and they leave all groups. What they did is kept in the log under their name. To come back they need an invitation."</p>
            <p class="meta">"Tokens of the workspace go on working. If they know one, revoke it under Settings."</p>
            <form method="post" action=action>
                <div class="form-actions">{submit("Remove from the workspace", Look::Danger)}</div>
            </form>
        </section>
    }
}
