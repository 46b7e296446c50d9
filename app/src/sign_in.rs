//! The page /sign-in.

use crate::{
    document::render,
    form::FormState,
    shell::{Shell, centered_page},
    ui::{
        button::{Button, ButtonLink, Look},
        field::{Field, Input, TextArea},
        notice::{self, Refused},
    },
};
use leptos::prelude::*;

/// Data of the page /sign-in.
#[derive(Debug, Clone, Default)]
pub struct Props {
    /// Path to go to afterwards; the server checks that it is local.
    pub next: Option<String>,
    /// State of a refused sign-in.
    pub form: FormState,
    /// A form that was submitted while signed out.
    pub kept: Option<KeptForm>,
}

/// A form that was submitted while signed out, kept until the person has signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptForm {
    /// Local path that it was posted to.
    pub action: String,
    /// Names and values of the form's fields, without passwords.
    pub fields: Vec<(String, String)>,
}

impl KeptForm {
    /// Field of the sign-in form that holds `action`.
    pub const ACTION_FIELD: &str = "kept-action";
    /// Prefix of the kept fields' names in the sign-in form.
    pub const FIELD_PREFIX: &str = "kept.";

    /// The first kept field that holds typed text, with its name.
    fn typed(&self) -> Option<&(String, String)> {
        let is_text = |name: &str| matches!(name, "text" | "message" | "note" | "answer" | "definition");
        self.fields.iter().find(|(name, value)| is_text(name) && !value.is_empty())
    }

    /// The decision of an item, its values, and the parts of an answer.
    fn decided(&self) -> Option<impl IntoView + use<>> {
        let of = |(name, value): &(String, String)| {
            let (label, text) = match (name.as_str(), value.as_str()) {
                ("decision", "respond") => ("Decision", "answer"),
                ("decision", verdict) => ("Decision", verdict),
                (name, text) => (name.strip_prefix("answer.").or_else(|| name.strip_prefix("value."))?, text),
            };
            let (label, text) = (label.to_owned(), text.to_owned());
            (!text.is_empty()).then(|| view! { <div><dt>{label}</dt><dd dir="auto">{text}</dd></div> })
        };
        let rows: Vec<_> = self.fields.iter().filter_map(of).collect();
        (!rows.is_empty()).then(|| view! { <dl class="facts">{rows}</dl> })
    }

    fn hidden_fields(&self) -> impl IntoView + use<> {
        let hidden = |name: String, value: String| view! { <input type="hidden" name=name value=value/> };
        let fields: Vec<_> = self
            .fields
            .iter()
            .map(|(name, value)| hidden(format!("{}{name}", Self::FIELD_PREFIX), value.clone()))
            .collect();
        view! {
            {hidden(Self::ACTION_FIELD.to_owned(), self.action.clone())}
            {fields}
        }
    }
}

/// The page after such a sign-in: the kept form can be submitted or discarded. `who` is signed in; `back` is the page
/// of the form.
pub fn resend_page(shell: &Shell, kept: &KeptForm, who: &str, back: &str) -> String {
    render(shell, "Send it now", || {
        let typed = kept.typed().cloned();
        let is_typed = |name: &String| typed.as_ref().is_some_and(|(typed, _)| typed == name);
        let hidden: Vec<_> = kept
            .fields
            .iter()
            .filter(|(name, _)| !is_typed(name))
            .map(|(name, value)| view! { <input type="hidden" name=name.clone() value=value.clone()/> })
            .collect();
        let none = FormState::default();
        let field = typed.clone().map(|(name, text)| {
            view! {
                <TextArea scope="kept" field=Field::new(&name, "Your text").required() rows=6 value=text form=&none/>
            }
        });
        centered_page(
            true,
            view! {
                <h1>"Send it now"</h1>
                <p>{format!("You are signed in as {who}. Your text was not sent before you signed in. You can send it now.")}</p>
                <form class="form" method="post" action=kept.action.clone()>
                    {hidden}
                    {kept.decided()}
                    {field}
                    <div class="form-actions">
                        <Button look=Look::Primary>"Send"</Button>
                        <ButtonLink look=Look::Quiet href=back.to_owned()>"Do not send it"</ButtonLink>
                    </div>
                </form>
            },
        )
    })
}

/// Renders the page. Its form posts `email`, `password` and `next` to /sign-in.
pub fn page(shell: &Shell, props: &Props) -> String {
    let Props { next, form, kept } = props;
    render(shell, "Sign in", || {
        let notice = shell.notice.as_deref().and_then(notice::of);
        let lost = kept.as_ref().map(|kept| {
            let text = kept.typed().map(|(_, text)| {
                view! {
                    <textarea class="input" rows="4" readonly="" aria-label="Your text">{format!("\n{text}")}</textarea>
                }
            });
            view! {
                <p role="status">"You were signed out, so this was not sent. It is kept. Sign in, then send it."</p>
                {kept.decided()}
                {text}
            }
        });
        centered_page(
            false,
            view! {
                <h1>"Sign in"</h1>
                {notice}
                {lost}
                <Refused messages=form.general(&["email", "password"])/>
                <form class="form" method="post" action="/sign-in">
                    <Input scope="sign-in" field=Field::new("email", "E-mail").required() kind="email" autocomplete="username" form=form/>
                    <Input scope="sign-in" field=Field::new("password", "Password").required() kind="password" autocomplete="current-password" form=form/>
                    {next.clone().map(|next| view! { <input type="hidden" name="next" value=next/> })}
                    {kept.as_ref().map(KeptForm::hidden_fields)}
                    <div class="form-actions"><Button look=Look::Primary>"Sign in"</Button></div>
                </form>
            },
        )
    })
}
