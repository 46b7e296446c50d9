//! Memories are found in other words by vectors: joined with what is found by words, only in one agent's documents, and
//! gone with their texts. Without what makes vectors, words alone are compared.

use crate::{
    memory::{AGENT, change, put},
    memory_block::{block_of, paths, talk},
};
use domain::memory_writer::{limit::BLOCK_NEAR_MAX, turn::own_path};
use ledger::{
    Error, Ledger,
    memory::{self, FoundMemory, Write},
    memory_forget,
    memory_vector::{
        AgentVectorStatus, Embedder, Endpoint, EndpointSettings, Filler, Model, SIMILARITY_MIN_DEFAULT,
        status_by_operator, warm,
    },
};
use outbound::{Client, Policy};
use std::sync::Arc;
use testkit::{
    Fixture, on_both_engines,
    static_model::{Behaviour, DIMENSIONS, EmbeddingService, static_model},
};

on_both_engines!(
    a_text_is_found_in_other_words,
    what_has_the_words_and_the_meaning_comes_first,
    vectors_of_other_agents_and_workspaces_are_not_compared,
    vectors_go_with_their_texts,
    vectors_of_another_model_are_made_anew,
    an_agent_is_given_memories_of_the_same_meaning,
    few_memories_are_given_for_their_meaning_alone,
    memories_of_other_people_stay_out_whatever_their_meaning,
    the_speakers_document_that_is_found_by_its_meaning_alone_is_theirs,
    a_service_makes_vectors_and_claims_do_not_wait_for_it,
    a_service_that_fails_leaves_a_search_by_words,
    a_document_that_a_service_refuses_does_not_hold_the_others_up,
    many_documents_are_sent_in_few_requests,
    a_server_that_starts_reads_the_vectors_that_exist,
);

const WORKSPACE: &str = "acme";
const BOILER: (&str, &str) = ("topics/cellar.md", "# Note\n\nIt rains.\n\n## Cellar\n\nThe boiler leaks.\n");
const PIANO: (&str, &str) = ("topics/evening.md", "# Note\n\nA piano.\n");

fn use_model(ledger: &Ledger) {
    let folder = static_model();
    let model = Model::load(folder.path()).unwrap();
    ledger.use_embedder(Embedder::Model(Arc::new(model)), SIMILARITY_MIN_DEFAULT);
}

fn endpoint(service: &EmbeddingService) -> Embedder {
    let client = Client::new(Policy::opening(&["127.0.0.1"]).unwrap()).unwrap();
    let key = Some("s3cret".to_owned());
    let settings = EndpointSettings { url: service.url(), model: "tiny".into(), dimensions: DIMENSIONS, key };
    Embedder::Endpoint(Arc::new(Endpoint::new(client, settings).unwrap()))
}

/// Makes all vectors. Returns the number of documents that got some.
async fn fill(f: &Fixture) -> Result<u64, Error> {
    let (mut filler, mut documents) = (Filler::default(), 0);
    loop {
        let step = filler.step(&f.ledger).await?;
        documents += step.documents;
        if !step.more {
            return Ok(documents);
        }
    }
}

async fn put_all(f: &Fixture, documents: &[(&str, &str)]) {
    for (path, text) in documents {
        put(f, &f.operator, path, 0, text).await.unwrap();
    }
}

async fn search(f: &Fixture, query: &str) -> Vec<FoundMemory> {
    memory::search(&f.ledger, &f.member, Some(AGENT), query, 0).await.unwrap()
}

async fn found(f: &Fixture, query: &str) -> Vec<String> {
    search(f, query).await.into_iter().map(|one| one.document.path).collect()
}

async fn status(f: &Fixture) -> Vec<AgentVectorStatus> {
    status_by_operator(&f.ledger, WORKSPACE).await.unwrap()
}

/// Bytes of all vectors in the database.
async fn stored_bytes(f: &Fixture) -> i64 {
    f.engine.raw().await.number("SELECT CAST(COALESCE(SUM(length(vectors)), 0) AS bigint) FROM memory_vectors").await
}

