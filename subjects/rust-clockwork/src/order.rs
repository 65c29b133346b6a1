//! The request: clockwork.proto's Order, which has nothing but numbers.

/// The numbers of the fields, from 1.
const FIELDS: usize = 16;

/// What a call is to do. Fields by their number less one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Order([u64; FIELDS]);

impl Order {
    /// Reads a gRPC message. `None`: it is no order.
    pub fn read(message: &[u8]) -> Option<Order> {
        let (_prefix, mut rest) = message.split_at_checked(5)?;
        let mut fields = [0; FIELDS];
        while !rest.is_empty() {
            let key = varint(&mut rest)?;
            // Wire type 0 in the lower three bits: a varint.
            let number = usize::try_from(key >> 3).ok().filter(|_| key & 7 == 0)?;
            *fields.get_mut(number.checked_sub(1)?)? = varint(&mut rest)?;
        }
        Some(Order(fields))
    }

    /// How long the call of this number is to take, nanoseconds.
    pub fn delay_ns(&self, call: u64) -> u64 {
        let [delay_us, tail_us, tail_every, mean_us, seed, ..] = self.0;
        let constant_us = if is_due(call, tail_every) { tail_us } else { delay_us };
        let random_us = -fraction(seed.wrapping_add(call)).ln() * mean_us as f64;
        constant_us * 1000 + (random_us * 1000.0) as u64
    }

    /// The status of the call of this number.
    pub fn status(&self, call: u64) -> u64 {
        if is_due(call, self.0[6]) { self.0[5] } else { 0 }
    }

    /// Whether the call of this number is reset.
    pub fn is_reset(&self, call: u64) -> bool {
        is_due(call, self.0[7])
    }

    /// Whether the call of this number ends its connection.
    pub fn is_dropped(&self, call: u64) -> bool {
        is_due(call, self.0[8])
    }

    /// CPU time, nanoseconds, and who is to burn it.
    pub fn burn(&self) -> (u64, u64) {
        (self.0[9] * 1000, self.0[10])
    }

    /// Memory to be held from now on, bytes. `None`: as before.
    pub fn hold(&self) -> Option<usize> {
        match self.0[11] {
            0 => None,
            1 => Some(0),
            bytes => usize::try_from(bytes).ok(),
        }
    }

    /// For how long the call of this number stops the server, nanoseconds.
    pub fn freeze_ns(&self, call: u64) -> u64 {
        if self.0[13] == call { self.0[12] * 1000 } else { 0 }
    }

    /// Messages of a stream, and the time from one to the next, nanoseconds.
    pub fn messages(&self) -> (u64, u64) {
        (self.0[14], self.0[15] * 1000)
    }
}

fn is_due(call: u64, every: u64) -> bool {
    every != 0 && call.is_multiple_of(every)
}

/// Between 0 and 1, without either: splitmix64.
fn fraction(state: u64) -> f64 {
    let mut mixed = state.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (((mixed ^ (mixed >> 31)) >> 12) as f64 + 0.5) / (1u64 << 52) as f64
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_and_nothing_else_is() {
        let order = Order::read(&[0, 0, 0, 0, 5, 0x08, 0xc8, 0x01, 0x38, 0x03]).unwrap();
        assert_eq!((order.delay_ns(1), order.0[6]), (200_000, 3));
        assert_eq!(Order::read(&[0; 5]), Some(Order::default()));
        for broken in [&[0; 4][..], &[0, 0, 0, 0, 1, 8], &[0, 0, 0, 0, 2, 10, 0]] {
            assert_eq!(Order::read(broken), None, "{broken:?}");
        }
    }

    #[test]
    fn every_third_call_is_the_third_and_the_sixth() {
        let mut order = Order::default();
        (order.0[5], order.0[6], order.0[2], order.0[1]) = (9, 3, 2, 7);
        assert_eq!([1, 2, 3, 6].map(|call| order.status(call)), [0, 0, 9, 9]);
        assert_eq!([1, 2].map(|call| order.delay_ns(call)), [0, 7000]);
        assert!(!order.is_reset(3) && !order.is_dropped(3));
    }

    #[test]
    fn exponential_delays_have_their_mean() {
        let mut order = Order::default();
        order.0[3] = 100;
        let sum: u64 = (1..=100_000).map(|call| order.delay_ns(call)).sum();
        assert!((sum as f64 / 1e10 - 1.0).abs() < 0.02, "{sum}");
    }
}
