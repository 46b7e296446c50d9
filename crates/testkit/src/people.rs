//! Two workspaces with the people and the token that tests need, and how a template names them.

use crate::{
    Engine, SeededEntropy, TestClock,
    open::{PASSWORD, open_seeded},
};
use domain::{
    Caller, Scope,
    role::{Role, TokenScope},
};
use ledger::{Ledger, auth, member, token};
use std::sync::Arc;

/// Scopes of the people of a fixture and of its worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct People {
    /// Admin of `acme`.
    pub(crate) admin: Scope,
    /// Operator of `acme`.
    pub(crate) operator: Scope,
    /// Member of `acme`.
    pub(crate) member: Scope,
    /// Another member of `acme`.
    pub(crate) other_member: Scope,
    /// A worker token of `acme`.
    pub(crate) worker: Scope,
    /// Admin of another workspace.
    pub(crate) stranger: Scope,
    /// The worker token's secret.
    pub(crate) worker_secret: String,
}

impl People {
    /// Migrates an empty database and adds the people. Their ids are the same each time, so that no test depends on
    /// their order by chance.
    pub(crate) async fn create(engine: &Engine) -> Self {
        let ledger = open_seeded(engine, &TestClock::default(), Arc::new(SeededEntropy::new(0))).await;
        let admin = person(&ledger, "acme", "ada@acme.test", Role::Admin).await;
        let operator = person(&ledger, "acme", "otto@acme.test", Role::Operator).await;
        let member = person(&ledger, "acme", "mia@acme.test", Role::Member).await;
        let other_member = person(&ledger, "acme", "max@acme.test", Role::Member).await;
        let stranger = person(&ledger, "other", "sam@other.test", Role::Admin).await;
        let made = token::create(&ledger, &admin, "worker", Role::Operator, Some(TokenScope::Worker)).await;
        let (_, worker_secret) = made.unwrap();
        let worker = auth::by_token(&ledger, &worker_secret).await.unwrap().unwrap().scope;
        ledger.close().await;
        let people = Self { admin, operator, member, other_member, worker, stranger, worker_secret };
        assert_eq!(Self::parse(&people.to_text()), people, "the text has all of it");
        people
    }

    /// The ids and the secret, separated by spaces.
    pub(crate) fn to_text(&self) -> String {
        let users = [self.admin, self.operator, self.member, self.other_member, self.stranger];
        let users = users.map(|scope| scope.user_id().unwrap().to_string()).join(" ");
        let Caller::Token(token) = self.worker.caller else { panic!("the worker is a token") };
        format!("{} {} {users} {token} {}", self.admin.tenant_id, self.stranger.tenant_id, self.worker_secret)
    }

    /// Reads [`People::to_text`].
    pub(crate) fn parse(text: &str) -> Self {
        let words: Vec<_> = text.split(' ').collect();
        let [acme, other, admin, operator, member, other_member, stranger, token, secret] = words[..] else {
            panic!("no people: {text}")
        };
        let person = |tenant: &str, id: &str, role| {
            let caller = Caller::User(id.parse().unwrap());
            Scope { tenant_id: tenant.parse().unwrap(), caller, role, token_scope: None, on_behalf_of: None }
        };
        let worker = Scope {
            caller: Caller::Token(token.parse().unwrap()),
            token_scope: Some(TokenScope::Worker),
            ..person(acme, operator, Role::Operator)
        };
        Self {
            admin: person(acme, admin, Role::Admin),
            operator: person(acme, operator, Role::Operator),
            member: person(acme, member, Role::Member),
            other_member: person(acme, other_member, Role::Member),
            worker,
            stranger: person(other, stranger, Role::Admin),
            worker_secret: secret.to_owned(),
        }
    }
}

/// Adds a person to a workspace, which is created if it does not exist, and signs the person in.
pub(crate) async fn person(ledger: &Ledger, tenant: &str, email: &str, role: Role) -> Scope {
    member::add_by_operator(ledger, tenant, email, role, PASSWORD).await.unwrap();
    auth::sign_in(ledger, email, PASSWORD, "").await.unwrap().identity.scope
}
