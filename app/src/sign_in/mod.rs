//! /sign-in

use crate::{
    document::render,
    form::FormState,
    shell::{Shell, door},
    ui::{
        button::{Look, submit},
        field::{Field, input},
        notice,
    },
};
use leptos::prelude::*;

/// What /sign-in shows.
#[derive(Debug, Clone, Default)]
pub struct Props {
    /// Where to go afterwards; the server checks that it is a path of ours.
    pub next: Option<String>,
    /// A refused attempt.
    pub form: FormState,
}

/// The whole page. Posts `email`, `password` and `next` to /sign-in.
pub fn page(shell: &Shell, props: &Props) -> String {
    let Props { next, form } = props;
    render(shell, "Sign in", || {
        let notice = shell.notice.as_deref().and_then(notice::text).map(notice::good);
        door(
            false,
            view! {
                <h1>"Sign in"</h1>
                {notice}
                {notice::refused(form.general(&["email", "password"]))}
                <form class="form" method="post" action="/sign-in">
                    {input("sign-in", Field::new("email", "E-mail").required(), "email", "", "username", form)}
                    {input("sign-in", Field::new("password", "Password").required(), "password", "", "current-password", form)}
                    {next.clone().map(|next| view! { <input type="hidden" name="next" value=next/> })}
                    <div class="form-actions">{submit("Sign in", Look::Primary)}</div>
                </form>
            },
        )
    })
}
