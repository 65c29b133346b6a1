//! Which step may start next: one whose needs have ended, and which uses nothing that a running
//! step uses.

use crate::steps::Step;

/// How many steps run at once. A build fills two processors for most of its time but not at its
/// end, and what waits for servers hardly uses one.
const RUNNING_MAX: usize = 3;

/// The steps that were not started yet, and those that run.
pub struct StepQueue {
    waiting: Vec<Step>,
    running: Vec<Step>,
}

impl StepQueue {
    /// `steps` in the order in which they start where nothing holds them up. What a step needs and
    /// is not among them counts as done.
    pub fn new(steps: Vec<Step>) -> Self {
        StepQueue { waiting: steps, running: Vec::new() }
    }

    /// The step to start now; `None` where one that runs has to end first, or all were started.
    pub fn start_next(&mut self) -> Option<Step> {
        if self.running.len() == RUNNING_MAX {
            return None;
        }
        let index = self.waiting.iter().position(|step| self.may_start(step))?;
        let step = self.waiting.remove(index);
        self.running.push(step.clone());
        Some(step)
    }

    /// A step has ended, well or not: what needs it may start, and says itself what it misses.
    pub fn end(&mut self, name: &str) {
        self.running.retain(|step| step.name != name);
    }

    /// Names of the steps that run, in the order in which they started.
    pub fn running(&self) -> Vec<&str> {
        self.running.iter().map(|step| step.name.as_str()).collect()
    }

    fn may_start(&self, step: &Step) -> bool {
        let is_open =
            |name: &str| self.waiting.iter().chain(&self.running).any(|open| open.name == name);
        let is_in_use = |resource| self.running.iter().any(|other| other.uses.contains(resource));
        !step.needs.iter().any(|name| is_open(name)) && !step.uses.iter().any(is_in_use)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::Resource;

    fn step(name: &str, needs: &'static [&'static str], uses: &'static [Resource]) -> Step {
        Step { needs, uses, ..Step::running(name, &["true"]) }
    }

    /// The names of all steps that start now.
    fn started(queue: &mut StepQueue) -> Vec<String> {
        std::iter::from_fn(|| queue.start_next()).map(|step| step.name).collect()
    }

    #[test]
    fn a_step_waits_for_what_it_needs_and_others_overtake_it() {
        let steps =
            [step("release", &[], &[]), step("calls", &["release"], &[]), step("doc", &[], &[])];
        let mut queue = StepQueue::new(steps.to_vec());
        assert_eq!(started(&mut queue), ["release", "doc"]);
        queue.end("doc");
        assert!(started(&mut queue).is_empty());
        queue.end("release");
        assert_eq!(started(&mut queue), ["calls"]);
        assert_eq!(queue.running(), ["calls"]);
    }

    #[test]
    fn what_was_not_asked_for_is_not_waited_for() {
        let mut queue = StepQueue::new(vec![step("calls", &["release"], &[])]);
        assert_eq!(started(&mut queue), ["calls"]);
    }

    #[test]
    fn two_steps_that_use_the_same_thing_take_turns() {
        let dev = &[Resource::DevFolder];
        let mut queue = StepQueue::new(vec![step("a", &[], dev), step("b", &[], dev)]);
        assert_eq!(started(&mut queue), ["a"]);
        queue.end("a");
        assert_eq!(started(&mut queue), ["b"]);
    }

    #[test]
    fn no_more_steps_run_at_once_than_may() {
        let steps = ["a", "b", "c", "d", "e"].map(|name| step(name, &[], &[]));
        let mut queue = StepQueue::new(steps.to_vec());
        assert_eq!(started(&mut queue).len(), RUNNING_MAX);
        queue.end("b");
        assert_eq!(started(&mut queue), ["d"]);
    }
}
