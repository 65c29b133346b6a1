//! What falls to one of several generators that make the calls of a run together.

use super::{LoadPlan, part_before};
use crate::pace::Part;

impl LoadPlan {
    /// Of the plan of a whole run, what falls to that generator. Each has at least one connection
    /// where there are as many; the calls in flight and the calls in all follow the connections, so
    /// that all generators end at about the same time. Rates are not divided here: each generator
    /// makes the calls of the schedule that are its own.
    pub(super) fn take_part(&mut self, part: Part) {
        let connections = self.connections;
        let first = part_before(connections, part.of, part.number);
        let behind = part_before(connections, part.of, part.number + 1);
        let concurrency = self.concurrency;
        let in_flight = |concurrency: u32| {
            let before = |connection| part_before(concurrency, connections, connection);
            before(behind) - before(first)
        };
        let share = |calls: u64, parts_before: u32, parts: u32| {
            (u128::from(calls) * u128::from(parts_before) / u128::from(parts)) as u64
        };
        self.calls = self.calls.map(|calls| {
            let before = |connection| {
                share(calls, part_before(concurrency, connections, connection), concurrency)
            };
            before(behind) - before(first)
        });
        self.calls_skipped = share(self.calls_skipped, part.number + 1, part.of)
            - share(self.calls_skipped, part.number, part.of);
        for step in &mut self.concurrency_steps {
            step.calls = in_flight(step.calls);
        }
        self.concurrency = in_flight(concurrency);
        self.connections = behind - first;
        self.first_connection = first;
        self.part = part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::pacing::ConcurrencyStep;
    use crate::plan::tests::plan;

    #[test]
    fn the_parts_of_a_run_add_up_to_it() {
        for (connections, concurrency, parts, calls) in
            [(1, 1, 1, 7), (7, 100, 3, 1_000), (10, 10, 10, 13), (100, 100_001, 8, 1 << 40)]
        {
            let mut whole = plan(connections, concurrency, 1, Some(calls));
            whole.calls_skipped = 17;
            whole.concurrency_steps = vec![ConcurrencyStep { at_ns: 0, calls: 31 }];
            let parts: Vec<_> = (0..parts)
                .map(|number| {
                    let mut own = whole.clone();
                    own.take_part(Part { number, of: parts });
                    own
                })
                .collect();
            assert!(parts.iter().all(|part| part.connections > 0));
            let mut first_connection = 0;
            for part in &parts {
                assert_eq!(part.first_connection, first_connection);
                assert!(part.concurrency >= part.connections);
                first_connection += part.connections;
            }
            assert_eq!(first_connection, connections);
            assert_eq!(parts.iter().map(|part| part.concurrency).sum::<u32>(), concurrency);
            assert_eq!(parts.iter().filter_map(|part| part.calls).sum::<u64>(), calls);
            assert_eq!(parts.iter().map(|part| part.calls_skipped).sum::<u64>(), 17);
            let steps = parts.iter().map(|part| part.concurrency_steps[0].calls);
            assert_eq!(steps.sum::<u32>(), 31);
        }
    }

    #[test]
    fn a_whole_run_is_its_only_part() {
        let whole = plan(7, 100, 3, Some(1_000));
        let mut part = whole.clone();
        part.take_part(Part::default());
        assert_eq!(part.share(2), whole.share(2));
        assert_eq!((part.connections, part.calls), (7, Some(1_000)));
    }
}
