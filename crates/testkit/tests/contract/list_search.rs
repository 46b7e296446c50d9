//! Search lines of the lists of tools, forms, memory documents and approvals.

use crate::{
    entity::{acme, company},
    feedback_request::{ask, request},
    gate::{gated, staged},
    memory::{AGENT, put},
    search_records::question,
    tool::{create, publish, weather},
};
use chrono::TimeDelta;
use domain::{
    gate::{GateState, PausedToolCall},
    session::YieldTo,
};
use ledger::{
    Error, ListPage, Listed, Result,
    gate::{self, GateFilter, GateItem, ListGates},
    memory::{self, Listing},
    page::{
        self,
        inbox::{DecidedFilter, DecidedRequest, ListRequest},
        memory::Selection,
    },
    session::{self, YieldRequest},
    tool,
    view::{self, NewView},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    tools_are_found_by_slug_name_and_description,
    a_nul_in_a_schema_hides_no_tool,
    forms_are_found_by_slug_title_and_introduction,
    memory_documents_are_found_by_their_paths,
    approvals_are_found_by_agent_kind_tool_title_and_values,
    approvals_are_found_by_the_names_of_their_entity_and_their_task,
    a_page_of_a_search_of_approvals_goes_on_where_it_ended,
    the_inbox_counts_and_lists_what_a_search_finds,
    memories_are_searched_by_words_and_by_parts_of_the_path,
    a_field_that_a_list_lacks_is_refused_with_those_it_has,
);

async fn tools(f: &Fixture, line: &str) -> Result<Listed<String>> {
    let found = tool::list_matching(&f.ledger, &f.member, Some(line), ListPage::default()).await?;
    let items = found.items.into_iter().map(|tool| tool.slug).collect();
    Ok(Listed { items, next_cursor: found.next_cursor })
}

async fn forms(f: &Fixture, line: &str) -> Result<Listed<String>> {
    let found = view::list_matching(&f.ledger, &f.member, Some(line), ListPage::default()).await?;
    let items = found.items.into_iter().map(|view| view.slug).collect();
    Ok(Listed { items, next_cursor: found.next_cursor })
}

async fn documents(f: &Fixture, line: &str) -> Result<Listed<String>> {
    let listing = Listing { line: Some(line.to_owned()), ..Listing::default() };
    let found = memory::list(&f.ledger, &f.member, AGENT, listing).await?;
    let items = found.items.into_iter().map(|document| document.path).collect();
    Ok(Listed { items, next_cursor: found.next_cursor })
}

async fn tools_are_found_by_slug_name_and_description(f: Fixture) {
    for (name, about) in
        [("Weather", "The weather of a city."), ("Tides", "The weather of a coast."), ("Rate 100%", "x_y")]
    {
        let mut definition = weather();
        definition["name"] = name.into();
        definition["description"] = about.into();
        create(&f, &f.operator, definition).await.unwrap();
        f.clock.advance(TimeDelta::seconds(1));
    }
    for (line, slugs) in [
        ("", &["rate-100", "tides", "weather"][..]),
        ("WEATHER", &["tides", "weather"]),
        ("title:weath", &["weather"]),
        ("weather -coast", &["weather"]),
        ("-title:tides weather", &["weather"]),
        ("\"of a c\"", &["tides", "weather"]),
        ("title:0%", &["rate-100"]),
        ("x_y", &["rate-100"]),
        ("title:_ides", &[]),
    ] {
        assert_eq!(tools(&f, line).await.unwrap().items, slugs, "{line}");
    }
    let page = ListPage { limit: 1, cursor: None };
    let first = tool::list_matching(&f.ledger, &f.member, Some("weather"), page).await.unwrap();
    let page = ListPage { limit: 1, cursor: first.next_cursor };
    let second = tool::list_matching(&f.ledger, &f.member, Some("weather"), page).await.unwrap();
    assert_eq!((second.items[0].slug.as_str(), second.next_cursor), ("weather", None));
    f.done().await;
}

async fn a_nul_in_a_schema_hides_no_tool(f: Fixture) {
    for (name, pattern) in [("Weather", "^[^\u{0}]*$"), ("Tides", r"^[^\u0000]*$")] {
        let mut definition = weather();
        definition["name"] = name.into();
        definition["inputSchema"]["properties"]["city"]["description"] = pattern.into();
        let draft = create(&f, &f.operator, definition).await.unwrap();
        publish(&f, &draft).await;
        f.clock.advance(TimeDelta::seconds(1));
    }
    for (text, name) in [("weath", "Weather"), ("tid", "Tides")] {
        assert_eq!(tools(&f, &format!("title:{text}")).await.unwrap().items, [name.to_lowercase()], "{text}");
        let found = page::find::read(&f.ledger, &f.member, text, 5).await.unwrap().tools;
        assert_eq!(found.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), [name], "{text}");
    }
    f.done().await;
}

