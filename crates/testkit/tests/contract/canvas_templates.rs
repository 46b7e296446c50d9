//! Templates of canvases: who marks them, who lists them, and what a canvas that begins with one has.

use crate::{
    audit::Reading,
    canvas::{commit, replace, sent},
};
use domain::{Scope, audit::Kind, id::SessionId, limit::CANVAS_TEMPLATES_MAX};
use ledger::{
    Error, ListPage,
    canvas::{self, NewCanvas},
};
use serde_json::json;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    an_admin_makes_a_canvas_a_template_and_others_begin_with_it,
    templates_are_listed_by_title_to_their_workspace_and_limited,
);

async fn made(f: &Fixture, title: &str) -> SessionId {
    let new = NewCanvas { title: title.into(), document: Some(json!({ "a": title })), ..NewCanvas::default() };
    canvas::create(&f.ledger, &f.member, new).await.unwrap()
}

async fn titles(f: &Fixture, of: &Scope) -> Vec<String> {
    canvas::templates(&f.ledger, of).await.unwrap().into_iter().map(|one| one.title).collect()
}

async fn an_admin_makes_a_canvas_a_template_and_others_begin_with_it(f: Fixture) {
    let id = made(&f, "Report").await;
    let mut reading = Reading::begin(&f).await;
    for by in [&f.member, &f.operator] {
        let refused = canvas::set_template(&f.ledger, by, id, true).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    }
    for _ in 0..2 {
        canvas::set_template(&f.ledger, &f.admin, id, true).await.unwrap();
    }
    reading.expect(&f, &[Kind::CanvasTemplateAdded]).await;
    assert_eq!(titles(&f, &f.member).await, ["Report"]);
    assert_eq!(canvas::get(&f.ledger, &f.member, id).await.unwrap().record.is_template, 1);
    commit(&f, &f.member, id, sent("m:1", 3, replace("/a", "newest"))).await;
    canvas::complete(&f.ledger, &f.member, id, None).await.unwrap();
    assert_eq!(titles(&f, &f.member).await, ["Report"], "one that has ended is a template too");

    let new = NewCanvas { title: "June".into(), from_canvas: Some(id), ..NewCanvas::default() };
    let june = canvas::create(&f.ledger, &f.other_member, new).await.unwrap();
    let begun = canvas::get(&f.ledger, &f.other_member, june).await.unwrap();
    assert_eq!((begun.record.document.as_str(), begun.record.is_template), (r#"{"a":"newest"}"#, 0));
    canvas::set_template(&f.ledger, &f.admin, id, false).await.unwrap();
    reading.expect(&f, &[Kind::CanvasTemplateRemoved]).await;
    assert!(titles(&f, &f.member).await.is_empty());
    f.assert_verified().await;
    f.done().await;
}

async fn templates_are_listed_by_title_to_their_workspace_and_limited(f: Fixture) {
    for n in (1..CANVAS_TEMPLATES_MAX).rev() {
        let id = made(&f, &format!("Template {n:02}")).await;
        canvas::set_template(&f.ledger, &f.admin, id, true).await.unwrap();
    }
    let (first, second) = (made(&f, "First").await, made(&f, "Second").await);
    let [one, other] = [first, second].map(|id| canvas::set_template(&f.ledger, &f.admin, id, true));
    let (one, other) = tokio::join!(one, other);
    let (marked, refused, one_more) = if one.is_ok() { (one, other, second) } else { (other, one, first) };
    marked.unwrap();
    assert!(matches!(refused, Err(Error::LimitReached(_))), "two at once exceed the limit: {refused:?}");
    let listed = titles(&f, &f.member).await;
    assert_eq!(listed.len(), CANVAS_TEMPLATES_MAX as usize);
    assert!(listed.is_sorted(), "{listed:?}");
    assert!(titles(&f, &f.stranger).await.is_empty(), "those of another workspace");
    let refused = canvas::set_template(&f.ledger, &f.admin, one_more, true).await;
    assert!(matches!(refused, Err(Error::LimitReached(_))), "{refused:?}");
    let by_stranger = canvas::set_template(&f.ledger, &f.stranger, one_more, true).await;
    assert!(matches!(by_stranger, Err(Error::NotFound(_))), "{by_stranger:?}");
    let page = canvas::list(&f.ledger, &f.member, ListPage { limit: 1_000, cursor: None }).await.unwrap();
    let marked = page.items.iter().filter(|one| one.is_template == 1).count();
    assert_eq!((page.items.len(), marked), (listed.len() + 1, listed.len()));
    f.done().await;
}
