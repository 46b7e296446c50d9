//! Empty states: one sentence and one action.

use super::button::{Button, ButtonLink, CopyLine, Look};
use leptos::prelude::*;

/// How to connect an agent, shown on a fresh installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connect {
    /// Base URL of this server, without a trailing slash.
    pub base_url: String,
    /// The secret of a token for the agent; a placeholder is shown if it is absent.
    pub token: Option<String>,
    /// Whether the viewer may create a token.
    pub may_create_token: bool,
    /// Agent for which a worker would be started.
    pub agent_slug: String,
}

/// An empty state: one sentence, a link if there is one, and what else helps.
#[component]
pub fn Empty(
    /// Why there is nothing, and what would change that.
    sentence: &'static str,
    /// The label and the address of the link.
    #[prop(optional_no_strip)]
    link: Option<(&'static str, String)>,
    /// Whether it is inside a section and not a whole page.
    #[prop(optional)]
    small: bool,
    /// What follows, such as how to connect an agent.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <div class="empty" data-size=small.then_some("small")>
            <p>{sentence}</p>
            {link.map(|(label, href)| view! { <ButtonLink href=href>{label}</ButtonLink> })}
            {children.map(|children| children())}
        </div>
    }
}

/// The three commands that connect an agent.
#[component]
pub fn ConnectAgent(
    /// The server, the token and the agent that they name.
    connect: Connect,
) -> impl IntoView {
    let Connect { base_url, token, may_create_token, agent_slug } = connect;
    let is_missing = token.is_none();
    let token = token.unwrap_or_else(|| "sbk_…".to_owned());
    let make = (is_missing && may_create_token).then(|| {
        view! {
            <form class="connect-token" method="post" action="/settings/tokens">
                <input type="hidden" name="name" value=format!("{agent_slug} (worker)")/>
                <input type="hidden" name="scope" value="worker"/>
                <input type="hidden" name="role" value="operator"/>
                <input type="hidden" name="next" value="/today"/>
                <Button look=Look::Primary>"Create a token"</Button>
                <span class="meta">"The token is shown once, in these lines."</span>
            </form>
        }
    });
    let ask = (is_missing && !may_create_token)
        .then(|| view! { <p class="meta">"An admin of this workspace can create the token in the settings."</p> });
    let lines = format!(
        "export SHIFTBOOK_URL={base_url}\nexport SHIFTBOOK_TOKEN={token}\nshiftbook work --agent {agent_slug} -- ./your-agent"
    );
    view! {
        <div class="connect">
            <p>"Connect an agent. Its sessions appear here as they run."</p>
            <CopyLine text=lines what="all three lines"/>
            {make}
            {ask}
            <p class="meta">
                "Your agent reads its input from standard input and prints one JSON event per line. Any language works over "
                <a href="/api/docs">"the HTTP API"</a>"."
            </p>
        </div>
    }
}
