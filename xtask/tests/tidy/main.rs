//! What the project asks of its own tree, as tests. A rule that nobody checks drifts.
//!
//! Every rule is a function of a path and a text that returns [`Offence`]s. Its file holds the
//! rule, the reason, and a test that feeds it an offender; this file applies them to the tree.
#![forbid(unsafe_code)]

mod circles;
mod edges;
mod english;
mod evidence;
mod growing;
mod hand_written;
mod leftovers;
mod markdown;
mod markup;
mod named;
mod offence;
mod oldest_rust;
mod packages;
mod places;
mod protoc;
mod quoted;
mod ranges;
mod requirements;
mod rust_modules;
mod rust_source;
mod shown_text;
mod sizes;
mod subjects;
mod tree;
mod type_names;
mod unsafety;

use offence::Offence;
use tree::{File, tree};

fn assert_none(offences: impl IntoIterator<Item = Offence>) {
    let lines: Vec<String> = offences.into_iter().map(|each| each.to_string()).collect();
    assert!(lines.is_empty(), "{} offences:\n{}", lines.len(), lines.join("\n"));
}

fn assert_rule(of_interest: impl Fn(&File) -> bool, rule: impl Fn(&str, &str) -> Vec<Offence>) {
    let files: Vec<&File> = tree().iter().filter(|file| of_interest(file)).collect();
    assert!(!files.is_empty(), "the rule looked at no file at all");
    assert_none(files.iter().filter_map(|file| Some(rule(&file.path, file.text()?))).flatten());
}

fn is_rust(file: &File) -> bool {
    file.path.ends_with(".rs")
}

/// Rust that somebody wrote; snapshots of what a generator writes are formatted by nobody.
fn is_written_rust(file: &File) -> bool {
    is_rust(file) && !file.path.contains("/snapshots/")
}

fn is_markdown(file: &File) -> bool {
    file.path.ends_with(".md")
}

fn is_published(file: &File) -> bool {
    packages::is_manifest(&file.path) && file.text().is_some_and(packages::is_published)
}

#[test]
fn the_tree_that_is_checked_is_this_one() {
    for path in ["Cargo.toml", "README.md", "crates/wire/src/lib.rs"] {
        assert!(tree().iter().any(|file| file.path == path), "{path} is not in the tree");
    }
}

#[test]
fn crates_depend_on_each_other_only_along_the_drawn_edges() {
    assert_rule(|file| edges::is_member_manifest(&file.path), edges::undrawn_edges);
}

#[test]
fn what_makes_code_fail_on_purpose_is_for_tests_alone() {
    assert_rule(
        |file| file.path == "Cargo.toml" || edges::is_member_manifest(&file.path),
        edges::shipped_test_features,
    );
}

#[test]
fn every_crate_takes_its_lints_from_the_workspace() {
    assert_rule(|file| edges::is_member_manifest(&file.path), edges::own_lints);
}

#[test]
fn libraries_state_ranges_of_versions() {
    let workspace = tree::text("Cargo.toml");
    assert_rule(is_published, |path, text| ranges::pins(path, text, workspace));
}

#[test]
fn the_libraries_can_be_published_and_nothing_else() {
    let (workspace, paths) = (tree::text("Cargo.toml"), tree::paths_and_folders());
    let script = tree::text(packages::SCRIPT);
    assert_rule(
        |file| packages::is_manifest(&file.path),
        |path, text| packages::unlisted(path, text, script),
    );
    assert_rule(is_published, |path, text| packages::lacking(path, text, workspace, &paths));
    assert_rule(is_published, packages::circles_of_tests);
}

#[test]
fn wire_depends_on_pure_functions_alone() {
    assert_rule(|file| file.path == "crates/wire/Cargo.toml", edges::impure_dependency);
}

#[test]
fn wire_has_no_std_and_no_clock() {
    assert_rule(|file| file.path == "crates/wire/src/lib.rs", unsafety::std_in_crate_root);
    assert_rule(
        |file| is_rust(file) && file.path.starts_with("crates/wire/src/"),
        unsafety::sockets_and_clocks,
    );
}

#[test]
fn every_crate_but_io_forbids_unsafe_code() {
    assert_rule(|file| unsafety::is_safe_crate_root(&file.path), unsafety::unforbidden);
    assert_rule(
        |file| is_rust(file) && unsafety::is_in_safe_crate(&file.path),
        unsafety::unsafe_code,
    );
}

#[test]
fn io_explains_every_unsafe() {
    assert_rule(
        |file| is_rust(file) && file.path.starts_with("crates/io/"),
        unsafety::unexplained_unsafe,
    );
}

#[test]
fn no_files_take_names_from_each_other() {
    assert_none(circles::circles_of_files(tree()));
}

#[test]
fn a_public_type_has_a_name_of_its_own() {
    assert_none(type_names::names_that_stand_twice(tree()));
}

#[test]
fn functions_are_short() {
    assert_rule(is_written_rust, sizes::long_functions);
}

#[test]
fn files_are_short() {
    assert_rule(is_written_rust, sizes::long_files);
}

#[test]
fn lines_are_narrow() {
    assert_rule(is_written_rust, sizes::wide_lines);
}

#[test]
fn nothing_is_left_over() {
    // Flame graphs bring a script of their own, which is not ours to tidy.
    let is_ours = |file: &File| !file.is_lockfile() && !file.path.starts_with("records/");
    assert_rule(is_ours, leftovers::notes);
    assert_rule(is_rust, leftovers::unfinished_code);
}

#[test]
fn names_say_what_is_inside() {
    assert_none(tree().iter().flat_map(|file| leftovers::empty_words_in_path(&file.path)));
    assert_rule(is_rust, leftovers::empty_words_in_modules);
}

