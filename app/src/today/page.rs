//! The page /today.

use super::{
    StripContext, WorkQueueStrip,
    section::{Section, section_view},
};
use crate::{
    day::{Day, day_fragment},
    document::render,
    memory::{StalledWriter, stalled},
    render::{append_html, static_html, to_html},
    shell::{RailEntry, Shell, frame},
    ui::{
        empty::{Connect, ConnectAgent},
        page_head::PageHead,
        questions::{Question, count_words, question_list},
        tabs::{Tab, Tabs},
    },
};
use domain::work_queue::Bucket;
use leptos::prelude::*;

/// Data of the page /today.
#[derive(Debug, Clone, Default)]
pub struct Props {
    /// `?bucket=`: the selected bucket.
    pub picked: Option<Bucket>,
    /// `?assignedTo=all`: shows everyone's work, not only the reader's.
    pub everyone: bool,
    /// Number of entries in each bucket, in order.
    pub counts: [u64; 5],
    /// IANA name of the time zone in which the day starts at midnight.
    pub timezone: String,
    /// The five sections, in order.
    pub sections: Vec<Section>,
    /// Questions for which no session waits.
    pub questions: Vec<Question>,
    /// Memory writers that wait after failures, for those who may ask for a run.
    pub stalled: Vec<StalledWriter>,
    /// How to connect an agent; present until the first session.
    pub connect: Option<Connect>,
    /// The person's own day; absent for API tokens.
    pub day: Option<Day>,
}

/// The scope of the page, in a sentence.
const OF_MINE: &str = "Your tasks, and everything that needs your decision.";
const OF_EVERYONE: &str = "Everyone's tasks, including tasks that are assigned to no one.";

/// Links that switch between the reader's work and everyone's, and keep the selected bucket.
fn switch(everyone: bool, picked: Option<Bucket>) -> impl IntoView + use<> {
    let link = move |label: &'static str, value: &str, on: bool| {
        let bucket = picked.map(|bucket| format!("&bucket={}", bucket.as_str())).unwrap_or_default();
        let href = format!("/today?assignedTo={value}{bucket}");
        Tab::new(label, href, on)
    };
    view! { <Tabs label="Whose tasks" tabs=vec![link("Mine", "me", !everyone), link("Everyone", "all", everyone)]/> }
}

/// The open questions as a fragment, for an update after a change.
pub fn questions_fragment(questions: &[Question]) -> String {
    to_html(question_list(questions, false))
}

/// Renders the page without the hourly counts, which the browser loads.
pub fn page(shell: &Shell, props: Props) -> String {
    render(shell, "Today", || {
        let Props {
            picked,
            everyone,
            counts,
            timezone,
            sections,
            questions,
            connect: connecting,
            day,
            stalled: writers,
        } = props;
        let counts = counts.map(|count| count.to_string()).join(" ");
        let picked_name = picked.map_or("", Bucket::as_str).to_owned();
        let mut below = to_html(connecting.map(|c| view! { <ConnectAgent connect=c/> }));
        // They need the reader too, although no session waits for them.
        append_html(&mut below, question_list(&questions, picked.is_some_and(|picked| picked != Bucket::NeedsMe)));
        for section in &sections {
            append_html(&mut below, section_view(shell, section, picked.is_some_and(|p| p != section.bucket)));
        }
        let day = day.as_ref().map(day_fragment).unwrap_or_default();
        let asked = count_words(questions.len() as u64);
        provide_context(StripContext { picked: picked_name, everyone, counts, timezone, sections: below, day, asked });
        let page = view! {
            <PageHead title="Today">{static_html(switch(everyone, picked))}</PageHead>
            <p class="meta">{if everyone { OF_EVERYONE } else { OF_MINE }}</p>
            {static_html(stalled(shell, &writers))}
            <WorkQueueStrip/>
        };
        frame(shell, RailEntry::Today, page)
    })
}
