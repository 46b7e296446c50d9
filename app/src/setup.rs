//! The page /setup: the first run, before the first account exists.

use crate::{
    document::render,
    form::FormState,
    render::static_html,
    shell::{Shell, centered_page},
    ui::{
        button::{Button, Look},
        field::{Field, Input},
        notice::Refused,
    },
};
use domain::limit::PASSWORD_CHARS_MIN;
use leptos::prelude::*;

const _: () = assert!(PASSWORD_CHARS_MIN == 10, "the password hint names this number");

/// Renders the page. Its form posts `workspace`, `email`, `password` and, if required, `code` to /setup.
pub fn page(shell: &Shell, asks_code: bool, form: &FormState) -> String {
    let hint = "The server printed it when it started, on stderr or in its log.";
    let code = Field::new("code", "Set-up code").hint(hint).required();
    render(shell, "Set up", || {
        centered_page(
            false,
            view! {
                <h1>"Set up your workspace"</h1>
                <p>"There are no accounts yet. Yours will be the first, with the role admin."</p>
                <Refused messages=form.general(&["workspace", "email", "password", "code"])/>
                <form class="form" method="post" action="/setup">
                    {asks_code.then(|| static_html(view! { <Input scope="setup" field=code form=form/> }))}
                    <Input scope="setup" field=Field::new("workspace", "Workspace name").required() autocomplete="organization" form=form/>
                    <Input scope="setup" field=Field::new("email", "Your e-mail").required() kind="email" autocomplete="username" form=form/>
                    <Input scope="setup" field=Field::new("password", "Password").hint("At least 10 characters.").required() kind="password" autocomplete="new-password" form=form/>
                    <div class="form-actions"><Button look=Look::Primary>"Create workspace"</Button></div>
                </form>
            },
        )
    })
}
