//! The address of the page of an agent.

use domain::tool::run::of_agent;

/// The address of what a session names as its agent: the page of the agent, or that of the tool that it runs.
pub fn agent_href(agent: &str) -> String {
    match of_agent(agent) {
        Some((_, tool)) => format!("/tools/{tool}"),
        None => format!("/agents/{agent}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_of_a_tool_leads_to_the_tool() {
        assert_eq!(
            ["scout", "tool:echo", "http:echo"].map(agent_href),
            ["/agents/scout", "/tools/echo", "/tools/echo"]
        );
    }
}
