//! Erasing several entities of the list without scripts.

use crate::{
    app::{App, Who},
    browser::{Browser, add_person},
};
use reqwest::StatusCode;
use serde_json::{Value, json};

const ERASE: &str = "/entities/erase";

/// Creates an entity type with this slug, and entities of it.
async fn entities(app: &App, slug: &str, titles: &[String]) -> Vec<String> {
    let of = app.post(Who::Operator, "/api/entity-types", json!({ "name": slug, "slug": slug })).await;
    let mut ids = Vec::new();
    for title in titles {
        let made: Value = app.post(Who::Member, "/api/entities", json!({ "typeId": of["id"], "title": title })).await;
        ids.push(made["id"].as_str().unwrap().to_owned());
    }
    ids
}

/// The fields that the confirmation of a preview sends, without the number.
fn named(page: &str) -> Vec<(&str, &str)> {
    let values = page.split("name=\"entity\" value=\"").skip(1).map(|rest| rest.split_once('"').unwrap().0);
    values.map(|value| ("entity", value)).chain([("next", "/entities")]).collect()
}

#[tokio::test]
async fn the_selected_entities_are_named_before_an_admin_erases_them_with_plain_forms() {
    let app = App::start();
    let titles: Vec<String> = (0..50).map(|number| format!("Secret <b>{number}")).collect();
    let ids = entities(&app, "company", &titles).await;
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let list = ada.page("/entities").await;
    assert!(list.contains("Erase selected…") && list.contains("data-tick-all"), "{list}");
    assert_eq!(list.matches("name=\"entity\"").count(), 50, "each row has a check box");
    let mut rest = ids.as_slice();
    for count in [1, 2, 7, 40] {
        let (these, others) = rest.split_at(count);
        rest = others;
        let selection: Vec<_> = these.iter().map(|id| ("entity", id.as_str())).collect();
        let asked = ada.post(ERASE, &selection).await;
        assert_eq!(asked.status(), StatusCode::OK);
        let page = asked.text().await.unwrap();
        assert!(page.contains(&format!("Type “{count}” to erase ")) && page.contains("Secret &lt;b&gt;"), "{page}");
        let confirmation = named(&page);
        assert_eq!(confirmation.len(), count + 1, "{page}");
        assert!(these.iter().all(|id| page.contains(&format!("value=\"{id}@1\""))), "{page}");

        let wrong = ada.post(ERASE, &[&confirmation[..], &[("confirm", "50")]].concat()).await;
        assert_eq!(wrong.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let refused = wrong.text().await.unwrap();
        assert!(refused.contains(&format!("type the number {count}")), "{refused}");
        assert_eq!(named(&refused), confirmation, "the refusal names the same entities");
        assert!(
            ada.page(&format!("/entities/{}", these[0])).await.contains("Secret &lt;b&gt;"),
            "nothing is erased yet"
        );

        let number = count.to_string();
        let done = ada.post(ERASE, &[&confirmation[..], &[("confirm", &number)]].concat()).await;
        assert_eq!(done.headers()["location"], "/entities?notice=entities_erased");
        for id in these {
            let tombstone = ada.page(&format!("/entities/{id}")).await;
            assert!(!tombstone.contains("Secret"), "{tombstone}");
        }
    }
    assert!(!ada.page("/entities").await.contains("Erase selected…"), "an empty list has nothing to select");
}

#[tokio::test]
async fn all_of_a_list_are_those_of_its_type_and_its_search() {
    let app = App::start();
    let titles = ["Acme one", "Acme two", "Zenith"].map(str::to_owned);
    let (companies, papers) = (entities(&app, "company", &titles).await, entities(&app, "paper", &titles).await);
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let all = [("all", "on"), ("type", "company"), ("q", "acme"), ("next", "/entities?type=company&q=acme")];
    let page = ada.post(ERASE, &all).await.text().await.unwrap();
    let mut values: Vec<&str> = named(&page)[..2].iter().map(|(_, value)| *value).collect();
    let mut expected: Vec<String> = companies[..2].iter().map(|id| format!("{id}@1")).collect();
    values.sort_unstable();
    expected.sort_unstable();
    assert_eq!((values.len(), named(&page).len()), (2, 3), "{page}");
    assert_eq!(values, expected, "{page}");
    // What was changed after it was shown is left as it is.
    let change = json!({ "version": 1, "title": "Acme three" });
    let path = format!("/api/entities/{}", companies[0]);
    let changed = app.request(Who::Member, reqwest::Method::PATCH, &path).json(&change).send().await.unwrap();
    assert_eq!(changed.status(), StatusCode::OK);
    let done = ada.post(ERASE, &[&named(&page)[..], &[("confirm", "2")]].concat()).await;
    assert_eq!(done.headers()["location"], "/entities?notice=entities_refused");
    let list = ada.page("/entities").await;
    let mut kept = [&companies[0], &companies[2]].into_iter().chain(&papers);
    assert!(kept.all(|id| list.contains(&format!("/entities/{id}"))), "{list}");
    assert!(!list.contains(&format!("/entities/{}", companies[1])), "{list}");
}

#[tokio::test]
async fn the_form_on_a_later_page_of_the_list_leads_back_to_that_page() {
    let app = App::start();
    let titles: Vec<String> = (0..51).map(|number| format!("Case {number}")).collect();
    let ids = entities(&app, "case", &titles).await;
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let first = ada.page("/entities").await;
    let cursor = first.split("href=\"/entities?cursor=").nth(1).unwrap().split_once('"').unwrap().0;
    let older = format!("/entities?cursor={cursor}");
    let page = ada.page(&older).await;
    let shown: Vec<&String> = ids.iter().filter(|id| page.contains(id.as_str())).collect();
    let [oldest] = shown[..] else { panic!("{shown:?}: {page}") };
    let form = [("next", older.as_str()), ("cursor", cursor)];
    for (name, value) in form {
        assert!(page.contains(&format!("name=\"{name}\" value=\"{value}\"")), "{name}: {page}");
    }
    let refused = ada.post(ERASE, &form).await.text().await.unwrap();
    assert!(refused.contains("Select at least one entity.") && refused.contains(oldest.as_str()), "{refused}");
    let asked = ada.post(ERASE, &[form[0], ("entity", oldest.as_str())]).await.text().await.unwrap();
    assert!(asked.contains(&format!("href=\"{older}\"")), "{asked}");
}

#[tokio::test]
async fn a_wrong_form_and_a_member_erase_nothing() {
    let app = App::start();
    let ids = entities(&app, "company", &["Secret".to_owned()]).await;
    let shown = format!("{}@1", ids[0]);
    let unknown = "01990000-0000-7000-8000-000000000000";
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    for (form, reason) in [
        (vec![("next", "/entities")], "Select at least one entity."),
        (vec![("confirm", "0")], "Select at least one entity."),
        (vec![("entity", unknown)], "The selected entities are erased already or not there."),
        (vec![("entity", shown.as_str()), ("entity", "x"), ("confirm", "2")], "an id and a version"),
        (vec![("entity", ids[0].as_str()), ("entity", "x")], "is not a UUID"),
        (vec![("entity", ids[0].as_str()), ("confirm", "1")], "an id and a version"),
    ] {
        let refused = ada.post(ERASE, &form).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY, "{form:?}");
        let page = refused.text().await.unwrap();
        assert!(page.contains(reason) && page.contains("Secret"), "{page}");
    }
    let page = ada.post(ERASE, &[("entity", unknown), ("entity", ids[0].as_str())]).await.text().await.unwrap();
    assert!(page.contains("1 entity of the selection is erased already or not there."), "{page}");
    assert_eq!(named(&page), [("entity", shown.as_str()), ("next", "/entities")]);

    add_person(&app, "mia@acme.test");
    let mut mia = Browser::of(&app, "mia@acme.test").await;
    assert!(!mia.page("/entities").await.contains("Erase selected…"));
    assert_eq!(mia.post(ERASE, &[("entity", ids[0].as_str())]).await.status(), StatusCode::FORBIDDEN);
    let confirmed = [("entity", shown.as_str()), ("confirm", "1")];
    assert_eq!(mia.post(ERASE, &confirmed).await.status(), StatusCode::FORBIDDEN);
    assert!(mia.page(&format!("/entities/{}", ids[0])).await.contains("Secret"));
}
