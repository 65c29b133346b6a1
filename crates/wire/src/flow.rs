//! Flow control windows, RFC 9113 sections 5.2 and 6.9.

/// The largest window, RFC 9113 section 6.9.1.
pub const MAX_WINDOW_BYTES: u32 = (1 << 31) - 1;

/// The other side would hold more than 2^31-1 bytes of credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowOverflow;

/// What may still be sent in one direction. May be negative: a SETTINGS frame can shrink the
/// window below what is already on its way (RFC 9113 section 6.9.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window(i32);

impl Window {
    /// A window of this size.
    ///
    /// # Panics
    /// Never: sizes above 2^31-1 are cut to it.
    pub fn new(bytes: u32) -> Self {
        Self(bytes.min(MAX_WINDOW_BYTES) as i32)
    }

    /// Bytes that may be sent now.
    /// RFC 9113, section 6.9.2.
    #[inline]
    pub fn available_bytes(self) -> usize {
        self.0.max(0) as usize
    }

    /// Takes `bytes` off the window. Returns false, and takes nothing, if they do not fit.
    #[inline]
    pub fn take(&mut self, bytes: usize) -> bool {
        let fits = bytes <= self.available_bytes();
        if fits {
            self.0 -= bytes as i32;
        }
        fits
    }

    /// Gives `bytes` back.
    ///
    /// # Errors
    /// If the window would pass 2^31-1.
    #[inline]
    pub fn add(&mut self, bytes: u32) -> Result<(), WindowOverflow> {
        self.shift(i64::from(bytes))
    }

    /// Moves the window by the difference of two initial sizes.
    ///
    /// # Errors
    /// If the window would pass 2^31-1.
    /// RFC 9113, section 6.9.1.
    pub fn shift(&mut self, difference_bytes: i64) -> Result<(), WindowOverflow> {
        let moved = i64::from(self.0) + difference_bytes;
        self.0 = i32::try_from(moved).map_err(|_| WindowOverflow)?;
        Ok(())
    }
}

/// Flow control for receiving: what the peer may still send, and the credit that it is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    window: Window,
    owed_bytes: u32,
}

impl Credit {
    /// A window of `size_bytes` that is kept filled up.
    #[inline]
    pub fn new(size_bytes: u32) -> Self {
        Self { window: Window::new(size_bytes), owed_bytes: 0 }
    }

    /// Whether the peer may send `bytes`.
    #[inline]
    pub fn allows(&self, bytes: usize) -> bool {
        self.window.available_bytes() >= bytes
    }

    /// The peer sent `bytes`. Returns false if it was not allowed to.
    #[inline]
    pub fn receive(&mut self, bytes: usize) -> bool {
        self.window.take(bytes)
    }

    /// What the peer sent is to be counted once more: takes it back.
    #[inline]
    pub fn forget(&mut self, bytes: usize) {
        // It was in the window before.
        let _ = self.window.shift(bytes as i64);
    }

    /// The application consumed `bytes` of a window of `size_bytes`. Returns the increment to
    /// announce once half the window is owed, so that updates are rare and the peer never starves.
    #[inline]
    pub fn release(&mut self, bytes: u32, size_bytes: u32) -> Option<u32> {
        self.owed_bytes += bytes;
        if self.owed_bytes == 0 || self.owed_bytes < size_bytes / 2 {
            return None;
        }
        let increment = core::mem::take(&mut self.owed_bytes);
        self.window.add(increment).ok()?;
        Some(increment)
    }

    /// A SETTINGS frame that the peer has acknowledged changed the size.
    pub fn resize(&mut self, from_bytes: u32, to_bytes: u32) {
        let difference_bytes = i64::from(to_bytes) - i64::from(from_bytes);
        // This cannot overflow: the window is at most the old size, so afterwards at most the new
        // one.
        let _ = self.window.shift(difference_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_gives_no_more_than_it_has() {
        let mut window = Window::new(10);
        assert!(window.take(10));
        assert!(!window.take(1));
        assert!(window.take(0));
        assert_eq!(window.add(3), Ok(()));
        assert_eq!(window.available_bytes(), 3);
    }

    #[test]
    fn a_window_can_go_below_zero_and_come_back() {
        let mut window = Window::new(100);
        assert!(window.take(80));
        window.shift(-90).unwrap();
        assert_eq!(window.available_bytes(), 0);
        window.add(71).unwrap();
        assert_eq!(window.available_bytes(), 1);
    }

    #[test]
    fn a_window_does_not_pass_its_limit() {
        let mut window = Window::new(MAX_WINDOW_BYTES);
        assert_eq!(window.add(1), Err(WindowOverflow));
        assert_eq!(window.available_bytes(), MAX_WINDOW_BYTES as usize);
    }

    #[test]
    fn credit_is_announced_when_half_the_window_is_owed() {
        let mut credit = Credit::new(100);
        assert!(credit.receive(60));
        assert_eq!(credit.release(49, 100), None);
        assert_eq!(credit.release(11, 100), Some(60));
        assert!(credit.receive(100));
        assert!(!credit.receive(1));
    }

    #[test]
    fn what_is_taken_back_can_be_received_again() {
        let mut credit = Credit::new(100);
        assert!(credit.receive(70) && !credit.allows(31));
        credit.forget(70);
        assert!(credit.receive(100) && !credit.allows(1));
    }

    #[test]
    fn a_window_of_one_byte_is_refilled_every_byte() {
        let mut credit = Credit::new(1);
        assert!(credit.receive(1));
        assert_eq!(credit.release(1, 1), Some(1));
    }
}
