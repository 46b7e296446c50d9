//! The island of the page of a canvas.

use crate::fragment::{FragmentOfPage, Slot};
use leptos::prelude::*;

/// The editor. Until it has read the canvas, and without scripts, the page shows the blocks with their forms, which
/// are its children. They name the canvas in `data-canvas`; without it there is no editor.
#[island(lazy)]
pub fn CanvasEditor(children: Children) -> impl IntoView {
    let at = Slot::default();
    #[cfg(feature = "hydrate")]
    let (is_open, shown) = {
        use super::{state::Editor, view::EditorView};
        use crate::browser::view::{browser_view, reactive};
        let id = canvas_id();
        let editor = (!id.is_empty()).then(|| Editor::new(id));
        Effect::new(move |_| editor.into_iter().for_each(super::live::start));
        let is_open = move || editor.is_some_and(|editor| editor.is_open.get());
        let open = move || editor.filter(|_| is_open());
        (is_open, reactive(move || open().map(|editor| browser_view(move || view! { <EditorView editor/> }))))
    };
    #[cfg(not(feature = "hydrate"))]
    let (is_open, shown) = (|| false, || None::<AnyView>);
    view! {
        <div class="canvas" data-editing=move || is_open().then_some("")>
            <FragmentOfPage at>{children()}</FragmentOfPage>
            {shown}
        </div>
    }
}

/// The canvas that the page names.
#[cfg(feature = "hydrate")]
fn canvas_id() -> String {
    use crate::browser::dom;
    let page = dom::root().and_then(|root| dom::find(&root, "[data-canvas]"));
    page.and_then(|page| page.get_attribute("data-canvas")).unwrap_or_default()
}