#[test]
fn prose_is_read_once() {
    let attributes = tree::text(".gitattributes");
    let is_prose = |file: &File| !file.is_lockfile() && english::is_written(&file.path, attributes);
    assert_rule(is_prose, english::odd_english);
}

#[test]
fn each_markdown_file_has_one_title() {
    assert_rule(is_markdown, markdown::titles);
}

#[test]
fn the_readme_and_the_documentation_are_short() {
    assert_none(markdown::long_prose(tree()));
}

#[test]
fn relative_links_lead_somewhere() {
    let paths = tree::paths_and_folders();
    assert_rule(is_markdown, |path, text| markdown::dead_links(path, text, &paths));
}

#[test]
fn no_file_is_a_blob() {
    assert_none(tree().iter().filter(|file| !file.is_lockfile()).flat_map(places::blob));
}

#[test]
fn no_file_names_a_machine() {
    assert_rule(|file| !file.is_lockfile(), places::machine_paths);
    assert_rule(|file| !file.is_lockfile(), places::registry_hosts);
}

#[test]
fn records_are_compressed_and_name_no_machine_either() {
    assert_none(tree().iter().flat_map(places::plain_record));
    let unpacked: Vec<(&str, String)> =
        tree().iter().filter_map(|file| Some((file.path.as_str(), file.unpacked()?))).collect();
    assert!(!unpacked.is_empty(), "the rule looked at no record at all");
    assert_none(unpacked.iter().flat_map(|(path, text)| {
        places::machine_paths(path, text).into_iter().chain(places::registry_hosts(path, text))
    }));
}

#[test]
fn what_others_wrote_reaches_a_terminal_one_way() {
    assert_rule(
        |file| is_rust(file) && shown_text::is_shipped(&file.path),
        shown_text::past_the_rule,
    );
}

#[test]
fn pages_are_made_by_what_escapes() {
    let makes_pages = |file: &File| is_rust(file) && markup::makes_pages(&file.path);
    assert_rule(makes_pages, markup::elements_in_strings);
    assert_rule(makes_pages, markup::unescaped);
}

#[test]
fn no_build_needs_protoc() {
    for path in ["scripts/bench", "scripts/subject", "scripts/test"] {
        assert_rule(|file| file.path == path, protoc::builds_that_could_find_protoc);
    }
}

#[test]
fn rust_subjects_are_built_on_equal_terms() {
    assert_rule(|file| subjects::is_subject_manifest(&file.path), subjects::unequal_builds);
    assert_rule(
        |file| file.path.starts_with("subjects/") && file.path.ends_with("/.cargo/config.toml"),
        subjects::unequal_flags,
    );
    assert_rule(
        |file| file.path.starts_with("subjects/") && file.path.ends_with("/subject.toml"),
        subjects::unequal_commands,
    );
    assert_none(subjects::missing_files(tree()));
}

#[test]
fn tests_share_what_writes_frames() {
    assert_rule(
        |file| is_rust(file) && hand_written::is_test(&file.path),
        hand_written::own_frames,
    );
}

#[test]
fn subjects_are_small() {
    assert_none(subjects::long_subjects(tree()));
    assert_none(subjects::unequal_copies(tree()));
}

#[test]
fn each_readme_names_the_oldest_rust_that_will_do() {
    let manifest = tree::text("Cargo.toml");
    assert_rule(
        |file| {
            let folders: Vec<&str> = file.path.split('/').collect();
            matches!(folders[..], ["README.md"] | ["crates", _, "README.md"])
        },
        |path, text| oldest_rust::wrong_oldest_rust(path, text, manifest),
    );
}

#[test]
fn blocks_that_name_a_file_are_in_it() {
    let text_of = |path: &str| {
        let file = tree().iter().find(|file| file.path == path);
        file.and_then(File::text)
    };
    assert_rule(
        |file| file.path.ends_with(".md"),
        |path, text| quoted::misquotes(path, text, text_of),
    );
}

#[test]
fn every_demand_of_the_rfcs_is_listed_and_its_citations_lead_somewhere() {
    let text_of = |path: &str| {
        let file = tree().iter().find(|file| file.path == path);
        file.and_then(File::text)
    };
    for list in &requirements::LISTS {
        let text = tree::text(list.path);
        assert_none(requirements::miscounted(list, text));
        assert_none(requirements::stale(list, text, text_of));
    }
}

#[test]
fn what_was_mended_is_shown_by_tests_that_are_there() {
    let text_of = |path: &str| {
        let file = tree().iter().find(|file| file.path == path);
        file.and_then(File::text)
    };
    assert_rule(
        |file| evidence::PAGES.contains(&file.path.as_str()),
        |path, text| evidence::missing(path, text, text_of),
    );
}

#[test]
fn whatever_can_grow_has_a_bound_that_is_written_down() {
    assert_none(growing::unbounded(tree(), tree::text(growing::PAGE)));
}

#[test]
fn tables_for_users_of_other_libraries_name_what_is_here() {
    let libraries =
        ["client", "codegen", "io", "server", "wire"].map(|name| format!("crates/{name}/src/"));
    let is_library = |file: &&File| libraries.iter().any(|folder| file.path.starts_with(folder));
    let sources = named::code(tree().iter().filter(is_library).filter_map(File::text));
    let pages = ["docs/use/from-tonic.md", "docs/use/from-pajamax.md", "docs/use/supported.md"];
    assert_rule(
        |file| pages.contains(&file.path.as_str()),
        |path, text| named::unknown_names(path, text, &sources),
    );
}
