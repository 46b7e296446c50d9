//! What the log promises, on both engines. One binary; each file is a chapter.

mod access;
mod append;
mod claim;
mod dialect;
mod durability;
mod outage;
mod secrets;
mod status;
