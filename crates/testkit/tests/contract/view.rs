//! Views: working copies with revisions, and published versions that never change.

use crate::criteria_set::{brand_safety, compliance, fields_of};
use domain::{
    Scope,
    view::{Field, FormSchema, Gate, Publication, State},
};
use ledger::{
    CriteriaSetRecord, Error, ListPage, Settings, ViewRecord,
    bundle::{Mode, install},
    criteria_set::{self, CriteriaSetChange},
    page,
    view::{self, NewView, ViewChange},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_published_version_never_changes,
    publishing_twice_adds_one_version,
    an_edit_of_an_older_revision_is_refused_and_names_the_current_one,
    of_edits_of_one_revision_at_once_one_wins,
    publishing_another_revision_than_was_read_is_refused,
    a_version_keeps_the_dimensions_of_its_ratings,
    an_unpublished_view_keeps_its_versions_and_can_come_back,
    only_a_draft_can_be_deleted,
    what_a_view_refers_to_must_exist,
    wrong_fields_are_refused_by_their_path,
    a_slug_is_taken_once_and_never_a_page,
    respondents_are_sent_only_to_allowed_hosts,
    operators_and_admins_write_views_and_everyone_reads_them,
    another_workspace_finds_no_view,
    views_and_versions_are_listed_page_by_page,
    a_view_that_is_not_listed_is_not_found,
    a_bundle_creates_changes_and_publishes_a_view,
);

fn fields(json: Value) -> Vec<Field> {
    serde_json::from_value(json).unwrap()
}

fn questions() -> Vec<Field> {
    fields(json!([
        { "key": "mood", "label": "How was your week?", "type": "scale", "minimum": 1, "maximum": 5, "required": true },
        { "key": "why", "label": "Why?", "type": "long_text", "showIf": { "field": "mood", "in": [1, 2] } },
    ]))
}

/// Creates the draft `weekly-check` with two fields.
pub async fn weekly_check(f: &Fixture) -> ViewRecord {
    let new = NewView { title: "Weekly check".into(), fields: questions(), ..NewView::default() };
    view::create(&f.ledger, &f.operator, new).await.unwrap()
}

async fn publish(f: &Fixture, made: &ViewRecord) -> ViewRecord {
    view::publish(&f.ledger, &f.operator, made.id, Some(made.revision)).await.unwrap()
}

async fn titled(f: &Fixture, made: &ViewRecord, title: &str) -> Result<ViewRecord, Error> {
    let change = ViewChange { revision: made.revision, title: Some(title.into()), ..ViewChange::default() };
    view::update(&f.ledger, &f.operator, made.id, change).await
}

async fn a_published_version_never_changes(f: Fixture) {
    let draft = weekly_check(&f).await;
    assert_eq!(
        (draft.slug.as_str(), draft.state, draft.version, draft.revision),
        ("weekly-check", State::Draft, None, 1)
    );
    let first = publish(&f, &draft).await;
    assert_eq!((first.state, first.version, first.revision), (State::Published, Some(1), 1));
    assert!(draft.is_changed() && !first.is_changed());
    f.clock.advance(chrono::TimeDelta::seconds(5));
    let edited = titled(&f, &first, "How was it?").await.unwrap();
    assert_eq!((edited.state, edited.version, edited.revision), (State::Published, Some(1), 2));
    assert!(edited.is_changed());
    let version = view::get_version(&f.ledger, &f.member, draft.id, 1).await.unwrap();
    assert_eq!((version.title.as_str(), version.fields.clone()), ("Weekly check", questions()));
    let second = publish(&f, &edited).await;
    assert_eq!((second.version, second.is_changed()), (Some(2), false));
    assert_eq!(view::get_version(&f.ledger, &f.member, draft.id, 1).await.unwrap(), version);
    let newest = view::get_version(&f.ledger, &f.member, draft.id, 2).await.unwrap();
    assert_eq!((newest.title.as_str(), newest.published_by), ("How was it?", f.operator.caller.to_string()));
    assert_eq!((newest.published_at - version.published_at).num_seconds(), 5);
    let missing = view::get_version(&f.ledger, &f.member, draft.id, 3).await;
    assert!(matches!(missing, Err(Error::NotFound(_))), "{missing:?}");
    let mut raw = f.engine.raw().await;
    assert!(raw.execute("UPDATE view_versions SET title = 'x'").await.is_err(), "a version was rewritten");
    assert!(raw.execute("DELETE FROM view_versions").await.is_err(), "a version was deleted");
    f.done().await;
}