async fn forms_are_found_by_slug_title_and_introduction(f: Fixture) {
    for (title, introduction) in [("Weekly check", "About the team"), ("Exit", "A check of what went well")] {
        let new = NewView { title: title.into(), introduction: introduction.into(), ..NewView::default() };
        view::create(&f.ledger, &f.operator, new).await.unwrap();
        f.clock.advance(TimeDelta::seconds(1));
    }
    for (line, slugs) in [
        ("check", &["exit", "weekly-check"][..]),
        ("title:check", &["weekly-check"]),
        ("check -team", &["exit"]),
        ("weekly-check", &["weekly-check"]),
        ("nothing", &[]),
    ] {
        assert_eq!(forms(&f, line).await.unwrap().items, slugs, "{line}");
    }
    f.done().await;
}

async fn memory_documents_are_found_by_their_paths(f: Fixture) {
    for path in ["topics/refunds.md", "topics/money.md", "people/mail-refund@x.org.md"] {
        put(&f, &f.operator, path, 0, "x\n").await.unwrap();
    }
    for (line, paths) in [
        ("refund", &["people/mail-refund@x.org.md", "topics/refunds.md"][..]),
        ("refund title:topics", &["topics/refunds.md"]),
        ("topics -refund", &["topics/money.md"]),
        ("title:topics,people md -money", &["people/mail-refund@x.org.md", "topics/refunds.md"]),
    ] {
        assert_eq!(documents(&f, line).await.unwrap().items, paths, "{line}");
    }
    f.done().await;
}

async fn a_field_that_a_list_lacks_is_refused_with_those_it_has(f: Fixture) {
    let refusals = [tools(&f, "cost>1").await, forms(&f, "tea status:failed").await, documents(&f, "-agent:x").await];
    for refused in refusals {
        let is_named =
            matches!(&refused, Err(Error::Invalid(issues)) if issues[0].message.contains("the fields are title."));
        assert!(is_named, "{refused:?}");
    }
    f.done().await;
}

/// A session that waits for the approval of a call of a tool.
async fn call(f: &Fixture, tool: &str, input: Value) {
    let session = f.running().await;
    let Value::Object(tool_input) = input else { panic!("an object") };
    let call = PausedToolCall { tool_call_id: "call-1".into(), tool_name: tool.into(), tool_input };
    let waits =
        YieldRequest { paused_tool_call: Some(call), ..YieldRequest::at(session.attempt, YieldTo::AwaitingTool) };
    session::yield_to(&f.ledger, &f.worker, session.id, waits).await.unwrap();
}

async fn approvals(f: &Fixture, line: &str, limit: u32, cursor: Option<String>) -> Result<Listed<GateItem>> {
    let wanted = ListGates { filter: GateFilter::In(GateState::Open), kind: None, all: true, limit, cursor };
    gate::list_matching(&f.ledger, &f.operator, wanted, Some(line)).await
}

async fn approvals_are_found_by_agent_kind_tool_title_and_values(f: Fixture) {
    call(&f, "stripe_refund", json!({ "amount": 417, "reason": "Broken Cup" })).await;
    call(&f, "send_mail", json!({ "body": "About the refund" })).await;
    question(&f, &f.running().await, "Which refund is it?").await;
    for (line, count) in [
        ("", 3),
        ("refund", 3),
        ("tool:refund", 1),
        ("tool:STRIPE,mail", 2),
        ("kind:question", 1),
        ("-kind:question refund", 2),
        ("kind:tool,question agent:scout", 3),
        ("agent:clerk", 0),
        ("-agent:scout refund", 0),
        ("417", 1),
        ("\"broken cup\"", 1),
        // The name of a value is not searched.
        ("amount", 0),
        ("title:\"which refund\"", 1),
        ("refund -mail", 2),
    ] {
        assert_eq!(approvals(&f, line, 0, None).await.unwrap().items.len(), count, "{line}");
    }
    for (line, part) in [
        ("cost>1", "the fields are agent, title, kind, tool."),
        ("kind:patch", "one of tool, output, fields, question, memory"),
    ] {
        let refused = approvals(&f, line, 0, None).await;
        assert!(
            matches!(&refused, Err(Error::Invalid(issues)) if issues[0].message.contains(part)),
            "{line}: {refused:?}"
        );
    }
    f.done().await;
}

async fn approvals_are_found_by_the_names_of_their_entity_and_their_task(f: Fixture) {
    let company = company(&f).await;
    for title in ["Acme Corp", "Beta Works"] {
        let entity = acme(&f, &company, title).await;
        let of = gated(&f, Some(entity.id), Value::Null, json!({})).await;
        staged(&f, &of, &json!({ "stage": "Won" })).await;
    }
    for (line, count) in [
        ("acme", 1),
        ("title:acme", 1),
        ("title:\"corp\" won", 1),
        ("-title:acme won", 1),
        ("-acme won", 1),
        ("title:acme,beta", 2),
        ("qualify", 2),
        ("gamma", 0),
    ] {
        assert_eq!(approvals(&f, line, 0, None).await.unwrap().items.len(), count, "{line}");
    }
    f.done().await;
}

