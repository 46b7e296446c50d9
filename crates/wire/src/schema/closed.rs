//! Schemas of closed lists of names. The values come from the lists of `domain`, so that a new value is in the
//! OpenAPI document at once.

use super::{Named, named};
use domain::{
    action, audit, bundle, canvas, criteria_set, entity, event, failure, feedback_request, gate, hook, human,
    interaction, mcp, member, memory, memory_forget, memory_writer, notification, outcome, paced_run, relevance,
    respondent, response, role, rule, search, session, session_feedback, share_link, thread, tool, view,
};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, RefOr, Type,
        schema::{Schema, SchemaType},
    },
};

fn one_of(description: &str, values: impl Iterator<Item = &'static str>) -> RefOr<Schema> {
    let values: Vec<_> = values.collect();
    let schema = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).enum_values(Some(values));
    schema.description(Some(description)).build().into()
}

macro_rules! closed {
    ($(#[doc = $doc:literal] $name:ident = $values:expr;)+) => {
        $(
            #[doc = $doc]
            #[derive(Debug)]
            pub struct $name;

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    one_of($doc.trim(), $values)
                }
            }

            impl ToSchema for $name {}
        )+

        pub(super) fn all() -> Vec<Named> {
            vec![$(named::<$name>()),+]
        }
    };
}

