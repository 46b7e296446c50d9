//! Keeps the preview beside the editor current while someone types.

#[cfg(feature = "hydrate")]
use crate::browser::{dom, fetch, patch, task::spawn_local};
use crate::fragment::{FragmentOfPage, Slot};
use leptos::prelude::*;
#[cfg(feature = "hydrate")]
use std::{cell::Cell, rc::Rc};

/// Time without a key or a click after which the preview is asked for, milliseconds.
#[cfg(feature = "hydrate")]
const QUIET_MS: i32 = 400;

/// The preview, which the server renders each time. It posts the editor's form with `do=preview` and saves nothing; the
/// answer to the newest change is shown. The focus stays in the editor, and the preview keeps its place. Without
/// scripts the button "Update preview" does the same.
#[island(lazy)]
pub fn LivePreview(children: Children) -> impl IntoView {
    let at = Slot::default();
    #[cfg(feature = "hydrate")]
    Effect::new(move |_| follow(at));
    view! { <FragmentOfPage at>{children()}</FragmentOfPage> }
}

#[cfg(feature = "hydrate")]
fn follow(at: Slot) {
    let editor = at.root().and_then(|root| root.closest(".view-editor").ok().flatten());
    let Some(form) = editor.and_then(|editor| dom::find_form(&editor)) else { return };
    let newest = Rc::new(Cell::new(0_u32));
    for event in ["input", "change"] {
        let (form, newest) = (form.clone(), newest.clone());
        dom::when(&form.clone(), event, move || {
            let mine = newest.get().wrapping_add(1);
            newest.set(mine);
            let (form, newest) = (form.clone(), newest.clone());
            dom::after(QUIET_MS, move || {
                if newest.get() == mine {
                    spawn_local(refresh(at, form, newest, mine));
                }
            });
        });
    }
    // People type before this part of the script has come, and a browser restores what was typed. Of an unchanged form
    // the answer is the preview that is shown.
    spawn_local(refresh(at, form, newest, 0));
}

/// Shows the preview of the form as it is now, unless something was changed meanwhile. A refusal and a lost connection
/// leave the preview as it is.
#[cfg(feature = "hydrate")]
async fn refresh(at: Slot, form: dom::HtmlFormElement, newest: Rc<Cell<u32>>, mine: u32) {
    let Some(fields) = fetch::fields(&form, None) else { return };
    let address = form.get_attribute("action").unwrap_or_default();
    let body = fields + "&do=preview";
    let kind = "application/x-www-form-urlencoded";
    let Some(request) = fetch::build("POST", &address, Some(&body), kind, "text/html") else { return };
    let Ok(answer) = fetch::send(&request).await else { return };
    if !answer.ok() || answer.redirected() {
        return;
    }
    let Ok(html) = fetch::text(&answer).await else { return };
    let new = patch::parse(&html).and_then(|parsed| patch::children(&parsed).into_iter().next());
    if let (Some(new), Some(shown), true) = (new, at.find(".view-preview"), newest.get() == mine) {
        patch::update(&shown, &new);
    }
}
