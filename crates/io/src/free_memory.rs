//! Memory that was freed, and that the allocator keeps.

/// Gives the kernel back what is free within the heap. glibc itself gives back only what lies at
/// the heap's end, so that one small piece there keeps all that was freed before it. Other
/// allocators give back on their own; of those, this does nothing.
///
/// It takes 0.1 ms for each megabyte that it gives back, and who allocates meanwhile may wait for
/// it.
pub fn return_free_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it has no precondition, and may be called from any thread (malloc_trim(3)).
    unsafe {
        libc::malloc_trim(0);
    }
}
