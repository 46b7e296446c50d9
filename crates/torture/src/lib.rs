//! The black-box test of the promises in docs/reliability.md.
//!
//! It starts the server binary, drives it with concurrent clients over HTTP, injects faults, records what every client
//! observed as a history, and checks that history against the final log. It shares the wire types and the digest rules
//! with the product and nothing else, so that it does not share a bug of the store.
//!
//! A seed fixes every choice of the clients and of the nemesis: sessions, batch sizes, event ids and bodies, pauses,
//! the order of faults. It does not fix how the operating system interleaves the processes. A failing seed repeats the
//! workload and the plan of faults; the kept history repeats the verdict exactly (`torture check`).
//!
//! Not covered: torn sectors and disks that acknowledge fsync without writing (the loop image drops whole unflushed
//! pages), crashes of PostgreSQL (only `shiftbook` is killed), clock jumps, network partitions, leaks between tenants,
//! and everything in a browser. An event with an unknown outcome that no one read may vanish: that is allowed.
//!
//! A run that is killed with -9 leaves its server, a work directory and possibly a loop mount behind. Ctrl-C, SIGTERM
//! and failures clean up.

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