async fn publishing_twice_adds_one_version(f: Fixture) {
    let draft = weekly_check(&f).await;
    let first = publish(&f, &draft).await;
    f.clock.advance(chrono::TimeDelta::seconds(5));
    assert_eq!(publish(&f, &first).await, first, "a repeat changed something");
    // An edit that is taken back asks the same, so the version stays.
    let edited = titled(&f, &first, "Other").await.unwrap();
    let back = titled(&f, &edited, "Weekly check").await.unwrap();
    let again = publish(&f, &back).await;
    assert_eq!((again.version, again.revision, again.is_changed()), (Some(1), 3, false));
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM view_versions").await, 1);
    f.done().await;
}

async fn an_edit_of_an_older_revision_is_refused_and_names_the_current_one(f: Fixture) {
    let draft = weekly_check(&f).await;
    let edited = titled(&f, &draft, "First").await.unwrap();
    let refused = titled(&f, &draft, "Second").await;
    assert!(matches!(refused, Err(Error::StaleRevision { given: 1, current: 2 })), "{refused:?}");
    let unchanged = titled(&f, &edited, "First").await.unwrap();
    assert_eq!(unchanged, edited, "a change that changes nothing made a revision");
    let twice = titled(&f, &draft, "First").await.unwrap();
    assert_eq!(twice, edited, "a change that was sent twice was refused");
    for given in [0, 3] {
        let never = ViewRecord { revision: given, ..edited.clone() };
        let refused = titled(&f, &never, "First").await;
        assert!(matches!(refused, Err(Error::StaleRevision { current: 2, .. })), "{given}: {refused:?}");
    }
    assert_eq!(view::get(&f.ledger, &f.member, draft.id).await.unwrap(), edited);
    f.done().await;
}

async fn of_edits_of_one_revision_at_once_one_wins(f: Fixture) {
    let draft = weekly_check(&f).await;
    let titles: Vec<String> = (0..8).map(|n| format!("By {n}")).collect();
    let all = futures_util::future::join_all(titles.iter().map(|title| titled(&f, &draft, title))).await;
    let (won, lost): (Vec<_>, Vec<_>) = all.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 7));
    assert!(lost.iter().all(|r| matches!(r, Err(Error::StaleRevision { given: 1, current: 2 }))), "{lost:?}");
    let publications = (0..4).map(|_| view::publish(&f.ledger, &f.operator, draft.id, None));
    let published = futures_util::future::join_all(publications).await;
    assert!(published.iter().all(|view| view.as_ref().unwrap().version == Some(1)), "{published:?}");
    f.done().await;
}

async fn publishing_another_revision_than_was_read_is_refused(f: Fixture) {
    let draft = weekly_check(&f).await;
    titled(&f, &draft, "Changed by another").await.unwrap();
    let refused = view::publish(&f.ledger, &f.operator, draft.id, Some(1)).await;
    assert!(matches!(refused, Err(Error::StaleRevision { given: 1, current: 2 })), "{refused:?}");
    assert_eq!(view::get(&f.ledger, &f.member, draft.id).await.unwrap().state, State::Draft);
    let empty = view::create(&f.ledger, &f.operator, NewView { title: "Empty".into(), ..NewView::default() }).await;
    let refused = view::publish(&f.ledger, &f.operator, empty.unwrap().id, None).await;
    assert_eq!(fields_of(refused), ["fields"]);
    f.done().await;
}

