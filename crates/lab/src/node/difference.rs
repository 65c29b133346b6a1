//! What a counter of the kernel counted between two readings.

/// What was counted from `before` to `now`. `None` where a reading is missing, and where the
/// counter went back. A driver may have started it anew then, or a counter of 32 bits may have
/// wrapped, once or several times: no difference follows from that.
pub fn counted(now: Option<u64>, before: Option<u64>) -> Option<u64> {
    now?.checked_sub(before?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_went_back_counted_nothing_that_is_known() {
        assert_eq!(counted(Some(7), Some(5)), Some(2));
        assert_eq!(counted(Some(5), Some(5)), Some(0));
        assert_eq!(counted(Some(3), Some(u64::from(u32::MAX))), None);
        assert_eq!(counted(Some(3), Some(u64::MAX)), None);
        assert_eq!(counted(None, Some(5)), None);
        assert_eq!(counted(Some(5), None), None);
    }
}
