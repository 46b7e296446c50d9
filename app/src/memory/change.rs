//! The forms that change a document. All are plain forms that post to /agents/{slug}/memory with a field `step`.

use super::{
    lines::changed_lines,
    props::{Props, Selected},
};
use crate::{
    FormState,
    render::static_html,
    ui::{
        button::{Button, Look},
        field::{Field, Input, TextArea},
        notice::{Notice, Refused, Tone},
        popover::Sheet,
    },
};
use leptos::prelude::*;

/// The form that changes the text, with its preview and its conflict.
pub fn edit_form(props: &Props, selected: &Selected) -> impl IntoView + use<> {
    let form = props.form.of("edit");
    let base = selected.conflict.as_ref().and_then(|(sides, _)| sides.current.as_ref()).map(|side| side.version);
    let base = base.or_else(|| form.value("baseVersion").and_then(|text| text.parse().ok()));
    let base: u64 = base.unwrap_or(selected.document.version);
    let action = format!("/agents/{}/memory", props.agent);
    let conflict = selected.conflict.as_ref().map(|(sides, lines)| {
        let who = sides.current.as_ref().map(|side| props.people.word(&side.author)).unwrap_or_default();
        let newest = sides.current.as_ref().map(|side| side.version).unwrap_or_default();
        let lines = static_html(changed_lines(lines));
        let (words, title) = conflict_words(&who, newest, form.value("toVersion"));
        let notice = view! { <Notice tone=Tone::Bad><p>{words}</p></Notice> };
        view! {
            {static_html(notice)}
            <section class="section" aria-labelledby="conflict-title">
                <h2 id="conflict-title">{title}</h2>
                {lines}
            </section>
        }
    });
    let preview = selected.preview.as_ref().map(|preview| {
        let lines = static_html(changed_lines(&preview.lines));
        view! {
            <section class="section" aria-labelledby="preview-title">
                <h2 id="preview-title">"Preview of the change"</h2>
                {lines}
            </section>
        }
    });
    let typed = selected.preview.as_ref().map_or_else(|| selected.text.clone(), |preview| preview.text.clone());
    view! {
        {conflict}
        {preview}
        <form class="form memory-form" method="post" action=action>
            {selected.conflict.is_none().then(|| view! { <Refused messages=form.general(&["text", "reason"])/> })}
            <input type="hidden" name="path" value=selected.document.path.clone()/>
            <input type="hidden" name="baseVersion" value=base.to_string()/>
            <TextArea scope="edit" field=Field::new("text", "Text").hint("Markdown. Secrets in it are replaced when it is saved.") value=typed rows=18 form=&form/>
            <Input scope="edit" field=Field::new("reason", "Reason").hint("Shown in the history.") form=&form/>
            <div class="form-actions">
                <Button look=Look::Primary name="step" value="save">"Save as a new version"</Button>
                <Button name="step" value="preview">"Preview"</Button>
            </div>
        </form>
    }
}

/// What a conflict says, and the title of the comparison. `earlier` is the version that was to be reverted to, if the
/// text is not one that was typed.
fn conflict_words(who: &str, newest: u64, earlier: Option<&str>) -> (String, String) {
    match earlier {
        Some(earlier) => {
            let words = format!(
                "{who} wrote version {newest} after you opened the history. Nothing was reverted; the form has the text \
                 of version {earlier}. Below is what that text would change in the newest version. Saving it replaces \
                 the newest version."
            );
            (words, format!("The newest version beside version {earlier}"))
        }
        None => {
            let words = format!(
                "{who} wrote version {newest} while you were typing. Nothing was saved; the form keeps your text. Below \
                 is what your text would change in the newest version. Saving again replaces it."
            );
            (words, "The newest version beside your text".to_owned())
        }
    }
}

/// The forms that rename, delete and erase.
pub fn change_forms(props: &Props, selected: &Selected, erases: bool) -> impl IntoView + use<> {
    let form = props.form.of("change");
    let action = format!("/agents/{}/memory", props.agent);
    let hidden = || {
        let (path, version) = (selected.document.path.clone(), selected.document.version.to_string());
        view! {
            <input type="hidden" name="path" value=path/>
            <input type="hidden" name="baseVersion" value=version/>
        }
    };
    let live = (!selected.document.is_deleted).then(|| {
        view! {
            <form class="form" method="post" action=action.clone()>
                {hidden()}
                <Input scope="change" field=Field::new("newPath", "New path").required() value=selected.document.path.clone() form=&form/>
                <div class="form-actions"><Button name="step" value="rename">"Rename"</Button></div>
            </form>
            <form class="form" method="post" action=action.clone()>
                {hidden()}
                <p class="meta">"Its history is kept: you can revert to any version there."</p>
                <div class="form-actions"><Button look=Look::Danger name="step" value="delete">"Delete"</Button></div>
            </form>
        }
    });
    let erase = erases.then(|| {
        view! {
            <form class="form" method="post" action=action.clone()>
                {hidden()}
                <Input scope="change" field=Field::new("confirm", "Type “erase” to erase all versions").hint("The texts are removed from the database. This cannot be undone.") form=&form/>
                <div class="form-actions"><Button look=Look::Danger name="step" value="erase">"Erase all versions"</Button></div>
            </form>
        }
    });
    view! {
        <Sheet summary="Rename, delete or erase" open=form.is_refused()>
            <div class="memory-changes">
                <Refused messages=form.general(&["newPath", "confirm"])/>
                {live}
                {erase}
            </div>
        </Sheet>
    }
}

/// The form that makes a document.
pub fn new_document(props: &Props) -> impl IntoView + use<> {
    let form: FormState = props.form.of("new");
    let action = format!("/agents/{}/memory", props.agent);
    let hint = "sessions/2026-11-25-night.md, people/discord-1234.md, topics/garden.md or self/rules.md";
    view! {
        <Sheet summary="New document" open=form.is_refused()>
            <form class="form memory-form" method="post" action=action>
                <Refused messages=form.general(&["path", "text", "reason"])/>
                <input type="hidden" name="baseVersion" value="0"/>
                <Input scope="new" field=Field::new("path", "Path").hint(hint).required() form=&form/>
                <TextArea scope="new" field=Field::new("text", "Text") rows=8 form=&form/>
                <Input scope="new" field=Field::new("reason", "Reason") form=&form/>
                <div class="form-actions"><Button look=Look::Primary name="step" value="create">"Create"</Button></div>
            </form>
        </Sheet>
    }
}
