//! Installs bundles.

use crate::{Client, Error, Result, limit};
use wire::bundle::{Bundle, Installed};

impl Client {
    /// `POST /api/bundles`. Can be repeated: the repeat changes nothing.
    pub async fn install_bundle(&self, bundle: &Bundle, dry_run: bool) -> Result<Installed> {
        let document = serde_json::to_string(bundle).map_err(|error| Error::protocol(None, error.to_string()))?;
        let query = [("dryRun", Some(dry_run.to_string()))];
        self.post_document(&["api", "bundles"], &query, document, limit::CALL_TIMEOUT).await
    }
}
