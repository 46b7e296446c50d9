//! Which fault comes when. The order and the pauses follow from the seed.

use super::{Proxy, Server, WorkerProcess, WorkerSpec};
use crate::{
    counters::Counters,
    history::{Answer, Fault, Op, Outcome, Recorder},
    workload::RoundContext,
};
use anyhow::{Context as _, Result};
use std::{path::PathBuf, time::Duration};
use tokio::time::sleep;

/// The nemesis in the history.
pub const NEMESIS: u32 = 0;

/// Kills, stops and cuts until the load is over, or until the server ends by itself. It is running when this returns,
/// unless it ended by itself.
pub async fn chaos(
    server: &mut Server,
    proxy: &Proxy,
    context: &RoundContext,
    rng: &mut fastrand::Rng,
    counters: &Counters,
) -> Result<()> {
    while context.is_loading() {
        context.rest(Duration::from_millis(rng.u64(50..800))).await;
        if !context.is_loading() {
            break;
        }
        // A kill would hide it. It is not started again, so that the verdict of the round names it.
        if server.died().is_some() {
            break;
        }
        match rng.u32(0..10) {
            0..=4 => {
                let fault = begin(&context.recorder, Fault::Kill);
                server.kill();
                counters.kills.add(1);
                restart(server, counters).await?;
                context.recorder.end(fault, Outcome::Ok(Answer::Done));
            }
            5 | 6 => {
                let fault = begin(&context.recorder, Fault::Pause);
                server.stop().await?;
                counters.server_stops.add(1);
                sleep(Duration::from_millis(rng.u64(50..1_200))).await;
                server.resume()?;
                context.recorder.end(fault, Outcome::Ok(Answer::Done));
            }
            _ => proxy.cut(rng.u64(1..12)),
        }
    }
    proxy.clear();
    Ok(())
}

/// Starts the server again; what it cannot recover from is a finding of its own.
pub async fn restart(server: &mut Server, counters: &Counters) -> Result<()> {
    let took = server.start().await.context("the server did not come back after a fault")?;
    counters.restart_ms_max.max(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    Ok(())
}

/// Notes the beginning of a fault.
pub fn begin(recorder: &Recorder, fault: Fault) -> crate::history::Begun {
    recorder.begin(NEMESIS, &Op::Fault { fault })
}

/// Stops workers for two leases, kills some, and replaces those, until the load is over.
/// `histories` collects what the workers wrote, also when something fails.
pub async fn stop_and_kill_workers(
    specs: Vec<WorkerSpec>,
    proxy: &Proxy,
    context: &RoundContext,
    rng: &mut fastrand::Rng,
    counters: &Counters,
    histories: &mut Vec<PathBuf>,
) -> Result<()> {
    let mut next_process = specs.iter().map(|spec| spec.process).max().unwrap_or(0);
    let mut running = Vec::new();
    for spec in specs {
        running.push((WorkerProcess::start(&spec)?, spec));
    }
    histories.extend(running.iter().map(|(_, spec)| spec.history.clone()));
    while context.is_loading() && !running.is_empty() {
        context.rest(Duration::from_millis(rng.u64(100..600))).await;
        if !context.is_loading() {
            break;
        }
        let index = rng.usize(0..running.len());
        if rng.u32(0..4) > 0 {
            let (worker, spec) = &running[index];
            worker.stop().await?;
            counters.worker_stops.add(1);
            // Not cut short by the drain: a worker that wakes before its lease ran out shows nothing.
            sleep(Duration::from_millis(u64::from(spec.behavior.lease_seconds) * 2_000)).await;
            worker.resume()?;
        } else {
            let (worker, mut spec) = running.swap_remove(index);
            worker.kill();
            counters.worker_kills.add(1);
            // A new process under the old number would mix two histories.
            next_process += super::WORKER_TASKS_MAX;
            spec.process = next_process;
            spec.history.set_extension(format!("{next_process}.jsonl"));
            histories.push(spec.history.clone());
            running.push((WorkerProcess::start(&spec)?, spec));
        }
        proxy.cut(rng.u64(0..4));
    }
    proxy.clear();
    for (worker, _) in &mut running {
        worker.close();
    }
    for (worker, _) in running {
        worker.wait().await?;
    }
    Ok(())
}
