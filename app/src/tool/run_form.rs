//! The form that runs a tool. It posts the fields `input.KEY` to /tools/{slug}/run, `_id` and `_rev` of its draft, and
//! `_name` of an input to save, and what `run_target` adds. A script keeps what is typed as a draft.

use super::{
    NO_INPUT,
    run::Run,
    run_target::{ENTITY, TASK, Targets, target_sheet},
    start::{Continued, prefilled},
};
use crate::{
    OWNER_HEADER,
    render::static_html,
    schema_form::{Drawn, Place, draw_fields, sent_fields},
    shell::Shell,
    text::escape::query,
    ui::{
        button::{Button, Look},
        field::{Field, Input},
        notice::Refused,
        popover::Sheet,
        section::Section,
        time::moment,
    },
    working_on::owner_of,
};
use domain::{
    limit::NAME_CHARS_MAX,
    schema_form::{Fields, Form, begin, write},
};
use leptos::{prelude::*, tachys::html::InertElement};
use serde_json::{Value, value::RawValue};
use wire::tool::ToolVersion;

/// Name of the field with the name of an input to save.
const NAME: &str = "_name";

/// The form that runs the published version. Its button has this look.
pub(super) fn run_section(shell: &Shell, slug: &str, run: &Run, may_run: bool, look: Look) -> InertElement {
    let Some(version) = &run.published else {
        return static_html(view! {
            <Section name="run" id="run" title="Run">
                <p class="meta">"Only a published tool can be run."</p>
            </Section>
        });
    };
    if !may_run {
        return static_html(view! {
            <Section name="run" id="run" title="Run">
                <p class="meta">"This tool is for people of other roles or groups."</p>
            </Section>
        });
    }
    static_html(view! {
        <Section name="run" id="run" title="Run">
            {drafts(slug, run)}
            {saved(slug, run)}
            {run_form(shell, slug, run, version, look)}
        </Section>
    })
}

/// Links to the viewer's drafts that the form does not continue.
fn drafts(slug: &str, run: &Run) -> Option<impl IntoView + use<>> {
    let links: Vec<_> = run
        .start
        .drafts
        .iter()
        .map(|(id, saved_at)| {
            let href = format!("/tools/{slug}?draft={id}#run");
            view! { <li><a href=href>"Continue your draft of "{moment(*saved_at)}</a></li> }
        })
        .collect();
    (!links.is_empty()).then(|| view! { <ul class="meta">{links}</ul> })
}

/// Links to the viewer's saved inputs, each with a button that deletes it.
fn saved(slug: &str, run: &Run) -> Option<impl IntoView + use<>> {
    let rows: Vec<_> = run
        .start
        .saved
        .iter()
        .map(|name| {
            let href = format!("/tools/{slug}?saved={}#run", query(name));
            view! {
                <li>
                    <form class="form-actions" method="post" action=format!("/tools/{slug}/inputs")>
                        <a dir="auto" href=href>{name.clone()}</a>
                        <input type="hidden" name=NAME value=name.clone()/>
                        <Button small=true look=Look::Quiet name="do" value="delete" about=name.clone()>"Delete"</Button>
                    </form>
                </li>
            }
        })
        .collect();
    (!rows.is_empty()).then(|| view! { <Sheet summary="Saved inputs"><ul class="tool-versions">{rows}</ul></Sheet> })
}

/// The initial values, and sentences that name their source.
fn beginning(run: &Run, version: &ToolVersion) -> (Fields, Vec<AnyView>) {
    let (start, form) = (&run.start, Form::of_input(&version.definition.input_schema));
    let has_private = !version.definition.private_fields.is_empty();
    let private = has_private.then_some(" Private values are not kept.");
    if let Some(Continued { fields, saved_at, .. }) = &start.continued {
        let about = view! { <p class="meta">"Your draft of "{moment(*saved_at)}"."{private}</p> };
        return (write(form, &Value::Object(fields.clone())), vec![about.into_any()]);
    }
    if let Some(again) = &run.again {
        let href = format!("/sessions/{}", again.id);
        let Some(before) = again.input.as_deref().and_then(recorded) else {
            let about = view! { <p class="meta"><a href=href>"The earlier run"</a>" has no recorded input."</p> };
            return (begin(form), vec![about.into_any()]);
        };
        let about =
            view! { <p class="meta">"Filled in with the input of "<a href=href>"an earlier run"</a>"."{private}</p> };
        return (write(form, &before), vec![about.into_any()]);
    }
    if let Some((name, values)) = &start.chosen {
        let about = view! { <p class="meta">"Filled in with “"<span dir="auto">{name.clone()}</span>"”."{private}</p> };
        return (write(form, values), vec![about.into_any()]);
    }
    let (values, notes) = prefilled(&version.definition, &start.address);
    let notes = notes.into_iter().map(|note| view! { <p class="meta" dir="auto">{note}</p> }.into_any());
    (values, notes.collect())
}

