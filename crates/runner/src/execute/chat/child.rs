//! Calls whose answer is the end of a session that they start: of another action, or the run of a tool of the
//! workspace.

use super::{Call, ChatRun, Conversation, Stop, conversation::STARTED};
use crate::execute::{
    event::event,
    limit::{
        CHILDREN_STARTED_MAX, THREAD_TOOL_RUN_WAITS, TOOL_RUN_WAIT_SECONDS, TOOL_RUN_WAITS, TOOL_RUNS_STARTED_MAX,
    },
    notes::Notes,
    tool::{self, Callee, Tool},
};
use domain::id::GateId;
use serde_json::{Value, json};
use wire::tool_run::ToolRun;

impl ChatRun<'_> {
    /// Records that a call begins, so that it is not run twice.
    pub(super) async fn mark_started(&self, call: &Call, notes: &Notes) -> Result<(), Stop> {
        let part = json!([{ "type": "tool-call", "toolCallId": call.id, "toolName": call.name, "input": call.input }]);
        self.write(vec![event(STARTED, &part, notes)]).await
    }

    /// Starts the session of a call, or looks up the one that this call started. The call has no result until that
    /// session has ended.
    pub(super) async fn start_child(
        &self,
        conversation: &mut Conversation,
        callee: Callee,
        mut call: Call,
        gate: Option<GateId>,
    ) -> Result<(), Stop> {
        if let Some(input) = conversation.started_input(&call.id) {
            call.input = input.clone();
        } else {
            if let Err(why) = self.check_start(conversation, callee, &call) {
                return self.answer(conversation, &call, &Err(why), gate).await;
            }
            self.mark_started(&call, &Notes { gate_id: gate, ..Notes::default() }).await?;
            conversation.mark_started(&call.id, call.input.clone());
        }
        let answer = match callee {
            Callee::OfWorkspace => match tool::run(&call, 0, self.context).await? {
                Ok(run) if !run.status.is_final() => return Ok(()),
                Ok(run) => tool::answer(&run),
                Err(why) => Err(why),
            },
            Callee::Own(_) => {
                let own = self.job.session.agent_slug.as_deref();
                match tool::start(&call, own, self.context).await? {
                    Ok(child) if !child.status.is_final() => return Ok(()),
                    Ok(child) => tool::outcome(&child),
                    Err(why) => Err(why),
                }
            }
        };
        self.answer(conversation, &call, &answer, None).await
    }

    /// Checks whether a call may start a session.
    ///
    /// # Errors
    /// The call's answer: why it may not.
    fn check_start(&self, conversation: &Conversation, callee: Callee, call: &Call) -> Result<(), Value> {
        if callee != Callee::OfWorkspace && self.job.is_thread() {
            return Err(json!("a conversation starts no sessions: its person would wait without a word"));
        }
        // A person may have changed the input.
        self.chat.tools.check(call)?;
        let (started, most) = match callee {
            Callee::Own(_) => {
                (conversation.started_count(|name| name == Tool::StartSession.name()), CHILDREN_STARTED_MAX)
            }
            Callee::OfWorkspace => {
                let of_workspace = self.chat.tools.of_workspace();
                let started = conversation.started_count(|name| of_workspace.iter().any(|slug| slug == name));
                (started, TOOL_RUNS_STARTED_MAX)
            }
        };
        if started < most {
            return Ok(());
        }
        let what = if callee == Callee::OfWorkspace { "runs of tools" } else { "others" };
        Err(json!(format!("this session has started {most} {what}, and may start no more")))
    }

    /// Waits a moment for the runs of tools that have not ended, so that a short run costs no further claim. A
    /// conversation waits longer, and then goes on without the results of the runs that are left.
    pub(super) async fn await_tool_runs(&self, conversation: &mut Conversation) -> Result<(), Stop> {
        let is_thread = self.job.is_thread();
        let mut waits = if is_thread { THREAD_TOOL_RUN_WAITS } else { TOOL_RUN_WAITS };
        for mut call in conversation.open_calls() {
            if !self.chat.tools.of_workspace().contains(&call.name) {
                continue;
            }
            if let Some(input) = conversation.started_input(&call.id) {
                call.input = input.clone();
            }
            let answer = match self.await_run(&call, &mut waits).await? {
                Ok(run) if run.status.is_final() => tool::answer(&run),
                Ok(run) if is_thread => tool::still_running(&run),
                Ok(_) => continue,
                Err(why) => Err(why),
            };
            self.answer(conversation, &call, &answer, None).await?;
        }
        Ok(())
    }

    /// Waits for the end of a run with at most `waits` requests, which it counts down. The inner error is for the
    /// model.
    async fn await_run(&self, call: &Call, waits: &mut u32) -> Result<Result<ToolRun, Value>, Stop> {
        let seconds = self.context.lease.wait_max().as_secs().min(TOOL_RUN_WAIT_SECONDS);
        let seconds = u32::try_from(seconds).unwrap_or_default();
        loop {
            let wait = if *waits == 0 { 0 } else { seconds };
            match tool::run(call, wait, self.context).await? {
                Ok(run) if !run.status.is_final() && *waits > 0 => *waits -= 1,
                ended => return Ok(ended),
            }
        }
    }
}
