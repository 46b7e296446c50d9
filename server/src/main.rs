//! The binary `shiftbook`.

use std::process::ExitCode;

/// The C library's allocator keeps what every thread has freed in heaps of that thread's own: after a peak nothing came
/// back, and readers and writers on many threads needed a sixth more at it. SQLite allocates by this one as well.
#[cfg(all(target_os = "linux", feature = "allocator"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    server::cli::main()
}
