//! The kinds of events that Shiftbook knows, one file for each: what it holds, who writes it, whose it is, in which
//! filter it is, and its sentence.
//!
//! A new kind is a file here and a line in [`kinds`]. The compiler names the pages that have to say how they show it.

mod agent_message;
mod agent_thinking;
mod agent_tool_call;
mod agent_tool_result;
mod composition_step;
mod decision;
mod external_event;
mod form_answers;
mod human_entity_view;
mod human_marker;
mod human_navigate;
mod human_task_switch;
mod invocation;
mod payload;
mod session_assignee_change;
mod session_claimed;
mod session_completed;
mod session_context_injected;
mod session_created;
mod session_error;
mod session_feedback_requested;
mod session_status_change;
mod session_tags_change;
mod session_waiting_approval;
mod state_patch;
mod tool_composition_step_completed;
mod tool_composition_step_started;
mod tool_field_changed;
mod tool_invocation_completed;
mod tool_invocation_failed;
mod tool_invocation_started;
mod tool_part;
mod tool_session_started;
mod user_form_draft;
mod user_form_submit;
mod user_message;
mod user_output_approval;
mod user_tool_confirmation;
mod user_tool_result;
mod warning;

pub use agent_message::AgentMessage;
pub use agent_thinking::AgentThinking;
pub use agent_tool_call::AgentToolCall;
pub use agent_tool_result::AgentToolResult;
pub use composition_step::CompositionStep;
pub use decision::{ByRule, Decision};
pub use external_event::ExternalEvent;
pub use form_answers::FormAnswers;
pub use human_entity_view::EntityView;
pub use human_marker::Marker;
pub use human_navigate::Navigate;
pub use human_task_switch::TaskSwitch;
pub use invocation::Invocation;
pub use payload::{Payload, Writer};
pub use session_assignee_change::AssigneeChange;
pub use session_claimed::Claimed;
pub use session_completed::{Completed, WriteEffect, WrittenEntity};
pub use session_context_injected::{Context, ContextInjected};
pub use session_created::Created;
pub use session_error::{Failure, Refusal, SessionError, Violation};
pub use session_feedback_requested::FeedbackRequested;
pub use session_status_change::StatusChange;
pub use session_tags_change::TagsChange;
pub use session_waiting_approval::{GateNotice, NoticeReason, WaitingApproval};
pub use state_patch::{CanvasPatch, StatePatch};
pub use tool_composition_step_completed::StepCompleted;
pub use tool_composition_step_started::StepStarted;
pub use tool_field_changed::FieldChanged;
pub use tool_invocation_completed::InvocationCompleted;
pub use tool_invocation_failed::InvocationFailed;
pub use tool_invocation_started::InvocationStarted;
pub use tool_part::{CallPart, ResultPart};
pub use tool_session_started::ToolOpened;
pub use user_form_draft::FormDraft;
pub use user_form_submit::{FormSubmit, RequestAnswer};
pub use user_message::{RelayedAuthor, UserMessage};
pub use user_output_approval::OutputApproval;
pub use user_tool_confirmation::ToolConfirmation;
pub use user_tool_result::SuppliedResult;
pub use warning::Warnings;

use super::{EventRole, Group};

/// A payload whose kind is known.
pub trait OfKind: Payload {
    /// Under which such events are stored.
    const KIND: Known;
}

