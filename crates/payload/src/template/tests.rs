//! Templates against what Go 1.26 with sprig 3.2.3 makes of them.

use super::text::CallText;
use super::{blocks, budget, functions, steps};
use gotmpl::{Template, Value};

/// What a template prints, or why it prints nothing.
fn rendered(text: &str) -> Result<String, String> {
    blocks::check(text).map_err(|error| error.reason)?;
    let template = functions::added_to(Template::new("data"), true).parse(text);
    let template = steps::counted(template.map_err(|error| error.to_string())?);
    budget::begin();
    let mut text = CallText::default();
    let done = template.execute_template_fmt(&mut text, "data", &Value::Nil);
    text.after(done).map_err(|error| error.to_string())
}
#[test]
fn what_is_printed_is_what_go_prints() {
    for (template, text) in [
        ("{{1e6}} {{1e20}} {{123456789.0}} {{0.0001}}", "1e+06 1e+20 1.23456789e+08 0.0001"),
        ("{{list 1e6 2.5 1e-7}} {{print 1e6 1e-5}}", "[1e+06 2.5 1e-07] 1e+06 1e-05"),
        ("{{toString 1e21}} {{$x := 1e6}}{{$x}} {{html 1e6}}", "1e+21 1e+06 1e+06"),
        (r#"{{float64 "inf"}} {{float64 "-inf"}} {{float64 "nan"}}"#, "+Inf -Inf NaN"),
        (r#"{{int "0x1f"}} {{int "017"}} {{int "-0x1f"}} {{int64 "0b101"}}"#, "31 15 -31 5"),
        ("{{int true}} {{int 1e300}} {{int -1.9}}", "1 -9223372036854775808 -1"),
        (r#"{{atoi "+5"}} {{float64 true}} {{add "0x10" true 1.9}}"#, "5 1 18"),
        ("{{until -3}} {{until 0}}", "[0 -1 -2] []"),
        (r#"{{splitList "" "abé"}} {{splitList "" ""}} {{splitList "," ""}}"#, "[a b é] [] []"),
        (r#"{{cat "a" nil}} {{cat 1e6 (list 1 nil)}}"#, "a 1e+06 [1 <nil>]"),
        (r#"{{join "-" (list 1 nil 1e6)}} {{join "-" "abc"}}"#, "1-1e+06 abc"),
        (r#"{{quote "a" 1 nil}} {{quote "'\"\x01\u200b"}}"#, r#""a" "1" "'\"\x01\u200b""#),
        (r#"{{squote "a" 1 nil}}"#, "'a' '1'"),
        (r#"{{upper "éß"}} {{lower "İΑΣ"}} {{title "it's foo_bar"}}"#, "Éß iασ It'S Foo_bar"),
        ("{{round 1e308 10}} {{round -2.4 0}} {{round 2.5 0}}", "+Inf -3 3"),
        (r#"{{substr -1 2 "abc"}} {{substr 1 -1 "abc"}} {{substr 0 9 "abc"}}"#, "ab bc abc"),
        (r#"{{printf "%v %v %v" 1e6 nil (list 1 1e6)}}"#, "1e+06 <nil> [1 1e+06]"),
        (r#"{{printf "%05d|%-5d|%+d|%x|%X" 5 5 5 255 -255}}"#, "00005|5    |+5|ff|-FF"),
        (
            r#"{{printf "%08.3f|%+.1f|%e|%.3g" 1.5 1.5 1.5 123456.0}}"#,
            "0001.500|+1.5|1.500000e+00|1.23e+05",
        ),
        (
            r#"{{printf "%5s|%.2s|%q|%t|%c|%U" "abc" "abc" "a" true 65 65}}"#,
            "  abc|ab|\"a\"|true|A|U+0041",
        ),
    ] {
        assert_eq!(rendered(template).as_deref(), Ok(text), "{template}");
    }
}

#[test]
fn what_is_not_printed_as_go_prints_it_is_refused() {
    for (template, said) in [
        (r#"{{printf "%d" 1.5}}"#, "printf %d does not print 1.5"),
        (r#"{{printf "%f" 1}}"#, "printf %f does not print 1"),
        (r#"{{printf "%s" nil}}"#, "printf %s does not print <nil>"),
        (r#"{{printf "%s" (list "a" 1)}}"#, "printf %s does not print [a 1]"),
        (r#"{{printf "%T" 1}}"#, "printf does not know %T"),
        (r#"{{printf "%.3d" 5}}"#, "printf %.3d does not print 5"),
        (r#"{{printf "%05s" "a"}}"#, "printf %05s does not print a"),
        (r#"{{printf "% x" "abc"}}"#, "printf % x does not print abc"),
        (r#"{{printf "%5c" 65}}"#, "printf %5c does not print 65"),
        (r#"{{printf "%f" (float64 "inf")}}"#, "printf %f does not print +Inf"),
        (r#"{{printf "%[2]*[1]d" 5 7}}"#, "printf does not know %[2]*[1]d"),
        (r#"{{printf "%70000d" 5}}"#, "printf does not know %70000d"),
        (r#"{{printf "100%"}}"#, "printf has a % without a verb"),
        (r#"{{printf "%d" 1 2}}"#, "printf has more values than verbs"),
        (r#"{{int ""}}"#, "int takes a number, and has"),
        (r#"{{int "08"}}"#, "int takes a number, and has 08"),
        (r#"{{int " 5"}}"#, "int takes a number, and has  5"),
        (r#"{{int nil}}"#, "int takes a number, and has <nil>"),
        (r#"{{atoi "0x1f"}}"#, "atoi takes a number, and has 0x1f"),
        (r#"{{float64 "x"}}"#, "float64 takes a number, and has x"),
        (r#"{{repeat -1 "a"}}"#, "repeat -1 is less than nothing"),
        (r#"{{substr 5 1 "abc"}}"#, "substr 5 1 is no part of its text"),
        ("{{upper nil}}", "upper takes a text, and has nothing"),
        ("{{9223372036854775808}}", "9223372036854775808 overflows int"),
        ("{{-9223372036854775808}}", "overflows"),
    ] {
        let error = rendered(template).unwrap_err();
        assert!(error.contains(said), "{template}: {error}");
    }
}

/// The differences that docs/use/load.md lists.
#[test]
fn what_go_refuses_or_cuts_in_the_middle_of_a_letter_is_printed() {
    for (template, text) in [
        (r#"{{upper 5}} {{atoi 5}} {{until "2"}} {{repeat "2" "a"}}"#, "5 5 [0 1] aa"),
        (r#"{{slice "abcd" 1 3}} {{substr 0 1 "é"}} {{trunc 1 "éa"}}"#, "bc é é"),
        (r#"{{"\x80"}} {{title "ǆ"}} {{upper "ᾳ"}}"#, "\u{80} Ǆ ᾳ"),
    ] {
        assert_eq!(rendered(template).as_deref(), Ok(text), "{template}");
    }
}
