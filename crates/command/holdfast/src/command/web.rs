//! The HTTP server of a started system, which all doors for HTTP share.

use std::sync::Arc;

use http_door::HttpServer;
use system::System;

use crate::failure::{Failure, Result};

/// The server; made when it is asked for first.
pub(super) fn server(system: &System) -> Result<Arc<HttpServer>> {
    if let Some(server) = system.attached::<HttpServer>() {
        return Ok(server);
    }
    let server = HttpServer::new().map_err(|error| Failure::Error(Box::new(error)))?;
    system.attach(Arc::clone(&server) as _);
    Ok(server)
}
