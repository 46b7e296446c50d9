//! The number of open inbox items, in the rail and in the title of every page.

use leptos::prelude::*;

/// What the page was rendered with.
#[derive(Debug, Clone, Default)]
pub struct BadgeContext {
    /// What the badge says; empty if nothing is open.
    pub figure: String,
    /// The largest number that it says. A larger one ends in a plus.
    pub most: u32,
}

impl BadgeContext {
    /// What was provided for this page.
    #[cfg(not(feature = "hydrate"))]
    fn of_page() -> Self {
        use_context().unwrap_or_default()
    }

    /// What the page was rendered with.
    #[cfg(feature = "hydrate")]
    fn of_page() -> Self {
        use crate::browser::dom;
        let badge = dom::root().and_then(|root| dom::find(&root, ".rail-count"));
        let get = |name| badge.as_ref().and_then(|badge| badge.get_attribute(name)).unwrap_or_default();
        Self { figure: get("data-figure"), most: get("data-most").parse().unwrap_or_default() }
    }
}

/// The badge. The server provides [`BadgeContext`].
#[island]
pub fn InboxCount() -> impl IntoView {
    let BadgeContext { figure, most } = BadgeContext::of_page();
    let at_first = figure.clone();
    let figure = RwSignal::new(figure);
    #[cfg(feature = "hydrate")]
    live::start(figure, most);
    view! {
        <span
            class="rail-count" id="needs-me" data-figure=at_first data-most=most.to_string()
            hidden=move || figure.with(String::is_empty)
        >
            {move || figure.get()}<span class="hidden-text">" waiting"</span>
        </span>
    }
}

#[cfg(feature = "hydrate")]
mod live {
    use crate::browser::{dom, fetch, live, task::spawn_local};
    use leptos::prelude::*;
    use std::{cell::Cell, rc::Rc};

    /// Signals within this time cause one request, in milliseconds.
    const GATHER_MS: i32 = 600;

    /// Keeps the figure current for the lifetime of the page.
    pub fn start(figure: RwSignal<String>, most: u32) {
        let due = Rc::new(Cell::new(false));
        live::subscribe(move |signal| {
            if signal.moves_queues() && !due.replace(true) {
                let due = due.clone();
                dom::after(GATHER_MS, move || {
                    due.set(false);
                    spawn_local(read(figure, f64::from(most)));
                });
            }
        });
    }

    async fn read(figure: RwSignal<String>, most: f64) {
        // The server counts one more than the badge shows, so that the badge can end in a plus.
        let address = ["/api/approvals/count?atMost=", &dom::integer_text(most + 1.0)].concat();
        let Ok(count) = fetch::get_json(&address).await else { return };
        let Some(open) = dom::number(&count, "open") else { return };
        let now = match open {
            0.0 => String::new(),
            open if open > most => [&dom::integer_text(most), "+"].concat(),
            open => dom::integer_text(open),
        };
        show_in_title(&now);
        figure.set(now);
    }

    fn show_in_title(figure: &str) {
        let document = dom::document();
        let title = document.title();
        let bare = title
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(')'))
            .map_or(title.as_str(), |(_, bare)| bare.trim_start());
        let title = if figure.is_empty() { bare.to_owned() } else { ["(", figure, ") ", bare].concat() };
        document.set_title(&title);
    }
}
