//! What a CPU is by its numbers, what the machine runs in, and what changes its speed.

use crate::key_values::value;
use bookend_contract::machine::HardwareFacts;
use std::path::Path;

/// What a CPU says of itself, as `/proc/cpuinfo` calls it: on x86, then on Arm.
const CPU_ID: [&str; 9] = [
    "vendor_id",
    "cpu family",
    "model",
    "stepping",
    "microcode",
    "CPU implementer",
    "CPU variant",
    "CPU part",
    "CPU revision",
];

/// Clock sources that only guests of a hypervisor have, with its name. They are there without DMI,
/// which small virtual machines do not have.
const CLOCK_SOURCES: [(&str, &str); 3] =
    [("kvm-clock", "KVM"), ("hyperv_clocksource", "Hyper-V"), ("xen", "Xen")];

/// Files that a container's engine leaves in it.
const CONTAINERS: [(&str, &str); 2] = [(".dockerenv", "Docker"), ("run/.containerenv", "Podman")];

/// From a tree of files under `root`, and the text of its `/proc/cpuinfo`.
pub(super) fn read(root: &Path, processors: &str) -> HardwareFacts {
    let text = |file: &str| {
        let text = std::fs::read_to_string(root.join(file)).ok()?;
        // Files of a device tree end in a zero.
        Some(text.trim_matches(['\0', '\n', ' ']).to_owned()).filter(|text| !text.is_empty())
    };
    let of_cpu = |name: &str| value(processors, name, ':').filter(|value| !value.is_empty());
    let cpu_id = CPU_ID.iter().filter_map(|name| Some((*name, of_cpu(name)?)));
    let highest_khz = text("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
    let highest_mhz = highest_khz.and_then(|khz| Some(khz.parse::<f64>().ok()? / 1e3));
    let clock_mhz = highest_mhz.or_else(|| of_cpu("cpu MHz")?.parse().ok());
    let of_firmware = ["sys_vendor", "product_name"]
        .into_iter()
        .filter_map(|name| text(&format!("sys/class/dmi/id/{name}")));
    let is_there = |(file, name): &(&str, &str)| root.join(file).exists().then(|| name.to_string());
    HardwareFacts {
        cpu_id: cpu_id.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        clock_mhz: clock_mhz.map(|mhz| mhz.round() as u32),
        cache: of_cpu("cache size").map(str::to_owned),
        system: Some(of_firmware.collect::<Vec<_>>().join(" ")).filter(|name| !name.is_empty()),
        hypervisor: hypervisor(&text),
        container: CONTAINERS.iter().find_map(is_there),
        smt: text("sys/devices/system/cpu/smt/active").map(|active| active == "1"),
        turbo: turbo(&text),
    }
}

/// By what the hypervisor says, or by the clock that it offers.
fn hypervisor(text: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let told = text("sys/hypervisor/type")
        .or_else(|| text("proc/device-tree/hypervisor/compatible"))
        .map(|name| if name == "xen" { "Xen".to_owned() } else { name });
    let by_clock = || {
        let clocks = text("sys/devices/system/clocksource/clocksource0/available_clocksource")?;
        let known = CLOCK_SOURCES.iter().find(|(clock, _)| clocks.contains(clock))?;
        Some(known.1.to_owned())
    };
    told.or_else(by_clock)
}

fn turbo(text: &dyn Fn(&str) -> Option<String>) -> Option<bool> {
    let forbidden = text("sys/devices/system/cpu/intel_pstate/no_turbo").map(|off| off == "0");
    forbidden.or_else(|| text("sys/devices/system/cpu/cpufreq/boost").map(|on| on == "1"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::lay_out;

    fn told(files: &[(&str, &str)]) -> String {
        let root = lay_out(files);
        let facts = super::super::read(root.path());
        facts.hardware.expect("read").to_string()
    }

    #[test]
    fn a_cpu_that_hides_its_name_is_told_by_its_numbers() {
        let processors = "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\n\
                          model\t\t: 207\nmodel name : Intel(R) Xeon(R) Processor\n\
                          stepping : 2\nmicrocode : 0x1\ncpu MHz : 2799.998\n\
                          cache size : 266240 KB\nflags : fpu hypervisor\n";
        let clocks = "sys/devices/system/clocksource/clocksource0/available_clocksource";
        let guest = [
            ("proc/cpuinfo", processors),
            (clocks, "tsc kvm-clock \n"),
            (".dockerenv", ""),
            ("sys/devices/system/cpu/smt/active", "1\n"),
        ];
        assert_eq!(
            told(&guest),
            "CPU id: cpu family 6, microcode 0x1, model 207, stepping 2, vendor_id GenuineIntel, \
             2800 MHz, cache 266240 KB\nSystem: not shown\nHypervisor: KVM, in Docker\n\
             SMT: on, turbo: not shown\n"
        );
    }

    #[test]
    fn a_real_machine_says_who_made_it_and_whether_its_clock_may_rise() {
        let real = [
            ("proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3000000\n"),
            ("sys/class/dmi/id/sys_vendor", "Ampere(R)\n"),
            ("sys/class/dmi/id/product_name", "Mt. Jade\n"),
            ("sys/devices/system/cpu/cpufreq/boost", "0\n"),
        ];
        assert_eq!(
            told(&real),
            "CPU id: CPU implementer 0x41, CPU part 0xd0c, 3000 MHz\nSystem: Ampere(R) Mt. Jade\n\
             Hypervisor: not shown\nSMT: not shown, turbo: off\n"
        );
        let pstate = "sys/devices/system/cpu/intel_pstate/no_turbo";
        assert!(told(&[(pstate, "0\n")]).ends_with("turbo: on\n"));
        assert!(told(&[(pstate, "1\n")]).ends_with("turbo: off\n"));
        assert!(told(&[("sys/hypervisor/type", "xen\n")]).contains("Hypervisor: Xen\n"));
    }
}
