//! How far an import or an export has come: what a page shows of it, and the island that keeps that current.

use crate::ui::progress::Progress;
use leptos::prelude::*;

/// Interval between two requests, in milliseconds.
#[cfg(feature = "hydrate")]
const POLL_EVERY_MS: i32 = 500;

/// The state of the work. The server provides it for the island; the browser reads it from the page, and again from
/// each fragment, so that no parser is loaded and a page without scripts shows the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgressState {
    /// Address of the fragment that shows the same later.
    pub address: String,
    /// Whether the work continues.
    pub is_running: bool,
    /// What happens, in sentences.
    pub words: String,
    /// What the bar counts, for screen readers.
    pub label: &'static str,
    /// How much is done, and of how much where that is known. Absent without a bar.
    pub done: Option<(u64, Option<u64>)>,
    /// Further figures: names and values.
    pub facts: Vec<(String, String)>,
}

impl ProgressState {
    /// What was provided for this page.
    #[cfg(not(feature = "hydrate"))]
    fn of_page() -> Self {
        use_context().unwrap_or_default()
    }

    /// What the page was rendered with.
    #[cfg(feature = "hydrate")]
    fn of_page() -> Self {
        use crate::browser::dom;
        let shown = dom::root().and_then(|root| dom::find(&root, "[data-progress]"));
        shown.as_ref().map(Self::read).unwrap_or_default()
    }

    /// Reads what the server rendered.
    #[cfg(feature = "hydrate")]
    fn read(shown: &crate::browser::dom::HtmlElement) -> Self {
        use crate::browser::dom::{self, HtmlElement};
        let text = |of: &HtmlElement| of.text_content().unwrap_or_default();
        let figure = |bar: &HtmlElement, name| bar.get_attribute(name).and_then(|figure| figure.parse().ok());
        let names = dom::find_all(shown, "dt");
        Self {
            address: shown.get_attribute("data-progress").unwrap_or_default(),
            is_running: shown.has_attribute("data-running"),
            words: dom::find(shown, "[role=status]").as_ref().map(text).unwrap_or_default(),
            label: "",
            done: dom::find(shown, "progress").map(|bar| (figure(&bar, "value").unwrap_or(0), figure(&bar, "max"))),
            facts: names.iter().map(text).zip(dom::find_all(shown, "dd").iter().map(text)).collect(),
        }
    }
}

/// The state as HTML: the page of work that has ended, and the fragment that the browser reads.
#[cfg(feature = "ssr")]
pub fn html(shown: ProgressState) -> String {
    crate::render::to_html(progress_view(shown.clone(), move || shown.clone()))
}

/// Reads the progress until the work has ended, then reloads the page. The server provides [`ProgressState`].
#[island(lazy)]
pub fn LiveProgress() -> impl IntoView {
    let first = ProgressState::of_page();
    let shown = RwSignal::new(first.clone());
    #[cfg(feature = "hydrate")]
    poll_later(shown);
    progress_view(first, move || shown.get())
}

/// The words, the bar and the figures. `first` says which of them there are.
fn progress_view(
    first: ProgressState,
    now: impl Fn() -> ProgressState + Clone + Send + Sync + 'static,
) -> impl IntoView {
    let bar = first.done.map(|_| {
        let now = now.clone();
        view! { <Progress label=first.label of=move || now().done.unwrap_or_default()/> }
    });
    let facts = (!first.facts.is_empty()).then(|| {
        let now = now.clone();
        let facts = move || {
            let fact = |(name, value)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> };
            now().facts.into_iter().map(fact).collect_view()
        };
        view! { <dl class="facts">{facts}</dl> }
    });
    view! {
        <div class="import-progress" data-progress=first.address data-running=first.is_running.then_some("")>
            <p role="status">{move || now().words}</p>
            {bar}
            {facts}
        </div>
    }
}

#[cfg(feature = "hydrate")]
fn poll_later(shown: RwSignal<ProgressState>) {
    use crate::browser::{dom, task::spawn_local};
    dom::after(POLL_EVERY_MS, move || spawn_local(poll(shown)));
}

#[cfg(feature = "hydrate")]
async fn poll(shown: RwSignal<ProgressState>) {
    if let Some(new) = crate::fragment::read(&shown.with_untracked(|shown| shown.address.clone())).await {
        let new = ProgressState::read(&new);
        if !new.is_running {
            // Only the whole page shows the result.
            let _ = crate::browser::dom::window().location().reload();
            return;
        }
        shown.set(new);
    }
    poll_later(shown);
}
