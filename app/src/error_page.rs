//! Error pages: the error, the data that was kept, and the next step. 403 and 404 have the same text.

use crate::{
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, centered_page, frame},
    ui::button::{ButtonLink, CopyLine},
};
use leptos::prelude::*;
use wire::Code;

/// A failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong. The response has its status.
    pub code: Code,
    /// Details that may be shown; absent for 403, 404 and 500.
    pub detail: Option<String>,
    /// Id of the request, for support.
    pub request_id: String,
    /// Whether the request carried a session cookie, valid or not. Otherwise the page offers to sign in.
    pub has_sign_in: bool,
    /// Path of the page that sent the request, if it must be opened again. The page links to it.
    pub again: Option<String>,
}

struct Words {
    title: &'static str,
    happened: &'static str,
    todo: &'static str,
}

const fn words(code: Code) -> Words {
    match code.http_status() {
        403 | 404 | 410 => Words {
            title: "Not found",
            happened: "There is nothing at this address, or you are not allowed to see it.",
            todo: "Check the address. If someone sent it to you, ask which workspace it belongs to.",
        },
        413 => Words {
            title: "That was too large",
            happened: "The request is larger than the server accepts. Nothing was changed.",
            todo: "Go back, make it smaller and send it again.",
        },
        414 => Words {
            title: "That address is too long",
            happened: "The address is longer than the server accepts. Nothing was changed.",
            todo: "Check the address. A link that fills in a form must be shorter.",
        },
        400 | 415 | 422 => Words {
            title: "That did not work",
            happened: "The server could not read the request. Nothing was changed.",
            todo: "Go back and try again.",
        },
        405 => Words {
            title: "That did not work",
            happened: "This address does not support that request. Nothing was changed.",
            todo: "Go back and try again.",
        },
        409 if matches!(code, Code::OtherSignIn) => Words {
            title: "The sign-in has changed",
            happened: "Another tab of this browser has switched the workspace or signed in as someone else.",
            todo: "To do it in the first workspace, or as the first person, switch back or sign in again, and enter it \
                   again.",
        },
        409 => Words {
            title: "It has changed in the meantime",
            happened: "Someone else changed it first. Your change was not saved.",
            todo: "Go back, reload the page and check the current state.",
        },
        421 => Words {
            title: "Not at this address",
            happened: "This server has not been set up yet. Until then it does not answer at this address.",
            todo: "Open it as localhost, by its IP address, or at its public URL.",
        },
        429 => Words {
            title: "Too many attempts",
            happened: "There were too many requests from your address in a short time. Nothing was changed.",
            todo: "Wait a minute and try again.",
        },
        503 => Words {
            title: "Not available right now",
            happened: "The server is busy or restarting. Everything recorded is safe.",
            todo: "Wait a moment and reload the page.",
        },
        _ => Words {
            title: "Something went wrong on our side",
            happened: "The page could not be created. Everything recorded is safe.",
            todo: "Reload the page. If it happens again, report it with this request id:",
        },
    }
}

/// Renders the page, in the shell if the viewer is signed in. The text does not depend on the viewer.
pub fn page(shell: &Shell, failure: &Failure) -> String {
    let Words { title, happened, todo } = words(failure.code);
    let status = failure.code.http_status();
    let hushed = matches!(status, 403 | 404 | 410 | 500..=599);
    let detail = failure.detail.clone().filter(|_| !hushed);
    let quote = (status >= 500 && !failure.request_id.is_empty()).then(|| failure.request_id.clone());
    let (href, label) = match failure.again.clone() {
        Some(again) => (again, "Reload the page"),
        None if failure.has_sign_in => ("/today".to_owned(), "Go to Today"),
        None => ("/sign-in".to_owned(), "Sign in"),
    };
    let body = move || {
        view! {
            <h1>{title}</h1>
            <p>{happened}</p>
            {detail.map(|detail| view! { <p>{detail}</p> })}
            <p>{todo}</p>
            {quote.map(|id| view! { <CopyLine text=id what="the request id"/> })}
            <p>
                <ButtonLink href=href>{label}</ButtonLink>
            </p>
        }
    };
    if shell.viewer.is_none() {
        return render(shell, title, || centered_page(true, body()));
    }
    render(shell, title, || {
        frame(shell, RailEntry::Elsewhere, view! { <div class="failure">{static_html(body())}</div> })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_and_missing_cannot_be_told_apart() {
        let (a, b) = (words(Code::Forbidden), words(Code::NotFound));
        assert_eq!((a.title, a.happened, a.todo), (b.title, b.happened, b.todo));
    }
}
