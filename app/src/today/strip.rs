//! The strip of five buckets: plain links, whose counts the island keeps current.

use super::{
    bucket::{BUCKETS, Bucket},
    queue::Queue,
};
use crate::{
    count::grouped,
    fragment::{Fragment, Slot},
};
use leptos::prelude::*;

/// What the page says of the strip, as attributes: a parser of arguments would be more than the rest of this island.
#[derive(Debug, Clone, Default)]
pub struct StripContext {
    /// The selected bucket; empty for none.
    pub picked: String,
    /// Whether everyone's work is shown, not only the reader's.
    pub everyone: bool,
    /// The counts of the page, in the order of the buckets, separated by spaces.
    pub counts: String,
    /// IANA name of the time zone that they were counted in.
    pub timezone: String,
    /// What is below the strip, HTML of the server. The browser needs none: the page has it.
    pub sections: String,
    /// The person's day below them, HTML of the server; empty for API tokens.
    pub day: String,
    /// How many questions are open beside what the first bucket counts. The browser needs none: the page has it.
    pub asked: Option<String>,
}

impl StripContext {
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
            ..Self::default()
        }
    }
}

/// Counts and hourly bars of the five buckets, their sections and the person's day, read again after each signal. Bars,
/// sections and day stay HTML of the server: their rows name kinds, agents and times as every list does. The server
/// provides [`StripContext`].
#[island(lazy)]
pub fn WorkQueueStrip() -> impl IntoView {
    let given = StripContext::of_page();
    let mut counted = given.counts.split(' ').map(|count| count.parse().ok());
    let queue = Queue {
        everyone: given.everyone,
        counts: RwSignal::new(BUCKETS.map(|_| counted.next().flatten())),
        trends: BUCKETS.map(|_| Slot::default()),
        sections: Slot::default(),
    };
    let picked = RwSignal::new(given.picked.clone());
    let day = Slot::default();
    #[cfg(feature = "hydrate")]
    {
        let timezone = given.timezone.clone();
        // The sections are there once the island is mounted.
        Effect::new(move |_| super::refresh::start(queue, &timezone));
        crate::day::follow(day);
    }
    let pick = move |name: &'static str, event: leptos::ev::MouseEvent| {
        if event.ctrl_key() || event.meta_key() || event.shift_key() {
            return;
        }
        event.prevent_default();
        let now = if picked.get_untracked() == name { "" } else { name };
        picked.set(now.to_owned());
        #[cfg(feature = "hydrate")]
        super::refresh::show(queue, now);
    };
    let buckets = BUCKETS
        .into_iter()
        .zip(queue.trends)
        .enumerate()
        .map(|(at, (bucket, trend))| {
            let count = move || -> Option<u32> { queue.counts.get().get(at).copied().flatten() };
            let is_picked = move || picked.get() == bucket.name;
            view! {
                <li>
                    <a
                        class="strip-bucket"
                        href=super::bucket::address(queue.everyone, bucket.name)
                        data-bucket=bucket.name
                        data-some=move || count().is_some_and(|n| n > 0).then_some("")
                        aria-current=move || is_picked().then_some("true")
                        on:click=move |event| pick(bucket.name, event)
                    >
                        <span class="strip-count" data-waiting=move || count().is_none().then_some("")>
                            {move || count().map_or_else(|| "–".to_owned(), grouped)}
                        </span>
                        <span class="strip-label">{bucket.heading(queue.everyone)}</span>
                        <div class="strip-more"><Fragment html=about(&bucket, given.asked.as_deref()) at=trend/></div>
                    </a>
                </li>
            }
        })
        .collect_view();
    view! {
        <nav
            aria-label="Work queue" data-picked=given.picked data-everyone=queue.everyone.then_some("") data-counts=given.counts
            data-timezone=given.timezone
        >
            <ul class="strip">{buckets}</ul>
        </nav>
        <Fragment html=given.sections at=queue.sections/>
        <Fragment html=given.day at=day/>
    }
}

/// What a bucket says until its hours are read.
fn about(bucket: &Bucket, asked: Option<&str>) -> String {
    let beside = if bucket.counts_sessions_that_wait() { asked } else { None };
    let beside = beside.map(|asked| [" + ", asked].concat()).unwrap_or_default();
    ["<span class=\"strip-sub\">", bucket.about, &beside, "</span>"].concat()
}
