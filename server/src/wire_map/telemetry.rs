//! Training telemetry.

use ledger::telemetry::TelemetryState;
use wire::telemetry::Telemetry;

/// Converts the answer of a workspace.
pub fn telemetry(state: TelemetryState) -> Telemetry {
    let TelemetryState { opt_in, is_forbidden } = state;
    Telemetry {
        enabled: opt_in.enabled,
        is_forbidden,
        last_prompted_at: opt_in.last_prompted_at,
        installed_at: opt_in.installed_at,
    }
}