async fn a_page_of_a_search_of_approvals_goes_on_where_it_ended(f: Fixture) {
    for number in 0..7 {
        let tool = if number % 2 == 0 { "even" } else { "odd" };
        call(&f, tool, json!({ "number": number })).await;
        f.clock.advance(TimeDelta::seconds(1));
    }
    let (mut found, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let page = approvals(&f, "tool:even", 3, cursor).await.unwrap();
        found.extend(page.items.into_iter().map(|item| item.gate.id));
        pages += 1;
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let all = approvals(&f, "", 0, None).await.unwrap().items;
    let even: Vec<_> = all.iter().step_by(2).map(|item| item.gate.id).collect();
    assert_eq!((found, pages), (even, 2));
    f.done().await;
}

async fn the_inbox_counts_and_lists_what_a_search_finds(f: Fixture) {
    for number in 0..5 {
        let tool = if number % 2 == 0 { "even" } else { "odd" };
        call(&f, tool, json!({ "number": number })).await;
        f.clock.advance(TimeDelta::seconds(1));
    }
    let session = f.running().await;
    ask(&f, &session, request(&session, "k", false)).await;
    let inbox = async |line: &str, cursor| {
        let filter = GateFilter::In(GateState::Open);
        let wanted = ListRequest { filter, everyone: true, line: Some(line.to_owned()), cursor };
        page::inbox::list(&f.ledger, &f.operator, wanted).await
    };
    for (line, gates, questions) in [
        ("", 5, 1),
        ("tool:even", 3, 0),
        ("tool:odd", 2, 0),
        ("kind:question", 0, 1),
        ("\"we start\"", 0, 1),
        ("title:start -kind:tool", 0, 1),
        ("-kind:question", 5, 0),
    ] {
        let list = inbox(line, None).await.unwrap();
        assert_eq!((list.items.len(), list.questions.len()), (gates, questions), "{line}");
    }
    // A page after the first one has items on others too, so the server counts those that are alike.
    let first = approvals(&f, "tool:even", 1, None).await.unwrap();
    let key = first.items[0].gate.similar_key.clone();
    let rest = inbox("tool:even", first.next_cursor).await.unwrap();
    assert_eq!((rest.items.len(), rest.alike), (2, [(key, 3)].into()));
    assert!(matches!(inbox("cost>1", None).await, Err(Error::Invalid(_))));
    let line = Some("tool:even".to_owned());
    let wanted = DecidedRequest { filter: DecidedFilter::default(), everyone: true, line, limit: 7, cursor: None };
    let decided = page::inbox::list_decided(&f.ledger, &f.operator, wanted).await.unwrap();
    assert!(decided.items.is_empty(), "they are open");
    f.done().await;
}

async fn memories_are_searched_by_words_and_by_parts_of_the_path(f: Fixture) {
    let (refunds, money, ann) = ("topics/refunds.md", "topics/money.md", "people/mail-ann@x.org.md");
    for (path, text) in [(refunds, "green tea\nblack tea\n"), (money, "black coffee\n"), (ann, "likes green tea\n")] {
        put(&f, &f.operator, path, 0, text).await.unwrap();
    }
    let (l, m) = (&f.ledger, &f.member);
    for (line, paths) in [
        ("tea", &[ann, refunds][..]),
        ("tea title:topics", &[refunds]),
        ("tea -title:topics", &[ann]),
        ("title:topics", &[money, refunds]),
        ("title:REFUND", &[refunds]),
        ("title:ann,money", &[ann, money]),
        ("tea -black", &[ann]),
        ("\"black tea\"", &[refunds]),
        ("title:nothing", &[]),
    ] {
        let of_all = page::memory_home::read(l, m, Some(line.to_owned())).await.unwrap().found.unwrap();
        let search = Selection::Search(line.to_owned());
        let of_agent = page::memory::memory(l, m, AGENT, search).await.unwrap().found.unwrap();
        for found in [of_all, of_agent] {
            let mut found: Vec<_> = found.iter().map(|found| found.document.path.as_str()).collect();
            found.sort_unstable();
            assert_eq!(found, paths, "{line}");
        }
    }
    let found = page::memory_home::read(l, m, Some("title:money".to_owned())).await.unwrap().found.unwrap();
    assert_eq!((found[0].line, found[0].excerpt.as_str()), (1, "black coffee"));
    for line in ["agent:x", "tea \"", "-tea"] {
        let refused = page::memory_home::read(l, m, Some(line.to_owned())).await.map(|_| ());
        assert!(matches!(&refused, Err(Error::Invalid(issues)) if issues[0].field == "q"), "{line}: {refused:?}");
    }
    let of_others = page::memory_home::read(l, &f.stranger, Some("title:topics".to_owned())).await.unwrap().found;
    assert_eq!(of_others, Some(Vec::new()), "another workspace");
    f.done().await;
}