/// Declares the known kinds. Of each: variant, payload, stored name, who writes it, whose it is unless its writer names
/// another role, and the filter that shows it.
macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident($payload:ident) = $name:literal, $writer:ident, $role:ident, $group:ident;)+) => {
        /// A kind that Shiftbook knows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Known {
            $($(#[$doc])* $variant,)+
        }

        /// The payload of an event, by kind.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Body {
            $($(#[$doc])* $variant($payload),)+
            /// A known kind whose payload cannot be read: the event was erased, or another version wrote it.
            Unreadable(Known),
            /// A kind that this version does not know.
            Other,
        }

        impl Known {
            /// All known kinds, grouped as in the documentation.
            pub const ALL: [Self; [$(stringify!($variant)),+].len()] = [$(Self::$variant),+];

            /// The stored name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Returns the kind with this stored name.
            pub fn parse(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// Who writes events of the kind.
            pub const fn writer(self) -> Writer {
                match self {
                    $(Self::$variant => Writer::$writer,)+
                }
            }

            /// Whose they are, unless their writer names another role.
            pub const fn role(self) -> EventRole {
                match self {
                    $(Self::$variant => EventRole::$role,)+
                }
            }

            /// The filter that shows them.
            pub const fn group(self) -> Group {
                match self {
                    $(Self::$variant => Group::$group,)+
                }
            }
        }

        impl Body {
            /// Reads the payload of an event from its kind, content and metadata as they are stored.
            pub fn read(kind: &str, content: &str, metadata: &str) -> Self {
                match Known::parse(kind) {
                    $(Some(Known::$variant) => <$payload as Payload>::read(content, metadata)
                        .map_or(Self::Unreadable(Known::$variant), Self::$variant),)+
                    None => Self::Other,
                }
            }

            /// Returns kind, content and metadata to store; `None` for an event that this version cannot read.
            pub fn write(&self) -> Option<(Known, String, String)> {
                match self {
                    $(Self::$variant(payload) => {
                        Some((Known::$variant, payload.content(), payload.metadata()))
                    })+
                    Self::Unreadable(_) | Self::Other => None,
                }
            }

            /// What happened, as a sentence for pages; `None` where pages show the content itself.
            pub fn sentence(&self) -> Option<String> {
                match self {
                    $(Self::$variant(payload) => payload.sentence(),)+
                    Self::Unreadable(_) | Self::Other => None,
                }
            }
        }

        $(impl OfKind for $payload {
            const KIND: Known = Known::$variant;
        })+
    };
}

kinds! {
    /// What a person said to an agent.
    UserMessage(UserMessage) = "user.message", Server, User, Messages;
    /// A supplied result of a custom tool.
    UserToolResult(SuppliedResult) = "user.tool_result", Server, User, Tools;
    /// A decision on a tool call.
    UserToolConfirmation(ToolConfirmation) = "user.tool_confirmation", Server, User, Tools;
    /// The answer to a question, or a response to a form.
    UserFormSubmit(FormSubmit) = "user.form_submit", Server, User, Messages;
    /// An unfinished response to a form.
    UserFormDraft(FormDraft) = "user.form_draft", Server, User, Messages;
    /// A decision on an output.
    UserOutputApproval(OutputApproval) = "user.output_approval", Server, User, Messages;
    /// What an agent said.
    AgentMessage(AgentMessage) = "agent.message", Worker, Agent, Messages;
    /// An agent called tools.
    AgentToolCall(AgentToolCall) = "agent.tool_call", Worker, Agent, Tools;
    /// Tools answered an agent.
    AgentToolResult(AgentToolResult) = "agent.tool_result", Worker, Agent, Tools;
    /// The reasoning of an agent.
    AgentThinking(AgentThinking) = "agent.thinking", Worker, Agent, Thinking;
    /// The first event of a log.
    SessionCreated(Created) = "session.created", Server, System, State;
    /// A worker took the session.
    SessionClaimed(Claimed) = "session.claimed", Server, System, State;
    /// The session got another status.
    SessionStatusChange(StatusChange) = "session.status_change", Server, System, State;
    /// The session got tags, or lost some.
    SessionTagsChange(TagsChange) = "session.tags_change", Server, System, State;
    /// The session was assigned to another person, or to no one.
    SessionAssigneeChange(AssigneeChange) = "session.assignee_change", Server, System, State;
    /// Something failed, or an output was refused.
    SessionError(SessionError) = "session.error", ServerAndWorker, System, Errors;
    /// The session has a result.
    SessionCompleted(Completed) = "session.completed", Server, System, State;
    /// The server gave an agent more than its input.
    SessionContextInjected(ContextInjected) = "session.context_injected", Server, System, State;
    /// People are asked to decide.
    SessionWaitingApproval(WaitingApproval) = "session.waiting_approval", Server, System, State;
    /// An agent asked people.
    SessionFeedbackRequested(FeedbackRequested) = "session.feedback_requested", Server, System, State;
    /// A person or a program opened a tool.
    ToolSessionStarted(ToolOpened) = "tool.session_started", Worker, Agent, Tools;
    /// A person changed a field of a tool's form.
    ToolFieldChanged(FieldChanged) = "tool.field_changed", Worker, Agent, Tools;
    /// A call of a tool started.
    ToolInvocationStarted(InvocationStarted) = "tool.invocation_started", Worker, Agent, Tools;
    /// A call of a tool is done.
    ToolInvocationCompleted(InvocationCompleted) = "tool.invocation_completed", Worker, Agent, Tools;
    /// A call of a tool failed.
    ToolInvocationFailed(InvocationFailed) = "tool.invocation_failed", Worker, Agent, Errors;
    /// A step of a composite tool started.
    ToolCompositionStepStarted(StepStarted) = "tool.composition_step.started", Worker, Agent, Tools;
    /// A step of a composite tool is done.
    ToolCompositionStepCompleted(StepCompleted) = "tool.composition_step.completed", Worker, Agent, Tools;
    /// A person opened a page.
    HumanNavigate(Navigate) = "human.navigate", Owner, User, People;
    /// A person opened the page of an entity.
    HumanEntityView(EntityView) = "human.entity_view", Owner, User, People;
    /// A person wrote a note.
    HumanMarker(Marker) = "human.marker", Owner, User, People;
    /// A person went on to another task within the session.
    HumanTaskSwitch(TaskSwitch) = "human.task_switch", Owner, User, People;
    /// Something that another system reported, or that a program printed.
    ExternalEvent(ExternalEvent) = "external.event", Worker, System, External;
    /// Shared state was changed.
    StatePatch(StatePatch) = "state.patch", Worker, System, State;
}

impl Body {
    /// The decision at a gate that the event records, or the withdrawal of one.
    pub const fn decision(&self) -> Option<&Decision> {
        match self {
            Self::UserOutputApproval(OutputApproval(decision))
            | Self::UserToolConfirmation(ToolConfirmation(decision)) => Some(decision),
            Self::UserFormSubmit(submitted) => submitted.decision(),
            _ => None,
        }
    }
}

impl PartialEq<Known> for String {
    fn eq(&self, kind: &Known) -> bool {
        self == kind.as_str()
    }
}

impl PartialEq<Known> for &str {
    fn eq(&self, kind: &Known) -> bool {
        *self == kind.as_str()
    }
}

impl PartialEq<Known> for str {
    fn eq(&self, kind: &Known) -> bool {
        self == kind.as_str()
    }
}
