//! The secrets of a tool, for admins. Setting posts `do=set-secret`, `name`, `password` and `version` to /tools/{slug};
//! deleting posts `do=delete-secret` and `name`.

use super::secret_calls::secret_calls;
use crate::{
    FormState,
    entity::People,
    render::static_html,
    ui::{
        button::{Button, Look},
        field::{Field, Input},
        notice::{Notice, Refused, Tone},
        popover::Sheet,
        section::Section,
        table::{Column, Table},
        time::moment,
    },
};
use domain::tool::Implementation;
use leptos::{prelude::*, tachys::html::InertElement};
use wire::tool::{Tool, ToolSecret, ToolVersion};

/// The list and its forms.
pub(super) fn secrets_section(
    tool: &Tool,
    (secrets, missing): (&[ToolSecret], &[String]),
    newest: Option<&ToolVersion>,
    people: &People,
    form: &FormState,
) -> InertElement {
    let target = format!("/tools/{}", tool.slug);
    let rows = secrets
        .iter()
        .map(|secret| {
            let name = secret.name.clone();
            view! {
                <tr>
                    <td class="table-main"><code>{name.clone()}</code></td>
                    <td class="meta">{moment(secret.set_at)}</td>
                    <td class="meta">{people.word(&secret.set_by)}</td>
                    <td>
                        <form method="post" action=target.clone()>
                            <input type="hidden" name="name" value=name.clone()/>
                            <Button small=true look=Look::Danger name="do" value="delete-secret" about=name.clone()>"Delete"</Button>
                        </form>
                    </td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let list = (!rows.is_empty()).then(|| {
        view! {
            <Table caption="Secrets" columns=vec![Column::text("Name"), Column::text("Set"), Column::text("By"), Column::hidden("Delete")]>{rows}</Table>
        }
    });
    let lacks = (!missing.is_empty()).then(|| {
        let sentence =
            format!("The call needs secrets that are not set: {}. Runs fail until they are.", missing.join(", "));
        view! { <Notice tone=Tone::Wait><p>{sentence}</p></Notice> }
    });
    // The server refuses the secret if another version was published since.
    let shown = newest.map(|newest| newest.version).unwrap_or_default();
    let start = missing.first().cloned().unwrap_or_default();
    let set = makes_call(tool, newest).then(|| set_form(&target, (start, shown), form));
    static_html(view! {
        <Section name="secrets" id="secrets" title="Secrets">
            {about(tool, newest)}
            {lacks}
            {secret_calls(&tool.definition, newest)}
            {list}
            {set}
        </Section>
    })
}

/// Whether the working copy or the version published last makes an HTTP call, whose headers can have secrets.
fn makes_call(tool: &Tool, newest: Option<&ToolVersion>) -> bool {
    let published = newest.map(|newest| &newest.definition);
    [Some(&tool.definition), published].into_iter().flatten().any(|definition| definition.http().is_some())
}

/// What secrets are for, or why the tool uses none.
fn about(tool: &Tool, newest: Option<&ToolVersion>) -> AnyView {
    if makes_call(tool, newest) {
        let words =
            "Headers of the call refer to a secret by its name. Values are encrypted and are never shown again.";
        return view! { <p class="meta">{words}</p> }.into_any();
    }
    match &tool.definition.implementation {
        Implementation::Mcp { mcp } => {
            let href = format!("/mcp-servers/{}", mcp.server);
            view! { <p class="meta">"This tool uses no secrets of its own. Secret headers are set at its "<a href=href>"MCP server"</a>"."</p> }
                .into_any()
        }
        Implementation::Composite { .. } => {
            view! { <p class="meta">"This tool uses no secrets of its own. Those of its steps are set at their tools."</p> }
                .into_any()
        }
        Implementation::Worker {} | Implementation::Http { .. } => {
            view! { <p class="meta">"This tool uses no secrets here. Its worker has what it needs where it runs."</p> }
                .into_any()
        }
    }
}

/// The form that sets a secret. `start` is the name that it begins with, `shown` the version that the page shows.
fn set_form(target: &str, (start, shown): (String, u64), form: &FormState) -> InertElement {
    static_html(view! {
            <Sheet summary="Set a secret" open=form.is_refused()>
                <form class="form" method="post" action=format!("{target}#secrets")>
                    <input type="hidden" name="version" value=shown.to_string()/>
                    <Refused messages=form.general(&["name", "password"])/>
                    <div class="form-row">
                        <Input scope="secret" field=Field::new("name", "Name").required().hint("Letters, digits and underscores. An earlier value is replaced.") value=start form=form/>
                        <Input scope="secret" kind="password" autocomplete="new-password" field=Field::new("password", "Value").required() form=form/>
                    </div>
                    <div class="form-actions"><Button name="do" value="set-secret" look=Look::Primary>"Set secret"</Button></div>
                </form>
            </Sheet>
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;
    use serde_json::{Value, json};

    fn html(part: Value) -> String {
        let mut whole = json!({
            "id": "0199c0de-0000-7000-8000-000000000001", "slug": "echo", "name": "Echo", "description": "",
            "inputSchema": { "type": "object" }, "timeLimitSeconds": 60, "retries": 0, "repeatable": false,
            "requiresConfirmation": false, "privateFields": [], "audience": { "roles": [], "groups": [] },
            "state": "draft", "version": null, "revision": 1, "changed": false, "createdBy": "user:ada",
            "updatedBy": "user:ada", "createdAt": "2026-11-25T10:00:00Z", "updatedAt": "2026-11-25T10:00:00Z",
        });
        whole.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        let tool: Tool = serde_json::from_value(whole).unwrap();
        let form = FormState::default();
        to_html(secrets_section(&tool, (&[], &[]), None, &People::default(), &form))
    }

    #[test]
    fn only_a_tool_with_an_http_call_has_a_form_for_secrets() {
        let http = json!({ "kind": "http", "http": { "method": "GET", "url": "https://example.org/" } });
        let of_http = html(http);
        assert!(
            of_http.contains("value=\"set-secret\"") && of_http.contains("name=\"version\" value=\"0\""),
            "{of_http}"
        );
        let steps = json!({ "steps": [{ "name": "a", "tool": "t" }] });
        for (part, words) in [
            (json!({ "kind": "worker" }), "Its worker has what it needs"),
            (json!({ "kind": "composite", "composite": steps }), "set at their tools"),
            (json!({ "kind": "mcp", "mcp": { "server": "files", "tool": "read" } }), "href=\"/mcp-servers/files\""),
        ] {
            let found = html(part);
            assert!(found.contains(words) && !found.contains("set-secret"), "{found}");
        }
    }
}
