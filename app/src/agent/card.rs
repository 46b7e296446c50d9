//! The character card of an agent: what it is, the form that gives another one, and what that one would change.

use super::props::Props;
use crate::{
    memory::{View, changed_lines, document_href},
    render::static_html,
    shell::Shell,
    text::{number::counted, shorten::one_line},
    ui::{
        button::{Button, ButtonLink, CopyLine, Look},
        field::{Field, FileInput},
        notice::{Notice, Refused, Tone},
        popover::Sheet,
        time::moment,
    },
};
use domain::{limit::MEMORY_CARD_BYTES_MAX, role::Permission};
use leptos::prelude::*;

/// What the card in use is, and how to give another one.
pub(super) fn card(shell: &Shell, props: &Props) -> impl IntoView + use<> {
    let facts = match &props.card {
        None => view! { <p class="meta">"This agent has no character card."</p> }.into_any(),
        Some(card) => {
            let original = format!("/api/agents/{}/card/original", props.agent);
            view! {
                <dl class="facts">
                    <div><dt>"Name"</dt><dd dir="auto">{one_line(&card.name, 200)}</dd></div>
                    <div><dt>"Given"</dt><dd>{moment(card.created_at)}" by "{props.people.word(&card.author)}</dd></div>
                    <div><dt>"File"</dt><dd><a href=original download="">{card.media_type.as_str()}</a></dd></div>
                    <div><dt>"SHA-256"</dt><dd class="memory-digest">{card.sha256.clone()}</dd></div>
                </dl>
                <p><a href=document_href(&props.agent, "self/description.md", View::Text)>"Its fields are documents below self/"</a></p>
            }
            .into_any()
        }
    };
    let form = shell.may(Permission::ManageActions).then(|| static_html(upload_form(props)));
    view! { {facts}{form} }
}

fn upload_form(props: &Props) -> impl IntoView + use<> {
    let form = props.form.of("card");
    let page = format!("/agents/{}", props.agent);
    let action = format!("{page}/card");
    let hint = format!("Version 2 or 3, as PNG or JSON, at most {} MiB.", MEMORY_CARD_BYTES_MAX / 1024 / 1024);
    let command = format!("shiftbook agent card card.png --agent {}", props.agent);
    let wrong = form.general(&["card"]);
    view! {
        <Sheet summary="Give it a card" open=form.is_refused()>
            <form class="form" method="post" enctype="multipart/form-data" action=action data-address=page>
                <Refused messages=wrong/>
                <FileInput scope="card" field=Field::new("card", "Character card").hint(&hint) accept=".png,.json,image/png,application/json" form=&form/>
                <div class="form-actions">
                    <Button look=Look::Primary name="step" value="preview">"Preview"</Button>
                    <span class="meta">"Nothing is changed yet."</span>
                </div>
            </form>
            <p class="meta">"Or on the command line:"</p>
            <CopyLine text=command what="the command"/>
        </Sheet>
    }
}

/// What the uploaded card would change, with the button that gives it to the agent.
pub(super) fn preview(props: &Props) -> Option<impl IntoView + use<>> {
    let preview = props.preview.as_ref()?;
    let back = format!("/agents/{}", props.agent);
    let name = one_line(&preview.name, 200);
    if preview.is_same {
        let words = format!("The agent has this card of {name} already. Nothing would change.");
        return Some(view! { <Notice tone=Tone::Good><p dir="auto">{words}</p></Notice> }.into_any());
    }
    let changes = preview.changes.iter().map(|(path, what, lines)| {
        let lines = static_html(changed_lines(lines));
        view! {
            <section class="card-change">
                <h3><span dir="auto">{one_line(path, 120)}</span>" "<span class="meta">{*what}</span></h3>
                {lines}
            </section>
        }
    });
    let changes: Vec<_> = changes.collect();
    let count = counted(preview.changes.len() as u64, "document");
    let words = if preview.changes.is_empty() {
        format!("The card of {name} changes no document. Its file becomes the card in use.")
    } else {
        format!("The card of {name} changes {count}. Each keeps its history.")
    };
    let moved = preview.has_moved.then(|| {
        let words = "Documents below self/ have changed since you saw the preview. Nothing was written. \
            This is what the card would change now.";
        view! { <Notice tone=Tone::Wait><p>{words}</p></Notice> }
    });
    let page = view! {
        <section class="section" aria-labelledby="card-preview-title">
            <h2 id="card-preview-title">"Preview of the card"</h2>
            {moved}
            <p dir="auto">{words}</p>
            {changes}
            <form class="form" method="post" enctype="multipart/form-data" action=format!("/agents/{}/card", props.agent) data-address=back>
                <input type="hidden" name="digest" value=preview.digest.clone()/>
                <input type="hidden" name="base" value=preview.base.clone()/>
                <div class="form-actions">
                    <Button look=Look::Primary name="step" value="apply">"Use this card"</Button>
                    <ButtonLink href=back.clone()>"Cancel"</ButtonLink>
                </div>
            </form>
        </section>
    };
    Some(page.into_any())
}
