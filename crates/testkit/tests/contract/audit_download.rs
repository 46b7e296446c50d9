//! The audit list: blocks of sign-ins, and downloads.

use crate::{
    audit::{MIA, PASSWORD, Reading, detail},
    response::form,
};
use chrono::TimeDelta;
use domain::{
    audit::{Kind, TargetKind},
    limit::SIGN_IN_FREE_FAILURES,
    view::{Gate, Publication},
};
use ledger::{Error, auth, export_job, response};
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr};
use testkit::{Fixture, on_both_engines};
use uuid::Uuid;

on_both_engines!(a_block_of_sign_ins_has_one_entry_when_it_begins, downloads_of_what_people_said_leave_one_entry_each,);

async fn a_block_of_sign_ins_has_one_entry_when_it_begins(f: Fixture) {
    let from = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9));
    let mut reading = Reading::begin(&f).await;
    // As the server does: only a wrong password is recorded, not an attempt that is refused without a look at it.
    let attempt = async || {
        let refused = auth::sign_in(&f.ledger, MIA, "wrong password", "").await;
        if matches!(refused, Err(Error::BadCredentials)) {
            auth::record_refused_sign_in(&f.ledger, MIA, from).await.unwrap();
        }
        refused.map(drop)
    };
    for _ in 0..SIGN_IN_FREE_FAILURES {
        assert!(matches!(attempt().await, Err(Error::BadCredentials)));
        reading.expect(&f, &[Kind::SignInRefused]).await;
    }
    for (attempts, seconds) in [(SIGN_IN_FREE_FAILURES + 1, 2), (SIGN_IN_FREE_FAILURES + 2, 4)] {
        assert!(matches!(attempt().await, Err(Error::BadCredentials)));
        let entry = reading.expect(&f, &[Kind::SignInRefused, Kind::SignInBlocked]).await;
        let mia = f.member.user_id().unwrap();
        assert_eq!((entry.actor.as_deref(), entry.target), (None, Some((TargetKind::User, mia.0))));
        assert_eq!(detail(&entry), json!({ "address": "203.0.113.9", "attempts": attempts, "seconds": seconds }));
        for _ in 0..20 {
            assert!(matches!(attempt().await, Err(Error::TooManyAttempts { .. })));
        }
        assert!(reading.next(&f).await.is_empty(), "what is refused meanwhile has no entry");
        f.clock.advance(TimeDelta::seconds(seconds));
    }
    auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.unwrap();
    reading.expect(&f, &[Kind::SignInAccepted]).await;
    assert!(matches!(attempt().await, Err(Error::BadCredentials)));
    reading.expect(&f, &[Kind::SignInRefused]).await;
    f.assert_verified().await;
    f.done().await;
}

async fn downloads_of_what_people_said_leave_one_entry_each(f: Fixture) {
    let view = form(&f, Publication { gate: Gate::None, ..Publication::default() }).await;
    let mut reading = Reading::begin(&f).await;
    response::record_download(&f.ledger, &f.member, view).await.unwrap();
    let entry = reading.expect(&f, &[Kind::ResponsesDownloaded]).await;
    let mia = format!("user:{}", f.member.user_id().unwrap());
    assert_eq!((entry.actor, entry.target), (Some(mia), Some((TargetKind::View, view.0))));
    let id = Uuid::from_u128(7);
    export_job::record_download(&f.ledger, &f.admin, id, "train.jsonl").await.unwrap();
    let entry = reading.expect(&f, &[Kind::ExportDownloaded]).await;
    assert_eq!((entry.target, detail(&entry)), (Some((TargetKind::Export, id)), json!({ "file": "train.jsonl" })));
    let refused = export_job::record_download(&f.ledger, &f.member, id, "train.jsonl").await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    assert!(reading.next(&f).await.is_empty());
    f.assert_verified().await;
    f.done().await;
}
