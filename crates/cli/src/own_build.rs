//! What the build script knew: the version, the commit and the profile of this program.

use bookend_contract::build_facts::BuildFacts;

/// What `bookend --version` prints after the name.
pub const VERSION: &str = const {
    if env!("BOOKEND_REVISION").is_empty() {
        concat!(env!("CARGO_PKG_VERSION"), " (unknown revision, ", env!("BOOKEND_PROFILE"), ")")
    } else {
        concat!(
            env!("CARGO_PKG_VERSION"),
            " (",
            env!("BOOKEND_REVISION"),
            ", ",
            env!("BOOKEND_PROFILE"),
            ")"
        )
    }
};

/// The build of this program.
pub fn facts() -> BuildFacts {
    let revision = env!("BOOKEND_REVISION");
    BuildFacts {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        revision: (!revision.is_empty()).then(|| revision.to_owned()),
        profile: env!("BOOKEND_PROFILE").to_owned(),
    }
}

/// What this program was built of, as git's patterns from the root of its repository.
pub fn sources() -> impl Iterator<Item = &'static str> {
    env!("BOOKEND_SOURCES").split(' ')
}
