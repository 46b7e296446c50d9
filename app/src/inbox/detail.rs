//! One item: what the agent wants to do and why, what it would change, and the decisions so far.

use super::{
    answer_form::{ANSWER, AnswerForm, Controls, answer_controls},
    api::Decide,
    bar::{BarContext, bar, confirm, form_fields as hidden_fields},
    hand_over::handovers,
    item_state::state,
    item_text::{admins_may_decide, agent_name, decision_word, is_viewers_turn, kind_word, values, whose_turn},
    memory::memory_view,
    outdated::only_typed,
    parts::{Parts, Proposed},
    row::flags,
    sentence::{sentence, sentence_view},
    value_table::{Rendered, TableOptions, value_table},
    values::{Row, rows, show_record_titles},
};
use crate::{
    FormState,
    entity::Relations,
    form_page::EntityOptions,
    render::to_html,
    schema_form::STEP,
    session::{Titles, rows_fragment},
    text::number::counted,
    ui::{
        button::{Button, Look},
        notice::Refused,
        time::{due, moment},
    },
};
use domain::{
    Timestamp,
    gate::{GateKind, GateState, MEMORY_BASE, Verdict},
    id::UserId,
};
use leptos::{prelude::*, server_fn::ServerFn as _};
use serde_json::Value;
use wire::{
    approval::{Approval, ApprovalDetail},
    event::Event,
};

/// An inbox item with the data of its page.
#[derive(Debug, Clone)]
pub struct Detail {
    /// The item with its decisions.
    pub item: ApprovalDetail,
    /// Id of the item to open after a decision; absent if this is the last one.
    pub next: Option<String>,
    /// Whether it is a question of an agent that continues meanwhile. Its answer takes effect at once.
    pub goes_on: bool,
    /// The newest events of its session, oldest first.
    pub events: Vec<Event>,
    /// Names by id: of people (`user:ID`), of records that people viewed, and of records that values refer to.
    pub titles: Titles,
    /// Options for relation fields, by the slug of the related type.
    pub relations: Relations,
    /// Entities to choose from in the form of a question.
    pub entities: EntityOptions,
    /// The server's clock when the page was rendered (UTC).
    pub now: Timestamp,
    /// IANA name of the reader's time zone; `UTC` if it is not known.
    pub timezone: String,
    /// Id of the signed-in person; absent for API tokens.
    pub viewer_id: Option<UserId>,
    /// Address of the styles of forms with groups and rows.
    pub styles: String,
    /// JSON Schema of the proposed values, if it is known.
    pub schema: Option<Value>,
    /// State of a refused form: `approve`, `deny` or `respond` for a decision, else `snooze` or `undo`.
    pub form: FormState,
}

/// The item as an HTML fragment for the live page, which replaces its `data-part` elements one by one.
pub fn detail_fragment(detail: &Detail) -> String {
    to_html(detail_view(detail))
}

