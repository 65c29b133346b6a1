//! From the path of a request to its method.

use std::collections::HashMap;
use std::sync::Arc;

use thiserror::Error;

use crate::method::{MethodPath, Route};
use crate::page::PageMaker;
use crate::quick_hash::QuickHash;
use crate::rejection::{self, RequestRejection};
use crate::service::Service;

/// The method that a [`Route`] leads to.
pub(crate) struct RoutedMethod {
    pub service: Arc<dyn Service>,
    /// The number that the service knows it by.
    pub number: usize,
    pub path: MethodPath,
}

/// From a path to a method. Built once, shared by all threads.
pub(crate) struct Router {
    methods: Vec<RoutedMethod>,
    by_path: HashMap<Box<[u8]>, Route, QuickHash>,
    pages: Pages,
}

/// What requests get that are not gRPC.
#[derive(Default)]
pub(crate) struct Pages {
    pub by_path: HashMap<Box<[u8]>, Box<PageMaker>>,
    /// For all other paths.
    pub fallback: Option<String>,
}

/// Two services with one name were added to a server.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the service {0} was added twice")]
pub struct DuplicateService(pub &'static str);

impl Router {
    pub fn new(services: &[Arc<dyn Service>], pages: Pages) -> Result<Self, DuplicateService> {
        let mut router = Router { methods: Vec::new(), by_path: HashMap::default(), pages };
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

    /// What makes the page of that path, whatever its query is.
    pub fn page(&self, path: &[u8]) -> Option<&PageMaker> {
        let path = path.split(|byte| *byte == b'?').next().unwrap_or_default();
        self.pages.by_path.get(path).map(|make| &**make)
    }

    /// What other requests get that are not gRPC.
    pub fn fallback_page(&self) -> Option<&str> {
        self.pages.fallback.as_deref()
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
            let names = MethodPath { service: service.name(), method: descriptor.name };
            let path = format!("/{}/{}", names.service, names.method);
            let route = Route { number: self.methods.len() as u32, kind: descriptor.kind };
            self.by_path.insert(path.into_bytes().into_boxed_slice(), route);
            self.methods.push(RoutedMethod { service: Arc::clone(service), number, path: names });
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
