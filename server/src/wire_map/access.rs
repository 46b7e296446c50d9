//! Converts members, invitations and sign-ins.

use ledger::{AccessLinkRecord, LinkPurpose, MemberRecord, SignInRecord};
use wire::access::{Invitation, Member, SignIn};

/// Converts a member of the workspace.
pub fn member(record: MemberRecord) -> Member {
    Member {
        id: record.user_id,
        email: record.email,
        name: record.name,
        role: record.role,
        status: record.status,
        created_at: record.created_at,
    }
}

/// Converts an invitation. `None` for other kinds of links.
pub fn invitation(record: AccessLinkRecord) -> Option<Invitation> {
    let LinkPurpose::Invitation(role) = record.purpose else { return None };
    Some(Invitation {
        id: record.id,
        email: record.email,
        role,
        created_at: record.created_at,
        expires_at: record.expires_at,
    })
}

/// Converts one of the caller's sign-ins.
pub fn sign_in(record: SignInRecord) -> SignIn {
    SignIn {
        id: record.id,
        workspace: record.workspace,
        browser: record.browser,
        created_at: record.created_at,
        last_seen_at: record.last_seen_at,
        is_current: record.is_current,
    }
}
