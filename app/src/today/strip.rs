//! The strip of five buckets. Links without scripts; with them it counts, apart from the page.

use super::bucket::BUCKETS;
use leptos::prelude::*;

/// Five counts and how the day went, fetched by themselves and again whenever something moved. `picked` is the bucket of the
/// address, or empty; `everybody` says that everybody's work is shown.
#[island]
pub fn WorkQueueStrip(picked: String, everybody: bool) -> impl IntoView {
    let counts = RwSignal::new([None::<u32>; 5]);
    let picked = RwSignal::new(picked);
    #[cfg(feature = "hydrate")]
    super::focus::start(counts, everybody);
    let pick = move |name: &'static str, event: leptos::ev::MouseEvent| {
        if event.ctrl_key() || event.meta_key() || event.shift_key() {
            return;
        }
        event.prevent_default();
        let now = if picked.get_untracked() == name { "" } else { name };
        picked.set(now.to_owned());
        #[cfg(feature = "hydrate")]
        super::focus::show(now, everybody);
    };
    let buckets = BUCKETS
        .into_iter()
        .enumerate()
        .map(|(at, bucket)| {
            let count = move || counts.get().get(at).copied().flatten();
            let is_picked = move || picked.get() == bucket.name;
            view! {
                <li>
                    <a
                        class="strip-bucket"
                        href=super::bucket::address(everybody, bucket.name)
                        data-bucket=bucket.name
                        data-some=move || count().is_some_and(|n| n > 0).then_some("")
                        aria-current=move || is_picked().then_some("true")
                        on:click=move |event| pick(bucket.name, event)
                    >
                        <span class="strip-count" data-waiting=move || count().is_none().then_some("")>
                            {move || count().map_or_else(|| "–".to_owned(), |n| n.to_string())}
                        </span>
                        <span class="strip-label">{bucket.heading(everybody)}</span>
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
