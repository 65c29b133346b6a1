//! Whether the calls of an open loop find room when they are due.

use crate::record::Obstacle;

/// What keeps due calls from being made, and since when.
#[derive(Debug, Default)]
pub(crate) struct Room {
    obstacle: Option<Obstacle>,
    /// Calls that were due until then found no room when they were.
    missing_until_ns: u64,
}

impl Room {
    /// There is none.
    pub fn miss(&mut self, obstacle: Obstacle) {
        self.obstacle = Some(obstacle);
    }

    /// What keeps calls from being made.
    #[inline]
    pub fn obstacle(&self) -> Option<Obstacle> {
        self.obstacle
    }

    /// There is some at `now_ns`, for a call that was due at `intended_ns`. Says whether the call
    /// had to wait for it.
    #[inline]
    pub fn find(&mut self, intended_ns: u64, now_ns: u64) -> bool {
        if self.obstacle.take().is_some() {
            self.missing_until_ns = now_ns;
        }
        intended_ns <= self.missing_until_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_were_due_while_there_was_no_room_have_waited() {
        let mut room = Room::default();
        assert!(!room.find(5, 5));
        room.miss(Obstacle::StreamLimit);
        assert!(room.find(10, 50));
        assert!(room.find(50, 51), "due before there was room");
        assert!(!room.find(52, 53));
    }
}