fn rated(set: &CriteriaSetRecord) -> Vec<Field> {
    fields(json!([{ "key": "safe", "label": "Safe?", "type": "rating", "criteriaSet": set.slug }]))
}

fn dimensions(list: &[Field]) -> usize {
    list[0].kind.dimensions().expect("a rating").len()
}

async fn a_version_keeps_the_dimensions_of_its_ratings(f: Fixture) {
    let set = brand_safety(&f).await;
    let new = NewView { title: "Rate it".into(), fields: rated(&set), ..NewView::default() };
    let made = view::create(&f.ledger, &f.operator, new).await.unwrap();
    let published = publish(&f, &made).await;
    assert_eq!(dimensions(&published.fields), 0, "the working copy has dimensions");
    let tone = serde_json::from_value(json!([
        { "slug": "tone", "name": "Tone", "type": "scale", "min": 1, "max": 5 },
        { "slug": "style", "name": "Style", "type": "scale", "min": 1, "max": 5 },
    ]));
    let change = CriteriaSetChange { version: 1, dimensions: Some(tone.unwrap()), ..Default::default() };
    criteria_set::update(&f.ledger, &f.operator, set.id, change).await.unwrap();
    let first = view::get_version(&f.ledger, &f.member, made.id, 1).await.unwrap();
    assert_eq!(dimensions(&first.fields), 1);
    // The criteria set asks something else now, so publishing the same working copy adds a version.
    let again = publish(&f, &published).await;
    assert_eq!(again.version, Some(2));
    let second = view::get_version(&f.ledger, &f.member, made.id, 2).await.unwrap();
    assert_eq!(dimensions(&second.fields), 2);
    // The fields of a version can be sent back; invented dimensions have no effect.
    let change = ViewChange { revision: 1, fields: Some(second.fields), ..ViewChange::default() };
    assert_eq!(view::update(&f.ledger, &f.operator, made.id, change).await.unwrap(), again);
    f.done().await;
}

async fn an_unpublished_view_keeps_its_versions_and_can_come_back(f: Fixture) {
    let draft = weekly_check(&f).await;
    let refused = view::unpublish(&f.ledger, &f.operator, draft.id).await;
    assert!(matches!(refused, Err(Error::WrongState { state: State::Draft, .. })), "{refused:?}");
    let published = publish(&f, &draft).await;
    let closed = view::unpublish(&f.ledger, &f.operator, draft.id).await.unwrap();
    assert_eq!((closed.state, closed.version, closed.revision), (State::Unpublished, Some(1), 1));
    assert_eq!(view::unpublish(&f.ledger, &f.operator, draft.id).await.unwrap(), closed);
    assert!(view::get_version(&f.ledger, &f.member, draft.id, 1).await.is_ok());
    let back = publish(&f, &published).await;
    assert_eq!((back.state, back.version), (State::Published, Some(1)));
    f.done().await;
}

async fn only_a_draft_can_be_deleted(f: Fixture) {
    let draft = weekly_check(&f).await;
    view::delete(&f.ledger, &f.operator, draft.id).await.unwrap();
    let gone = view::delete(&f.ledger, &f.operator, draft.id).await;
    assert!(matches!(gone, Err(Error::NotFound(_))), "{gone:?}");
    let second = weekly_check(&f).await;
    assert_ne!(second.id, draft.id);
    publish(&f, &second).await;
    let refused = view::delete(&f.ledger, &f.operator, second.id).await;
    assert!(matches!(refused, Err(Error::WrongState { state: State::Published, .. })), "{refused:?}");
    view::unpublish(&f.ledger, &f.operator, second.id).await.unwrap();
    assert!(view::delete(&f.ledger, &f.operator, second.id).await.is_err(), "a published view was deleted");
    f.done().await;
}

