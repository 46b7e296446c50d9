//! The page /link: accepting an invitation to a workspace, or choosing a new password.

use crate::{
    document::render,
    form::FormState,
    render::static_html,
    settings::role_word,
    shell::{Shell, centered_page},
    ui::{
        button::{Button, ButtonLink, Look},
        field::{Field, Input},
        notice::Refused,
        time::stamp,
    },
};
use domain::{Timestamp, limit::PASSWORD_CHARS_MIN, role::Role};
use leptos::prelude::*;

const _: () = assert!(PASSWORD_CHARS_MIN == 10, "the password hint names this number");

/// The purpose of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A person without an account joins the workspace.
    Join(Role),
    /// A person with an account joins the workspace.
    JoinWithAccount(Role),
    /// A person chooses a new password.
    Reset,
}

/// Data of the page /link.
#[derive(Debug, Clone)]
pub struct Props {
    /// The purpose of the link.
    pub to: Purpose,
    /// Name of the workspace.
    pub workspace: String,
    /// E-mail address of the person.
    pub email: String,
    /// Time after which the link no longer works (UTC).
    pub expires_at: Timestamp,
    /// State of a refused form.
    pub form: FormState,
}

/// Renders the page. Its form posts `name` and `password` to /link; the link's secret is in a cookie.
pub fn page(shell: &Shell, props: &Props) -> String {
    let Props { to, workspace, email, expires_at, form } = props;
    let (title, button) = match to {
        Purpose::Join(_) | Purpose::JoinWithAccount(_) => (format!("Join {workspace}"), "Join"),
        Purpose::Reset => ("Choose a new password".to_owned(), "Save password"),
    };
    let invited = |role: Role| format!("You are invited to {workspace} as: {}.", role_word(role).to_lowercase());
    let about = match to {
        Purpose::Join(role) => format!("{} Choose what others call you, and a password.", invited(*role)),
        Purpose::JoinWithAccount(role) => {
            format!("{} You have an account here: join with its password.", invited(*role))
        }
        Purpose::Reset => "Whoever is signed in with the current password is signed out.".to_owned(),
    };
    let name = matches!(to, Purpose::Join(_)).then(|| {
        static_html(
            view! { <Input scope="link" field=Field::new("name", "Name").required() autocomplete="name" form=form/> },
        )
    });
    let password = match to {
        Purpose::JoinWithAccount(_) => static_html(
            view! { <Input scope="link" field=Field::new("password", "Password").required() kind="password" autocomplete="current-password" form=form/> },
        ),
        Purpose::Join(_) | Purpose::Reset => {
            let field = Field::new("password", "Password").hint("At least 10 characters.").required();
            static_html(
                view! { <Input scope="link" field=field kind="password" autocomplete="new-password" form=form/> },
            )
        }
    };
    let none = FormState::default();
    render(shell, &title, || {
        centered_page(
            false,
            view! {
                <h1>{title.clone()}</h1>
                <p>{about}</p>
                <Refused messages=form.general(&["name", "password"])/>
                <form class="form" method="post" action="/link">
                    <Input scope="link" field=Field::new("email", "E-mail") kind="email" value=email.clone() readonly=true autocomplete="username" form=&none/>
                    {name}
                    {password}
                    <div class="form-actions"><Button look=Look::Primary>{button}</Button></div>
                </form>
                <p class="meta">"The link works once, until " {stamp(*expires_at)} "."</p>
            },
        )
    })
}

/// The page of a link that is unknown, used or expired.
pub fn gone_page(shell: &Shell) -> String {
    render(shell, "This link does not work", || {
        centered_page(
            false,
            view! {
                <h1>"This link does not work"</h1>
                <p>"It was used already, it has expired, or it was withdrawn. Nothing was changed."</p>
                <p>"Ask whoever gave it to you for a new one."</p>
                <p><ButtonLink href="/sign-in">"Sign in"</ButtonLink></p>
            },
        )
    })
}
