//! The forms of /settings, for the rows of the matrix.

use crate::{
    app::PASSWORD,
    people::member_id,
    prepare::{Maker, Sent, form, unique_text},
};

impl Maker<'_> {
    /// The object and the form of a posted request below `/settings`.
    pub async fn set(&self, path: &str) -> (String, Sent) {
        let nothing = String::new;
        match path {
            "/settings/approvals" => (nothing(), form(&[("undoSeconds", "60")])),
            "/settings/groups" => (nothing(), form(&[("name", "Matrix"), ("slug", &unique_text())])),
            "/settings/groups/{id}" => {
                let owner = member_id(self.app, self.owner().email).await.unwrap();
                (self.group().await, form(&[("add", &owner)]))
            }
            "/settings/invitations" => {
                (nothing(), form(&[("email", &format!("{}@new.test", unique_text())), ("role", "member")]))
            }
            "/settings/invitations/{id}/withdraw" => {
                (self.invitation().await["invitation"]["id"].as_str().unwrap().to_owned(), form(&[]))
            }
            "/settings/members/{id}/role" => (self.member(path).await, form(&[("role", "reviewer")])),
            path if path.starts_with("/settings/members/{id}/") => (self.member(path).await, form(&[])),
            "/settings/name" => (nothing(), form(&[("name", "Matrix")])),
            "/settings/notifications" => (nothing(), form(&[("email", "yes")])),
            "/settings/password" => (nothing(), form(&[("current_password", PASSWORD), ("password", PASSWORD)])),
            "/settings/share-links" => (nothing(), form(&[("do", "revoke"), ("link", &self.share_link().await.1)])),
            "/settings/sign-ins/end-others" => (nothing(), form(&[])),
            "/settings/sign-ins/{id}/end" => (self.sign_in().await, form(&[])),
            "/settings/telemetry" => (nothing(), form(&[("enabled", "yes")])),
            "/settings/tokens" => (nothing(), form(&[("name", "matrix"), ("role", "member"), ("for_me", "yes")])),
            "/settings/tokens/{id}/revoke" => (self.token().await, form(&[])),
            "/settings/webhooks" => {
                self.webhook().await;
                (nothing(), form(&[("url", "https://hooks.example.org/a"), ("event:session.failed", "on")]))
            }
            path if path.starts_with("/settings/webhooks/{id}/") => (self.webhook().await, form(&[])),
            _ => panic!("no request is prepared for POST {path}"),
        }
    }
}
