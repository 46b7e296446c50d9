//! Converts what is known about a person and goes.

use ledger::memory_forget as from;
use wire::memory_forget as to;

/// Converts a request to forget a person.
pub fn forget_person(body: to::ForgetPerson) -> from::Forget {
    from::Forget { person: body.person, names: body.names }
}

/// Converts what is erased, or would be.
pub fn forgotten_person(found: from::Forgetting) -> to::ForgottenPerson {
    let from::Forgetting {
        path,
        names,
        short_names,
        documents,
        proposals,
        denials,
        leads,
        promoted,
        interactions,
        kept,
        is_done,
        captured_sessions: _,
    } = found;
    let line =
        |one: domain::memory_forget::RemovedLine| to::ForgottenLine { line: one.line, text: one.text, why: one.why };
    let document = |one: from::ForgottenDocument| to::ForgottenDocument {
        agent: one.agent,
        path: one.path,
        is_whole: one.is_whole,
        lines: one.lines.into_iter().map(line).collect(),
        versions: one.versions,
    };
    let proposal = |one: from::ForgottenProposal| to::ForgottenProposal {
        agent: one.agent,
        path: one.path,
        session_id: one.session_id,
        waits: one.waits,
    };
    let lead = |one: from::ForgottenLead| to::ForgottenLead {
        entity_id: one.entity_id,
        name: one.name,
        email: one.email,
        responses: one.responses,
    };
    let promoted_entity = |one: from::PromotedEntity| to::PromotedEntity { entity_id: one.entity_id, title: one.title };
    to::ForgottenPerson {
        applied: is_done,
        path,
        names,
        short_names,
        documents: documents.into_iter().map(document).collect(),
        proposals: proposals.into_iter().map(proposal).collect(),
        denials,
        leads: leads.into_iter().map(lead).collect(),
        promoted: promoted.into_iter().map(promoted_entity).collect(),
        interactions,
        kept,
    }
}