/// The item as part of its page.
pub fn detail_view(detail: &Detail) -> impl IntoView + use<> {
    let Detail {
        item,
        next,
        goes_on,
        events,
        titles,
        relations,
        entities,
        now,
        timezone,
        viewer_id,
        styles,
        schema: _,
        form,
    } = detail;
    let decided_by = item.approval.decision.as_ref().and_then(|decision| decision.user_id);
    let by_viewer = decided_by.is_some() && decided_by == *viewer_id;
    let approval = &item.approval;
    let in_bar = BarContext { now: *now, timezone, by_viewer, goes_on: *goes_on };
    let mut rows = rows(item);
    show_record_titles(&mut rows, item, titles, relations);
    let parts = parts_of(detail, &rows);
    let form = &only_typed(item, &rows, form);
    let answer_form = AnswerForm::of(approval);
    let may = approval.may_decide && approval.state == GateState::Open;
    let controls = (approval.kind == GateKind::Question && may)
        .then(|| answer_controls(&answer_form, &form.of("respond"), (Decide::PATH, styles.as_str()), entities));
    let answer_names = controls.iter().flat_map(|controls| controls.names.iter().map(String::as_str));
    let named =
        rows.iter().map(|row| row.name.as_str()).chain(answer_names).chain(parts.names.iter().map(String::as_str));
    let known: Vec<&str> = named.chain(["note", "at", ANSWER]).collect();
    let refused = form.general(&known);
    // The number of a version says nothing to a reader, so it is no row of the table either.
    let base = (approval.kind == GateKind::Memory).then(|| base_field(&mut rows, item)).filter(|_| may);
    let shown = TableOptions {
        edits: may,
        decided: approval.state != GateState::Open,
        rendered: match approval.kind {
            GateKind::Output | GateKind::Fields => Rendered::Texts,
            GateKind::Tool => Rendered::Drafts,
            _ => Rendered::Nothing,
        },
    };
    let table = (!rows.is_empty()).then(|| value_table(&rows, shown, &form.of("approve"), &parts.html));
    let takes_files = parts.takes_files || controls.as_ref().is_some_and(|controls| controls.takes_files);
    let styles =
        (!parts.html.is_empty() && !styles.is_empty()).then(|| view! { <link rel="stylesheet" href=styles.clone()/> });
    let answer = controls.map(|controls| answer(controls, confirm(item)));
    let decides = may.then_some("");
    // A form that a browser has sent by itself is on a page with the address of its function.
    let address = (!form.values.is_empty()).then(|| format!("/inbox/{}", approval.id));
    // The script keeps a form that a button has changed: the server does not know of its rows any more.
    let is_changed = form.value(STEP).is_some_and(|step| !step.is_empty());
    let approved = form.of("approve");
    let is_edited = rows.iter().any(|row| approved.value(&row.name).is_some());
    let table_heading = match approval.kind {
        GateKind::Tool => "Arguments",
        GateKind::Memory => "Document after the change",
        _ => "Values",
    };
    let memory = memory_view(item);
    let transcript = rows_fragment(&approval.session_id.to_string(), events, titles);
    // Every log has events. None are given to someone who may not read the session.
    let is_private = events.is_empty();
    view! {
        <article
            class="gate" id="gate" aria-labelledby="gate-title" data-id=approval.id.to_string() data-session=approval.session_id.to_string()
            data-state=approval.state.as_str() data-typed=is_changed.then_some("")
        >
            <header class="gate-head" data-part="head">
                <p class="gate-back"><a href="/inbox">"Back to the list"</a></p>
                <h2 id="gate-title" tabindex="-1" dir="auto">{sentence_view(sentence(item, &rows, titles))}</h2>
                {about(approval)}
            </header>
            <div class="gate-part" data-part="state"><Refused messages=refused/>{state(approval)}</div>
            <form class="gate-part" id="gate-form" method="post" action=Decide::PATH enctype=takes_files.then_some("multipart/form-data") data-address=address data-part="values" data-decides=decides data-edited=is_edited.then_some("")>
                {may.then(|| enter_button(approval.kind))}
                {hidden_fields(approval, next.as_deref())}
                {styles}
                {memory}
                {base}
                {table.map(|table| view! { <h3>{table_heading}</h3>{table} })}
                {answer}
            </form>
            <div class="gate-part" data-part="facts">
                {goes_on.then(|| own_form(approval))}
                {review_facts(approval)}
                {handovers(item, *goes_on)}
                {history(item)}
            </div>
            <section class="gate-part" data-part="transcript" aria-labelledby="gate-transcript">
                <h3 id="gate-transcript">"What happened before"</h3>
                {is_private.then(|| view! { <p class="meta">"This session is private: only its person can read it."</p> })}
                {(!is_private).then(|| view! {
                    <ol class="transcript" inner_html=transcript></ol>
                    <p><a href=format!("/sessions/{}", approval.session_id)>"Open the whole session"</a></p>
                })}
            </section>
            <div data-part="bar" class="gate-bar">{bar(item, next.as_deref(), &in_bar, form)}</div>
        </article>
    }
}

/// The fields of proposed values with parts whose schema is known. None for someone who may not change them.
fn parts_of(detail: &Detail, rows: &[Row]) -> Parts {
    let Detail { item: ApprovalDetail { approval, .. }, schema: Some(schema), form, .. } = detail else {
        return Parts::default();
    };
    if !approval.may_decide || approval.state != GateState::Open {
        return Parts::default();
    }
    let is_outdated = form.value("digest").is_some_and(|digest| digest != approval.digest);
    Proposed { schema, values: &values(approval) }.draw(rows, &form.of("approve"), is_outdated)
}

/// The version that the edited document is based on, as a hidden field: the newest one, which the page shows. Takes its
/// row out of the table.
fn base_field(rows: &mut Vec<Row>, item: &ApprovalDetail) -> Option<impl IntoView + use<>> {
    let at = rows.iter().position(|row| row.key == MEMORY_BASE)?;
    let row = rows.remove(at);
    let conflict = item.document.as_ref().filter(|document| document.conflicts);
    let value = conflict.map_or(row.proposed, |document| document.version.to_string());
    Some(view! { <input type="hidden" name=row.name value=value/> })
}

