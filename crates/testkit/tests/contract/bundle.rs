//! Bundles: one is installed as a whole or not at all, every field is kept, and a second installation changes
//! nothing.

use crate::criteria_set::fields_of;
use domain::{
    Scope,
    bundle::{Plan, PlannedOperation},
    criteria_set::{SafetyGate, evaluate_safety_gate},
    gate::{Policy, needs_approval},
    role::Role,
};
use ledger::{
    Error, action,
    bundle::{Mode, install, install_by_operator},
    criteria_set, entity_type, group,
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_bundle_is_installed_as_a_whole_and_a_second_time_changes_nothing,
    a_dry_run_says_what_an_install_does_and_writes_nothing,
    what_differs_is_changed_field_by_field_and_the_rest_is_kept,
    one_error_refuses_the_whole_bundle,
    two_installs_at_once_lose_nothing,
    changes_of_different_fields_of_an_action_at_once_lose_nothing,
    a_bundle_needs_permission_for_each_object_and_changes_its_workspace_only,
    an_action_names_only_reviewers_and_criteria_that_exist,
    what_is_looked_up_by_a_text_with_a_nul_is_refused,
);

const EXAMPLE: &str = include_str!("../../../../examples/bundle.yaml");

fn operations(plan: &Plan) -> Vec<(&str, PlannedOperation)> {
    plan.items.iter().map(|item| (item.slug.as_str(), item.operation)).collect()
}

async fn rows(f: &Fixture) -> Vec<i64> {
    let mut raw = f.engine.raw().await;
    let mut counts = Vec::new();
    for table in ["criteria_sets", "criteria_set_versions", "groups", "group_members", "entity_types", "actions"] {
        counts.push(raw.number(&format!("SELECT COUNT(*) FROM {table}")).await);
    }
    counts
}

async fn a_bundle_is_installed_as_a_whole_and_a_second_time_changes_nothing(f: Fixture) {
    let plan = install(&f.ledger, &f.operator, EXAMPLE, Mode::Apply).await.unwrap();
    let all = ["compliance", "outreach-safety", "company", "update-company"];
    assert_eq!(operations(&plan), all.map(|slug| (slug, PlannedOperation::Create)));
    let set = criteria_set::list(&f.ledger, &f.member, Default::default()).await.unwrap().items.remove(0);
    // Labels, styles, scores and hard blocks of the options are kept.
    let claim = &set.dimensions[1].options;
    let options: Vec<_> = claim.iter().map(|o| (o.label.as_str(), o.style.as_str(), o.score, o.hard_block)).collect();
    assert_eq!(
        options,
        [
            ("Every claim has a source", "positive", Some(1.0), false),
            ("A claim needs a look", "caution", Some(0.5), false),
            ("A claim is made up", "negative", Some(0.0), true),
        ]
    );
    let gate = |staged: Value| evaluate_safety_gate(staged.as_object().unwrap(), &set.dimensions);
    assert!(gate(json!({ "phi_safety": "fail", "claim_safety": "pass" })).refusal().is_some());
    let flags = vec!["claim_safety: review".to_owned()];
    assert_eq!(
        gate(json!({ "phi_safety": "pass", "claim_safety": "review" })),
        SafetyGate::Passed { score: Some(0.75), flags }
    );
    let made = action::list(&f.ledger, &f.member, Default::default()).await.unwrap().items.remove(0);
    let config: Value = serde_json::from_str(&made.output_config).unwrap();
    assert_eq!(config["criteria_set_ids"], json!([set.id.to_string()]));
    let metadata: serde_json::Map<_, _> = serde_json::from_str(&made.metadata).unwrap();
    let policy = Policy::of(&metadata).unwrap();
    assert!(needs_approval(&metadata) && !policy.self_approval);
    assert_eq!(policy.reviewers.iter().map(ToString::to_string).collect::<Vec<_>>(), ["group:compliance"]);

    let before = rows(&f).await;
    let again = install(&f.ledger, &f.admin, EXAMPLE, Mode::Apply).await.unwrap();
    assert!(again.is_done(), "{again:?}");
    assert_eq!(rows(&f).await, before);
    // The stored set, written as a bundle, is the same bundle.
    let back = json!({ "criteriaSets": [{ "slug": set.slug, "name": set.name, "dimensions": set.dimensions }] });
    assert!(install(&f.ledger, &f.operator, &back.to_string(), Mode::Apply).await.unwrap().is_done());
    f.done().await;
}