async fn a_text_is_found_in_other_words(f: Fixture) {
    put_all(&f, &[BOILER, PIANO]).await;
    assert_eq!(fill(&f).await.unwrap(), 0, "vectors are off by default");
    assert_eq!(found(&f, "water beside heating").await, Vec::<String>::new());
    use_model(&f.ledger);
    assert_eq!(found(&f, "water beside heating").await, Vec::<String>::new(), "there are no vectors yet");
    assert_eq!(fill(&f).await.unwrap(), 2);
    let all = search(&f, "water beside heating").await;
    let first = &all[0];
    assert_eq!((all.len(), first.document.path.as_str()), (1, BOILER.0));
    assert_eq!((first.line, first.excerpt.as_str()), (7, "The boiler leaks."), "the nearest passage is shown");
    assert_eq!(found(&f, "Which INSTRUMENT?").await, [PIANO.0]);
    assert_eq!(found(&f, "zebras").await, Vec::<String>::new(), "a text without known words is near to nothing");
    assert_eq!(fill(&f).await.unwrap(), 0, "what has vectors gets none again");
    f.done().await;
}

async fn what_has_the_words_and_the_meaning_comes_first(f: Fixture) {
    use_model(&f.ledger);
    let violin = ("topics/violin.md", "# Violin\n\nThe instrument.\n");
    let word = ("topics/shop.md", "# Shop\n\nThe shop of the violin maker, and a loaf of bread, bread, bread.\n");
    put_all(&f, &[PIANO, word, violin, BOILER]).await;
    fill(&f).await.unwrap();
    let order = found(&f, "violin").await;
    assert_eq!((order[0].as_str(), order.len()), (violin.0, 3), "{order:?}");
    assert!(order.iter().any(|path| path == word.0) && order.iter().any(|path| path == PIANO.0));
    let scores: Vec<f64> = search(&f, "violin").await.iter().map(|one| one.score).collect();
    assert!(scores.is_sorted_by(|one, other| one >= other), "{scores:?}");
    let one = memory::search(&f.ledger, &f.member, Some(AGENT), "violin", 1).await.unwrap();
    assert_eq!(one.len(), 1, "the limit holds for both together");
    f.done().await;
}

async fn vectors_of_other_agents_and_workspaces_are_not_compared(f: Fixture) {
    use_model(&f.ledger);
    let write = || Write { text: BOILER.1.into(), ..Write::default() };
    let at = || memory::path(BOILER.0).unwrap();
    memory::write(&f.ledger, &f.operator, "clerk", at(), write()).await.unwrap();
    memory::write(&f.ledger, &f.stranger, AGENT, at(), write()).await.unwrap();
    put_all(&f, &[PIANO]).await;
    assert_eq!(fill(&f).await.unwrap(), 3);
    assert_eq!(found(&f, "heating water").await, Vec::<String>::new());
    let clerk = memory::search(&f.ledger, &f.member, Some("clerk"), "heating water", 0).await.unwrap();
    let theirs = memory::search(&f.ledger, &f.stranger, Some(AGENT), "heating water", 0).await.unwrap();
    assert_eq!((clerk.len(), theirs.len()), (1, 1));
    let all = memory::search(&f.ledger, &f.member, None, "heating water", 0).await.unwrap();
    assert_eq!(all.len(), 1, "a search in all memories compares those of this workspace: {all:?}");
    assert_eq!(all[0].document.path, BOILER.0);
    f.done().await;
}

async fn vectors_go_with_their_texts(f: Fixture) {
    use_model(&f.ledger);
    put_all(&f, &[BOILER, PIANO]).await;
    fill(&f).await.unwrap();
    assert_eq!(found(&f, "heating").await, [BOILER.0]);
    let before = stored_bytes(&f).await;
    // A change empties them at once, and the job makes those of the new text.
    put(&f, &f.operator, BOILER.0, 1, "# Note\n\nA loaf.\n").await.unwrap();
    assert!(stored_bytes(&f).await < before);
    assert_eq!(found(&f, "heating").await, Vec::<String>::new());
    assert_eq!(status(&f).await[0].pending(), 1);
    assert_eq!(fill(&f).await.unwrap(), 1);
    assert_eq!(found(&f, "bread").await, [BOILER.0]);
    // What is deleted or erased has none.
    memory::delete(&f.ledger, &f.operator, AGENT, memory::path(BOILER.0).unwrap(), change(2)).await.unwrap();
    assert_eq!(found(&f, "bread").await, Vec::<String>::new());
    memory_forget::erase(&f.ledger, &f.admin, AGENT, memory::path(PIANO.0).unwrap()).await.unwrap();
    assert_eq!(stored_bytes(&f).await, 0);
    assert_eq!(found(&f, "instrument").await, Vec::<String>::new());
    assert_eq!(fill(&f).await.unwrap(), 0);
    f.assert_verified().await;
    f.done().await;
}