/// What Enter in a field of the item does: approve with the typed values, or answer. Enter presses the first submit
/// button of a form, also a hidden one, and the visible buttons come later in the document or belong to other forms.
fn enter_button(kind: GateKind) -> impl IntoView {
    let verdict = if kind.takes(Verdict::Approve) { Verdict::Approve } else { Verdict::Respond };
    view! { <button type="submit" name="decision" value=verdict.as_str() hidden></button> }
}

/// The answer form of a question: the questions of its form, the fields of its schema, or one text area.
fn answer(controls: Controls, confirm: Option<String>) -> impl IntoView + use<> {
    view! {
        <div class="gate-answer">
            {controls.html}
            <div><Button look=Look::Primary name="decision" value="respond" attr:data-confirm=confirm title="Answer (Ctrl Enter)">"Answer"</Button></div>
        </div>
    }
}

fn about(approval: &Approval) -> impl IntoView + use<> {
    let action = approval.action_id.zip(approval.action_name.clone());
    let record = approval.entity_id.zip(approval.entity_title.clone());
    let due = approval.due_at.filter(|_| approval.state == GateState::Open).map(|at| {
        let word = if approval.kind == GateKind::Memory { "Expires " } else { "Due " };
        view! { <span class="inbox-due">{word}{due(at)}</span> }
    });
    // The bar says that it is the viewer's turn, unless there is a reason to tell.
    let has_state_line = !is_viewers_turn(approval) || admins_may_decide(approval).is_some();
    let state_line = (approval.state == GateState::Open && has_state_line).then(
        || view! { <span class="inbox-turn" data-mine=is_viewers_turn(approval).then_some("")>{whose_turn(approval)}</span> },
    );
    view! {
        <div class="row-sub">
            <span>{kind_word(approval.kind)}</span>
            {action.map(|(id, name)| view! { <span><a href=format!("/actions/{id}") dir="auto">{name}</a></span> })}
            {record.map(|(id, title)| view! { <span><a href=format!("/entities/{id}") dir="auto">{title}</a></span> })}
            {moment(approval.opened_at)}
            {due}
            {state_line}
        </div>
    }
}

/// What differs for a question of an agent that continues. Its own page saves drafts and hides what does not apply.
fn own_form(approval: &Approval) -> impl IntoView + use<> {
    let may = approval.may_decide;
    view! {
        <p class="meta">
            "The agent keeps working. It reads your answer at its next step."
            {may.then(|| view! { " "<a href=format!("/questions/{}", approval.id)>"Answer on its own page, which saves drafts"</a>"." })}
        </p>
    }
}

/// Score, flags, reviewers and the number of approvals needed.
fn review_facts(approval: &Approval) -> impl IntoView + use<> {
    let score = approval.score.map(|score| view! { <div><dt>"Score"</dt><dd>{format!("{score:.2}")}</dd></div> });
    let names: Vec<_> = approval.reviewers.iter().map(|reviewer| reviewer.name.clone()).collect();
    let quorum = (approval.quorum > 1).then(
        || view! { <div><dt>"Approvals"</dt><dd>{format!("{} of {}", approval.approvals, approval.quorum)}</dd></div> },
    );
    view! {
        {admins_may_decide(approval).map(|why| view! { <p>{why}</p> })}
        {(!approval.flags.is_empty()).then(|| view! { <h3>"Check carefully"</h3>{flags(&approval.flags)} })}
        <dl class="facts">
            {score}
            <div><dt>"Agent"</dt><dd>{agent_name(approval)}</dd></div>
            {(!names.is_empty()).then(|| view! { <div><dt>"Reviewers"</dt><dd>{names.join(", ")}</dd></div> })}
            {quorum}
            {approval.reminded_at.map(|at| view! { <div><dt>"Reminded"</dt><dd>{moment(at)}</dd></div> })}
            {approval.escalated_at.map(|at| view! { <div><dt>"Escalated"</dt><dd>{moment(at)}</dd></div> })}
        </dl>
    }
}

