//! What a template may make and do in one call. The engine gives functions their arguments and
//! nothing else, so the thread that renders keeps what is left.

use gotmpl::{Result, TemplateError};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// All that functions make in one call, whether it gets into the text or not: several of the
/// longest texts that there are.
const MADE_MAX_BYTES: usize = 256 << 20;

/// Functions, passes of loops, templates that are called by others, and the expressions of the
/// engine's own in each. The longest list has half as many.
const STEPS_MAX: u32 = 2_000_000;

/// A generator that takes longer for one call makes no load.
const TIME_MAX: Duration = Duration::from_secs(30);

#[derive(Clone, Copy)]
struct Left {
    bytes: usize,
    steps: u32,
    /// `None` before the first call.
    until: Option<Instant>,
}

thread_local! {
    static LEFT: Cell<Left> = const { Cell::new(Left { bytes: 0, steps: 0, until: None }) };
}

/// Begins a call: nothing is spent.
pub(super) fn begin() {
    let until = Instant::now().checked_add(TIME_MAX);
    LEFT.set(Left { bytes: MADE_MAX_BYTES, steps: STEPS_MAX, until });
}

/// A step is taken.
///
/// # Errors
/// It is one too many, or comes too late.
pub(super) fn step() -> Result<()> {
    steps(1)
}

/// Takes this number of steps at once.
///
/// # Errors
/// As [`step`].
pub(super) fn steps(count: u32) -> Result<()> {
    let left = LEFT.get();
    let steps = left
        .steps
        .checked_sub(count)
        .ok_or_else(|| TemplateError::Exec(format!("it takes more than {STEPS_MAX} steps")))?;
    LEFT.set(Left { steps, ..left });
    match left.until.is_some_and(|until| Instant::now() > until) {
        true => Err(TemplateError::Exec(format!("it takes longer than {TIME_MAX:?}"))),
        false => Ok(()),
    }
}

/// Counts what a function has made.
///
/// # Errors
/// It is more than is left.
pub(super) fn spend(bytes: usize) -> Result<()> {
    let left = LEFT.get();
    let bytes = left.bytes.checked_sub(bytes).ok_or_else(|| {
        TemplateError::Exec(format!("its functions make more than {} MiB", MADE_MAX_BYTES >> 20))
    })?;
    LEFT.set(Left { bytes, ..left });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_has_all_of_it_again() {
        for _ in 0..2 {
            begin();
            assert!(spend(MADE_MAX_BYTES).is_ok());
            let error = spend(1).unwrap_err().to_string();
            assert!(error.ends_with("its functions make more than 256 MiB"), "{error}");
            assert!((0..STEPS_MAX).all(|_| step().is_ok()));
            assert!(step().is_err());
        }
    }
}
