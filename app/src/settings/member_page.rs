//! The page /settings/members/{id}: actions of an admin on one member.

use super::members::{NewLink, new_link, role_options, role_word};
use crate::{
    FormState,
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    ui::{
        button::{Button, Look},
        field::{Field, Select},
        notice::{Notice, Refused, Tone},
        page_head::PageHead,
        section::Section,
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
    /// A link for a new password that was just created.
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
        let general = view! { <Refused messages=form.general(&["role"])/> };
        let off = (!is_active).then(|| view! { <Notice tone=Tone::Wait><p>{"Deactivated: nothing can be done with this account here."}</p></Notice> });
        let page = view! {
            <PageHead title=member.display_name().to_owned() crumbs=vec![("Settings".to_owned(), "/settings#members".to_owned())]/>
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
        frame(shell, RailEntry::Settings, page)
    })
}

fn role_section(member: &Member, action: String, form: &FormState) -> impl IntoView + use<> {
    view! {
        <Section name="role" title="Role">
            <form class="form" method="post" action=action>
                <Select scope="role" field=Field::new("role", "Role") options=role_options(|_| true) value=member.role.as_str() form=form/>
                <div class="form-actions"><Button>"Save role"</Button></div>
            </form>
        </Section>
    }
}

fn reset_section(action: String) -> impl IntoView {
    view! {
        <Section name="reset" title="Forgotten password">
            <p>"A link lets them choose a new password. When they use it, they are signed out everywhere else."</p>
            <form method="post" action=action>
                <div class="form-actions"><Button>"Create reset link"</Button></div>
            </form>
        </Section>
    }
}

fn deactivate_section(action: String) -> impl IntoView {
    view! {
        <Section name="deactivate" title="Deactivate">
            <p>"They are signed out of this workspace, their own tokens stop working, and what they are working on is cancelled. You can activate them again: their tokens and groups are kept."</p>
            <form method="post" action=action>
                <div class="form-actions"><Button>"Deactivate"</Button></div>
            </form>
        </Section>
    }
}

fn activate_section(action: String) -> impl IntoView {
    view! {
        <Section name="activate" title="Activate">
            <p>"They can sign in again with their password, and their own tokens work again."</p>
            <form method="post" action=action>
                <div class="form-actions"><Button look=Look::Primary>"Activate"</Button></div>
            </form>
        </Section>
    }
}

fn remove_section(action: String) -> impl IntoView {
    view! {
        <Section name="remove" title="Remove">
            <p>"Like deactivating, but permanent: their own tokens are revoked and they leave all groups. What they did is kept in the log under their name. To come back they need an invitation."</p>
            <p class="meta">"Tokens of the workspace go on working. If they know one, revoke it under Settings."</p>
            <form method="post" action=action>
                <div class="form-actions"><Button look=Look::Danger>"Remove from the workspace"</Button></div>
            </form>
        </Section>
    }
}
