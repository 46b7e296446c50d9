//! API tokens. Creating posts `name`, `role`, `scope` and, for admins, `for_me` to /settings/tokens; revoking posts
//! to /settings/tokens/{id}/revoke.

use super::members::{role_options, role_word};
use crate::{
    FormState,
    ui::{
        button::{Button, CopyLine, Look},
        empty::{Connect, ConnectAgent},
        field::{Choice, Field, Input, Select},
        notice::Refused,
        popover::Sheet,
        table::{Column, Table},
        time::moment,
    },
};
use domain::role::{Permission, Role, TokenScope, may, may_give};
use leptos::prelude::*;
use std::collections::HashMap;
use wire::settings::Token;

/// The list, the form, and the secret of a token that was just created. Admins see all tokens; other people (`own`)
/// see theirs.
pub fn tokens_section(
    tokens: Vec<Token>,
    people: &HashMap<String, String>,
    own: Role,
    new_token: Option<String>,
    base_url: String,
    form: &FormState,
) -> impl IntoView + use<> {
    let administers = may(own, None, Permission::Administer);
    let none = tokens.is_empty();
    let rows = tokens.into_iter().map(|token| row(token, people)).collect::<Vec<_>>();
    let secret = new_token.map(|token| secret_view(token, base_url));
    let list = (!none).then(|| {
        view! {
            <Table caption="Tokens" columns=vec![Column::text("Name"), Column::text("Starts with"), Column::text("Scope"), Column::text("Last used"), Column::hidden("Revoke")]>{rows}</Table>
        }
    });
    let (about, none_yet) = match administers {
        true => {
            ("The person or program that uses it.", "There are no tokens yet. Agents and scripts sign in with a token.")
        }
        false => (
            "The program that uses it, such as a coding agent on your laptop.",
            "You have no tokens yet. Your coding agents and scripts sign in with a token. It never allows more than your own role.",
        ),
    };
    view! {
        <section class="section" id="tokens" aria-labelledby="tokens-title">
            <h2 id="tokens-title">{if administers { "Tokens" } else { "Your tokens" }}</h2>
            {secret}
            {none.then(|| view! { <p class="meta">{none_yet}</p> })}
            {list}
            <Sheet summary="New token" open=none || form.is_refused()>
                {create_form(own, about, form)}
            </Sheet>
        </section>
    }
}

/// The secret of a token that this request created, with how to connect an agent.
fn secret_view(token: String, base_url: String) -> impl IntoView + use<> {
    let connecting = Connect {
        base_url,
        token: Some(token.clone()),
        may_create_token: true,
        agent_slug: "my-agent".to_owned(),
        connection: None,
    };
    view! {
        <div class="secret" id="new-token" role="group" aria-labelledby="new-token-title" tabindex="-1">
            <p><strong id="new-token-title">"Copy the token now. It is not shown again."</strong></p>
            <CopyLine text=token what="the token"/>
            <ConnectAgent connect=connecting/>
        </div>
    }
}

/// The form that creates a token. It offers what a person with the role `own` may give. `about` is the hint of the
/// name.
fn create_form(own: Role, about: &'static str, form: &FormState) -> impl IntoView + use<> {
    let scopes =
        [(Some(TokenScope::Worker), "Worker: claim sessions and work on them"), (None, "All that its role may do")];
    let scopes: Vec<_> = scopes
        .into_iter()
        .filter(|(scope, _)| may_give(own, Role::Member, *scope))
        .map(|(scope, label)| (scope.map_or("", TokenScope::as_str).to_owned(), label.to_owned()))
        .collect();
    let roles = role_options(|role| may_give(own, role, None));
    let usual = if may_give(own, Role::Operator, None) { Role::Operator } else { own };
    let for_me = may(own, None, Permission::Administer).then(|| {
        view! {
            <Choice name="for_me" value="yes" checked=form.value("for_me").is_some()>
                "For me: it can read my activity, and the sessions that it starts are mine"
            </Choice>
        }
    });
    view! {
        <form class="form" method="post" action="/settings/tokens">
            <Refused messages=form.general(&["name", "role", "scope"])/>
            <Input scope="token" field=Field::new("name", "Name").hint(about).required() form=form/>
            <div class="form-row">
                <Select scope="token" field=Field::new("scope", "Scope") options=scopes value="worker" form=form/>
                <Select scope="token" field=Field::new("role", "Role") options=roles value=usual.as_str() form=form/>
            </div>
            {for_me}
            <div class="form-actions"><Button look=Look::Primary>"Create token"</Button></div>
        </form>
    }
}

fn row(token: Token, people: &HashMap<String, String>) -> impl IntoView + use<> {
    let whose =
        token.user_id.map(|id| format!(" for {}", people.get(&id.to_string()).map_or("a former member", |p| p)));
    let may = match token.scope {
        Some(scope) => format!("{} ({})", role_word(token.role), scope.as_str()),
        None => role_word(token.role).to_owned(),
    };
    let used = match token.last_used_at {
        Some(at) => moment(at).into_any(),
        None => "never".into_any(),
    };
    let end = match token.revoked_at {
        Some(at) => view! { <span class="meta">"revoked " {moment(at)}</span> }.into_any(),
        None => view! {
            <form method="post" action=format!("/settings/tokens/{}/revoke", token.id)><Button small=true about=token.name.clone()>"Revoke"</Button></form>
        }
        .into_any(),
    };
    view! {
        <tr>
            <td class="table-main">{token.name}<span class="meta">{whose}</span></td>
            <td><code>{token.hint}"…"</code></td>
            <td class="meta">{may}</td>
            <td class="meta">{used}</td>
            <td class="table-number">{end}</td>
        </tr>
    }
}