/// Earlier denials in this session, and every decision on this item.
fn history(item: &ApprovalDetail) -> impl IntoView + use<> {
    let denials = (!item.denials.is_empty()).then(|| {
        let lines = item.denials.iter().map(|denial| {
            let note = denial.note.clone().unwrap_or_else(|| "No reason was given".to_owned());
            view! { <li><span dir="auto">{note}</span><span class="meta">{denial.by.clone()}", "{moment(denial.at)}</span></li> }
        });
        let count = format!("Denied {} of {} times", item.denials.len(), item.denials_max);
        let lines = lines.collect::<Vec<_>>();
        view! {
            <h3>{count}</h3>
            <p class="meta">{format!("The session fails after {}.", counted(item.denials_max.into(), "denial"))}</p>
            <ol class="gate-history">{lines}</ol>
        }
    });
    let decisions = (!item.decisions.is_empty()).then(|| {
        let lines = item.decisions.iter().map(|decision| {
            let note = decision.note.clone().map(|note| view! { <span dir="auto">{note}</span> });
            view! { <li><span>{decision.email.clone()}" "{decision_word(decision)}</span>{note}<span class="meta">{moment(decision.at)}</span></li> }
        });
        let lines = lines.collect::<Vec<_>>();
        view! { <h3>"Decisions"</h3><ol class="gate-history">{lines}</ol> }
    });
    (denials, decisions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::fixture::{detail, output, person, question, tool};
    use serde_json::json;
    use wire::approval::{Decision, Denial};

    fn detail_of(item: ApprovalDetail) -> Detail {
        let now = item.approval.opened_at;
        Detail {
            item,
            next: None,
            goes_on: false,
            events: Vec::new(),
            titles: Titles::default(),
            relations: Relations::default(),
            entities: EntityOptions::new(),
            now,
            timezone: "UTC".to_owned(),
            viewer_id: None,
            styles: String::new(),
            schema: None,
            form: FormState::default(),
        }
    }

    #[test]
    fn each_kind_offers_what_makes_sense_of_it() {
        let offers = |item| {
            let html = detail_fragment(&detail_of(detail(item)));
            ["approve", "edit", "deny", "respond", "snooze"].map(|key| html.contains(&format!("data-key=\"{key}\"")))
        };
        assert_eq!(offers(output(1, json!({"stage": "Won"}))), [true, true, true, false, true]);
        assert_eq!(offers(tool(1, json!({"to": "x"}))), [true, true, true, true, true]);
        assert_eq!(offers(question(1)), [false, false, true, true, true]);
    }

    #[test]
    fn enter_in_a_field_decides_the_item_where_the_viewer_may() {
        let first_button = |item| {
            let html = detail_fragment(&detail_of(detail(item)));
            let form = html.split("id=\"gate-form\"").nth(1).unwrap_or_default();
            let form = form.split("</form>").next().unwrap_or_default();
            form.split("<button").nth(1).map(|button| button.split('>').next().unwrap_or_default().to_owned())
        };
        let presses = |verdict: &str| Some(format!(" type=\"submit\" name=\"decision\" value=\"{verdict}\" hidden"));
        assert_eq!(first_button(output(1, json!({"stage": "Won"}))), presses("approve"));
        assert_eq!(first_button(tool(1, json!({"to": "x"}))), presses("approve"));
        assert_eq!(first_button(question(1)), presses("respond"));
        let mut of_others = output(1, json!({"stage": "Won"}));
        of_others.may_decide = false;
        assert_eq!(first_button(of_others), None);
    }

    #[test]
    fn a_question_of_an_agent_that_goes_on_is_answered_or_denied() {
        let html = detail_fragment(&Detail { goes_on: true, ..detail_of(detail(question(1))) });
        let offers = ["respond", "deny", "snooze"].map(|key| html.contains(&format!("data-key=\"{key}\"")));
        assert_eq!(offers, [true, true, false], "{html}");
        assert!(html.contains("keeps working") && html.contains("href=\"/questions/"), "{html}");
        let mut answered = question(1);
        (answered.state, answered.may_decide) = (GateState::Settled, false);
        let html = detail_fragment(&Detail { goes_on: true, ..detail_of(detail(answered)) });
        assert!(html.contains("has an answer") && !html.contains("href=\"/questions/"), "{html}");
    }

    #[test]
    fn an_item_that_the_viewer_approved_waits_for_others() {
        let mut item = output(1, json!({"stage": "Won"}));
        (item.quorum, item.approvals, item.approved_by_caller) = (2, 1, true);
        let html = detail_fragment(&detail_of(detail(item)));
        assert!(html.contains("waiting for 1 approval by others") && html.contains("You approved this."), "{html}");
        assert!(!html.contains("Your turn") && !html.contains("data-mine"), "{html}");
    }

    #[test]
    fn an_item_has_one_primary_action() {
        for item in [output(1, json!({"stage": "Won"})), question(1)] {
            let html = detail_fragment(&detail_of(detail(item)));
            assert_eq!(html.matches("data-look=\"primary\"").count(), 1, "{html}");
        }
        let html = detail_fragment(&detail_of(detail(question(1))));
        assert!(html.contains("href=\"#gate-answer\"") && html.contains("id=\"gate-answer\""), "{html}");
    }

    #[test]
    fn a_refusal_is_at_its_field_and_nothing_typed_is_lost() {
        let form = FormState {
            form: "approve".into(),
            values: [("value.stage".to_owned(), "Lost".to_owned())].into(),
            errors: vec![crate::FieldError {
                field: Some("value.stage".into()),
                message: "`Lost` is a hard block.".into(),
            }],
        };
        let html = detail_fragment(&Detail { form, ..detail_of(detail(output(1, json!({"stage": "Won"})))) });
        assert!(html.contains("value=\"Lost\"") && html.contains("aria-invalid=\"true\""), "{html}");
        assert!(html.contains("id=\"gate-value.stage-error\"") && html.contains("`Lost` is a hard block."));
    }

    #[test]
    fn a_decided_item_says_by_whom_and_offers_nothing() {
        let mut item = output(1, json!({"stage": "Won"}));
        item.state = GateState::Settled;
        item.may_decide = false;
        item.decision = Some(Decision {
            number: 1,
            decision: Some(domain::gate::Verdict::Deny),
            undoes: None,
            user_id: Some(person(1)),
            email: "mia@acme.test".into(),
            value: None,
            note: Some("Too <early>".into()),
            at: item.opened_at,
        });
        let html = detail_fragment(&detail_of(detail(item)));
        assert!(html.contains("Denied by mia@acme.test") && html.contains("Too &lt;early&gt;"), "{html}");
        // Screen readers repeat a status in which a script rewrites an age.
        let status = html.split("role=\"status\"").nth(1).unwrap_or_default();
        let status = status.split("</p>").next().unwrap_or_default();
        assert!(status.contains("Denied by") && status.contains("data-time=\"date\""), "{status}");
        assert!(!html.contains("data-key=\"approve\"") && !html.contains("name=\"value.stage\""));
        // A denial does not look like an approval.
        assert!(html.contains("data-tone=\"bad\"") && !html.contains("data-tone=\"good\""), "{html}");
        assert!(html.contains("#i-close") && !html.contains("#i-completed"), "{html}");
    }

    #[test]
    fn only_who_decided_is_offered_to_undo() {
        let mut item = output(1, json!({"stage": "Won"}));
        item.state = GateState::Held;
        item.held_until = Some(item.opened_at);
        item.decision = Some(Decision {
            number: 1,
            decision: Some(domain::gate::Verdict::Approve),
            undoes: None,
            user_id: Some(person(1)),
            email: "ada@acme.test".into(),
            value: None,
            note: None,
            at: item.opened_at,
        });
        let offers = |who: UserId| {
            let shown = Detail { viewer_id: Some(who), ..detail_of(detail(item.clone())) };
            detail_fragment(&shown).contains("data-key=\"undo\"")
        };
        assert!(offers(person(1)) && !offers(person(2)));
    }

    #[test]
    fn a_long_text_is_rendered_and_its_source_is_behind_edit() {
        let text = "# Hello\n\n**Sorry** <script>x</script>";
        let html = detail_fragment(&detail_of(detail(output(1, json!({"text": text})))));
        assert!(html.contains("<strong>Sorry</strong>") && !html.contains("<script>"), "{html}");
        assert!(html.contains("<details class=\"gate-source\"><summary>"), "{html}");
        let mut decided = output(1, json!({"text": text}));
        (decided.state, decided.may_decide) = (GateState::Settled, false);
        let html = detail_fragment(&detail_of(detail(decided)));
        assert!(html.contains("<strong>Sorry</strong>") && !html.contains("<details class=\"gate-source"), "{html}");
        // What a tool is called with is shown as it is sent.
        let html = detail_fragment(&detail_of(detail(tool(1, json!({"command": text})))));
        assert!(!html.contains("<strong>Sorry") && html.contains("**Sorry**"), "{html}");
    }

    #[test]
    fn earlier_denials_are_counted() {
        let mut item = detail(output(1, json!({"stage": "Won"})));
        let at = item.approval.opened_at;
        item.denials = vec![Denial {
            gate_id: "01935f00-0000-7000-8000-00000000009a".parse().unwrap(),
            note: Some("No source".into()),
            by: "mia@acme.test".into(),
            at,
        }];
        let html = detail_fragment(&detail_of(item));
        assert!(html.contains("Denied 1 of 3") && html.contains("No source"));
    }
}
