//! The black-box harness of reliability.md 2.0.
//!
//! It starts the server binary, drives it with concurrent clients over HTTP, injects faults, records what
//! every client saw as a history, and checks that history against the log the server ends up with.
//! It shares the wire types and the digest rules with the product, and nothing else: a bug in the store
//! cannot hide itself in here.
//!
//! What a seed fixes: every choice a client or the nemesis makes (sessions, batch sizes, event ids and bodies,
//! pauses, which fault comes next). What it cannot fix: how the operating system interleaves the processes,
//! hence which choice meets which state, and after how many retries. A failing seed replays the same workload
//! and the same plan of faults; the kept history replays the verdict exactly (`torture check`).
//!
//! What it cannot see: torn sectors and disks that lie about fsync (the loop image drops what was not flushed,
//! whole pages at a time); PostgreSQL's own crashes (only `shiftbook` is killed there); clock jumps; partitions;
//! leaks between tenants; anything people do in a browser. An event that nobody read, streamed or was told of may
//! vanish with its unknown outcome: that is allowed.
//!
//! A run that is killed with -9 leaves its server, a work directory and perhaps a loop mount behind; Ctrl-C,
//! SIGTERM and failures clean up.

pub mod checker;
pub mod client;
pub mod counters;
pub mod history;
pub mod nemesis;
pub mod planted;
pub mod report;
pub mod run;
pub mod time;
pub mod workload;