async fn what_a_view_refers_to_must_exist(f: Fixture) {
    let asked = fields(json!([
        { "key": "a", "label": "A?", "type": "rating", "criteriaSet": "brand-safety" },
        { "key": "b", "label": "B?", "type": "entity", "entityType": "company" },
    ]));
    let publication = Publication { audience: Some("compliance".into()), ..Publication::default() };
    let new = NewView { title: "Refers".into(), fields: asked.clone(), publication, ..NewView::default() };
    let refused = fields_of(view::create(&f.ledger, &f.operator, new.clone()).await);
    assert_eq!(refused, ["fields[0].criteriaSet", "fields[1].entityType", "publishConfig.audience"]);
    brand_safety(&f).await;
    compliance(&f).await;
    let new = NewView { fields: asked[..1].to_vec(), ..new };
    let made = view::create(&f.ledger, &f.operator, new).await.unwrap();
    let change = ViewChange { revision: 1, fields: Some(asked), ..ViewChange::default() };
    let refused = fields_of(view::update(&f.ledger, &f.operator, made.id, change).await);
    assert_eq!(refused, ["fields[1].entityType"]);
    f.done().await;
}

async fn wrong_fields_are_refused_by_their_path(f: Fixture) {
    let wrong = fields(json!([
        { "key": "a", "label": "A?", "type": "single_choice", "options": [] },
        { "key": "a", "label": "", "type": "yes_no", "showIf": { "field": "later", "filled": true } },
    ]));
    let publication = Publication { gate: Gate::None, audience: Some("team".into()), ..Publication::default() };
    let new =
        NewView { title: "x\ny".into(), slug: Some("X".into()), fields: wrong, publication, ..NewView::default() };
    let refused = fields_of(view::create(&f.ledger, &f.operator, new).await);
    let paths = [
        "title",
        "slug",
        "fields[0].options",
        "fields[1].key",
        "fields[1].label",
        "fields[1].showIf.field",
        "publishConfig.audience",
    ];
    assert_eq!(refused, paths);
    let schema = r#"{"type":"object","properties":{"z":{"type":"string","pattern":"x"},"a":{"type":"boolean"}}}"#;
    let schema: FormSchema = serde_json::from_str(schema).unwrap();
    assert_eq!(fields_of(view::fields_of_schema(&schema)), ["schema.properties.z.pattern"]);
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM views").await, 0);
    f.done().await;
}

/// The view that the page of a slug shows.
async fn by_slug(f: &Fixture, scope: &Scope, slug: &str) -> Result<ViewRecord, Error> {
    Ok(page::view::read(&f.ledger, scope, slug.to_owned()).await?.view)
}

async fn a_slug_is_taken_once_and_never_a_page(f: Fixture) {
    let made = weekly_check(&f).await;
    let again = NewView { title: "Weekly check".into(), ..NewView::default() };
    let taken = view::create(&f.ledger, &f.operator, again.clone()).await;
    assert!(matches!(taken, Err(Error::NameTaken(_))), "{taken:?}");
    assert!(view::create(&f.ledger, &f.stranger, again).await.is_ok(), "slugs of workspaces are not separate");
    for (title, slug) in [("New", None), ("Other", Some("new")), ("日本", None)] {
        let new = NewView { title: title.into(), slug: slug.map(str::to_owned), ..NewView::default() };
        assert_eq!(fields_of(view::create(&f.ledger, &f.operator, new).await), ["slug"]);
    }
    assert_eq!(by_slug(&f, &f.member, "weekly-check").await.unwrap(), made);
    f.done().await;
}

