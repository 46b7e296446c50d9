//! Ends sessions that people left open: forms, tool drafts, canvases and their own work.

use crate::{
    Ledger, Result,
    commit::{Change, Minter, state, write},
};
use chrono::TimeDelta;
use domain::{
    Caller, Scope, Timestamp,
    count::counted,
    human::SOURCE,
    id::{SessionId, TenantId},
    session::{Actor, Command, Report, Session, decide},
};
use store::{Access, Conn, ResponseState, WriteTx};

/// Largest number of sessions that one read returns.
const BATCH: u32 = 200;

/// What a person can leave without ending it.
#[derive(Clone, Copy)]
pub(crate) enum LeftOpen {
    /// A form that was begun and not submitted.
    Response,
    /// The form of a tool that was begun and not run.
    ToolDraft,
    /// A canvas that no one changes.
    Canvas,
    /// A person's own session that was not stopped.
    Work,
}

impl LeftOpen {
    /// Those that were left before `until`, at most [`BATCH`].
    async fn list(self, conn: &mut Conn<'_>, until: Timestamp) -> store::Result<Vec<(TenantId, SessionId)>> {
        match self {
            Self::Response => store::response::left(conn, until, BATCH).await,
            Self::ToolDraft => store::tool_draft::left(conn, until, BATCH).await,
            Self::Canvas => store::canvas::left(conn, until, BATCH).await,
            Self::Work => store::human::left_open(conn, until, BATCH).await,
        }
    }

    /// Whether it is still left under the lock of its session: the person may have come back since it was listed.
    async fn is_still_left(
        self,
        tx: &mut WriteTx<'_>,
        tenant_id: TenantId,
        session: &Session,
        until: Timestamp,
    ) -> store::Result<bool> {
        let id = session.id;
        Ok(match self {
            Self::Response => store::response::find_locked(tx, tenant_id, id)
                .await?
                .is_some_and(|found| found.state == ResponseState::Draft && found.saved_at <= until),
            Self::ToolDraft => {
                store::tool_draft::find(tx.conn(), tenant_id, id).await?.is_some_and(|draft| draft.saved_at <= until)
            }
            Self::Canvas => {
                store::canvas::find(tx.conn(), tenant_id, id).await?.is_some_and(|canvas| canvas.changed_at <= until)
            }
            Self::Work => {
                session.source.as_deref() == Some(SOURCE)
                    && session.started_at.is_some_and(|started_at| started_at <= until)
            }
        })
    }

    fn command(self) -> Command {
        match self {
            Self::Response | Self::ToolDraft => Command::Leave,
            Self::Canvas | Self::Work => Command::Abandon,
        }
    }

    /// The reason in the log.
    fn reason(self, left_for: TimeDelta) -> String {
        let hours = counted(left_for.num_hours().unsigned_abs(), "hour");
        match self {
            Self::Response => format!("left for {hours} without being submitted"),
            Self::ToolDraft => format!("left for {hours} without being run"),
            Self::Canvas => format!("not changed for {}", counted(left_for.num_days().unsigned_abs(), "day")),
            Self::Work => format!("left open for {hours}"),
        }
    }
}

/// Abandons what was left for `left_for`. Returns how many. Several servers can do this at once, because each session
/// is decided under its lock.
pub(crate) async fn sweep(ledger: &Ledger, kind: LeftOpen, left_for: TimeDelta) -> Result<u64> {
    let mut swept = 0;
    loop {
        let until = ledger.now() - left_for;
        let left = ledger.store().read(Access::System, async move |conn| kind.list(conn, until).await).await?;
        let before = swept;
        for (tenant_id, id) in &left {
            swept += u64::from(abandon(ledger, kind, *tenant_id, *id, left_for).await?);
        }
        // If none of the batch could be abandoned, another read would return the same batch.
        if left.len() < BATCH as usize || swept == before {
            return Ok(swept);
        }
    }
}

/// Abandons one session if it is still left. Returns whether it was.
async fn abandon(
    ledger: &Ledger,
    kind: LeftOpen,
    tenant_id: TenantId,
    id: SessionId,
    left_for: TimeDelta,
) -> Result<bool> {
    let scope = Scope::system(tenant_id);
    let until = ledger.now() - left_for;
    let change = Change {
        id,
        actor: Actor::Server,
        command: kind.command(),
        caller: Caller::System,
        reason: kind.reason(left_for),
        minter: Minter::new(ledger, ledger.now()),
    };
    ledger
        .write((&scope).into(), async move |tx| {
            let Some(before) = store::session::find_locked(tx, tenant_id, id).await? else { return Ok(false) };
            let is_left = kind.is_still_left(tx, tenant_id, &before, until).await?;
            let Ok(transition) = decide(state(&before), change.actor, change.command) else { return Ok(false) };
            if !is_left {
                return Ok(false);
            }
            write(tx, before, transition, change, Vec::new(), Report::default()).await?;
            Ok(true)
        })
        .await
}
