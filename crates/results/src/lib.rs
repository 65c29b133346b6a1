//! Results of measurements, and everything that is derived from them.
//!
//! A [`suite`] is a question: which call, under which limits, by whom. Its plan consists of cells,
//! each a subject under a case with an instrument. Each round of a cell yields a [`measurement`].
//! The [`store`] keeps measurements in a database, round by round; a [`record`] is a run as a text
//! file that can be committed. [`table`] and [`compare`] work from either, with [`statistics`]
//! and the [`audit`], which reports what in a result cannot be true. A [`race`] needs no suite. A
//! [`calibration`] says how good the instrument was.
//!
//! Nothing here starts a process or reads `/proc`, so results can be read on any machine; and
//! nothing here knows how a result looks.
#![forbid(unsafe_code)]

pub mod audit;
pub mod calibration;
pub mod compare;
pub mod csv;
pub mod cut_off;
pub mod declaration;
pub mod failed_share;
pub mod findings;
pub mod gate;
pub mod grouping;
pub mod mark;
pub mod measurement;
pub mod metric;
pub mod newest_record;
pub mod profile;
pub mod provenance;
pub mod quoted;
pub mod race;
pub mod ranking;
pub mod ratio;
pub mod raw_output;
pub mod record;
pub mod round;
pub mod statistics;
pub mod steady;
pub mod store;
pub mod suite;
pub mod table;
pub mod text;
pub mod window;
pub mod wrong_file;
