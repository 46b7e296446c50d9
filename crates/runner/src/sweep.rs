//! Periodic maintenance: expired leases return their sessions to the queue, sessions past their time limit expire,
//! working sessions and drafts of forms that were left are abandoned, gates are carried on, and the store is kept in
//! order.
//!
//! Several servers can sweep at the same time: each session is decided under its row's lock.

use chrono::TimeDelta;
use ledger::{Ledger, canvas, failure::cause, feedback_request, gate, human, paced_run, response, session, tool_run};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// Interval between checks of leases. A dead worker's session is back in the queue within its lease and two intervals.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// Interval between additions to the rolls of workspaces.
const ROLL_EVERY: Duration = Duration::from_secs(1);
/// Interval between checks of gates: decisions past their undo window, reminders, deadlines.
const SWEEP_GATES_EVERY: Duration = Duration::from_millis(500);
/// Interval between searches for open gates that have too few reviewers left.
const ASK_ADMINS_EVERY: Duration = Duration::from_secs(10);
/// Interval between searches for working sessions that were left open.
const SWEEP_WORKING_EVERY: Duration = Duration::from_secs(60);
/// Interval between searches for drafts of forms, and of runs of tools, that were left.
const SWEEP_DRAFTS_EVERY: Duration = Duration::from_secs(60);
/// Interval between searches for canvases that no one changed for a long time.
const SWEEP_CANVASES_EVERY: Duration = Duration::from_secs(3_600);
/// Interval between steps of grouping failures that an earlier version recorded. Nothing is read once all are grouped.
const REGROUP_EVERY: Duration = Duration::from_secs(1);
/// Interval between steps of paced runs.
const PACE_EVERY: Duration = Duration::from_secs(1);
/// Interval between readings of the database's clock, which several servers share.
const SET_CLOCK_EVERY: Duration = Duration::from_secs(60);
/// Interval between maintenance runs of the store.
const MAINTAIN_EVERY: Duration = Duration::from_secs(6 * 3_600);

/// When sessions that people left are abandoned.
#[derive(Debug, Clone, Copy)]
pub struct LeftFor {
    /// Time without a save after which the draft of a form, or of a run of a tool, is abandoned.
    pub draft: TimeDelta,
    /// Time without a change after which a canvas is abandoned.
    pub canvas: TimeDelta,
}

/// Runs until `stop`. A sweep that fails is repeated at the next interval.
pub async fn run(ledger: Ledger, left_for: LeftFor, stop: CancellationToken) {
    let mut ticks = interval(SWEEP_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut housekeeping = interval(MAINTAIN_EVERY);
    housekeeping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut working = interval(SWEEP_WORKING_EVERY);
    working.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut drafts = interval(SWEEP_DRAFTS_EVERY);
    drafts.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut canvases = interval(SWEEP_CANVASES_EVERY);
    canvases.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut gates = interval(SWEEP_GATES_EVERY);
    gates.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut abandoned = interval(ASK_ADMINS_EVERY);
    abandoned.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut rolls = interval(ROLL_EVERY);
    rolls.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut roll_position = session::RollPosition::default();
    let mut request_position = feedback_request::OpenPosition::default();
    let mut regroup = interval(REGROUP_EVERY);
    regroup.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_grouped = false;
    let mut paced = interval(PACE_EVERY);
    paced.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut clock = interval(SET_CLOCK_EVERY);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            _ = clock.tick() => if let Err(error) = ledger.set_clock().await {
                tracing::warn!(%error, "the database's clock cannot be asked; this server's own goes on");
            },
            _ = housekeeping.tick() => if let Err(error) = ledger.maintain().await {
                tracing::warn!(%error, "housekeeping failed; it is tried again later");
            },
            _ = drafts.tick() => leave_drafts(&ledger, left_for.draft).await,
            _ = working.tick() => match human::sweep(&ledger).await {
                Ok(Some(left)) if left > 0 => tracing::info!(left, "working sessions were left open; they are abandoned"),
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "cannot look for working sessions that were left open"),
            },
            _ = canvases.tick() => match canvas::sweep(&ledger, left_for.canvas).await {
                Ok(left) if left > 0 => tracing::info!(left, "canvases were not changed for a long time; they are abandoned"),
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "cannot look for canvases that no one changes"),
            },
            _ = gates.tick() => carry_on(&ledger, &mut request_position).await,
            _ = abandoned.tick() => match gate::ask_admins(&ledger).await {
                Ok(reassigned) if reassigned > 0 => tracing::info!(reassigned, "gates had too few reviewers left; admins may decide them"),
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "cannot look for gates with too few reviewers; it is tried again"),
            },
            _ = regroup.tick(), if !is_grouped => is_grouped = group(&ledger).await,
            _ = paced.tick() => match paced_run::sweep(&ledger).await {
                Ok(started) if started > 0 => tracing::info!(started, "sessions of paced runs were started"),
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "not every paced run could go on; it is tried again"),
            },
            _ = rolls.tick() => if let Err(error) = session::roll(&ledger, &mut roll_position).await {
                tracing::warn!(%error, "sessions cannot be entered in the roll; it is tried again");
            },
            _ = ticks.tick() => match session::sweep(&ledger).await {
                Ok(swept) if swept != session::Swept::default() => {
                    let session::Swept { requeued, failed, expired, followed, advanced } = swept;
                    tracing::info!(requeued, failed, expired, followed, advanced, "leases, time limits or pauses ran out, or endings were followed up");
                }
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "cannot look for leases that ran out"),
            },
        }
    }
}

/// Abandons drafts of forms and of runs of tools that were not saved for `left_for`.
async fn leave_drafts(ledger: &Ledger, left_for: TimeDelta) {
    match response::sweep(ledger, left_for).await {
        Ok(left) if left > 0 => tracing::info!(left, "drafts of forms were left; they are abandoned"),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "cannot look for drafts of forms that were left"),
    }
    match tool_run::draft::sweep(ledger, left_for).await {
        Ok(left) if left > 0 => tracing::info!(left, "drafts of runs of tools were left; they are abandoned"),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "cannot look for drafts of runs of tools that were left"),
    }
}

/// Groups failures that an earlier version recorded. Returns whether all are grouped.
async fn group(ledger: &Ledger) -> bool {
    match cause::regroup(ledger).await {
        Ok(progress) => {
            if progress.looked_at > 0 {
                tracing::info!(looked_at = progress.looked_at, of = progress.failures, "failures are grouped by cause");
            }
            progress.is_done
        }
        Err(error) => {
            tracing::warn!(%error, "failures cannot be grouped by cause; it is tried again");
            false
        }
    }
}

/// Carries gates on, and expires requests for which no session waits.
async fn carry_on(ledger: &Ledger, request_position: &mut feedback_request::OpenPosition) {
    match gate::sweep(ledger).await {
        Ok(swept) if swept != gate::Swept::default() => tracing::info!(?swept, "gates were carried on"),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "not every gate could be carried on; it is tried again"),
    }
    match feedback_request::expire(ledger, request_position).await {
        Ok(expired) if expired > 0 => tracing::info!(expired, "requests passed their deadline"),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "not every request could be expired; it is tried again"),
    }
}
