//! Lists of memory documents and of their changes, page by page.

use crate::memory::{AGENT, change, put};
use domain::memory::{Folder, Operation};
use ledger::{
    Error, ListPage,
    memory::{self, Listing},
    memory_forget,
};
use testkit::{Fixture, on_both_engines};

on_both_engines!(lists_and_audits_are_read_page_by_page, a_page_after_a_document_that_moved_is_refused,);

async fn lists_and_audits_are_read_page_by_page(f: Fixture) {
    let names = ["topics/b.md", "people/mail-a@x.org.md", "topics/A.md", "topics/c.md", "sessions/2026-11-25-night.md"];
    for path in names {
        put(&f, &f.operator, path, 0, "x\n").await.unwrap();
        f.clock.advance(chrono::TimeDelta::seconds(1));
    }
    memory::delete(&f.ledger, &f.operator, AGENT, memory::path("topics/c.md").unwrap(), change(1)).await.unwrap();
    let list = async |folder: Option<Folder>, with_deleted: bool| {
        let mut paths = Vec::new();
        let mut cursor = None;
        loop {
            let listing = Listing { folder, with_deleted, line: None, page: ListPage { limit: 2, cursor } };
            let page = memory::list(&f.ledger, &f.member, AGENT, listing).await.unwrap();
            paths.extend(page.items.into_iter().map(|document| document.path));
            cursor = page.next_cursor;
            if cursor.is_none() {
                return paths;
            }
        }
    };
    let live = ["people/mail-a@x.org.md", "sessions/2026-11-25-night.md", "topics/A.md", "topics/b.md"];
    assert_eq!(list(None, false).await, live);
    assert_eq!(list(Some(Folder::Topics), false).await, ["topics/A.md", "topics/b.md"]);
    assert_eq!(list(Some(Folder::Topics), true).await, ["topics/A.md", "topics/b.md", "topics/c.md"]);
    let mut audit = Vec::new();
    let mut cursor = None;
    loop {
        let page = ListPage { limit: 4, cursor };
        let page = memory::audit(&f.ledger, &f.member, AGENT, page).await.unwrap();
        audit.extend(page.items.into_iter().map(|v| (v.path, v.operation)));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(audit.len(), 6);
    assert_eq!(audit[0], ("topics/c.md".to_owned(), Operation::Deleted));
    assert_eq!(audit[5], ("topics/b.md".to_owned(), Operation::Created));
    f.done().await;
}

async fn a_page_after_a_document_that_moved_is_refused(f: Fixture) {
    let at = |path: &str| memory::path(path).unwrap();
    for path in ["topics/a.md", "topics/b.md", "topics/c.md", "topics/d.md"] {
        put(&f, &f.operator, path, 0, "x\n").await.unwrap();
    }
    let page = async |agent: &str, cursor: Option<String>| {
        let listing = Listing { page: ListPage { limit: 1, cursor }, ..Listing::default() };
        let page = memory::list(&f.ledger, &f.member, agent, listing).await?;
        Ok::<_, Error>((page.items[0].path.clone(), page.next_cursor))
    };
    let after_a = page(AGENT, None).await.unwrap().1;
    let (second, after_b) = page(AGENT, after_a.clone()).await.unwrap();
    let (third, after_c) = page(AGENT, after_b.clone()).await.unwrap();
    assert_eq!((second.as_str(), third.as_str()), ("topics/b.md", "topics/c.md"));

    memory::rename(&f.ledger, &f.operator, AGENT, at("topics/a.md"), at("topics/z.md"), change(1)).await.unwrap();
    memory_forget::erase(&f.ledger, &f.admin, AGENT, at("topics/b.md")).await.unwrap();
    // A document that is deleted stays at its place.
    memory::delete(&f.ledger, &f.operator, AGENT, at("topics/c.md"), change(1)).await.unwrap();
    for moved in [after_a, after_b] {
        let refused = page(AGENT, moved).await;
        assert!(matches!(refused, Err(Error::InvalidCursor)), "{refused:?}");
    }
    let refused = page("other", after_c.clone()).await;
    assert!(matches!(refused, Err(Error::InvalidCursor)), "{refused:?}");
    assert_eq!(page(AGENT, after_c).await.unwrap().0, "topics/d.md");
    f.done().await;
}
