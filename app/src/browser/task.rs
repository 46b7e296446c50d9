//! Futures that run by themselves.

use std::{future::Future, pin::Pin};

/// Runs a future to its end.
///
/// All futures are of one type to the executor: a copy of it for each was 16 KB of the WASM.
pub fn spawn_local(future: impl Future<Output = ()> + 'static) {
    run(Box::pin(future));
}

fn run(future: Pin<Box<dyn Future<Output = ()>>>) {
    wasm_bindgen_futures::spawn_local(future);
}
