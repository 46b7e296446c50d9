//! The binary `shiftbook`.

use std::process::ExitCode;

/// Uses jemalloc, because the C library's allocator keeps freed memory in a heap for each thread.
/// With that allocator, memory use did not fall after a peak, and the peak was a sixth higher with
/// readers and writers on many threads. SQLite allocates through jemalloc too.
#[cfg(all(target_os = "linux", feature = "allocator"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    server::cli::main()
}
