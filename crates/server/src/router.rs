use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::quick_hash::QuickHash;
use crate::service::{Kind, Service};

/// A method among all methods of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Route {
    pub number: u32,
    pub kind: Kind,
}

/// What stands behind a [`Route`].
pub(crate) struct Target {
    pub service: Arc<dyn Service>,
    pub method: usize,
}

/// From a path to a method. Built once, shared by all threads.
pub(crate) struct Router {
    targets: Vec<Target>,
    by_path: HashMap<Box<[u8]>, Route, QuickHash>,
    page: Option<String>,
}

/// Two services with one name were added to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateService(pub &'static str);

impl fmt::Display for DuplicateService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the service {} was added twice", self.0)
    }
}

impl std::error::Error for DuplicateService {}

impl Default for Route {
    /// A place for a route that is not known yet.
    fn default() -> Self {
        Route {
            number: 0,
            kind: Kind::Inline,
        }
    }
}

impl Router {
    pub fn new(
        services: &[Arc<dyn Service>],
        page: Option<String>,
    ) -> Result<Self, DuplicateService> {
        let mut router = Router {
            targets: Vec::new(),
            by_path: HashMap::default(),
            page,
        };
        for service in services {
            router.add(service)?;
        }
        Ok(router)
    }

    /// The method with that path, which is exactly `/package.Service/Method`.
    pub fn find(&self, path: &[u8]) -> Option<Route> {
        self.by_path.get(path).copied()
    }

    #[inline]
    pub fn target(&self, route: Route) -> &Target {
        &self.targets[route.number as usize]
    }

    /// What a request gets that is not gRPC's.
    pub fn page(&self) -> Option<&str> {
        self.page.as_deref()
    }

    pub fn has_service(&self, name: &[u8]) -> bool {
        self.targets
            .iter()
            .any(|target| target.service.name().as_bytes() == name)
    }

    fn add(&mut self, service: &Arc<dyn Service>) -> Result<(), DuplicateService> {
        if self.has_service(service.name().as_bytes()) {
            return Err(DuplicateService(service.name()));
        }
        for (method, description) in service.methods().iter().enumerate() {
            let path = format!("/{}/{}", service.name(), description.name);
            let route = Route {
                number: self.targets.len() as u32,
                kind: description.kind,
            };
            self.by_path
                .insert(path.into_bytes().into_boxed_slice(), route);
            self.targets.push(Target {
                service: Arc::clone(service),
                method,
            });
        }
        Ok(())
    }
}
