//! The faults, and the processes, proxies and disks they are done to.

mod admin;
mod disk;
mod plan;
mod proxy;
mod server;
mod signal;
mod worker_process;

pub use admin::{Account, verify};
pub use disk::{LoopDisk, probe};
pub use plan::{begin, chaos, restart, stop_and_kill_workers};
pub use proxy::Proxy;
pub use server::{Server, ServerSpec, free_port};
pub use worker_process::{WORKER_TASKS_MAX, WorkerProcess, WorkerSpec};
