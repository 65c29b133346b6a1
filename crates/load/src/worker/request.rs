//! The request of a call: which message it carries, and what varies from call to call.

use crate::metadata::varying_value;
use crate::plan::LoadPlan;
use bookend_wire::{CannotOpen, ExtraField, HeaderBlock, Indexing, Sender, StreamKey};

/// The message of call `number`: messages are drawn in turn.
#[inline]
pub(super) fn message_index(plan: &LoadPlan, number: u64) -> usize {
    match plan.messages.len() {
        1 => 0,
        many => (number % many as u64) as usize,
    }
}

/// Whether requests with the same message are the same, and all messages together no larger than
/// `max_bytes`: then they are prepared once.
pub(super) fn can_be_prepared(plan: &LoadPlan, max_bytes: usize) -> bool {
    let total_bytes: usize = plan.messages.iter().map(Vec::len).sum();
    plan.varying_metadata.is_none() && total_bytes <= max_bytes
}

/// Writes the request of call `number`, which was not prepared.
#[inline]
pub(super) fn write(
    sender: &mut Sender,
    head: &mut HeaderBlock,
    plan: &LoadPlan,
    number: u64,
) -> Result<StreamKey, CannotOpen> {
    let message = &plan.messages[message_index(plan, number)];
    let Some(name) = &plan.varying_metadata else {
        return sender.request(head, &[], message);
    };
    let value = varying_value(number);
    let extra = ExtraField { name, value: &value, indexing: Indexing::Never };
    sender.request(head, &[extra], message)
}
