//! The strip of five buckets: plain links, whose counts the island keeps current.

use super::bucket::BUCKETS;
use leptos::prelude::*;

/// What the page says of the strip, as attributes: a parser of arguments would be more than the rest of this island.
#[derive(Debug, Clone, Default)]
pub struct StripGiven {
    /// The selected bucket; empty for none.
    pub picked: String,
    /// Whether everyone's work is shown, not only the reader's.
    pub everyone: bool,
    /// The counts of the page, in the order of the buckets, separated by spaces.
    pub counts: String,
    /// IANA name of the time zone that they were counted in.
    pub timezone: String,
}

impl StripGiven {
    /// What was provided for this page.
    #[cfg(not(feature = "hydrate"))]
    fn of_page() -> Self {
        use_context().unwrap_or_default()
    }

    /// What the page was rendered with.
    #[cfg(feature = "hydrate")]
    fn of_page() -> Self {
        use crate::browser::dom;
        let Some(strip) = dom::root().and_then(|root| dom::find(&root, "[data-counts]")) else {
            return Self::default();
        };
        let get = |name| strip.get_attribute(name).unwrap_or_default();
        Self {
            picked: get("data-picked"),
            everyone: strip.has_attribute("data-everyone"),
            counts: get("data-counts"),
            timezone: get("data-timezone"),
        }
    }
}

/// Counts and hourly bars of the five buckets, and their sections, read again after each signal. The sections stay HTML
/// of the server: their rows name kinds, agents and times as every list does. The server provides [`StripGiven`].
#[island(lazy)]
pub fn WorkQueueStrip() -> impl IntoView {
    let given = StripGiven::of_page();
    let everyone = given.everyone;
    let mut counted = given.counts.split(' ').map(|count| count.parse().ok());
    let counts = RwSignal::new(BUCKETS.map(|_| counted.next().flatten()));
    let picked = RwSignal::new(given.picked.clone());
    #[cfg(feature = "hydrate")]
    super::refresh::start(counts, everyone, &given.timezone);
    let pick = move |name: &'static str, event: leptos::ev::MouseEvent| {
        if event.ctrl_key() || event.meta_key() || event.shift_key() {
            return;
        }
        event.prevent_default();
        let now = if picked.get_untracked() == name { "" } else { name };
        picked.set(now.to_owned());
        #[cfg(feature = "hydrate")]
        super::refresh::show(now, everyone);
    };
    let buckets = BUCKETS
        .into_iter()
        .enumerate()
        .map(|(at, bucket)| {
            let count = move || -> Option<u32> { counts.get().get(at).copied().flatten() };
            let is_picked = move || picked.get() == bucket.name;
            view! {
                <li>
                    <a
                        class="strip-bucket"
                        href=super::bucket::address(everyone, bucket.name)
                        data-bucket=bucket.name
                        data-some=move || count().is_some_and(|n| n > 0).then_some("")
                        aria-current=move || is_picked().then_some("true")
                        on:click=move |event| pick(bucket.name, event)
                    >
                        <span class="strip-count" data-waiting=move || count().is_none().then_some("")>
                            {move || count().map_or_else(|| "–".to_owned(), |n| n.to_string())}
                        </span>
                        <span class="strip-label">{bucket.heading(everyone)}</span>
                        <div class="strip-more"><span class="strip-sub">{bucket.about}</span></div>
                    </a>
                </li>
            }
        })
        .collect_view();
    view! {
        <nav
            aria-label="Work queue" data-picked=given.picked data-everyone=everyone.then_some("") data-counts=given.counts
            data-timezone=given.timezone
        >
            <ul class="strip">{buckets}</ul>
        </nav>
    }
}
