//! The io_uring of one thread: operations, their completions, and the memory that the kernel reads
//! and writes in between.
//!
//! The [`Ring`] owns everything that the kernel may touch: the buffers that it fills and the
//! outputs that it sends. It gives either out only after a completion shows that the kernel is done
//! with it. A dropped ring, even one dropped by a panic, first cancels what is in flight and waits
//! for the completions; memory that it cannot get back is leaked. So no driver, however wrong, can
//! make the kernel touch memory that is in use for something else.
//!
//! Descriptors belong to the driver: one with something in flight must not be closed, or an
//! operation that is not submitted yet would find the next descriptor of that number.

mod buffers;
#[cfg(feature = "faults")]
mod fault_injector;
#[cfg(not(feature = "faults"))]
mod no_faults;
mod operation;

pub(crate) use buffers::Filled;
pub(crate) use operation::{Event, Operation};

use crate::kernel::{self, TryGrow};
use buffers::Buffers;
#[cfg(feature = "faults")]
use fault_injector::FaultInjector;
use io_uring::types::{CancelBuilder, Fd};
use io_uring::{IoUring, opcode, squeue};
#[cfg(not(feature = "faults"))]
use no_faults::NoFaults as FaultInjector;
#[cfg(feature = "faults")]
use operation::FLAG_MORE;
use operation::RingCompletion;
use rustix::fd::{AsFd, AsRawFd};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::mem;

/// Operations that one system call submits; more of them take another one.
const SUBMISSIONS_MAX: u32 = 1024;

/// Completions that fit between two turns. As many connections as a listener's queue holds can be
/// accepted in one; what does not fit the kernel keeps until there is room.
const COMPLETIONS_MAX: u32 = 4096;

/// How long a dropped ring waits for what is in flight, and how often: cancelling an operation on a
/// socket takes no time.
const LAST_WAIT_NS: u64 = 100_000_000;
const LAST_WAITS_MAX: u32 = 20;

/// Operations that a connection has in flight at most: connect or receive, send, watch, and the
/// cancelling of each.
const OPERATIONS_A_CONNECTION: usize = 6;

/// One thread's ring.
pub(crate) struct Ring {
    io: IoUring,
    buffers: Buffers,
    /// What is being sent, by connection.
    lent: Vec<Lent>,
    /// Entries for which the submission queue had no room.
    overflow: VecDeque<squeue::Entry>,
    /// Operations without a final completion.
    in_flight: usize,
    injector: FaultInjector,
}

/// An output on its way to the kernel.
#[derive(Debug, Default)]
struct Lent {
    bytes: Vec<u8>,
    sent_bytes: usize,
    in_flight: bool,
}

impl Ring {
    /// A ring that does nothing before [`Ring::enable`]; until then it may be moved to the thread
    /// that will use it.
    pub fn new() -> Result<Self, Errno> {
        let mut builder = IoUring::builder();
        builder
            .setup_cqsize(COMPLETIONS_MAX)
            .setup_submit_all()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_r_disabled();
        let mut ring = Self {
            io: kernel::ring_setup(&builder, SUBMISSIONS_MAX)?,
            buffers: Buffers::new()?,
            lent: Vec::new(),
            overflow: VecDeque::new(),
            in_flight: 0,
            injector: FaultInjector::default(),
        };
        ring.buffers.register(&ring.io)?;
        Ok(ring)
    }

    /// Begins to work. From here on the ring belongs to the calling thread.
    pub fn enable(&mut self) -> Result<(), Errno> {
        kernel::ring_register(|| self.io.submitter().register_enable_rings())
    }

    /// Makes room for `connections` connections.
    pub fn make_room(&mut self, connections: usize) -> Result<(), Errno> {
        let missing = connections.saturating_sub(self.lent.len());
        if missing > 0 {
            self.lent.try_grow(missing)?;
            self.lent.resize_with(connections, Lent::default);
            let operations = connections * OPERATIONS_A_CONNECTION;
            let additional = operations.saturating_sub(self.overflow.len());
            self.overflow.try_grow(additional)?;
        }
        Ok(())
    }

    /// Accepts connections until [`Event::Accepted`] says that it does not go on.
    pub fn accept(&mut self, listener: impl AsFd) {
        self.injector.accept();
        let entry = opcode::AcceptMulti::new(fd(listener)).flags(libc::SOCK_CLOEXEC);
        self.push(Operation::Accept, entry.build());
    }

    /// Reports signals of an eventfd, until [`Event::Called`] says that it does not go on. The
    /// counter is never read back: a multishot poll reports each signal on its own.
    pub fn listen(&mut self, event: impl AsFd) {
        let entry = opcode::PollAdd::new(fd(event), libc::POLLIN as u32).multi(true);
        self.push(Operation::Wake, entry.build());
    }