async fn a_dry_run_says_what_an_install_does_and_writes_nothing(f: Fixture) {
    let looked = install(&f.ledger, &f.operator, EXAMPLE, Mode::DryRun).await.unwrap();
    assert_eq!(rows(&f).await, [0; 6]);
    let done = install(&f.ledger, &f.operator, EXAMPLE, Mode::Apply).await.unwrap();
    // Ids differ each time. Apart from them both plans are equal.
    let changes = |plan: Plan| -> Vec<_> {
        let fields = plan.items.into_iter().flat_map(|item| item.fields);
        fields.filter(|f| f.field != "outputConfig.criteria_set_ids").collect()
    };
    assert_eq!(changes(looked), changes(done));
    f.done().await;
}

async fn what_differs_is_changed_field_by_field_and_the_rest_is_kept(f: Fixture) {
    install(&f.ledger, &f.operator, EXAMPLE, Mode::Apply).await.unwrap();
    let (mia, max) = (f.member.user_id().unwrap(), f.other_member.user_id().unwrap());
    let text = "
groups:
  - { slug: compliance, name: Compliance, members: [MIA@acme.test, max@acme.test] }
criteriaSets:
  - slug: outreach-safety
    name: Outreach safety
    dimensions:
      - { slug: tone, name: Tone, type: scale, min: 1, max: 7 }
actions:
  - slug: update-company
    name: Update a company
    metadata: { owner: sales }
";
    let plan = install(&f.ledger, &f.operator, text, Mode::Apply).await.unwrap();
    let fields = |index: usize| -> Vec<(String, PlannedOperation)> {
        plan.items[index].fields.iter().map(|f| (f.field.clone(), f.operation)).collect()
    };
    let expected =
        |pairs: &[(&str, PlannedOperation)]| pairs.iter().map(|(f, d)| ((*f).to_owned(), *d)).collect::<Vec<_>>();
    assert_eq!(fields(0), expected(&[("name", PlannedOperation::Keep), ("members", PlannedOperation::Change)]));
    assert_eq!(
        fields(1),
        expected(&[
            ("name", PlannedOperation::Keep),
            ("dimensions.tone", PlannedOperation::Change),
            ("dimensions.phi_safety", PlannedOperation::Remove),
            ("dimensions.claim_safety", PlannedOperation::Remove),
            ("dimensions.reason", PlannedOperation::Remove),
        ])
    );
    let owner = plan.items[2].fields.iter().find(|field| field.field == "metadata.owner").unwrap();
    assert_eq!((owner.operation, &owner.after), (PlannedOperation::Create, &json!("sales")));
    let set = criteria_set::list(&f.ledger, &f.member, Default::default()).await.unwrap().items.remove(0);
    assert_eq!((set.version, set.dimensions.len()), (2, 1));
    assert!(set.description.starts_with("What every draft"), "what the file is silent about went");
    let made = action::list(&f.ledger, &f.member, Default::default()).await.unwrap().items.remove(0);
    let metadata: serde_json::Map<_, _> = serde_json::from_str(&made.metadata).unwrap();
    assert!(needs_approval(&metadata), "what the file is silent about went");
    let members = group::list(&f.ledger, &f.member).await.unwrap().remove(0).members;
    assert_eq!(members.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [max, mia]);
    // One member is removed. A reviewer may be named by e-mail address or by id.
    let text = "
groups: [{ slug: compliance, name: Compliance, members: [max@acme.test] }]
actions:
  - { slug: update-company, name: Update a company, approval: { reviewers: [ada@acme.test], quorum: 1 } }
";
    install(&f.ledger, &f.operator, text, Mode::Apply).await.unwrap();
    assert_eq!(group::list(&f.ledger, &f.member).await.unwrap()[0].members.len(), 1);
    let made = action::get(&f.ledger, &f.member, made.id).await.unwrap();
    let metadata: Value = serde_json::from_str(&made.metadata).unwrap();
    let ada = format!("user:{}", f.admin.user_id().unwrap());
    assert_eq!(metadata["approval"], json!({ "reviewers": [ada], "quorum": 1 }));
    f.done().await;
}

