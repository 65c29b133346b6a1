//! From the path of a request to its method.

use std::collections::HashMap;
use std::sync::Arc;

use thiserror::Error;

use crate::method::Route;
use crate::quick_hash::QuickHash;
use crate::rejection::{self, RequestRejection};
use crate::service::Service;

/// The method that a [`Route`] leads to.
pub(crate) struct RoutedMethod {
    pub service: Arc<dyn Service>,
    /// The number that the service knows it by.
    pub number: usize,
}

/// From a path to a method. Built once, shared by all threads.
pub(crate) struct Router {
    methods: Vec<RoutedMethod>,
    by_path: HashMap<Box<[u8]>, Route, QuickHash>,
    fallback_page: Option<String>,
}

/// Two services with one name were added to a server.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the service {0} was added twice")]
pub struct DuplicateService(pub &'static str);

impl Router {
    pub fn new(
        services: &[Arc<dyn Service>],
        fallback_page: Option<String>,
    ) -> Result<Self, DuplicateService> {
        let mut router = Router { methods: Vec::new(), by_path: HashMap::default(), fallback_page };
        for service in services {
            router.add(service)?;
        }
        Ok(router)
    }

    /// The method with that path, which is exactly `/package.Service/Method`, if its service speaks
    /// `codec`, where the request names one.
    pub fn find(&self, path: &[u8], codec: Option<&[u8]>) -> Result<Route, RequestRejection> {
        let Some(route) = self.by_path.get(path).copied() else {
            return Err(self.not_found(path));
        };
        if let Some(codec) = codec {
            let known = self.method(route).service.codec();
            // The wrong codec often decodes to a message nevertheless, so this is checked first.
            if !codec.eq_ignore_ascii_case(known.as_bytes()) {
                return Err(rejection::unknown_codec(codec, known));
            }
        }
        Ok(route)
    }

    #[inline]
    pub fn method(&self, route: Route) -> &RoutedMethod {
        &self.methods[route.number as usize]
    }

    /// What a request gets that is not gRPC.
    pub fn fallback_page(&self) -> Option<&str> {
        self.fallback_page.as_deref()
    }

    fn has_service(&self, name: &[u8]) -> bool {
        self.methods.iter().any(|method| method.service.name().as_bytes() == name)
    }

    fn not_found(&self, path: &[u8]) -> RequestRejection {
        match split_path(path) {
            None => rejection::malformed_path(path),
            Some((service, method)) if self.has_service(service) => {
                rejection::unknown_method(service, method)
            }
            Some((service, _)) => rejection::unknown_service(service),
        }
    }

    fn add(&mut self, service: &Arc<dyn Service>) -> Result<(), DuplicateService> {
        if self.has_service(service.name().as_bytes()) {
            return Err(DuplicateService(service.name()));
        }
        for (number, descriptor) in service.methods().iter().enumerate() {
            let path = format!("/{}/{}", service.name(), descriptor.name);
            let route = Route { number: self.methods.len() as u32, kind: descriptor.kind };
            self.by_path.insert(path.into_bytes().into_boxed_slice(), route);
            self.methods.push(RoutedMethod { service: Arc::clone(service), number });
        }
        Ok(())
    }
}

fn split_path(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let path = path.strip_prefix(b"/")?;
    let slash = path.iter().rposition(|byte| *byte == b'/')?;
    Some((&path[..slash], &path[slash + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_split_at_the_last_slash() {
        assert_eq!(split_path(b"/p.S/M"), Some((&b"p.S"[..], &b"M"[..])));
        assert_eq!(split_path(b"/a/p.S/M"), Some((&b"a/p.S"[..], &b"M"[..])));
        assert_eq!(split_path(b"/M"), None);
        assert_eq!(split_path(b"p.S/M"), None);
    }
}