    /// Reports the end of a connect.
    pub fn await_connect(&mut self, index: u32, socket: impl AsFd) {
        let entry = opcode::PollAdd::new(fd(socket), libc::POLLOUT as u32);
        self.push(Operation::Connect(index), entry.build());
    }

    /// Reports errors on a connection that is not read.
    pub fn watch(&mut self, index: u32, socket: impl AsFd) {
        // Poll reports errors and hang-ups even where no event is asked for.
        let entry = opcode::PollAdd::new(fd(socket), 0);
        self.push(Operation::Watch(index), entry.build());
    }

    /// Reads until [`Event::Received`] says that it does not go on.
    pub fn receive(&mut self, index: u32, socket: impl AsFd) {
        let entry = opcode::RecvMulti::new(fd(socket), buffers::GROUP);
        self.push(Operation::Receive(index), entry.build());
    }

    /// Sends once, as [`Event::Sent`] says. [`Ring::send_rest`] goes on where it ended, and
    /// [`Ring::take_lent`] gives the bytes back.
    pub fn send(&mut self, index: u32, socket: impl AsFd, bytes: Vec<u8>) {
        let lent = &mut self.lent[index as usize];
        assert!(!lent.in_flight, "one send of a connection at a time");
        lent.bytes = bytes;
        lent.sent_bytes = 0;
        self.submit_send(index, socket);
    }

    /// Sends once what is left.
    pub fn send_rest(&mut self, index: u32, socket: impl AsFd) {
        let lent = &mut self.lent[index as usize];
        assert!(!lent.in_flight, "the kernel still reads them");
        if lent.sent_bytes > lent.bytes.len() / 2 {
            // The rest may wait for as long as the peer likes.
            lent.bytes.drain(..lent.sent_bytes);
            lent.sent_bytes = 0;
            lent.bytes.shrink_to(2 * lent.bytes.len());
        }
        self.submit_send(index, socket);
    }

    fn submit_send(&mut self, index: u32, socket: impl AsFd) {
        let lent = &mut self.lent[index as usize];
        assert!(!lent.in_flight, "one send of a connection at a time");
        let left = &lent.bytes[lent.sent_bytes..];
        let length = match kernel::send_length(left.len()) {
            Ok(length) => u32::try_from(length).unwrap_or(u32::MAX),
            Err(error) => return self.injector.fail(Operation::Send(index), error),
        };
        let entry = opcode::Send::new(fd(socket), left.as_ptr(), length).flags(libc::MSG_NOSIGNAL);
        lent.in_flight = true;
        self.push(Operation::Send(index), entry.build());
    }

    /// The bytes that were sent, for another use.
    pub fn take_lent(&mut self, index: u32) -> Vec<u8> {
        let lent = &mut self.lent[index as usize];
        assert!(!lent.in_flight, "the kernel still reads them");
        mem::take(&mut lent.bytes)
    }

