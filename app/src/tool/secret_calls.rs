//! Where the secrets of a tool are sent, for the admin who sets them.

use super::definition::call_text;
use crate::{
    render::static_html,
    ui::notice::{Notice, Tone},
};
use domain::tool::Definition;
use leptos::{prelude::*, tachys::html::InertElement};
use wire::tool::ToolVersion;

/// The calls that get the secrets, if the working copy makes another call than the version published last. `None` if
/// the section about the definition shows the only call.
pub(super) fn secret_calls(definition: &Definition, newest: Option<&ToolVersion>) -> Option<InertElement> {
    let changed = definition.http()?;
    let published = newest.and_then(|newest| Some((newest.version, newest.definition.http()?)));
    if published.is_some_and(|(_, call)| call == changed) {
        return None;
    }
    let first = published.map(|(version, call)| {
        let sentence = format!("Version {version} sends the secrets with this call as soon as they are set.");
        payload(sentence, call_text(call))
    });
    let sentence = "The working copy sends them with this call when an admin tests or publishes it.".to_owned();
    Some(static_html(view! {
        <Notice tone=Tone::Wait><p>"Check where the secrets are sent before you set one."</p></Notice>
        {first}
        {payload(sentence, call_text(changed))}
    }))
}

fn payload(sentence: String, call: String) -> impl IntoView {
    view! {
        <p class="meta">{sentence}</p>
        <pre class="payload" tabindex="0" role="group" aria-label="Call">{call}</pre>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;
    use serde_json::json;

    fn definition(url: &str) -> Definition {
        let call = json!({ "method": "GET", "url": url, "headers": { "authorization": "Bearer {secret:KEY}" } });
        let whole = json!({ "name": "Echo", "kind": "http", "http": call, "inputSchema": { "type": "object" } });
        serde_json::from_value(whole).unwrap()
    }

    fn version(url: &str) -> ToolVersion {
        ToolVersion {
            tool_id: "0199c0de-0000-7000-8000-000000000001".parse().unwrap(),
            version: 3,
            definition: definition(url),
            published_by: "user:ada".to_owned(),
            published_at: "2026-11-25T10:00:00Z".parse().unwrap(),
        }
    }

    #[test]
    fn calls_that_differ_are_shown_to_who_sets_a_secret() {
        let ours = "https://example.org/";
        assert!(secret_calls(&definition(ours), Some(&version(ours))).is_none());
        let html = |newest: Option<&ToolVersion>| {
            secret_calls(&definition("https://elsewhere.test/"), newest).map(to_html).unwrap_or_default()
        };
        let both = html(Some(&version(ours)));
        assert!(both.contains("Version 3 sends") && both.contains("GET https://example.org/"), "{both}");
        assert!(both.contains("GET https://elsewhere.test/") && both.contains("Bearer {secret:KEY}"), "{both}");
        assert!(!html(None).contains("Version") && html(None).contains("elsewhere"));
    }
}
