//! Erased content leaves the index of the search, and the files.

use crate::{
    retention::key,
    search::{assert_sound, catch_up, end, found, found_by, indexed, search_for, session_with, words_in_index},
};
use chrono::TimeDelta;
use domain::id::SessionId;
use ledger::{
    retention,
    search::{Indexer, rebuild_by_operator},
};
use testkit::{Fixture, on_both_engines};

on_both_engines!(erased_content_leaves_the_index_and_the_files, what_is_being_erased_does_not_come_back,);

async fn erase(f: &Fixture, days_old: i64) -> u64 {
    let older_than = f.ledger.now() - TimeDelta::days(days_old);
    retention::erase_by_operator(&f.ledger, &key(), older_than, |_| {}).await.unwrap().sessions
}

async fn erased_content_leaves_the_index_and_the_files(f: Fixture) {
    const WORD: &str = "quetzalcoatlus";
    let (old, _) = session_with(&f, &["tea with milk", &format!("a {WORD} in {WORD}Park"), "tea again"]).await;
    end(&f, old).await;
    let (ended, _) = session_with(&f, &["tea is kept for now", WORD]).await;
    indexed(&f).await;
    assert_eq!(found(&f, WORD).await.len(), 2);
    assert!(words_in_index(&f, WORD).await > 0, "the test would find it");
    f.clock.advance(TimeDelta::days(40));
    end(&f, ended).await;
    let (kept, first) = session_with(&f, &["tea that stays"]).await;
    indexed(&f).await;

    assert_eq!(erase(&f, 30).await, 1);
    let left: Vec<SessionId> = found_by(&f, &f.admin, search_for("tea")).await.into_iter().map(|(id, _)| id).collect();
    assert_eq!(left, [kept, ended], "the erased session is found, or the others are not");
    assert_eq!(found_by(&f, &f.admin, search_for(WORD)).await.len(), 1);
    assert_sound(&f).await;
    f.clock.advance(TimeDelta::days(40));
    assert_eq!(erase(&f, 30).await, 1);
    assert!(found(&f, WORD).await.is_empty());
    assert_eq!(words_in_index(&f, WORD).await, 0, "the word is still in the index");
    assert_eq!(found_by(&f, &f.admin, search_for("tea")).await, [(kept, first)]);
    if let Some(dir) = f.ledger.data_dir() {
        let files = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        for file in files {
            let bytes = std::fs::read(&file).unwrap();
            assert!(
                !bytes.windows(WORD.len()).any(|part| part == WORD.as_bytes()),
                "the word is in {}",
                file.display()
            );
        }
    }
    // Nothing of it comes back when all is indexed again.
    assert_eq!(rebuild_by_operator(&f.ledger, |_| {}).await.unwrap(), 1);
    assert!(found(&f, WORD).await.is_empty());
    assert_eq!(found_by(&f, &f.admin, search_for("tea")).await, [(kept, first)]);
    assert_sound(&f).await;
    f.done().await;
}

async fn what_is_being_erased_does_not_come_back(f: Fixture) {
    const WORD: &str = "quetzalcoatlus";
    let (session, _) = session_with(&f, &[WORD]).await;
    end(&f, session).await;
    // The indexer has heard of the session, and has not looked at it, when its content is erased.
    let mut late = Indexer::new(&f.ledger);
    let (other, _) = session_with(&f, &["tea"]).await;
    f.clock.advance(TimeDelta::days(40));
    assert_eq!(erase(&f, 30).await, 1);
    catch_up(&f, &mut late).await;
    assert_eq!(words_in_index(&f, WORD).await, 0);
    let found = found_by(&f, &f.admin, search_for("tea")).await;
    assert_eq!(found.iter().map(|(session, _)| *session).collect::<Vec<_>>(), [other]);
    f.done().await;
}
