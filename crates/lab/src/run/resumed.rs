//! The run that is resumed, which goes on only on the machine on which it began.

use super::settings::{RunSettings, SuiteRunError};
use bookend_contract::machine::MachineFacts;
use bookend_results::store::{Run, Store};

/// The latest unfinished run of the suite. `None`: the settings ask for a new run.
///
/// # Errors
/// When there is no such run, or it began on another machine than `here`.
pub fn find_unfinished(
    settings: &RunSettings,
    store: &Store,
    here: &MachineFacts,
) -> Result<Option<Run>, SuiteRunError> {
    if !settings.resume {
        return Ok(None);
    }
    let suite = &settings.suite.name;
    let run = store
        .latest_unfinished(suite)?
        .ok_or_else(|| SuiteRunError::NothingToResume(suite.clone()))?;
    let differences = differences(&run.new.machine, here);
    if differences.is_empty() {
        return Ok(Some(run));
    }
    Err(SuiteRunError::OtherMachine { run: run.id, differences })
}

/// What differs of the facts without which rounds cannot be compared. Memory does not count: the
/// same machine has some kilobytes more or less after each boot.
fn differences(then: &MachineFacts, now: &MachineFacts) -> Vec<String> {
    let governor =
        |facts: &MachineFacts| facts.governor.clone().unwrap_or_else(|| "unknown".to_owned());
    // CPUs of one name may be different ones. A run of an earlier version has no numbers.
    let has_numbers = then.hardware.is_some() && now.hardware.is_some();
    let cpu = |facts: &MachineFacts| {
        let ids = facts.hardware.as_ref().filter(|_| has_numbers).map(|facts| &facts.cpu_id);
        let ids: Vec<&str> =
            ids.into_iter().flat_map(|ids| ids.values()).map(String::as_str).collect();
        [&[facts.cpu_model.as_str()], ids.as_slice()].concat().join(" ")
    };
    let facts = |facts: &MachineFacts| {
        let cpus = facts.cpus.to_string();
        [cpu(facts), cpus, facts.kernel.clone(), governor(facts)]
    };
    let names = ["the CPU", "the number of CPUs", "the kernel", "the governor"];
    names
        .into_iter()
        .zip(facts(then).into_iter().zip(facts(now)))
        .filter(|(_, (then, now))| then != now)
        .map(|(name, (then, now))| format!("{name} was {then} and is {now}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_contract::machine::HardwareFacts;

    fn machine() -> MachineFacts {
        MachineFacts {
            os: "Debian GNU/Linux 12 (bookworm)".to_owned(),
            kernel: "Linux 6.1.0".to_owned(),
            cpu_model: "AMD EPYC 9754".to_owned(),
            cpus: 16,
            memory_bytes: 1 << 34,
            governor: Some("performance".to_owned()),
            virtual_machine: false,
            hardware: None,
        }
    }

    #[test]
    fn what_rounds_cannot_be_compared_without_is_named() {
        let other = MachineFacts {
            kernel: "Linux 6.12.1".to_owned(),
            cpu_model: "Xeon".to_owned(),
            cpus: 8,
            governor: None,
            ..machine()
        };
        let expected = [
            "the CPU was AMD EPYC 9754 and is Xeon",
            "the number of CPUs was 16 and is 8",
            "the kernel was Linux 6.1.0 and is Linux 6.12.1",
            "the governor was performance and is unknown",
        ];
        assert_eq!(differences(&machine(), &other), expected);
        let rebooted = MachineFacts { memory_bytes: machine().memory_bytes - 4_096, ..machine() };
        assert!(differences(&machine(), &rebooted).is_empty());
        let stepped = |stepping: &str| {
            let cpu_id = [("stepping".to_owned(), stepping.to_owned())].into();
            let hardware = HardwareFacts { cpu_id, ..HardwareFacts::default() };
            MachineFacts { hardware: Some(hardware), ..machine() }
        };
        let expected = ["the CPU was AMD EPYC 9754 1 and is AMD EPYC 9754 2"];
        assert_eq!(differences(&stepped("1"), &stepped("2")), expected);
        assert!(differences(&machine(), &stepped("2")).is_empty());
    }
}
