//! /today

use super::{
    WorkQueueStrip,
    section::{Section, section_view},
};
use crate::{
    document::{render, solid},
    shell::{Place, Shell, frame},
    ui::{
        empty::{Connect, connect},
        page_head::page_head,
    },
    working_on::{Day, day_section},
};
use domain::work_queue::Bucket;
use leptos::prelude::*;

/// What /today shows.
#[derive(Debug, Clone, Default)]
pub struct Props {
    /// `?bucket=`: the one that is picked.
    pub picked: Option<Bucket>,
    /// All five, in order.
    pub sections: Vec<Section>,
    /// How to connect an agent, shown while nothing has ever run.
    pub connect: Option<Connect>,
    /// The person's own day, for people.
    pub day: Option<Day>,
}

/// The whole page. The counts come later, by themselves.
pub fn page(shell: &Shell, props: Props) -> String {
    render(shell, "Today", || {
        let Props { picked, sections, connect: connecting, day } = props;
        let strip = view! { <WorkQueueStrip picked=picked.map_or("", Bucket::as_str).to_owned()/> };
        let sections = sections
            .iter()
            .map(|section| solid(section_view(shell, section, picked.is_some_and(|p| p != section.bucket))))
            .collect::<Vec<_>>();
        let page = view! {
            {page_head("Today".to_owned(), Vec::new(), ())}
            {strip}
            {connecting.map(|c| solid(connect(c)))}
            {sections}
            {day.map(|day| solid(day_section(&day)))}
        };
        frame(shell, Place::Today, page)
    })
}