fn run_form(shell: &Shell, slug: &str, run: &Run, version: &ToolVersion, look: Look) -> InertElement {
    let (texts, about) = beginning(run, version);
    let posts_to = format!("/tools/{slug}/run");
    let form = Form::of_input(&version.definition.input_schema);
    let texts = sent_fields(form, &run.form).unwrap_or(texts);
    let place = Place { scope: "run", label: "Input", target: &posts_to, nothing: NO_INPUT, keeps_rows: false };
    let Drawn { html: fields, names, takes_files, json_button, .. } =
        draw_fields(place, form, &texts, (&run.form, &run.focus));
    let parts: Vec<_> = run.targets.iter().flat_map(Targets::part_names).collect();
    let mut names: Vec<&str> = names.iter().chain(&parts).map(String::as_str).collect();
    names.extend([NAME, TASK, ENTITY]);
    let general = run.form.general(&names);
    let asks = version.definition.requires_confirmation.then(|| {
        view! { <p class="meta">"A person has to approve the call before it is made."</p> }
    });
    let (id, rev) = match &run.start.continued {
        Some(draft) => (draft.id.to_string(), draft.rev),
        None => (format!("{}-{slug}", shell.form_key), 0),
    };
    let target = format!("/tools/{slug}/draft");
    let address = draft_address(shell, &target);
    let discard = run.start.continued.is_some().then(|| {
        let target = target.clone();
        view! { <Button look=Look::Quiet name="_do" value="discard" attr:formaction=target attr:formnovalidate="">"Discard draft"</Button> }
    });
    let script = (!run.start.script.is_empty()).then(|| {
        view! { <script type="module" nonce=shell.nonce.clone() src=run.start.script.clone()></script> }
    });
    let named =
        Field::new(NAME, "Name of this input").hint("For your own next runs. An input with this name is replaced.");
    let keeps = run.form.error(NAME).is_some();
    let target_of_result = run.targets.as_ref().map(|targets| target_sheet(targets, &run.form));
    static_html(view! {
         <form class="form" method="post" action=format!("{posts_to}#run") enctype=takes_files.then_some("multipart/form-data") data-draft=address data-leaves="">
            // Enter in a field presses the first button, which must not be one that changes the form.
            <button class="hidden-text" type="submit" tabindex="-1" aria-hidden="true">"Run"</button>
            <input type="hidden" name="_id" value=id/>
            <input type="hidden" name="_rev" value=rev.to_string()/>
            <Refused messages=general/>
            {fields}
            {about}
            {asks}
            {target_of_result}
            <div class="form-actions">
                <Button look=look attr:data-key="run">"Run"</Button>
                <Button attr:formaction=target attr:formnovalidate="">"Save draft"</Button>
                {json_button}
                {discard}
                <span class="meta" role="status" data-state=""></span>
            </div>
            <Sheet summary="Save this input" open=keeps>
                <Input scope="run" field=named chars_max=NAME_CHARS_MAX form=&run.form/>
                <div class="form-actions">
                    <Button name="do" value="save" attr:formaction=format!("/tools/{slug}/inputs") attr:formnovalidate="">"Save input"</Button>
                </div>
            </Sheet>
            {script}
        </form>
    })
}

/// The address to which the script posts drafts. It names the owner of the page: another tab may have switched the
/// workspace.
fn draft_address(shell: &Shell, target: &str) -> String {
    let owner = shell.viewer.as_ref().and_then(|me| {
        let person = me.user.as_ref()?;
        Some(owner_of(&me.tenant.id.to_string(), &person.id.to_string()))
    });
    owner.map_or_else(|| target.to_owned(), |owner| format!("{target}?{OWNER_HEADER}={owner}"))
}

fn recorded(input: &RawValue) -> Option<Value> {
    serde_json::from_str(input.get()).ok().filter(|value| *value != Value::Null)
}