async fn one_error_refuses_the_whole_bundle(f: Fixture) {
    for (tail, path) in [
        (
            "criteriaSets: [{ slug: b, name: B, dimensions: [{ slug: t, type: scale, min: 1 }] }]",
            "criteriaSets[0].dimensions[0].max",
        ),
        ("criteriaSets: [{ slug: Bad Slug, name: B, dimensions: [{ slug: t, type: text }] }]", "criteriaSets[0].slug"),
        (
            "entityTypes: [{ slug: b, name: B, fields: [{ slug: r, name: R, type: relation, relationType: planet }] }]",
            "entityTypes[0].fields[0].relationType",
        ),
        ("actions: [{ slug: b, name: B, criteriaSets: [nope] }]", "actions[0].criteriaSets[0]"),
        (
            "actions: [{ slug: b, name: B, approval: { reviewers: [nobody@acme.test] } }]",
            "actions[0].approval.reviewers[0]",
        ),
        (
            "actions: [{ slug: b, name: B, approval: { reviewers: [sam@other.test] } }]",
            "actions[0].approval.reviewers[0]",
        ),
        (
            "actions: [{ slug: b, name: B, approval: { reviewers: ['group:nope'] } }]",
            "actions[0].metadata.approval.reviewers[0]",
        ),
        ("actions: [{ slug: b, name: B, approval: { quorum: 0 } }]", "actions[0].metadata.approval.quorum"),
        ("actions: [{ slug: b, name: '' }]", "actions[0].name"),
    ] {
        let text = format!("groups: [{{ slug: a, name: A, members: [mia@acme.test] }}]\n{tail}\n");
        for mode in [Mode::DryRun, Mode::Apply] {
            assert_eq!(fields_of(install(&f.ledger, &f.operator, &text, mode).await), [path], "{tail}");
        }
    }
    assert_eq!(rows(&f).await, [0; 6]);
    f.done().await;
}

async fn two_installs_at_once_lose_nothing(f: Fixture) {
    install(&f.ledger, &f.operator, EXAMPLE, Mode::Apply).await.unwrap();
    let text = |max: u32| {
        format!(
            "criteriaSets: [{{ slug: outreach-safety, name: Safety {max}, dimensions: [{{ slug: tone, type: scale, min: 1, max: {max} }}] }}]"
        )
    };
    let texts: Vec<_> = (2..8).map(text).collect();
    let all = texts.iter().map(|text| install(&f.ledger, &f.operator, text, Mode::Apply));
    for done in futures_util::future::join_all(all).await {
        done.unwrap();
    }
    let set = criteria_set::list(&f.ledger, &f.member, Default::default()).await.unwrap().items.remove(0);
    assert_eq!(set.version, 7, "an install was lost");
    f.done().await;
}

async fn changes_of_different_fields_of_an_action_at_once_lose_nothing(f: Fixture) {
    let (l, by) = (&f.ledger, &f.operator);
    let new = action::NewAction { name: "Report".into(), slug: Some("report".into()), ..Default::default() };
    let made = action::create(l, by, new).await.unwrap();
    for round in 0..20 {
        let described = format!("described in round {round}");
        let of_agent = format!("agent-{round}");
        let named = format!("Report {round}");
        let description = action::ActionChange { description: Some(described.clone()), ..Default::default() };
        let agent = action::ActionChange { agent_slug: Some(Some(of_agent.clone())), ..Default::default() };
        let bundle = json!({ "actions": [{ "slug": "report", "name": named }] }).to_string();
        let (one, two, three) = tokio::join!(
            action::update(l, by, made.id, description),
            action::update(l, by, made.id, agent),
            install(l, by, &bundle, Mode::Apply),
        );
        one.unwrap();
        two.unwrap();
        three.unwrap();
        let now = action::get(l, &f.member, made.id).await.unwrap();
        let is = (now.name, now.description, now.agent_slug);
        assert_eq!(is, (named, described, Some(of_agent)), "a change was lost");
    }
    f.done().await;
}

