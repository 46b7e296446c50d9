//! The page /bundles: uploads a bundle, shows what installing it would change, and installs it.

use crate::{
    FormState,
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{number::counted, shorten::one_line},
    ui::{
        button::{Button, ButtonLink, Look},
        field::{Field, FileInput, TextArea},
        icon::{Icon, icon},
        notice::{Notice, Refused, Tone},
        page_head::PageHead,
        table::{Column, Table},
    },
};
use domain::{
    bundle::{Plan, PlannedField, PlannedItem, PlannedKind, PlannedOperation},
    limit::{BUNDLE_BYTES_MAX, BUNDLE_ITEMS_MAX},
};
use leptos::prelude::*;
use serde_json::Value;

/// Longest value in a row, characters.
const VALUE_CHARS_MAX: usize = 160;

/// Data of the page /bundles.
#[derive(Debug, Clone, Default)]
pub struct BundleProps {
    /// The text of the bundle; empty at first.
    pub source: String,
    /// The changes that installing it would make, or has made.
    pub plan: Option<Plan>,
    /// Whether it has been installed.
    pub applied: bool,
    /// State of a refused form.
    pub form: FormState,
}

/// Renders the page.
pub fn bundle_page(shell: &Shell, props: BundleProps) -> String {
    render(shell, "Install a bundle", || {
        let BundleProps { source, plan, applied, form } = props;
        let crumbs = vec![("Settings".to_owned(), "/settings".to_owned())];
        let body = match plan {
            Some(plan) => static_html(plan_view(&source, &plan, applied)),
            None => static_html(upload_form(&source, &form)),
        };
        frame(shell, RailEntry::Settings, view! { <PageHead title="Install a bundle" crumbs=crumbs/> {body} })
    })
}

fn upload_form(source: &str, form: &FormState) -> impl IntoView + use<> {
    let limits = format!("YAML or JSON, at most {} KiB and {BUNDLE_ITEMS_MAX} items.", BUNDLE_BYTES_MAX / 1024);
    // Shows each error with its position in the file.
    let wrong: Vec<String> = form
        .errors
        .iter()
        .map(|e| e.field.as_ref().map_or_else(|| e.message.clone(), |f| format!("{f}: {}", e.message)))
        .collect();
    let none = FormState::default();
    view! {
        <p>"A bundle contains groups, criteria sets, entity types, forms, MCP servers, tools and tasks. Either all of it is installed or nothing."</p>
        <form class="form" method="post" enctype="multipart/form-data" action="/bundles" data-address="/bundles">
            <Refused messages=wrong/>
            <FileInput scope="bundle" field=Field::new("file", "Bundle").hint(&limits) accept=".yaml,.yml,.json,application/json,application/yaml" form=&none/>
            <TextArea scope="bundle" field=Field::new("source", "Or paste it") json=true rows=12 value=source form=&none/>
            <div class="form-actions">
                <Button name="step" value="preview" look=Look::Primary>"Preview"</Button>
                <span class="meta">"Nothing is created yet."</span>
            </div>
        </form>
    }
}

fn plan_view(source: &str, plan: &Plan, applied: bool) -> impl IntoView + use<> {
    let count = |operation| plan.count(operation) as u64;
    let (create, change, keep) =
        (count(PlannedOperation::Create), count(PlannedOperation::Change), count(PlannedOperation::Keep));
    let text = format!("\n{source}");
    let head = if applied {
        let words = format!("Installed: {create} created, {change} changed, {keep} unchanged.");
        view! { <Notice tone=Tone::Good><p>{words}</p></Notice> <p><ButtonLink href="/bundles">"Another bundle"</ButtonLink></p> }.into_any()
    } else if plan.is_done() {
        view! {
            <Notice tone=Tone::Good><p>{"Nothing to install: the workspace already matches the bundle."}</p></Notice>
            <p><ButtonLink href="/bundles">"Another bundle"</ButtonLink></p>
        }
        .into_any()
    } else {
        let words = format!("{create} to create, {change} to change, {keep} unchanged.");
        let label = format!("Install {}", counted(create + change, "item"));
        view! {
            <form class="form" method="post" enctype="multipart/form-data" action="/bundles" data-address="/bundles">
                <textarea name="source" hidden>{text}</textarea>
                <p>{words}</p>
                <div class="form-actions">
                    <Button name="step" value="install" look=Look::Primary>{label}</Button>
                    <Button name="step" value="change">"Edit the bundle"</Button>
                    <ButtonLink look=Look::Quiet href="/bundles">"Another bundle"</ButtonLink>
                </div>
            </form>
        }
        .into_any()
    };
    let items = plan.items.iter().map(|item| static_html(item_view(item))).collect::<Vec<_>>();
    view! { {head} {items} }
}

const fn operation_label(operation: PlannedOperation, thing: bool) -> (&'static str, Icon) {
    match operation {
        PlannedOperation::Create => (if thing { "new" } else { "added" }, Icon::Completed),
        PlannedOperation::Change => ("changes", Icon::Running),
        PlannedOperation::Keep => ("unchanged", Icon::Idle),
        PlannedOperation::Remove => ("removed", Icon::Failed),
    }
}

const fn kind_word(kind: PlannedKind) -> &'static str {
    match kind {
        PlannedKind::Group => "Group",
        PlannedKind::CriteriaSet => "Criteria set",
        PlannedKind::EntityType => "Entity type",
        PlannedKind::View => "Form",
        PlannedKind::McpServer => "MCP server",
        PlannedKind::Tool => "Tool",
        PlannedKind::Action => "Task",
    }
}

fn item_view(item: &PlannedItem) -> impl IntoView + use<> {
    let (word, picture) = operation_label(item.operation, true);
    let rows = item.fields.iter().map(field_row).collect::<Vec<_>>();
    let caption = format!("Fields of {}", item.slug);
    view! {
        <details class="sheet bundle-item" data-operation=item.operation.as_str() open=item.operation != PlannedOperation::Keep>
            <summary>
                {icon(picture)}" "{kind_word(item.kind)}" "<code>{item.slug.clone()}</code>" "<span class="meta">{word}</span>
            </summary>
            <Table caption=caption columns=vec![Column::text("Field"), Column::text("Result"), Column::text("Now"), Column::text("After installing")] focusable=true>{rows}</Table>
        </details>
    }
}

fn field_row(field: &PlannedField) -> impl IntoView + use<> {
    let shortened = |value: &Value| one_line(&domain::entity::display_text(value), VALUE_CHARS_MAX);
    view! {
        <tr data-operation=field.operation.as_str()>
            <td class="table-main"><code>{field.field.clone()}</code></td>
            <td class="meta">{operation_label(field.operation, false).0}</td>
            <td class="meta" dir="auto">{shortened(&field.before)}</td>
            <td class="meta" dir="auto">{shortened(&field.after)}</td>
        </tr>
    }
}
