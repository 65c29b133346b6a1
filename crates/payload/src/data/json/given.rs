//! Which fields of a message are given, and where they were written.

use super::field::Field;
use crate::schema::field_names::unmarked;
use prost_reflect::{MessageDescriptor, OneofDescriptor};
use prost_types::field_descriptor_proto::Label;
use std::collections::BTreeMap;
use std::ops::Range;

/// The fields of a message that were named so far.
#[derive(Default)]
pub(super) struct Given {
    /// By number, where what was written of a field stands.
    written: BTreeMap<u32, Range<usize>>,
    oneofs: Vec<OneofDescriptor>,
}

impl Given {
    /// Whether the field was named before, in whatever spelling.
    pub fn has(&self, number: u32) -> bool {
        self.written.contains_key(&number)
    }

    pub fn add(&mut self, number: u32, written: Range<usize>) {
        self.written.insert(number, written);
    }

    /// Takes the `oneof` of a field.
    ///
    /// # Errors
    /// Its name, where another field of it was given.
    pub fn take_oneof(&mut self, field: &Field) -> Result<(), String> {
        let Some(oneof) = &field.oneof else {
            return Ok(());
        };
        if self.oneofs.contains(oneof) {
            return Err(oneof.name().to_owned());
        }
        self.oneofs.push(oneof.clone());
        Ok(())
    }

    /// The required fields of a message that have no value.
    pub fn missing<'m>(&self, message: &'m MessageDescriptor) -> Vec<&'m str> {
        let has_value = |number| self.written.get(&number).is_some_and(|it| !it.is_empty());
        let fields = message.descriptor_proto().field.iter();
        fields
            .filter(|field| field.label() == Label::Required && !has_value(field.number() as u32))
            .map(|field| unmarked(field.name()))
            .collect()
    }

    /// Brings what was written from `start` on into the order of the fields' numbers, in which
    /// generated code writes it.
    pub fn sort(&self, start: usize, bytes: &mut Vec<u8>) {
        let ranges = self.written.values();
        if ranges.clone().is_sorted_by_key(|range| range.start) {
            return;
        }
        let unsorted = bytes.split_off(start);
        for range in ranges {
            bytes.extend_from_slice(&unsorted[range.start - start..range.end - start]);
        }
    }
}
