//! Test binaries that `make check` leaves to `make test`.

/// The name of each and why it takes long, in the order in which they start. At most fifteen: a
/// rule is easier to keep while it is checked at once.
pub const SLOW: &[(&str, &str)] = &[
    ("io/faults", "plays a session for each system call that may fail, on every driver"),
    ("cli/fleet", "agents in networks of their own, which are lost after seconds"),
    ("cli/ten_minutes", "builds the programs of the tutorial with cargo"),
    ("lab/fake", "starts, stops and kills processes, one test after the other"),
    ("publication/claim_pages", "judges every committed record in the command, several times"),
    ("publication/record_pages", "makes every page of every suite in the command, several times"),
    ("cli/race", "races of seconds, each with two servers"),
    ("load/run", "runs that last for a time"),
    ("server/attacks", "floods of many thousand frames, on every driver"),
    ("publication/pages_shape", "makes every page of every suite"),
    ("wire/simulator", "two thousand sessions in virtual time"),
    ("results/autocorrelation", "simulates thousands of runs"),
    ("wire/hpack_differential", "compares with another decoder over many thousand blocks"),
    ("publication/claims_suites", "judges every committed record"),
    ("server/soak", "attacks a server for as long as asked"),
];