async fn vectors_of_another_model_are_made_anew(f: Fixture) {
    use_model(&f.ledger);
    put_all(&f, &[BOILER, PIANO]).await;
    fill(&f).await.unwrap();
    let mut raw = f.engine.raw().await;
    raw.execute("UPDATE memory_vectors SET model = 'older'").await.unwrap();
    drop(raw);
    assert_eq!(found(&f, "heating").await, Vec::<String>::new(), "vectors of different models cannot be compared");
    assert_eq!(fill(&f).await.unwrap(), 2);
    assert_eq!(found(&f, "heating").await, [BOILER.0]);
    let status = status(&f).await;
    let [agent] = &status[..] else { panic!("{status:?}") };
    assert_eq!((agent.documents, agent.pending(), agent.made.len()), (2, 0, 1));
    assert!(agent.made[0].0.starts_with("static-"), "{agent:?}");
    assert!(matches!(status_by_operator(&f.ledger, "nowhere").await, Err(Error::NotFound(_))));
    f.done().await;
}

async fn an_agent_is_given_memories_of_the_same_meaning(f: Fixture) {
    put_all(&f, &[BOILER, PIANO]).await;
    assert_eq!(block_of(&f, talk(None, "Any water under our heating?")).await, None);
    use_model(&f.ledger);
    fill(&f).await.unwrap();
    let block = block_of(&f, talk(None, "Any water under our heating?")).await.unwrap();
    assert_eq!((paths(&block), block["ranker"].as_str()), (vec![BOILER.0], Some("formula-1-vectors")));
    let candidate = &block["candidates"][0];
    assert!(candidate["similarity"].as_f64().unwrap() > 0.9 && candidate["injected"] == true, "{candidate}");
    let near = "SELECT COUNT(*) FROM session_memories WHERE similarity > 0.9";
    assert_eq!(f.engine.raw().await.number(near).await, 1, "a ranker can learn from it");
    // A passage that is found by its words alone has no similarity.
    let block = block_of(&f, talk(None, "Does it rain today?")).await.unwrap();
    assert_eq!(block["ranker"], "formula-1");
    assert!(block["candidates"][0]["similarity"].is_null(), "{block}");
    f.assert_verified().await;
    f.done().await;
}

async fn few_memories_are_given_for_their_meaning_alone(f: Fixture) {
    use_model(&f.ledger);
    for number in 0..BLOCK_NEAR_MAX + 4 {
        put(&f, &f.operator, &format!("topics/cellar-{number}.md"), 0, BOILER.1).await.unwrap();
    }
    put(&f, &f.operator, "topics/heating.md", 0, "# Heating\n\nIt is old.\n").await.unwrap();
    fill(&f).await.unwrap();
    let block = block_of(&f, talk(None, "Any water under our heating?")).await.unwrap();
    let paths = paths(&block);
    assert!(paths.contains(&"topics/heating.md"), "what has a word is there too: {paths:?}");
    assert_eq!(paths.iter().filter(|path| path.starts_with("topics/cellar-")).count(), BLOCK_NEAR_MAX, "{paths:?}");
    f.done().await;
}

async fn memories_of_other_people_stay_out_whatever_their_meaning(f: Fixture) {
    use_model(&f.ledger);
    put(&f, &f.operator, "people/discord-7.md", 0, "# Ines\n\nThe boiler leaks.\n").await.unwrap();
    fill(&f).await.unwrap();
    assert_eq!(found(&f, "heating").await, ["people/discord-7.md"]);
    assert_eq!(block_of(&f, talk(None, "Is the heating on?")).await, None);
    f.done().await;
}

async fn the_speakers_document_that_is_found_by_its_meaning_alone_is_theirs(f: Fixture) {
    use_model(&f.ledger);
    let speaker = own_path(f.member.user_id().unwrap());
    let alias = speaker.strip_prefix("people/").unwrap().strip_suffix(".md").unwrap();
    let text = format!("# Ines\n\nThe boiler leaks.\n\n## Aliases\n\n- {alias}\n");
    put(&f, &f.operator, "people/discord-7.md", 0, &text).await.unwrap();
    fill(&f).await.unwrap();
    let block = block_of(&f, talk(None, "Is the heating on?")).await.unwrap();
    let candidates = block["candidates"].as_array().unwrap();
    assert!(paths(&block).contains(&"people/discord-7.md"), "{block}");
    assert!(candidates.iter().all(|one| one["samePerson"] == true), "{block}");
    f.done().await;
}

