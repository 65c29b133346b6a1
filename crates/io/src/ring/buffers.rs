//! The provided buffers that the kernel picks from for its reads.

use crate::kernel;
use io_uring::IoUring;
use io_uring::types::BufRingEntry;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU16, Ordering};

/// What one buffer holds. A read that brings more takes several.
const BUFFER_BYTES: usize = 16 << 10;

/// From one buffer to the next: three cache lines further than a power of two, or the fronts of all
/// buffers would share the same few lines of a core's caches.
const STRIDE_BYTES: usize = BUFFER_BYTES + 3 * 64;

/// The most buffers that a thread has, a power of two: 16 MiB, of which only what was ever filled
/// is in memory. That number of connections can be read between two turns; the others are read in
/// the next.
const BUFFERS_MAX: u16 = 1024;

/// How many there are to begin with. The kernel takes them in turn, so few of them stay in a core's
/// cache; there are twice as many each time that they have not been enough.
const BUFFERS_MIN: u16 = 8;

/// The group that these buffers are known by: a ring has no other.
pub(super) const GROUP: u16 = 0;

const RING_BYTES: usize = BUFFERS_MAX as usize * size_of::<BufRingEntry>();
const MAPPED_BYTES: usize = RING_BYTES + BUFFERS_MAX as usize * STRIDE_BYTES;

/// The buffers of one ring, and the queue by which the kernel gets them.
///
/// Each buffer belongs to the kernel from [`Buffers::provide`] until a completion says that it has
/// filled it, and to us from there (as a [`Filled`]) until it is provided again.
#[derive(Debug)]
pub(super) struct Buffers {
    /// The queue, then the buffers. Mapped as long as this value lives.
    memory: NonNull<u8>,
    count: u16,
    tail: u16,
    is_leaked: bool,
}

/// A buffer that the kernel has filled and does not touch until it is given back.
#[derive(Debug)]
#[must_use]
pub(crate) struct Filled {
    number: u16,
    bytes: usize,
}

// SAFETY: the memory belongs to this value alone, wherever it is moved to.
unsafe impl Send for Buffers {}

impl Buffers {
    pub fn new() -> Result<Self, Errno> {
        // SAFETY: the kernel chooses a place where nothing is.
        let memory = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                MAPPED_BYTES,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )?
        };
        Ok(Self {
            memory: NonNull::new(memory.cast()).ok_or(Errno::NOMEM)?,
            count: 0,
            tail: 0,
            is_leaked: false,
        })
    }

    /// Makes the queue known to the ring and puts the first buffers into it.
    pub fn register(&mut self, ring: &IoUring) -> Result<(), Errno> {
        let queue = self.memory.as_ptr() as u64;
        kernel::ring_register(|| {
            let submitter = ring.submitter();
            // SAFETY: the queue is at the start of a mapping, so on a page of its own, and has the
            // size that is passed. It stays mapped until this value is dropped, which its owner
            // does only when the ring has nothing in flight any more, or not at all (`leak`).
            unsafe { submitter.register_buf_ring_with_flags(queue, BUFFERS_MAX, GROUP, 0) }
        })?;
        self.add(BUFFERS_MIN);
        Ok(())
    }

    /// A read found no free buffer: twice as many from now on.
    #[cold]
    pub fn grow(&mut self) {
        self.add(self.count.min(BUFFERS_MAX - self.count));
    }

    fn add(&mut self, more: u16) {
        for number in self.count..self.count + more {
            self.provide(number);
        }
        self.count += more;
    }

    /// The buffer that a completion has named.
    #[inline]
    pub fn filled(&self, number: u16, bytes: usize) -> Filled {
        assert!(number < self.count && bytes <= BUFFER_BYTES, "not a buffer");
        Filled { number, bytes }
    }

    /// What is in it.
    #[inline]
    pub fn bytes(&self, filled: &Filled) -> &[u8] {
        // SAFETY: a `Filled` exists only from the completion until it is given back by value, and
        // in that time the kernel does not touch the buffer. It is inside the mapping, whose pages
        // begin as zeros, and `bytes` is no larger than a buffer.
        unsafe { std::slice::from_raw_parts(self.buffer(filled.number), filled.bytes) }
    }

    /// Lets the kernel have it again.
    #[inline]
    pub fn give_back(&mut self, filled: Filled) {
        self.provide(filled.number);
    }

    #[inline]
    fn provide(&mut self, number: u16) {
        let queue = self.memory.cast::<BufRingEntry>();
        let place = usize::from(self.tail % BUFFERS_MAX);
        // SAFETY: the place is inside the queue. The kernel reads only those between its head and
        // the tail that is published below, and this one is not: there are as many places as there
        // can be buffers, and each buffer is in the queue at most once.
        let entry = unsafe { &mut *queue.as_ptr().add(place) };
        entry.set_addr(self.buffer(number) as u64);
        entry.set_len(BUFFER_BYTES as u32);
        entry.set_bid(number);
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the queue's tail is the reserved field of its first entry, which is aligned,
        // inside the mapping, and written by nobody else.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(queue.as_ptr()).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }

    #[inline]
    fn buffer(&self, number: u16) -> *mut u8 {
        let offset = RING_BYTES + usize::from(number) * STRIDE_BYTES;
        // SAFETY: numbers are below `BUFFERS_MAX`, so the offset is inside the mapping.
        unsafe { self.memory.as_ptr().add(offset) }
    }

    /// Leaks the memory, because the kernel may still write to it.
    pub fn leak(&mut self) {
        self.is_leaked = true;
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        if self.is_leaked {
            return;
        }
        let memory = self.memory.as_ptr().cast::<c_void>();
        // SAFETY: mapped in `new` with that length, and nothing points there any more: slices
        // borrow this value, and the owner calls `leak` where the kernel may still write.
        let _ = unsafe { munmap(memory, MAPPED_BYTES) };
    }
}