async fn respondents_are_sent_only_to_allowed_hosts(mut f: Fixture) {
    let to = |url: &str| NewView {
        title: "Sent".into(),
        fields: questions(),
        publication: Publication { redirect_url: Some(url.into()), ..Publication::default() },
        ..NewView::default()
    };
    let refused = view::create(&f.ledger, &f.operator, to("https://example.org/done")).await;
    assert_eq!(fields_of(refused), ["publishConfig.redirectUrl"]);
    f.restart_with_settings(Settings { redirect_hosts: vec!["example.org".into()], ..Settings::default() }).await;
    for elsewhere in ["https://example.org.evil.test/", "https://sub.example.org/", "https://example.org:8443/"] {
        let refused = view::create(&f.ledger, &f.operator, to(elsewhere)).await;
        assert_eq!(fields_of(refused), ["publishConfig.redirectUrl"], "{elsewhere}");
    }
    let made = view::create(&f.ledger, &f.operator, to("https://example.org/done")).await.unwrap();
    let change = |url: &str| ViewChange {
        revision: made.revision,
        publication: Some(to(url).publication),
        ..ViewChange::default()
    };
    let refused = view::update(&f.ledger, &f.operator, made.id, change("https://evil.test/")).await;
    assert_eq!(fields_of(refused), ["publishConfig.redirectUrl"]);
    assert!(view::update(&f.ledger, &f.operator, made.id, change("/sessions")).await.is_ok());
    f.done().await;
}

async fn operators_and_admins_write_views_and_everyone_reads_them(f: Fixture) {
    let made = weekly_check(&f).await;
    for scope in [&f.member, &f.worker] {
        let new = NewView { title: "Mine".into(), ..NewView::default() };
        let refusals = [
            view::create(&f.ledger, scope, new).await.err(),
            view::update(&f.ledger, scope, made.id, ViewChange::default()).await.err(),
            view::publish(&f.ledger, scope, made.id, None).await.err(),
            view::unpublish(&f.ledger, scope, made.id).await.err(),
            view::delete(&f.ledger, scope, made.id).await.err(),
        ];
        assert!(refusals.iter().all(|e| matches!(e, Some(Error::Forbidden(_)))), "{refusals:?}");
        assert_eq!(view::get(&f.ledger, scope, made.id).await.unwrap(), made);
    }
    let change = ViewChange { revision: 1, introduction: Some("Please".into()), ..ViewChange::default() };
    assert!(view::update(&f.ledger, &f.admin, made.id, change).await.is_ok());
    f.done().await;
}

async fn another_workspace_finds_no_view(f: Fixture) {
    let made = publish(&f, &weekly_check(&f).await).await;
    let scope: &Scope = &f.stranger;
    let page = ListPage::default;
    let refusals = [
        view::get(&f.ledger, scope, made.id).await.err(),
        by_slug(&f, scope, "weekly-check").await.err(),
        view::get_version(&f.ledger, scope, made.id, 1).await.err(),
        view::list_versions(&f.ledger, scope, made.id, page()).await.err(),
        view::update(&f.ledger, scope, made.id, ViewChange { revision: 1, ..ViewChange::default() }).await.err(),
        view::publish(&f.ledger, scope, made.id, None).await.err(),
        view::unpublish(&f.ledger, scope, made.id).await.err(),
        view::delete(&f.ledger, scope, made.id).await.err(),
    ];
    assert!(refusals.iter().all(|e| matches!(e, Some(Error::NotFound(_)))), "{refusals:?}");
    assert!(view::list(&f.ledger, scope, page()).await.unwrap().items.is_empty());
    f.done().await;
}

