//! What is not proposed once more, and the replacement of secrets.

use crate::{Error, Result};
use domain::{
    event::{
        Body, Known as EventKind,
        kind::{Context, ContextInjected},
    },
    gate::Task,
    id::TenantId,
    memory_writer::{
        block::remembered,
        dedupe::Known,
        text::{normal, says_something},
    },
};
use redact::{Personal, Redactor};
use store::{Conn, memory_writer::OpenSession};

/// Most memory blocks of one session whose lines are read.
const BLOCKS_MAX: u32 = 50;

/// Returns the text with each secret replaced, by the rules of the training export.
///
/// # Errors
/// [`Error::Internal`] if a rule cannot be used.
pub fn redacted(text: &str) -> Result<String> {
    let failed = |error: redact::InvalidRule| Error::Internal(error.to_string());
    let mut redactor = Redactor::built_in(Personal::default()).map_err(failed)?;
    Ok(redactor.redact(text).map_err(failed)?.into_owned())
}

/// Reads the lines that are denied, waiting, or were given to the agent in these sessions.
pub(super) async fn read(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    sessions: &[OpenSession],
) -> Result<Known> {
    let mut known = Known::default();
    store::memory_writer::denied(conn, tenant_id, agent).await?.iter().for_each(|line| known.deny(line));
    for task in store::memory_writer::pending(conn, tenant_id, agent).await? {
        let Task::Memory(proposal) = task else { continue };
        known.wait(&proposal.path, &proposal.base, &proposal.body());
    }
    let kinds = [EventKind::SessionContextInjected.as_str().to_owned()];
    for session in sessions {
        let page =
            store::event::before(conn, tenant_id, session.id, session.head_sequence + 1, &kinds, BLOCKS_MAX).await?;
        for event in page.items {
            if let Body::SessionContextInjected(ContextInjected { text, context: Context::Memory { .. } }) =
                event.body()
            {
                let lines = remembered(&text).filter(|line| says_something(line));
                known.injected.extend(lines.map(|line| normal(&line)));
            }
        }
    }
    Ok(known)
}
