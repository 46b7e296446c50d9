//! The operations, then the schemas that they refer to.

use super::view_model::{Operation, Parameter, operations, schemas};
use crate::{
    document::render,
    render::{static_html, to_html},
    shell::{RailEntry, Shell, centered_page, frame},
    text::html::Html,
    ui::{
        button::ButtonLink,
        page_head::PageHead,
        table::{Column, Table},
    },
};
use leptos::prelude::*;
use serde_json::Value;

/// Renders the page of an OpenAPI document.
pub fn page(shell: &Shell, document: &Value) -> String {
    let signed_in = shell.viewer.is_some();
    let page = || {
        let about = document.pointer("/info/description").and_then(Value::as_str).unwrap_or_default();
        let groups = operations(document)
            .into_iter()
            .map(|(tag, operations)| {
                let rows: String = operations.iter().map(|o| to_html(operation(o))).collect();
                let id = format!("tag-{tag}");
                let labelled_by = id.clone();
                static_html(view! {
                    <section class="section" aria-labelledby=labelled_by>
                        <h2 id=id>{tag}</h2>
                        <div inner_html=rows></div>
                    </section>
                })
            })
            .collect::<Vec<_>>();
        let named = schemas(document)
            .into_iter()
            .map(|schema| {
                let id = format!("schema-{}", schema.name);
                let members = parameters(format!("Members of {}", schema.name), &schema.members);
                static_html(view! {
                    <details class="api-op" id=id>
                        <summary><span class="api-path">{schema.name}</span><span class="api-about">{first_line(&schema.description)}</span></summary>
                        <div class="api-detail">{members}</div>
                    </details>
                })
            })
            .collect::<Vec<_>>();
        let json = view! { <ButtonLink href="/api/openapi.json">"OpenAPI as JSON"</ButtonLink> };
        view! {
            <PageHead title="API">{json}</PageHead>
            {markdown(about)}
            {groups}
            <section class="section" aria-labelledby="schemas">
                <h2 id="schemas">"Schemas"</h2>
                <div>{named}</div>
            </section>
        }
    };
    if signed_in {
        render(shell, "API", || frame(shell, RailEntry::Elsewhere, page()))
    } else {
        render(shell, "API", || centered_page(true, page()))
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

fn markdown(text: &str) -> Option<impl IntoView + use<>> {
    (!text.is_empty()).then(|| {
        let mut html = Html::default();
        html.markdown(text);
        view! { <div class="prose" inner_html=html.finish()></div> }
    })
}

/// The name of a schema, as a link if the page describes it.
fn kind(name: &str) -> impl IntoView + use<> {
    let name = name.to_owned();
    if name.starts_with(|c: char| c.is_ascii_uppercase()) && !name.contains(' ') {
        view! { <a href=format!("#schema-{name}")><code>{name.clone()}</code></a> }.into_any()
    } else {
        view! { <code>{name}</code> }.into_any()
    }
}

fn operation(operation: &Operation) -> impl IntoView + use<> {
    let responses = operation
        .responses
        .iter()
        .map(|(status, about, schema)| {
            view! {
                <tr>
                    <td><code>{status.clone()}</code></td>
                    <td class="table-main">{first_line(about)}</td>
                    <td>{schema.as_deref().map(kind)}</td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let columns = vec![Column::text("Status"), Column::text("Meaning"), Column::text("Body")];
    view! {
        <details class="api-op">
            <summary>
                <span class="api-method">{operation.method.clone()}</span>
                <span class="api-path">{operation.path.clone()}</span>
                <span class="api-about">{operation.summary.clone()}</span>
            </summary>
            <div class="api-detail">
                {markdown(&operation.description)}
                {(!operation.parameters.is_empty()).then(|| view! { <div><h3>"Parameters"</h3>{parameters(format!("Parameters of {} {}", operation.method.to_uppercase(), operation.path), &operation.parameters)}</div> })}
                {operation.body.as_deref().map(|body| view! { <div><h3>"Body"</h3><p>{kind(body)}</p></div> })}
                <div>
                    <h3>"Responses"</h3>
                    <Table caption=format!("Responses of {} {}", operation.method.to_uppercase(), operation.path) columns=columns>{responses}</Table>
                </div>
            </div>
        </details>
    }
}

fn parameters(caption: String, parameters: &[Parameter]) -> impl IntoView + use<> {
    let rows = parameters
        .iter()
        .map(|p| {
            let how = [p.location.as_str(), if p.is_required { "required" } else { "" }];
            let how = how.into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(", ");
            view! {
                <tr>
                    <td><code>{p.name.clone()}</code></td>
                    <td>{kind(&p.kind)}</td>
                    <td class="meta">{how}</td>
                    <td class="table-main">{first_line(&p.description)}</td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let columns = vec![Column::text("Name"), Column::text("Type"), Column::text("Use"), Column::text("Meaning")];
    view! { <Table caption=caption columns=columns>{rows}</Table> }
}
