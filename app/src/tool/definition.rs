//! What a tool does: how it runs, its limits, and its schemas.

use crate::{render::static_html, text::number::counted, ui::section::Section};
use domain::tool::{Body, Definition, HttpCall, Implementation};
use leptos::{prelude::*, tachys::html::InertElement};
use serde_json::Value;

/// The section about the working copy.
pub(super) fn definition_section(definition: &Definition) -> InertElement {
    let how = match &definition.implementation {
        Implementation::Http { http } => http_call(http).into_any(),
        Implementation::Worker {} => view! { <p class="meta">"A worker claims each run and does it."</p> }.into_any(),
    };
    let private = (!definition.private_fields.is_empty()).then(|| {
        view! { <div><dt>"Private fields"</dt><dd dir="auto">{definition.private_fields.join(", ")}</dd></div> }
    });
    let attempts = match definition.retries {
        0 => "No further attempt after a failure".to_owned(),
        retries => format!("Up to {} after a failure", counted(u64::from(retries), "further attempt")),
    };
    let unknown = if definition.repeatable { "Repeated" } else { "Shown to a person, not repeated" };
    let approval = if definition.requires_confirmation { "A person approves each run" } else { "None" };
    static_html(view! {
        <Section name="definition" title="Definition">
            {how}
            <dl class="facts">
                <div><dt>"Time limit"</dt><dd>{counted(u64::from(definition.time_limit_seconds), "second")}</dd></div>
                <div><dt>"Attempts"</dt><dd>{attempts}</dd></div>
                <div><dt>"A call with an unknown outcome"</dt><dd>{unknown}</dd></div>
                <div><dt>"Approval"</dt><dd>{approval}</dd></div>
                {private}
            </dl>
            {json("Input schema", &definition.input_schema)}
            {definition.output_schema.as_ref().map(|schema| json("Output schema", schema))}
        </Section>
    })
}

fn http_call(http: &HttpCall) -> impl IntoView + use<> {
    let headers = http.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("\n");
    let body = match &http.body {
        Body::None => None,
        Body::Input => Some(view! { <p class="meta">"The body is the input as JSON."</p> }.into_any()),
        Body::Template(template) => Some(json("Body", template).into_any()),
    };
    view! {
        <pre class="payload" tabindex="0" role="group" aria-label="Call">{format!("{} {}\n{headers}", http.method, http.url)}</pre>
        {body}
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
