//! The reader's own account: name, password and sign-ins. Posts `name` to /settings/name, and `current_password` and
//! `password` to /settings/password. Ending sign-ins posts to /settings/sign-ins/{id}/end and
//! /settings/sign-ins/end-others.

use crate::{
    FormState,
    ui::{
        button::{Look, submit, submit_small},
        field::{Field, input},
        notice,
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
        <section class="section" id="account" aria-labelledby="account-title">
            <h2 id="account-title">"Your account"</h2>
            <p class="meta">{me.email.clone()}</p>
            <form class="form" method="post" action="/settings/name">
                {notice::refused(name.general(&["name"]))}
                {input("name", Field::new("name", "Name").hint("What others see instead of your address.").required(), "text", &me.name, "name", &name)}
                <div class="form-actions">{submit("Save name", Look::Plain)}</div>
            </form>
            <details class="sheet" open=password.is_refused()>
                <summary>"Change your password"</summary>
                <form class="form" method="post" action="/settings/password">
                    {notice::refused(password.general(&["current_password", "password"]))}
                    <input type="email" name="email" value=me.email.clone() autocomplete="username" hidden="" readonly=""/>
                    {input("password", Field::new("current_password", "Current password").required(), "password", "", "current-password", &password)}
                    {input("password", Field::new("password", "New password").hint("At least 10 characters. Your other sign-ins end.").required(), "password", "", "new-password", &password)}
                    <div class="form-actions">{submit("Change password", Look::Primary)}</div>
                </form>
            </details>
            {sign_in_list(sign_ins)}
        </section>
    }
}

fn sign_in_list(sign_ins: Vec<SignIn>) -> impl IntoView {
    let others = sign_ins.iter().any(|sign_in| !sign_in.is_current);
    let rows = sign_ins.into_iter().map(row).collect::<Vec<_>>();
    let end_others = others.then(|| {
        view! {
            <form method="post" action="/settings/sign-ins/end-others">
                <div class="form-actions">{submit("End all other sign-ins", Look::Plain)}</div>
            </form>
        }
    });
    view! {
        <h3 id="sign-ins">"Where you are signed in"</h3>
        <div class="table-frame">
            <table class="table">
                <thead>
                    <tr>
                        <th scope="col">"Browser"</th>
                        <th scope="col">"Workspace"</th>
                        <th scope="col">"Since"</th>
                        <th scope="col">"Last used"</th>
                        <th scope="col"><span class="hidden-text">"Do"</span></th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
        {end_others}
    }
}

fn row(sign_in: SignIn) -> impl IntoView {
    let browser = if sign_in.browser.is_empty() { "Unknown browser".to_owned() } else { sign_in.browser };
    let end = match sign_in.is_current {
        true => view! { <span class="meta">"this one"</span> }.into_any(),
        false => {
            let action = format!("/settings/sign-ins/{}/end", sign_in.id);
            view! { <form method="post" action=action>{submit_small("End", format!("the sign-in of {browser}"))}</form> }
                .into_any()
        }
    };
    view! {
        <tr>
            <td class="table-main">{browser.clone()}</td>
            <td class="meta">{sign_in.workspace}</td>
            <td class="meta">{moment(sign_in.created_at)}</td>
            <td class="meta">{moment(sign_in.last_seen_at)}</td>
            <td class="table-number">{end}</td>
        </tr>
    }
}
