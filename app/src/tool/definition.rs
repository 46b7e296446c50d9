//! What a tool does: how it runs, its limits, and its schemas.

use super::steps::steps;
use crate::{render::static_html, text::number::counted, ui::section::Section};
use domain::tool::{Body, Definition, HttpCall, Implementation, McpCall};
use leptos::{prelude::*, tachys::html::InertElement};
use serde_json::Value;

/// The section about the working copy.
pub(super) fn definition_section(definition: &Definition) -> InertElement {
    let how = match &definition.implementation {
        Implementation::Http { http } => http_call(http).into_any(),
        Implementation::Worker {} => view! { <p class="meta">"A worker claims each run and does it."</p> }.into_any(),
        Implementation::Composite { composite } => view! {
            {steps(composite)}
            {composite.result.as_ref().map(|result| json("Result", result))}
        }
        .into_any(),
        Implementation::Mcp { mcp } => mcp_call(mcp).into_any(),
    };
    let private = (!definition.private_fields.is_empty()).then(|| {
        view! { <div><dt>"Private fields"</dt><dd dir="auto">{definition.private_fields.join(", ")}</dd></div> }
    });
    let attempts = attempts(definition);
    // The steps of a composite tool have approvals of their own.
    let own = definition.composite().is_none();
    let unknown = if definition.repeatable { "Repeated" } else { "Shown to a person, not repeated" };
    let approval = if definition.requires_confirmation { "A person approves each run" } else { "None" };
    static_html(view! {
        <Section name="definition" title="Definition">
            {how}
            <dl class="facts">
                <div><dt>"Time limit"</dt><dd>{counted(u64::from(definition.time_limit_seconds), "second")}</dd></div>
                <div><dt>"Attempts"</dt><dd>{attempts}</dd></div>
                <div><dt>"A call with an unknown outcome"</dt><dd>{unknown}</dd></div>
                {own.then(|| view! { <div><dt>"Approval"</dt><dd>{approval}</dd></div> })}
                {private}
            </dl>
            {json("Input schema", &definition.input_schema)}
            {definition.output_schema.as_ref().map(|schema| json("Output schema", schema))}
        </Section>
    })
}

/// How often a run is attempted. Only a tool that may be repeated is, and of a worker only what a lost one began.
fn attempts(definition: &Definition) -> String {
    let further = counted(u64::from(definition.retries), "further attempt");
    match (definition.retries, &definition.implementation) {
        (_, Implementation::Composite { .. }) => "Each step has its own".to_owned(),
        (0, _) => "No further attempt after a failure".to_owned(),
        (_, _) if !definition.repeatable => "No further attempt, because the tool is not repeatable".to_owned(),
        (_, Implementation::Http { .. } | Implementation::Mcp { .. }) => format!("Up to {further} after a failure"),
        (_, Implementation::Worker {}) => format!("Up to {further} after a worker is lost"),
    }
}

/// The first lines of a call: its method, its address, and its headers.
pub(super) fn call_text(http: &HttpCall) -> String {
    let headers = http.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("\n");
    format!("{} {}\n{headers}", http.method, http.url)
}

fn http_call(http: &HttpCall) -> impl IntoView + use<> {
    let body = match &http.body {
        Body::None => None,
        Body::Input => Some(view! { <p class="meta">"The body is the input as JSON."</p> }.into_any()),
        Body::Template(template) => Some(json("Body", template).into_any()),
    };
    view! {
        <pre class="payload" tabindex="0" role="group" aria-label="Call">{call_text(http)}</pre>
        {body}
    }
}

fn mcp_call(McpCall { server, tool }: &McpCall) -> impl IntoView + use<> {
    let href = format!("/mcp-servers/{server}");
    view! {
        <p class="meta">"Each run calls "<code>{tool.clone()}</code>" of the MCP server "<a href=href>{server.clone()}</a>"."</p>
    }
}

fn json(title: &'static str, value: &Value) -> impl IntoView + use<> {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    view! {
        <details class="tool-definition">
            <summary>{title}</summary>
            <pre class="payload" tabindex="0" role="group" aria-label=title>{text}</pre>
        </details>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn further_attempts_are_promised_only_where_there_are_some() {
        let said = |kind: &str, retries: u32, repeatable: bool| {
            let definition = json!({
                "name": "Echo", "kind": kind, "http": { "method": "GET", "url": "https://example.org" },
                "inputSchema": { "type": "object" }, "retries": retries, "repeatable": repeatable,
            });
            attempts(&serde_json::from_value(definition).unwrap())
        };
        assert_eq!(said("http", 2, true), "Up to 2 further attempts after a failure");
        assert_eq!(said("http", 1, false), "No further attempt, because the tool is not repeatable");
        assert_eq!(said("http", 0, true), "No further attempt after a failure");
        assert_eq!(said("worker", 2, true), "Up to 2 further attempts after a worker is lost");
    }
}
