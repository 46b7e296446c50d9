//! The steps of a composite tool, as a table.

use crate::{
    text::number::counted,
    ui::table::{Column, Table},
};
use domain::tool::{Composite, OnFailure, Step};
use leptos::prelude::*;

/// The table of the steps.
pub(super) fn steps(composite: &Composite) -> impl IntoView + use<> {
    let columns = vec![
        Column::text("Step"),
        Column::text("Tool"),
        Column::text("Input"),
        Column::text("After"),
        Column::text("If it fails"),
    ];
    let rows = composite.steps.iter().map(row).collect::<Vec<_>>();
    view! { <Table caption="Steps" columns=columns>{rows}</Table> }
}

fn row(step: &Step) -> impl IntoView + use<> {
    let version = step.version.map(|version| view! { <span class="meta">{format!(" version {version}")}</span> });
    let input = step.input.as_ref().map(ToString::to_string).unwrap_or_else(|| "Defaults".to_owned());
    view! {
        <tr>
            <td><code>{step.name.clone()}</code></td>
            <td><a href=format!("/tools/{}", step.tool)>{step.tool.clone()}</a>{version}</td>
            <td><code>{input}</code></td>
            <td>{step.after.join(", ")}</td>
            <td>{if_it_fails(step)}</td>
        </tr>
    }
}

/// What happens if a step fails, in words.
fn if_it_fails(step: &Step) -> String {
    let then = match step.on_failure {
        OnFailure::Stop => "the run fails",
        OnFailure::Continue => "the run goes on",
    };
    if step.retries == 0 {
        return format!("{}{}", then[..1].to_uppercase(), &then[1..]);
    }
    let retries = counted(u64::from(step.retries), "further attempt");
    let pause = counted(u64::from(step.backoff_seconds), "second");
    format!("Up to {retries}, the first after {pause}; then {then}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_step_says_what_happens_if_it_fails() {
        let words = |more: serde_json::Value| {
            let mut step = json!({ "name": "a", "tool": "t" });
            step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            if_it_fails(&serde_json::from_value(step).unwrap())
        };
        assert_eq!(words(json!({})), "The run fails");
        assert_eq!(words(json!({ "onFailure": "continue" })), "The run goes on");
        let again = words(json!({ "retries": 2, "backoffSeconds": 5 }));
        assert_eq!(again, "Up to 2 further attempts, the first after 5 seconds; then the run fails");
    }
}
