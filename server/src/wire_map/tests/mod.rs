//! Whatever a record holds, a client that reads what is sent of it finds the same in each field. Fields of a record
//! that are not sent are taken from the record itself.

mod gate;
mod memory;
mod pool;
mod view;
