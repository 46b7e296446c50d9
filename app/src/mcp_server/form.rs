//! The fields that describe an MCP server: `name`, `slug` (new servers only), `kind`, `url`, `headers`, `program`, and
//! for admins `secret_name` and `password`.

use crate::{
    FormState,
    render::static_html,
    ui::field::{Field, Input, Select, TextArea},
};
use domain::mcp::Transport;
use leptos::{prelude::*, tachys::html::InertElement};
use wire::mcp_server::McpServer;

/// Names of the fields, for the errors beside them.
pub(super) const FIELDS: [&str; 8] = ["name", "slug", "kind", "url", "headers", "program", "secret_name", "password"];

/// The fields, with what is stored of a server that exists.
pub(super) fn fields(
    server: Option<&McpServer>,
    programs: &[String],
    form: &FormState,
    may_set_secrets: bool,
) -> InertElement {
    let (kind, url, headers, program) = match server.map(|server| &server.transport) {
        None => ("http", String::new(), String::new(), String::new()),
        Some(Transport::Http { url, headers }) => {
            let lines = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>();
            ("http", url.clone(), lines.join("\n"), String::new())
        }
        Some(Transport::Stdio { program }) => ("stdio", String::new(), String::new(), program.clone()),
    };
    let name = server.map(|server| server.name.clone()).unwrap_or_default();
    let slug = server.is_none().then(|| {
        static_html(view! { <Input scope="mcp" field=Field::new("slug", "Slug").hint("Its address, and its name in tools. Created from the name if left empty.") form=form/> })
    });
    let kinds = vec![
        ("http".to_owned(), "HTTP address".to_owned()),
        ("stdio".to_owned(), "Program on the server's machine".to_owned()),
    ];
    let program_hint = if programs.is_empty() {
        "For a program: the name under which the operator allows it. None is allowed for this workspace."
    } else {
        "For a program: the name under which the operator allows it."
    };
    let (header_hint, value_hint) = if server.is_none() {
        ("Such as authorization. Leave both empty for none.", "Encrypted, and never shown again.")
    } else {
        (
            "Such as authorization. Other secret headers are kept.",
            "Encrypted, and never shown again. If it is empty, the header is deleted.",
        )
    };
    let secret = may_set_secrets.then(|| {
        static_html(view! {
            <div class="form-row">
                <Input scope="mcp" field=Field::new("secret_name", "Secret header").hint(header_hint) form=form/>
                <Input scope="mcp" kind="password" autocomplete="new-password" field=Field::new("password", "Its value").hint(value_hint) form=form/>
            </div>
        })
    });
    static_html(view! {
        <Input scope="mcp" field=Field::new("name", "Name").required() value=name form=form/>
        {slug}
        <Select scope="mcp" field=Field::new("kind", "Reached by") options=kinds value=kind form=form/>
        <Input scope="mcp" field=Field::new("url", "Address").hint("For HTTP: https:// and the path of the endpoint.") value=url form=form/>
        <TextArea scope="mcp" field=Field::new("headers", "Headers").hint("For HTTP: one per line, as name: value. No secrets.") value=headers rows=2 form=form/>
        <Input scope="mcp" field=Field::new("program", "Program").hint(program_hint) value=program suggestions=programs.to_vec() form=form/>
        {secret}
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;
    use domain::Timestamp;
    use serde_json::json;

    #[test]
    fn only_a_server_that_exists_has_secret_headers_to_keep_or_delete() {
        let server = json!({
            "id": "01890000-0000-7000-8000-000000000001", "slug": "shop", "name": "Shop", "revision": 1,
            "transport": { "kind": "stdio", "program": "shop" }, "secretHeaders": [], "createdBy": "system",
            "updatedBy": "system", "createdAt": Timestamp::UNIX_EPOCH, "updatedAt": Timestamp::UNIX_EPOCH,
        });
        let server: McpServer = serde_json::from_value(server).unwrap();
        for (server, is_kept) in [(None, false), (Some(&server), true)] {
            let html = to_html(fields(server, &[], &FormState::default(), true));
            assert!(html.contains("never shown again"), "{html}");
            assert_eq!((html.contains("are kept"), html.contains("is deleted")), (is_kept, is_kept), "{html}");
        }
    }
}