    /// Cancels an operation: its completion says `ECANCELED`, or how it ended before that.
    pub fn cancel(&mut self, operation: Operation) {
        let entry = opcode::AsyncCancel2::new(CancelBuilder::user_data(operation.key()))
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS);
        self.enqueue(entry.user_data(Operation::Cancel.key()));
    }

    /// Whether a completion can be read without a system call.
    pub fn has_events(&mut self) -> bool {
        !self.injector.is_empty() || !self.io.completion().is_empty()
    }

    /// Submits everything, then waits for a completion: not at all, for `timeout_ns` nanoseconds,
    /// or for ever.
    #[inline]
    pub fn enter(&mut self, timeout_ns: Option<u64>) -> Result<(), Errno> {
        while !self.overflow.is_empty() {
            self.refill();
            kernel::ring_enter(&mut self.io, Some(0))?;
        }
        let timeout_ns = if self.injector.is_empty() { timeout_ns } else { Some(0) };
        if timeout_ns == Some(0) && self.is_idle() {
            return Ok(());
        }
        kernel::ring_enter(&mut self.io, timeout_ns)
    }

    /// Whether a system call that does not wait would do nothing.
    #[inline]
    fn is_idle(&mut self) -> bool {
        let submissions = self.io.submission();
        submissions.is_empty() && !submissions.taskrun() && !submissions.cq_overflow()
    }

    /// The next event, if one has happened.
    #[inline]
    pub fn next_event(&mut self) -> Option<Event> {
        loop {
            let completion = self.next_completion()?;
            if let Some(event) = self.event(completion) {
                return Some(event);
            }
        }
    }

    #[inline]
    fn next_completion(&mut self) -> Option<RingCompletion> {
        loop {
            if let Some(completion) = self.injector.pop() {
                return Some(completion);
            }
            let completion = self.take_completion()?;
            let (seen, is_to_end) = self.injector.divert(completion);
            if is_to_end {
                self.cancel(completion.operation);
            }
            if seen.is_some() {
                return seen;
            }
        }
    }

    /// The kernel's next completion. The kernel is done with an operation that does not go on.
    #[inline]
    fn take_completion(&mut self) -> Option<RingCompletion> {
        let completion = RingCompletion::from(self.io.completion().next()?);
        if !completion.goes_on() && completion.operation != Operation::Cancel {
            self.in_flight -= 1;
            if let Operation::Send(index) = completion.operation {
                self.lent[index as usize].in_flight = false;
            }
        }
        Some(completion)
    }

    #[inline]
    fn event(&mut self, completion: RingCompletion) -> Option<Event> {
        let goes_on = completion.goes_on();
        let event = match completion.operation {
            Operation::Cancel => return None,
            Operation::Accept => Event::Accepted { result: completion.into_descriptor(), goes_on },
            Operation::Wake => Event::Called { goes_on },
            Operation::Connect(index) => Event::Connected { index, result: completion.result() },
            Operation::Watch(index) => Event::Watched { index, result: completion.result() },
            Operation::Receive(index) => Event::Received {
                index,
                result: self.received(completion),
                left_more: completion.left_more(),
                goes_on,
            },
            Operation::Send(index) => Event::Sent { index, result: self.sent(index, completion) },
        };
        Some(event)
    }

    #[inline]
    fn received(&mut self, completion: RingCompletion) -> Result<Option<Filled>, Errno> {
        let count = completion.result().inspect_err(|error| {
            if *error == Errno::NOBUFS {
                self.buffers.grow();
            }
        })?;
        let filled = completion.buffer().map(|number| self.buffers.filled(number, count as usize));
        match filled {
            // The end of the stream, for which some kernels take a buffer.
            Some(empty) if count == 0 => {
                self.buffers.give_back(empty);
                Ok(None)
            }
            filled => Ok(filled),
        }
    }

    /// How many bytes were sent, and how many are left.
    #[inline]
    fn sent(&mut self, index: u32, completion: RingCompletion) -> Result<(usize, usize), Errno> {
        let count = completion.result()? as usize;
        let lent = &mut self.lent[index as usize];
        lent.sent_bytes += count;
        Ok((count, lent.bytes.len() - lent.sent_bytes))
    }

    /// The bytes in a filled buffer.
    #[inline]
    pub fn bytes(&self, filled: &Filled) -> &[u8] {
        self.buffers.bytes(filled)
    }

    /// Lets the kernel fill a buffer again.
    #[inline]
    pub fn give_back(&mut self, filled: Filled) {
        self.buffers.give_back(filled);
    }

    #[inline]
    fn push(&mut self, operation: Operation, entry: squeue::Entry) {
        self.in_flight += 1;
        self.enqueue(entry.user_data(operation.key()));
    }

    #[inline]
    fn enqueue(&mut self, entry: squeue::Entry) {
        if !self.overflow.is_empty() || !self.submit(&entry) {
            // There is room since the connection was registered: see `make_room`.
            self.overflow.push_back(entry);
        }
    }

    /// Moves waiting entries into the submission queue, as far as there is room.
    #[cold]
    fn refill(&mut self) {
        while let Some(entry) = self.overflow.pop_front() {
            if !self.submit(&entry) {
                return self.overflow.push_front(entry);
            }
        }
    }

    /// False where the submission queue is full.
    #[inline]
    fn submit(&mut self, entry: &squeue::Entry) -> bool {
        // SAFETY: the only memory that an entry of ours names is the output that a send reads. It
        // is on the heap, owned by `self.lent` and left alone while `in_flight` is set there, which
        // only the completion of that send takes back. All other entries name descriptors, or the
        // group of registered buffers, which `Buffers` looks after.
        unsafe { self.io.submission().push(entry) }.is_ok()
    }

    /// Cancels everything in flight and waits for it. Events until then are dropped.
    pub fn quiesce(&mut self) {
        if self.in_flight == 0 {
            return;
        }
        let entry = opcode::AsyncCancel2::new(CancelBuilder::any()).build();
        self.enqueue(entry.user_data(Operation::Cancel.key()));
        for _ in 0..LAST_WAITS_MAX {
            self.refill();
            // Errors are retried; what is still in flight at the end is leaked.
            let _ = kernel::ring_enter_at_the_end(&mut self.io, Some(LAST_WAIT_NS));
            while let Some(completion) = self.take_completion() {
                if completion.operation == Operation::Accept {
                    drop(completion.into_descriptor());
                }
            }
            if self.in_flight == 0 {
                return;
            }
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.quiesce();
        if self.in_flight > 0 {
            // The kernel may still read the outputs and fill the buffers.
            self.buffers.leak();
            mem::forget(mem::take(&mut self.lent));
        }
    }
}

#[inline]
fn fd(descriptor: impl AsFd) -> Fd {
    Fd(descriptor.as_fd().as_raw_fd())
}

#[cfg(test)]
mod tests;
