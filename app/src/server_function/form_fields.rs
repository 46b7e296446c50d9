//! The fields of a form that say which pages come after its server function.

use leptos::prelude::*;

/// Hidden fields for the page to continue with and the page to show again after a refusal. `{id}` in `next` is replaced
/// by the `id` of the function's result.
pub fn page_fields(next: impl Into<String>, page: impl Into<String>) -> impl IntoView {
    view! {
        <input type="hidden" name="next" value=next.into()/>
        <input type="hidden" name="page" value=page.into()/>
    }
}
