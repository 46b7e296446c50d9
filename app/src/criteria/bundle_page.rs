//! The page /bundles: uploads a bundle, shows what installing it would change, and installs it.

use crate::{
    FormState,
    document::render,
    render::static_html,
    shell::{Place, Shell, frame},
    text::{number::counted, shorten::one_line},
    ui::{
        icon::{Icon, icon},
        notice,
        page_head::page_head,
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
        frame(shell, Place::Settings, view! { {page_head("Install a bundle".to_owned(), crumbs, ())} {body} })
    })
}

fn upload_form(source: &str, form: &FormState) -> impl IntoView + use<> {
    let limits = format!("YAML or JSON, at most {} KiB and {BUNDLE_ITEMS_MAX} items.", BUNDLE_BYTES_MAX / 1024);
    let text = format!("\n{source}");
    // Shows each error with its position in the file.
    let wrong: Vec<String> = form
        .errors
        .iter()
        .map(|e| e.field.as_ref().map_or_else(|| e.message.clone(), |f| format!("{f}: {}", e.message)))
        .collect();
    view! {
        <p>"A bundle contains criteria sets, groups, entity types and tasks. Either all of it is installed or nothing."</p>
        <form class="form" method="post" enctype="multipart/form-data" action="/bundles">
            {notice::refused(wrong)}
            <div class="field">
                <label class="field-label" for="bundle-file">"Bundle"</label>
                <input class="input" id="bundle-file" name="file" type="file" accept=".yaml,.yml,.json,application/json,application/yaml" aria-describedby="bundle-file-hint"/>
                <p class="field-hint" id="bundle-file-hint">{limits}</p>
            </div>
            <div class="field">
                <label class="field-label" for="bundle-source">"Or paste it"</label>
                <textarea class="input" id="bundle-source" name="source" rows="12" data-kind="json" spellcheck="false">{text}</textarea>
            </div>
            <div class="form-actions">
                <button class="button" type="submit" name="step" value="preview" data-look="primary">"Preview"</button>
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
        view! { {notice::good(words)} <p><a class="button" href="/bundles">"Another bundle"</a></p> }.into_any()
    } else if plan.is_done() {
        view! {
            {notice::good("Nothing to install: the workspace already matches the bundle.")}
            <p><a class="button" href="/bundles">"Another bundle"</a></p>
        }
        .into_any()
    } else {
        let words = format!("{create} to create, {change} to change, {keep} unchanged.");
        let label = format!("Install {}", counted(create + change, "item"));
        view! {
            <form class="form" method="post" enctype="multipart/form-data" action="/bundles">
                <textarea name="source" hidden>{text}</textarea>
                <p>{words}</p>
                <div class="form-actions">
                    <button class="button" type="submit" name="step" value="install" data-look="primary">{label}</button>
                    <button class="button" type="submit" name="step" value="change">"Edit the bundle"</button>
                    <a class="button" data-look="quiet" href="/bundles">"Another bundle"</a>
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
        PlannedKind::Action => "Task",
    }
}

fn item_view(item: &PlannedItem) -> impl IntoView + use<> {
    let (word, picture) = operation_label(item.operation, true);
    let rows = item.fields.iter().map(field_row).collect::<Vec<_>>();
    let caption = format!("Fields of {}", item.slug);
    let label = caption.clone();
    view! {
        <details class="sheet bundle-item" data-operation=item.operation.as_str() open=item.operation != PlannedOperation::Keep>
            <summary>
                {icon(picture)}" "{kind_word(item.kind)}" "<code>{item.slug.clone()}</code>" "<span class="meta">{word}</span>
            </summary>
            <div class="table-frame" tabindex="0" role="group" aria-label=label>
                <table class="table">
                    <caption class="hidden-text">{caption}</caption>
                    <thead>
                        <tr>
                            <th scope="col">"Field"</th>
                            <th scope="col">"Result"</th>
                            <th scope="col">"Now"</th>
                            <th scope="col">"After installing"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </details>
    }
}

fn field_row(field: &PlannedField) -> impl IntoView + use<> {
    let shown = |value: &Value| one_line(&domain::entity::shown(value), VALUE_CHARS_MAX);
    view! {
        <tr data-operation=field.operation.as_str()>
            <td class="table-main"><code>{field.field.clone()}</code></td>
            <td class="meta">{operation_label(field.operation, false).0}</td>
            <td class="meta" dir="auto">{shown(&field.before)}</td>
            <td class="meta" dir="auto">{shown(&field.after)}</td>
        </tr>
    }
}
