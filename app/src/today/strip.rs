//! The strip of five buckets: plain links, whose counts the island keeps current.

use super::bucket::BUCKETS;
use leptos::prelude::*;

/// Counts and hourly bars of the five buckets, read again after each signal.
#[island(lazy)]
pub fn WorkQueueStrip(
    /// The selected bucket; empty for none.
    picked: String,
    /// Whether everyone's work is shown, not only the reader's.
    everyone: bool,
    /// The counts of the page, in the order of the buckets, separated by spaces.
    counts: String,
    /// IANA name of the time zone that they were counted in.
    timezone: String,
) -> impl IntoView {
    let mut given = counts.split(' ').map(|count| count.parse().ok());
    let counts = RwSignal::new(BUCKETS.map(|_| given.next().flatten()));
    let picked = RwSignal::new(picked);
    #[cfg(feature = "hydrate")]
    super::refresh::start(counts, everyone, &timezone);
    #[cfg(not(feature = "hydrate"))]
    let _ = &timezone;
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
        <nav aria-label="Work queue">
            <ul class="strip">{buckets}</ul>
        </nav>
    }
}
