//! The reader's own account: name, password and sign-ins. Posts `name` to /settings/name, and `current_password` and
//! `password` to /settings/password. Ending sign-ins posts to /settings/sign-ins/{id}/end and
//! /settings/sign-ins/end-others.

use crate::{
    FormState,
    ui::{
        button::{Button, Look},
        field::{Field, Input},
        notice::Refused,
        popover::Sheet,
        section::Section,
        table::{Column, Table},
        time::moment,
    },
};
use domain::limit::PASSWORD_CHARS_MIN;
use leptos::prelude::*;
use wire::{access::SignIn, me::User};

const _: () = assert!(PASSWORD_CHARS_MIN == 10, "the password hint names this number");

/// The section, for people only: API tokens have no account.
pub fn account_section(me: &User, sign_ins: Vec<SignIn>, form: &FormState) -> impl IntoView + use<> {
    let (name, password) = (form.of("name"), form.of("password"));
    view! {
        <Section name="account" id="account" title="Your account">
            <p class="meta">{me.email.clone()}</p>
            <form class="form" method="post" action="/settings/name">
                <Refused messages=name.general(&["name"])/>
                <Input scope="name" field=Field::new("name", "Name").hint("What others see instead of your address.").required() value=&me.name autocomplete="name" form=&name/>
                <div class="form-actions"><Button>"Save name"</Button></div>
            </form>
            <Sheet summary="Change your password" open=password.is_refused()>
                <form class="form" method="post" action="/settings/password">
                    <Refused messages=password.general(&["current_password", "password"])/>
                    <input type="email" name="email" value=me.email.clone() autocomplete="username" hidden="" readonly=""/>
                    <Input scope="password" field=Field::new("current_password", "Current password").required() kind="password" autocomplete="current-password" form=&password/>
                    <Input scope="password" field=Field::new("password", "New password").hint("At least 10 characters. Your other sign-ins end.").required() kind="password" autocomplete="new-password" form=&password/>
                    <div class="form-actions"><Button look=Look::Primary>"Change password"</Button></div>
                </form>
            </Sheet>
            {sign_in_list(sign_ins)}
        </Section>
    }
}

fn sign_in_list(sign_ins: Vec<SignIn>) -> impl IntoView {
    let others = sign_ins.iter().any(|sign_in| !sign_in.is_current);
    let rows = sign_ins.into_iter().map(row).collect::<Vec<_>>();
    let end_others = others.then(|| {
        view! {
            <form method="post" action="/settings/sign-ins/end-others">
                <div class="form-actions"><Button>"End all other sign-ins"</Button></div>
            </form>
        }
    });
    view! {
        <h3 id="sign-ins">"Where you are signed in"</h3>
        <Table caption="Browsers where you are signed in" columns=vec![Column::text("Browser"), Column::text("Workspace"), Column::text("Since"), Column::text("Last used"), Column::hidden("Do")]>{rows}</Table>
        {end_others}
    }
}

fn row(sign_in: SignIn) -> impl IntoView {
    let browser = if sign_in.browser.is_empty() { "Unknown browser".to_owned() } else { sign_in.browser };
    let end = match sign_in.is_current {
        true => view! { <span class="meta">"this one"</span> }.into_any(),
        false => {
            let action = format!("/settings/sign-ins/{}/end", sign_in.id);
            view! { <form method="post" action=action><Button small=true about=format!("the sign-in of {browser}")>"End"</Button></form> }
                .into_any()
        }
    };
    view! {
        <tr>
            <td class="table-main">{browser.clone()}</td>
            <td class="meta" data-label="Workspace">{sign_in.workspace}</td>
            <td class="meta" data-label="Since">{moment(sign_in.created_at)}</td>
            <td class="meta" data-label="Last used">{moment(sign_in.last_seen_at)}</td>
            <td class="table-number">{end}</td>
        </tr>
    }
}
