//! What is left of an erased document: who erased it, when and why, and its versions without their texts.

use super::{
    document::source_words,
    props::{Props, Selected},
};
use crate::{
    render::static_html,
    text::{number::counted, shorten::one_line},
    ui::{
        notice::{Notice, Tone},
        section::Section,
        time::moment,
    },
};
use leptos::prelude::*;
use wire::memory::MemoryVersion;

/// What an erased document is called.
pub const NAME: &str = "An erased document";

/// What is left of a document. Its first listed version is the erasure.
pub fn erased(props: &Props, selected: &Selected) -> impl IntoView + use<> {
    let why = selected.versions.first().map(|erasure| one_line(&erasure.reason, 500)).filter(|why| !why.is_empty());
    let why = why.unwrap_or_else(|| "No reason was recorded.".to_owned());
    // The erasure is the last version, and erased the texts of all before it. Not all of them need be listed.
    let texts = selected.document.version.saturating_sub(1);
    let is_whole = selected.document.version == selected.versions.len() as u64;
    let title = if is_whole { "Versions" } else { "Newest versions" };
    let notice = view! {
        <Notice tone=Tone::Wait><p>"The texts of this document, its path and the reasons of its changes were erased. They cannot be brought back. Who wrote it, when, and the digests of the texts are kept."</p></Notice>
    };
    let versions = selected.versions.iter().map(|version| item(props, version)).collect::<Vec<_>>();
    view! {
        {static_html(notice)}
        <dl class="facts">
            <div><dt>"Erased"</dt><dd>{moment(selected.document.updated_at)}" by "{props.people.word(&selected.document.author)}</dd></div>
            <div><dt>"Why"</dt><dd dir="auto">{why}</dd></div>
            <div><dt>"Texts"</dt><dd>{counted(texts, "version")}</dd></div>
        </dl>
        <Section name="versions" title=title><ol class="history">{versions}</ol></Section>
    }
}

fn item(props: &Props, version: &MemoryVersion) -> impl IntoView + use<> {
    view! {
        <li class="history-item">
            <p class="history-head">
                <span>"Version "{version.version}</span>
                <span class="meta">{version.operation.as_str()}" · "{source_words(version.source.as_str())}" · "{moment(version.created_at)}</span>
            </p>
            <p class="meta history-who">{props.people.word(&version.author)}</p>
            <p class="meta memory-digest">{version.sha256.clone()}</p>
        </li>
    }
}
