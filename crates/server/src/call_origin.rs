use std::sync::Arc;

use bookend_io::Peer;

use crate::call_event::ReplyTo;
use crate::preparation::PreparationThreads;

/// The connection that calls came by, as their handlers see it.
pub(crate) struct CallOrigin {
    pub reply_to: ReplyTo,
    pub peer: Arc<Peer>,
    pub preparation: Arc<PreparationThreads>,
}
