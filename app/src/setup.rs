//! The page /setup: the first run, before the first account exists.

use crate::{
    document::render,
    form::FormState,
    shell::{Shell, centered_page},
    ui::{
        button::{Look, submit},
        field::{Field, input},
        notice,
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
                {notice::refused(form.general(&["workspace", "email", "password", "code"]))}
                <form class="form" method="post" action="/setup">
                    {asks_code.then(|| input("setup", code, "text", "", "off", form))}
                    {input("setup", Field::new("workspace", "Workspace name").required(), "text", "", "organization", form)}
                    {input("setup", Field::new("email", "Your e-mail").required(), "email", "", "username", form)}
                    {input("setup", Field::new("password", "Password").hint("At least 10 characters.").required(), "password", "", "new-password", form)}
                    <div class="form-actions">{submit("Create workspace", Look::Primary)}</div>
                </form>
            },
        )
    })
}
