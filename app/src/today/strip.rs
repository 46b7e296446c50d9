//! The strip of five buckets: plain links, whose counts the island keeps current. The island attaches event handlers to
//! the HTML that the server rendered: a page as frequent as this one should load little.

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use super::bucket::{BUCKETS, address};

/// Counts and hourly bars of the five buckets, read again after each signal.
#[island(lazy)]
pub fn WorkQueueStrip() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    super::refresh::start();
    view! { <span hidden></span> }
}

/// The links with their counts, which were taken in the time zone with this IANA name. `picked` is the selected bucket;
/// empty for none.
#[cfg(feature = "ssr")]
pub fn strip(picked: &str, everyone: bool, counts: [u64; 5], timezone: String) -> impl IntoView + use<> {
    let buckets = BUCKETS
        .into_iter()
        .zip(counts)
        .map(|(bucket, count)| {
            view! {
                <li>
                    <a
                        class="strip-bucket"
                        href=address(everyone, bucket.name)
                        data-bucket=bucket.name
                        data-some=(count > 0).then_some("")
                        aria-current=(picked == bucket.name).then_some("true")
                    >
                        <span class="strip-count">{count.to_string()}</span>
                        <span class="strip-label">{bucket.heading(everyone)}</span>
                        <div class="strip-more"><span class="strip-sub">{bucket.about}</span></div>
                    </a>
                </li>
            }
        })
        .collect_view();
    view! {
        <nav aria-label="Work queue" id="work-queue" data-everyone=everyone.then_some("") data-timezone=timezone>
            <ul class="strip">{buckets}</ul>
        </nav>
    }
}
