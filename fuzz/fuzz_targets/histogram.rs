#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bookend_fuzz::histogram(input));