closed! {
    /// What a session waits for, or how it ended.
    SessionStatus = session::Status::ALL.into_iter().map(session::Status::as_str);
    /// What kind of work a session is.
    SessionType = session::Type::ALL.into_iter().map(session::Type::as_str);
    /// What a search is narrowed to.
    SearchKind = search::Kind::ALL.into_iter().map(search::Kind::as_str);
    /// How a list of sessions is ordered.
    SessionSort = session::Sort::ALL.into_iter().map(session::Sort::as_str);
    /// What kind of session a client may create. Forms make response sessions, and working on a task makes mixed ones.
    QueuedSessionType = [session::Type::Agent, session::Type::Tool].into_iter().map(session::Type::as_str);
    /// Why a session ended, finer than its status.
    EndReason = session::EndReason::ALL.into_iter().map(session::EndReason::as_str);
    /// What a session that cannot be claimed now waits for.
    WaitsFor = session::WaitsFor::ALL.into_iter().map(session::WaitsFor::as_str);
    /// What a worker waits for when it yields a session as idle.
    WaitFor = [session::WaitsFor::Children.as_str()].into_iter();
    /// What happens to a session when one that it depends on does not complete.
    IfDependencyFails = session::IfDependencyFails::ALL.into_iter().map(session::IfDependencyFails::as_str);
    /// Which part of the product or which program created a session.
    SessionSource = [
        thread::SOURCE, human::SOURCE, canvas::SOURCE, response::SOURCE, response::PROMOTION_SOURCE, memory_writer::SOURCE,
        tool::run::TEST_SOURCE,
    ].into_iter().chain(HookSource::names());
    /// What the channel of a conversation is.
    ChannelKind = memory_writer::channel::ChannelKind::ALL.into_iter().map(memory_writer::channel::ChannelKind::as_str);
    /// Where the content of a turn comes from.
    Taint = memory_writer::turn::Taint::ALL.into_iter().map(memory_writer::turn::Taint::as_str);
    /// A coding agent that sends hooks.
    HookSource = HookSource::names();
    /// What a response to a view is to readers of answers.
    ResponseStatus = response::ResponseStatus::ALL.into_iter().map(response::ResponseStatus::as_str);
    /// How the server knows who answered.
    RespondentKind = respondent::RespondentKind::OF_FORMS.into_iter().map(respondent::RespondentKind::as_str);
    /// Whether an action can be triggered.
    ActionStatus = action::ActionStatus::ALL.into_iter().map(action::ActionStatus::as_str);
    /// What an action's sessions produce.
    OutputType = action::OutputType::ALL.into_iter().map(action::OutputType::as_str);
    /// Author of an event's content.
    EventRole = event::EventRole::ALL.into_iter().map(event::EventRole::as_str);
    /// What waits for a decision.
    GateKind = gate::GateKind::ALL.into_iter().map(gate::GateKind::as_str);
    /// State of an approval.
    GateState = gate::GateState::ALL.into_iter().map(gate::GateState::as_str);
    /// Which approvals a list shows.
    ApprovalFilter = gate::GateState::ALL.into_iter().map(gate::GateState::as_str).chain(["snoozed"]);
    /// Whose work a list shows or counts.
    ApprovalsOf = ["me", "all"].into_iter();
    /// What a reviewer decided.
    Verdict = gate::Verdict::ALL.into_iter().map(gate::Verdict::as_str);
    /// Which people may decide.
    ReviewerKind = gate::ReviewerKind::ALL.into_iter().map(gate::ReviewerKind::as_str);
    /// State of a request of an agent.
    RequestState = feedback_request::RequestState::ALL.into_iter().map(feedback_request::RequestState::as_str);
    /// What happens to a session when no one answers in time.
    OnExpiry = feedback_request::OnExpiry::ALL.into_iter().map(feedback_request::OnExpiry::as_str);
    /// How a request ended.
    AnswerOutcome = feedback_request::Outcome::ALL.into_iter().map(feedback_request::Outcome::as_str);
    /// What kind of party gave an answer.
    AnsweredByKind = respondent::RespondentKind::ALL.into_iter().map(respondent::RespondentKind::as_str);
    /// How sure it is who gave an answer.
    Assurance = feedback_request::Assurance::ALL.into_iter().map(feedback_request::Assurance::as_str);
    /// What someone must do before a form opens.
    ViewGate = view::Gate::ALL.into_iter().map(view::Gate::as_str);
    /// A role in a workspace.
    Role = role::ROLES.into_iter().map(role::Role::as_str);
    /// A member's place in a workspace.
    MemberStatus = member::MemberStatus::ALL.into_iter().map(member::MemberStatus::as_str);
    /// What a member's status can be set to.
    MemberAccess = [member::MemberStatus::Active, member::MemberStatus::Deactivated].map(member::MemberStatus::as_str).into_iter();
    /// What a caller should know about a request that was done.
    WarningCode = [action::NO_AGENT].into_iter();
    /// What a token is narrowed to.
    TokenScope = role::TokenScope::ALL.into_iter().map(role::TokenScope::as_str);
    /// Whether rows remain to be imported.
    ImportStatus = entity::ImportStatus::ALL.into_iter().map(entity::ImportStatus::as_str);
    /// What a field's values are.
    FieldType = entity::FieldType::ALL.into_iter().map(entity::FieldType::as_str);
    /// What a dimension is answered with.
    DimensionType = criteria_set::DimensionKind::ALL.into_iter().map(criteria_set::DimensionKind::as_str);
    /// What choosing an option means.
    OptionStyle = criteria_set::ChoiceStyle::ALL.into_iter().map(criteria_set::ChoiceStyle::as_str);
    /// What kind of thing a bundle holds.
    PlannedKind = bundle::PlannedKind::ALL.into_iter().map(bundle::PlannedKind::as_str);
    /// What an installation does with an object of a bundle, or with a part of it.
    PlannedOperation = bundle::PlannedOperation::ALL.into_iter().map(bundle::PlannedOperation::as_str);
    /// What an entry of the audit list records.
    AuditKind = audit::Kind::ALL.into_iter().map(audit::Kind::as_str);
    /// What kind of thing an act was done to.
    AuditTargetKind = audit::TargetKind::ALL.into_iter().map(audit::TargetKind::as_str);
    /// What a participant of a canvas may do.
    CanvasRole = canvas::ParticipantRole::ALL.into_iter().map(canvas::ParticipantRole::as_str);
    /// Whether a suggestion for a canvas waits, was accepted, or was declined.
    CanvasSuggestionState = canvas::SuggestionState::ALL.into_iter().map(canvas::SuggestionState::as_str);
    /// Why a patch of a canvas was rejected.
    CanvasReason = canvas::Reason::ALL.into_iter().map(canvas::Reason::as_str);
    /// What a link to a session shows of it.
    ShareAudience = share_link::Audience::ALL.into_iter().map(share_link::Audience::as_str);
    /// Whether someone has taken note of a failure.
    FailureState = failure::FailureState::ALL.into_iter().map(failure::FailureState::as_str);
    /// Whether people must look at a cause of failures.
    CauseState = failure::cause::CauseState::ALL.into_iter().map(failure::cause::CauseState::as_str);
    /// A time range in which failures are counted.
    FailureWindow = failure::cause::Window::ALL.into_iter().map(failure::cause::Window::as_str);
    /// What happens to a session that is run again with others.
    RunAgainOutcome = ["ready", "started", "already", "refused"].into_iter();
    /// What is done to each of several sessions.
    BulkVerb = session::BulkVerb::ALL.into_iter().map(session::BulkVerb::as_str);
    /// What happens to one of several sessions.
    BulkOutcome = ["ready", "done", "already", "refused"].into_iter();
    /// Whether a paced run starts sessions.
    PacedRunState = paced_run::State::ALL.into_iter().map(paced_run::State::as_str);
    /// Outcome of one session of a paced run.
    PacedOutcome = paced_run::Outcome::ALL.into_iter().map(paced_run::Outcome::as_str);
    /// Feedback on an answer.
    AnswerLabel = interaction::Feedback::ALL.into_iter().map(interaction::Feedback::as_str);
    /// Feedback on an answer, or `unknown` if there is none.
    AnswerLabelFilter = interaction::Feedback::ALL.into_iter().map(interaction::Feedback::as_str).chain(["unknown"]);
    /// Where feedback on an answer comes from.
    AnswerSource = interaction::Source::ALL.into_iter().map(interaction::Source::as_str);
    /// Whether an answer was accepted, as inferred from the next message.
    Outcome = outcome::Outcome::ALL.into_iter().map(outcome::Outcome::as_str);
    /// An outcome, or that there is none.
    OutcomeFilter = outcome::Outcome::ALL.into_iter().map(outcome::Outcome::as_str).chain(["unknown"]);
    /// A person's rating of a session.
    RatingLabel = session_feedback::Label::ALL.into_iter().map(session_feedback::Label::as_str);
    /// Where a conversation's end asked for a rating. Browsers have a way of their own.
    EndSurface = session_feedback::Surface::ALL
        .into_iter()
        .filter(|surface| *surface != session_feedback::Surface::WebEnd)
        .map(session_feedback::Surface::as_str);
    /// Where ratings are kept.
    RatingBackend = ["sqlite", "postgres", "memory"].into_iter();
    /// Name of a server-sent event.
    StreamEventName =
        ["message", "delta", "presence", "end", "session", "counts", "mark", "resync", "beat", "bye"].into_iter();
    /// Who wrote a conversation's summary.
    SummaryBy = thread::SummaryBy::ALL.into_iter().map(thread::SummaryBy::as_str);
    /// What wrote a version of a memory document.
    MemorySource = memory::Source::ALL.into_iter().map(memory::Source::as_str);
    /// What a version did to its memory document.
    MemoryOperation = memory::Operation::ALL.into_iter().map(memory::Operation::as_str);
    /// What became of a line between two versions.
    MemoryLineChange = memory::LineChange::ALL.into_iter().map(memory::LineChange::as_str);
    /// Media type of a character card.
    CardMediaType = memory::CardFormat::ALL.into_iter().map(memory::CardFormat::as_str);
    /// Why a line about a person goes.
    RemovalReason = memory_forget::RemovalReason::ALL.into_iter().map(memory_forget::RemovalReason::as_str);
    /// What started a run of a memory writer.
    MemoryRunCause = memory_writer::run::RunCause::ALL.into_iter().map(memory_writer::run::RunCause::as_str);
    /// Folder of a memory that an agent was given.
    MemoryKind = relevance::Kind::ALL.into_iter().map(relevance::Kind::as_str);
    /// Why a rating of a memory does not count.
    MemoryRatingRefusal = relevance::Refusal::ALL.into_iter().map(relevance::Refusal::as_str);
    /// What came of a run of a memory writer.
    MemoryRunState = memory_writer::run::RunState::ALL.into_iter().map(memory_writer::run::RunState::as_str);
    /// What a run of a memory writer that was asked for waits for.
    MemoryRunWaitsFor = memory_writer::run::RunWaitsFor::ALL.into_iter().map(memory_writer::run::RunWaitsFor::as_str);
    /// Where in a memory a document is.
    MemoryFolder = memory::Folder::ALL.into_iter().map(memory::Folder::as_str);
    /// Author of a message in a prompt.
    PromptRole = ["system", "user", "assistant"].into_iter();
    /// Event that a webhook can subscribe to.
    WebhookEvent = notification::Topic::SUBSCRIBABLE.into_iter().map(notification::Topic::as_str);
    /// Whether a view takes responses.
    ViewState = view::State::ALL.into_iter().map(view::State::as_str);
    /// Whether a tool can be run.
    ToolState = tool::State::ALL.into_iter().map(tool::State::as_str);
    /// How a tool runs.
    ToolKind = tool::Kind::ALL.into_iter().map(tool::Kind::as_str);
    /// How far the session of a tool is.
    ToolSessionStatus = tool::RunState::ALL.into_iter().map(tool::RunState::as_str);
    /// What a failed step does to the run of a composite tool.
    ToolOnFailure = tool::OnFailure::ALL.into_iter().map(tool::OnFailure::as_str);
    /// How a listed tool differs from the one that its server listed before.
    McpToolChange = mcp::Change::ALL.into_iter().map(mcp::Change::as_str);
    /// Method of the call of a tool.
    ToolMethod = tool::Method::ALL.into_iter().map(tool::Method::as_str);
    /// What a rule decides: tool calls and outputs.
    RuleKind = [gate::GateKind::Tool, gate::GateKind::Output, gate::GateKind::Fields].into_iter().map(gate::GateKind::as_str);
    /// Whether a rule decides.
    RuleState = rule::State::ALL.into_iter().map(rule::State::as_str);
    /// What made a rule stop deciding.
    RuleSuspendedWhy = rule::SuspendedWhy::ALL.into_iter().map(rule::SuspendedWhy::as_str);
    /// What a rule would have done, beside what a person decided.
    BackTestOutcome = rule::Outcome::ALL.into_iter().map(rule::Outcome::as_str);
    /// Why a rule would have asked a person.
    RuleAsksWhy = rule::Why::ALL.into_iter().map(rule::Why::as_str);
    /// How often one respondent may answer.
    ViewResponses = view::Responses::ALL.into_iter().map(view::Responses::as_str);
    /// What a problem's code means, the same for every occurrence.
    ProblemTitle = titles();
    /// Event that a message to a webhook is about.
    DeliveredEvent = notification::Topic::ALL.into_iter().map(notification::Topic::as_str);
}

impl HookSource {
    fn names() -> impl Iterator<Item = &'static str> {
        hook::Source::ALL.into_iter().map(hook::Source::as_str)
    }
}

/// Some codes share one.
fn titles() -> impl Iterator<Item = &'static str> {
    let titles: std::collections::BTreeSet<_> = crate::Code::ALL.iter().map(|code| code.title()).collect();
    titles.into_iter()
}
