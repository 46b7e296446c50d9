//! Empty states: one sentence and one action.

use super::{
    button::{Button, ButtonLink, CopyLine, Look},
    time::moment,
};
use domain::Timestamp;
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
    /// Whether the token that was made for it has been used; absent if none was made.
    pub connection: Option<Connection>,
}

/// Name of the token that the button makes for a worker of this agent.
pub fn worker_token_name(agent: &str) -> String {
    format!("{agent} (worker)")
}

/// Whether an agent has used the token that was made for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// It has not.
    Waiting,
    /// It has; the last time, to the minute (UTC).
    Connected(Timestamp),
}

/// Whether an agent is connected, as a fragment. It is empty if no token was made for it.
pub fn connection_fragment(agent: &str, connection: Option<Connection>) -> String {
    crate::render::to_html(connection_view(agent, connection))
}

fn connection_view(agent: &str, connection: Option<Connection>) -> impl IntoView + use<> {
    let (state, said, used) = match connection {
        None => ("", String::new(), None),
        Some(Connection::Waiting) => ("waiting", format!("Waiting for {agent}…"), None),
        Some(Connection::Connected(at)) => ("connected", format!("{agent} is connected."), Some(at)),
    };
    // A script rewrites the time, so it is in no live region.
    let used = used.map(|at| view! { <span class="meta">"Its token was used "{moment(at)}"."</span> });
    view! { <p class="connection-state" data-connection=state><span role="status">{said}</span>{used}</p> }
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
    let Connect { base_url, token, may_create_token, agent_slug, connection } = connect;
    let connection = connection.map(|connection| connection_view(&agent_slug, Some(connection)));
    let is_missing = token.is_none();
    let token = token.unwrap_or_else(|| "sbk_…".to_owned());
    let make = (is_missing && may_create_token).then(|| {
        view! {
            <form class="connect-token" method="post" action="/settings/tokens">
                <input type="hidden" name="name" value=worker_token_name(&agent_slug)/>
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
            {connection}
            <p class="meta">
                "Your agent reads its input from standard input and prints one JSON event per line. Any language works over "
                <a href="/api/docs">"the HTTP API"</a>"."
            </p>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_waited_for_from_its_token_on_and_connected_once_the_token_was_used() {
        let used = "2026-11-28T10:00:00Z".parse().unwrap();
        let shown = |connection| connection_fragment("scout", connection);
        assert!(!shown(None).contains("scout"), "no token was made");
        let waiting = shown(Some(Connection::Waiting));
        assert!(waiting.contains("data-connection=\"waiting\"") && waiting.contains("Waiting for scout…"), "{waiting}");
        let connected = shown(Some(Connection::Connected(used)));
        assert!(connected.contains("<span role=\"status\">scout is connected.</span>"), "{connected}");
        assert!(connected.contains("data-connection=\"connected\"") && connected.contains("<time"), "{connected}");
    }
}
