//! The address of the page of an agent, and what people read of it.

use domain::tool::run::of_agent;

/// The address of what a session names as its agent: the page of the agent, or that of the tool that it runs.
pub fn agent_href(agent: &str) -> String {
    match of_agent(agent) {
        Some((_, tool)) => format!("/tools/{tool}"),
        None => format!("/agents/{agent}"),
    }
}

/// What people read of what a session names as its agent: the slug of the agent, which is its name. Of a tool it says
/// only that one is run: its name is the title of the session.
pub fn agent_word(agent: &str) -> String {
    if of_agent(agent).is_some() { "Tool run".to_owned() } else { agent.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slug_of_an_agent_is_its_name_and_that_of_a_tool_is_not() {
        assert_eq!(["scout", "tool:echo", "mcp:echo"].map(agent_word), ["scout", "Tool run", "Tool run"]);
    }

    #[test]
    fn the_agent_of_a_tool_leads_to_the_tool() {
        assert_eq!(
            ["scout", "tool:echo", "http:echo"].map(agent_href),
            ["/agents/scout", "/tools/echo", "/tools/echo"]
        );
    }
}