async fn a_service_makes_vectors_and_claims_do_not_wait_for_it(f: Fixture) {
    let service = EmbeddingService::start().await;
    f.ledger.use_embedder(endpoint(&service), SIMILARITY_MIN_DEFAULT);
    put_all(&f, &[BOILER, PIANO]).await;
    assert_eq!(fill(&f).await.unwrap(), 2);
    assert_eq!(found(&f, "water beside heating").await, [BOILER.0]);
    let heads = service.heads();
    assert!(heads.iter().all(|head| head.contains("authorization: bearer s3cret")), "{heads:?}");
    assert_eq!(block_of(&f, talk(None, "Any water under our heating?")).await, None);
    assert_eq!(service.heads().len(), heads.len(), "a claim asks no service");
    f.done().await;
}

async fn a_service_that_fails_leaves_a_search_by_words(f: Fixture) {
    let service = EmbeddingService::start().await;
    f.ledger.use_embedder(endpoint(&service), SIMILARITY_MIN_DEFAULT);
    put_all(&f, &[BOILER, PIANO]).await;
    for behaviour in [Behaviour::Status(503), Behaviour::Status(401), Behaviour::Vectors(DIMENSIONS + 1)] {
        service.behave(behaviour);
        let failed = fill(&f).await;
        assert!(matches!(failed, Err(Error::Unavailable(_))), "{behaviour:?}: {failed:?}");
        assert_eq!(found(&f, "piano heating").await, [PIANO.0], "{behaviour:?}");
    }
    let failures = ledger::memory_vector::failures(&f.ledger);
    assert_eq!(failures, 6, "each attempt to make vectors, and each search without them");
    let failure = status(&f).await[0].failure.clone();
    assert!(failure.is_some_and(|why| why.contains("dimensions")), "the last one is noted");
    service.behave(Behaviour::Silence);
    assert_eq!(found(&f, "piano heating").await, [PIANO.0]);
    assert_eq!(status(&f).await[0].pending(), 2);
    service.behave(Behaviour::Vectors(DIMENSIONS));
    assert_eq!(fill(&f).await.unwrap(), 2, "what failed is done later");
    assert_eq!(status(&f).await[0].failure, None);
    let mut both = found(&f, "piano heating").await;
    both.sort();
    assert_eq!(both, [BOILER.0, PIANO.0]);
    f.done().await;
}

async fn a_document_that_a_service_refuses_does_not_hold_the_others_up(f: Fixture) {
    let service = EmbeddingService::start().await;
    f.ledger.use_embedder(endpoint(&service), SIMILARITY_MIN_DEFAULT);
    put_all(&f, &[BOILER]).await;
    service.behave(Behaviour::Status(413));
    assert_eq!(fill(&f).await.unwrap(), 1);
    service.behave(Behaviour::Vectors(DIMENSIONS));
    put_all(&f, &[PIANO]).await;
    assert_eq!(fill(&f).await.unwrap(), 1);
    assert_eq!(found(&f, "instrument").await, [PIANO.0]);
    assert_eq!((found(&f, "boiler").await, status(&f).await[0].pending()), (vec![BOILER.0.to_owned()], 0));
    assert_eq!(status(&f).await[0].empty, 1, "the refused one is counted");
    f.done().await;
}

async fn many_documents_are_sent_in_few_requests(f: Fixture) {
    let service = EmbeddingService::start().await;
    f.ledger.use_embedder(endpoint(&service), SIMILARITY_MIN_DEFAULT);
    for number in 0..40 {
        put(&f, &f.operator, &format!("topics/note-{number}.md"), 0, PIANO.1).await.unwrap();
    }
    assert_eq!(fill(&f).await.unwrap(), 40);
    assert_eq!(service.heads().len(), 1, "40 short texts are one request");
    f.done().await;
}

async fn a_server_that_starts_reads_the_vectors_that_exist(f: Fixture) {
    use_model(&f.ledger);
    assert_eq!(warm(&f.ledger).await.unwrap(), 0);
    put_all(&f, &[BOILER, PIANO]).await;
    fill(&f).await.unwrap();
    assert_eq!(warm(&f.ledger).await.unwrap(), 1, "one agent has a memory");
    assert_eq!(found(&f, "heating").await, [BOILER.0]);
    f.done().await;
}