async fn views_and_versions_are_listed_page_by_page(f: Fixture) {
    let mut made = publish(&f, &weekly_check(&f).await).await;
    for n in 2..=3 {
        f.clock.advance(chrono::TimeDelta::seconds(1));
        made = publish(&f, &titled(&f, &made, &format!("Version {n}")).await.unwrap()).await;
        let new = NewView { title: format!("Other {n}"), ..NewView::default() };
        view::create(&f.ledger, &f.operator, new).await.unwrap();
    }
    let first = view::list(&f.ledger, &f.member, ListPage { limit: 2, cursor: None }).await.unwrap();
    let slugs = |page: &[ViewRecord]| page.iter().map(|view| view.slug.clone()).collect::<Vec<_>>();
    assert_eq!(slugs(&first.items), ["other-3", "other-2"]);
    let rest = ListPage { limit: 2, cursor: first.next_cursor.clone() };
    let rest = view::list(&f.ledger, &f.member, rest).await.unwrap();
    assert_eq!((slugs(&rest.items), rest.next_cursor), (vec!["weekly-check".to_owned()], None));
    let page = ListPage { limit: 2, cursor: None };
    let versions = view::list_versions(&f.ledger, &f.member, made.id, page).await.unwrap();
    assert_eq!(versions.items.iter().map(|version| version.version).collect::<Vec<_>>(), [3, 2]);
    let page = ListPage { limit: 2, cursor: versions.next_cursor };
    let versions = view::list_versions(&f.ledger, &f.member, made.id, page).await.unwrap();
    assert_eq!((versions.items[0].version, versions.next_cursor), (1, None));
    let foreign = ListPage { limit: 2, cursor: first.next_cursor };
    let refused = view::list_versions(&f.ledger, &f.member, made.id, foreign).await;
    assert!(matches!(refused, Err(Error::InvalidCursor)), "{refused:?}");
    f.done().await;
}

async fn a_view_that_is_not_listed_is_not_found(f: Fixture) {
    let made = publish(&f, &weekly_check(&f).await).await;
    let mut raw = f.engine.raw().await;
    raw.execute("UPDATE views SET listed = 0").await.unwrap();
    let refusals = [
        view::get(&f.ledger, &f.admin, made.id).await.err(),
        by_slug(&f, &f.admin, "weekly-check").await.err(),
        view::list_versions(&f.ledger, &f.admin, made.id, ListPage::default()).await.err(),
        view::unpublish(&f.ledger, &f.admin, made.id).await.err(),
    ];
    assert!(refusals.iter().all(|e| matches!(e, Some(Error::NotFound(_)))), "{refusals:?}");
    assert!(view::list(&f.ledger, &f.admin, ListPage::default()).await.unwrap().items.is_empty());
    f.done().await;
}

async fn a_bundle_creates_changes_and_publishes_a_view(f: Fixture) {
    let bundle = |title: &str, publish: bool| {
        let rated = json!({ "key": "safe", "label": "Safe?", "type": "rating", "criteriaSet": "safety" });
        let set = json!({ "slug": "safety", "name": "Safety", "dimensions": [{ "slug": "why", "type": "text" }] });
        let view = json!({ "slug": "check", "title": title, "fields": [rated], "publish": publish });
        json!({ "criteriaSets": [set], "views": [view] }).to_string()
    };
    let kept = |plan: &domain::bundle::Plan| plan.is_done();
    let refused = install(&f.ledger, &f.member, &bundle("Check", false), Mode::Apply).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let planned = install(&f.ledger, &f.operator, &bundle("Check", true), Mode::DryRun).await.unwrap();
    assert!(!kept(&planned) && by_slug(&f, &f.member, "check").await.is_err());
    install(&f.ledger, &f.operator, &bundle("Check", false), Mode::Apply).await.unwrap();
    let draft = by_slug(&f, &f.member, "check").await.unwrap();
    assert_eq!((draft.state, draft.revision), (State::Draft, 1));
    install(&f.ledger, &f.operator, &bundle("Check", true), Mode::Apply).await.unwrap();
    assert!(kept(&install(&f.ledger, &f.operator, &bundle("Check", true), Mode::Apply).await.unwrap()));
    install(&f.ledger, &f.operator, &bundle("Check it", true), Mode::Apply).await.unwrap();
    let second = by_slug(&f, &f.member, "check").await.unwrap();
    assert_eq!((second.title.as_str(), second.version, second.revision), ("Check it", Some(2), 2));
    let wrong = json!({ "views": [{ "slug": "new", "title": "x", "fields": [] }] }).to_string();
    assert_eq!(fields_of(install(&f.ledger, &f.operator, &wrong, Mode::Apply).await), ["views[0].slug"]);
    f.done().await;
}