async fn a_bundle_needs_permission_for_each_object_and_changes_its_workspace_only(f: Fixture) {
    let reviewer = Scope { role: Role::Reviewer, ..f.member };
    for low in [f.member, reviewer, f.worker] {
        for mode in [Mode::DryRun, Mode::Apply] {
            let refused = install(&f.ledger, &low, EXAMPLE, mode).await;
            assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
        }
    }
    install(&f.ledger, &f.stranger, EXAMPLE, Mode::Apply).await.unwrap();
    assert!(entity_type::list(&f.ledger, &f.member, Default::default()).await.unwrap().items.is_empty());
    let plan = install_by_operator(&f.ledger, "acme", EXAMPLE, Mode::Apply).await.unwrap();
    assert_eq!(plan.count(PlannedOperation::Create), 4);
    let nowhere = install_by_operator(&f.ledger, "nowhere", EXAMPLE, Mode::Apply).await;
    assert!(matches!(nowhere, Err(Error::NotFound(_))), "{nowhere:?}");
    f.done().await;
}

async fn an_action_names_only_reviewers_and_criteria_that_exist(f: Fixture) {
    let theirs = install(&f.ledger, &f.stranger, EXAMPLE, Mode::Apply).await.unwrap();
    assert_eq!(theirs.items.len(), 4);
    let foreign = criteria_set::list(&f.ledger, &f.stranger, Default::default()).await.unwrap().items.remove(0).id;
    let sam = f.stranger.user_id().unwrap();
    let new = action::NewAction {
        name: "x".into(),
        output_config: Some(json!({ "criteria_set_ids": [foreign] }).to_string()),
        metadata: Some(
            json!({ "requiresApproval": true, "approval": { "reviewers": [format!("user:{sam}"), "group:compliance"] } })
                .to_string(),
        ),
        ..Default::default()
    };
    let refused = fields_of(action::create(&f.ledger, &f.operator, new.clone()).await);
    assert_eq!(refused, ["outputConfig.criteria_set_ids"]);
    let new = action::NewAction { output_config: None, ..new };
    let refused = fields_of(action::create(&f.ledger, &f.operator, new.clone()).await);
    assert_eq!(refused, ["metadata.approval.reviewers[0]", "metadata.approval.reviewers[1]"]);
    let misspelt = json!({ "approval": { "quorom": 2 } }).to_string();
    let new = action::NewAction { metadata: Some(misspelt), ..new };
    assert_eq!(fields_of(action::create(&f.ledger, &f.operator, new).await), ["metadata.approval.quorom"]);
    f.done().await;
}

/// PostgreSQL accepts no NUL in a text, not even in a search.
async fn what_is_looked_up_by_a_text_with_a_nul_is_refused(f: Fixture) {
    let field = json!([{ "slug": "owner", "name": "Owner", "type": "relation", "relationType": "per\0son" }]);
    for bundle in [
        json!({ "groups": [{ "slug": "a", "name": "A", "members": ["a\0@acme.test"] }] }),
        json!({ "groups": [{ "slug": "a\0", "name": "A" }] }),
        json!({ "entityTypes": [{ "slug": "a\0", "name": "A" }] }),
        json!({ "entityTypes": [{ "slug": "a", "name": "A", "fields": field }] }),
        json!({ "criteriaSets": [{ "slug": "a\0", "name": "A", "dimensions": [] }] }),
        json!({ "actions": [{ "slug": "a\0", "name": "A" }] }),
        json!({ "actions": [{ "slug": "a", "name": "A", "criteriaSets": ["b\0"] }] }),
        json!({ "actions": [{ "slug": "a", "name": "A", "approval": { "reviewers": ["b\0@acme.test"] } }] }),
        json!({ "actions": [{ "slug": "a", "name": "A", "outputType": "entities",
            "outputConfig": { "entityType": "b\0" } }] }),
    ] {
        let refused = install(&f.ledger, &f.operator, &bundle.to_string(), Mode::DryRun).await.unwrap_err();
        assert!(matches!(refused, Error::Invalid(_)), "{bundle}: {refused:?}");
    }
}
