//! Of which revision a run is, and by which builds.

use super::settings::RunSettings;
use crate::build::PreparedSubjects;
use crate::progress::ProgressReporter;
use crate::work_tree::WorkTree;
use bookend_results::grouping::each_once;
use bookend_results::provenance::Provenance;
use bookend_results::store::NewRun;
use std::path::Path;

/// What is known before the first program is built.
pub(super) struct RunOrigin {
    /// As [`bookend_results::store::NewRun::revision`].
    pub(super) revision: Option<String>,
    pub(super) provenance: Provenance,
}

impl RunOrigin {
    /// Looks at the folder in which the lab runs. What speaks against its revision is said at once:
    /// a run may take hours.
    pub(super) fn here(settings: &RunSettings, progress: &mut ProgressReporter<'_>) -> RunOrigin {
        let tree = WorkTree::around(Path::new("."));
        let doubts =
            tree.as_ref().map(|tree| tree.doubts(&settings.build, &settings.build_sources));
        let doubts = doubts.unwrap_or_default();
        for doubt in &doubts {
            progress.println(&note(doubt));
        }
        let build = settings.build.clone();
        RunOrigin {
            revision: tree.and_then(|tree| tree.revision()),
            provenance: Provenance { build, profiles: Default::default(), doubts },
        }
    }

    /// With how the programs were optimized, now that they are built.
    pub(super) fn with_profiles(mut self, prepared: &PreparedSubjects) -> RunOrigin {
        let profiles = prepared.iter().filter_map(|(name, prepared)| {
            Some((name.to_owned(), prepared.subject.profile(&prepared.variant)?))
        });
        self.provenance.profiles = profiles.collect();
        self
    }

    /// What is known of a run that goes on here. It is of one revision only if both are the same.
    pub(super) fn of_resumed(self, run: &NewRun) -> Provenance {
        self.since(run.revision.as_deref(), run.provenance.clone())
    }

    fn since(self, revision: Option<&str>, begun: Option<Provenance>) -> Provenance {
        let Some(begun) = begun else {
            let doubt = "it began with a version of bookend that kept no revision".to_owned();
            return Provenance { doubts: vec![doubt], ..self.provenance };
        };
        let shown = |revision: Option<&str>| revision.unwrap_or("an unknown revision").to_owned();
        let (then, now) = (shown(revision), shown(self.revision.as_deref()));
        let of_tree = (then != now).then(|| format!("it began at {then} and was resumed at {now}"));
        let (then, now) = (begun.build.to_string(), self.provenance.build.to_string());
        let of_build =
            (then != now).then(|| format!("it began with {then} and was resumed with {now}"));
        let doubts = [begun.doubts, self.provenance.doubts].concat();
        let doubts = doubts.into_iter().chain(of_tree).chain(of_build);
        let profiles = begun.profiles.into_iter().chain(self.provenance.profiles);
        Provenance { build: begun.build, profiles: profiles.collect(), doubts: each_once(doubts) }
    }
}

/// A doubt as a note of the run.
pub(super) fn note(doubt: &str) -> String {
    format!("{doubt}: nobody can make this run again from its revision")
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_contract::build_facts::BuildFacts;

    fn origin(revision: &str, build: &str, doubts: &[&str]) -> RunOrigin {
        let build = BuildFacts {
            version: "0.1.0".to_owned(),
            revision: Some(build.to_owned()),
            profile: "release".to_owned(),
        };
        let doubts = doubts.iter().map(|doubt| (*doubt).to_owned()).collect();
        let provenance = Provenance { build, profiles: Default::default(), doubts };
        RunOrigin { revision: Some(revision.to_owned()), provenance }
    }

    #[test]
    fn a_run_that_goes_on_elsewhere_is_of_no_revision() {
        let begun = |doubts| origin("a1b2c3d", "a1b2c3d", doubts).provenance;
        let same = origin("a1b2c3d", "a1b2c3d", &[]).since(Some("a1b2c3d"), Some(begun(&[])));
        assert!(same.doubts.is_empty(), "{same:?}");
        let other = origin("d4e5f60", "d4e5f60", &["a.c has changes"]);
        let before = begun(&["b.c has changes", "a.c has changes"]);
        let resumed = other.since(Some("a1b2c3d"), Some(before));
        assert_eq!(
            resumed.doubts,
            [
                "b.c has changes",
                "a.c has changes",
                "it began at a1b2c3d and was resumed at d4e5f60",
                "it began with bookend 0.1.0 of a1b2c3d, release and was resumed with \
                 bookend 0.1.0 of d4e5f60, release",
            ]
        );
        let resumed = origin("d4e5f60", "d4e5f60", &[]).since(Some("a1b2c3d"), None);
        assert_eq!(resumed.doubts, ["it began with a version of bookend that kept no revision"]);
    }
}
