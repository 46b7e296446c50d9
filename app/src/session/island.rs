//! The island of a transcript's page: what a reader does with it, and what changes while the session runs.

use super::{
    RatingPanel,
    transcript::{Content, Transcript},
};
use crate::{
    count::counted,
    fragment::Fragment,
    ui::{
        button::{Button, ButtonLink, Look, Press},
        icon::{Icon, icon},
    },
};
use leptos::{ev::MouseEvent, prelude::*};

/// The page of a session. Its rows stay HTML of the server: markdown, highlighting and tool views never ship. So do
/// header, chips and sidebar, whose words and times are those of every list. The server provides [`Content`].
#[island(lazy)]
pub fn LiveTranscript() -> impl IntoView {
    let content = Content::of_page();
    let transcript = Transcript::new(&content);
    #[cfg(feature = "hydrate")]
    {
        let opens_at_end = content.opens_at_end;
        Effect::new(move |_| super::tail::start(transcript, opens_at_end));
    }
    let rating = content.rating.as_str();
    let Content {
        session_id, kinds, last_sequence, at_head, opens_at_end, summary, chips, rows, later, sidebar, ..
    } = content;
    let [summary_slot, later_slot, sidebar_slot] = transcript.fixed;
    let flag = |is_on: bool| is_on.then_some("");
    let end = if at_head {
        view! { <p class="transcript-end" id="transcript-end">{move || transcript.end.get()}</p> }.into_any()
    } else {
        view! { <Fragment html=later at=later_slot/> }.into_any()
    };
    view! {
        <div
            class="fragment" node_ref=transcript.page data-session=session_id data-kinds=kinds data-last=last_sequence.to_string()
            data-at-head=flag(at_head) data-rating=rating
        >
            <Fragment html=summary at=summary_slot/>
            <RatingPanel state=transcript.rating place="/sessions"/>
            <div class="transcript-bar" on:click=move |event| pick(transcript, &event)>
                <h2 id="transcript-title" class="hidden-text">"Transcript"</h2>
                <Fragment html=chips at=transcript.chips/>
                <Tools transcript/>
            </div>
            <div class="session-body">
                <section class="transcript-frame" aria-labelledby="transcript-title">
                    <div class="transcript-edge" id="transcript-top">{move || earlier(transcript)}</div>
                    <ol
                        class="transcript" id="transcript" data-end=flag(opens_at_end) node_ref=transcript.list
                        data-complete=move || flag(transcript.is_complete.get())
                        data-hide=move || Some(transcript.hidden_groups.get()).filter(|groups| !groups.is_empty())
                        inner_html=rows
                    ></ol>
                    {end}
                </section>
                <Fragment html=sidebar at=sidebar_slot/>
            </div>
        </div>
    }
}

/// The link to the events before the first row.
fn earlier(transcript: Transcript) -> Option<impl IntoView> {
    let href = transcript.earlier.get()?;
    let is_disabled = move || transcript.is_loading_earlier.get().then_some("true");
    Some(view! {
        <ButtonLink
            small=true id="earlier" href=href attr:aria-disabled=is_disabled
            on:click=move |event| load_earlier(transcript, &event)
        >
            "Load earlier events"
        </ButtonLink>
    })
}

/// Whether a click on a link is one for the page. Others open a tab or a window.
#[cfg(feature = "hydrate")]
fn is_plain(event: &MouseEvent) -> bool {
    !(event.ctrl_key() || event.meta_key() || event.shift_key())
}

fn load_earlier(transcript: Transcript, event: &MouseEvent) {
    #[cfg(feature = "hydrate")]
    if is_plain(event) {
        event.prevent_default();
        super::transcript_rows::load_earlier(transcript);
    }
    #[cfg(not(feature = "hydrate"))]
    let _ = (transcript, event);
}

/// Filters rows in place if the whole log is on the page; otherwise the chip's link is followed.
fn pick(transcript: Transcript, event: &MouseEvent) {
    #[cfg(feature = "hydrate")]
    if let Some(chip) = crate::browser::dom::closest(event, "[data-chip]")
        && is_plain(event)
        && transcript.is_complete.get_untracked()
    {
        event.prevent_default();
        super::transcript_rows::toggle_chip(transcript, &chip);
    }
    #[cfg(not(feature = "hydrate"))]
    let _ = (transcript, event);
}

/// The buttons beside the chips, and the pill that says something came.
#[component]
fn Tools(transcript: Transcript) -> impl IntoView {
    let Transcript { arrived, .. } = transcript;
    let (unfolded, raw) = (RwSignal::new(false), RwSignal::new(false));
    let fold = move |_| {
        unfolded.update(|on| *on = !*on);
        #[cfg(feature = "hydrate")]
        super::transcript_rows::fold_all(transcript, unfolded.get_untracked());
    };
    let show_raw = move |_| {
        raw.update(|on| *on = !*on);
        #[cfg(feature = "hydrate")]
        super::transcript_rows::raw_all(transcript, raw.get_untracked());
    };
    let newest = move |_| {
        arrived.set(0);
        #[cfg(feature = "hydrate")]
        super::tail::jump_to_newest(transcript);
    };
    let coming = move || counted(arrived.get(), "new event");
    view! {
        <div class="transcript-tools js-only" data-keys="session">
            <Button press=Press::Script look=Look::Quiet small=true attr:data-key="fold" title="Fold or unfold all (x)" on:click=fold>
                {move || if unfolded.get() { "Fold all" } else { "Unfold all" }}
            </Button>
            <Button
                press=Press::Script look=Look::Quiet small=true attr:data-key="raw" title="Show or hide raw JSON (r)" on:click=show_raw
                attr:aria-pressed=move || if raw.get() { "true" } else { "false" }
            >
                "Raw JSON"
            </Button>
            <Button
                press=Press::Script look=Look::Quiet small=true picture=Icon::Down attr:data-key="newest" title="Jump to the newest event (e)"
                on:click=newest
            >
                "Newest"
            </Button>
        </div>
        <button class="pill" type="button" hidden=move || arrived.get() == 0 on:click=newest>
            {icon(Icon::Down)}
            <span role="status">{coming}</span>
        </button>
    }
}
