//! Bodies, within bounds: each, and all together.
//!
//! 1. A body that is longer than its resource takes is refused, and not kept.
//! 2. All bodies together, of requests and of answers, take [`Budget`]'s bytes at most; a request
//!    that comes too many is told to come again.
//! 3. A body arrives within [`WHOLE`], and none of its parts lets the door wait for longer than
//!    [`PART`].

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt as _, Full};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::error::{Problem, id};

/// A body arrives within so long.
const WHOLE: Duration = Duration::from_secs(300);
/// Each of its parts does.
const PART: Duration = Duration::from_secs(30);
/// What is refused is read a little further: a client that still sends does not hear otherwise.
const LINGER: Duration = Duration::from_secs(2);
/// Bytes that are.
const LINGER_BYTES_MAX: usize = 1 << 20;
/// What is counted.
const UNIT: usize = 1 << 10;

/// Bytes that bodies may take together.
#[derive(Clone)]
pub(crate) struct Budget(Arc<Semaphore>);

/// A share of it, given back in the end.
pub(crate) struct Share(Vec<OwnedSemaphorePermit>);

/// A body that was read, with its share.
pub(crate) struct Received {
    pub(crate) bytes: Vec<u8>,
    _share: Share,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Budget {
        Budget(Arc::new(Semaphore::new((bytes / UNIT).min(Semaphore::MAX_PERMITS))))
    }

    /// Takes a share, if there is one.
    pub(crate) fn take(&self, bytes: usize) -> Result<Share, Problem> {
        let mut share = Share(Vec::new());
        self.grow(&mut share, bytes)?;
        Ok(share)
    }

    fn grow(&self, share: &mut Share, bytes: usize) -> Result<(), Problem> {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let permit = Arc::clone(&self.0).try_acquire_many_owned(units);
        let busy = |_| Problem::busy("Too many messages are on their way at this moment.");
        share.0.push(permit.map_err(busy)?);
        Ok(())
    }

    /// Reads a body.
    pub(crate) async fn receive(
        &self,
        headers: &HeaderMap,
        body: Body,
        most: usize,
    ) -> Result<Received, Problem> {
        let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        let given: usize = length.and_then(|text| text.parse().ok()).unwrap_or(0);
        if given > most {
            let _ = timeout(LINGER, pass_over(body)).await;
            return Err(too_long(most));
        }
        let share = self.take(given)?;
        let mut body = body;
        let read = timeout(WHOLE, self.read(&mut body, (given, most), share)).await;
        let read = read.unwrap_or_else(|_| Err(too_slow()));
        if read.is_err() {
            let _ = timeout(LINGER, pass_over(body)).await;
        }
        read
    }

    async fn read(
        &self,
        body: &mut Body,
        (given, most): (usize, usize),
        mut share: Share,
    ) -> Result<Received, Problem> {
        let mut bytes = Vec::with_capacity(given);
        let mut held = given;
        loop {
            let frame = timeout(PART, body.frame()).await.map_err(|_| too_slow())?;
            let Some(frame) = frame else { break };
            let broken = |_| Problem::body("The body was broken off, or is not well formed.");
            let Ok(part) = frame.map_err(broken)?.into_data() else { continue };
            let length = bytes.len() + part.len();
            if length > most {
                return Err(too_long(most));
            }
            if length > held {
                // As vectors grow, so that many small parts do not make many permits.
                let more = (length - held).max(held).max(UNIT);
                self.grow(&mut share, more)?;
                held += more;
            }
            bytes.extend_from_slice(&part);
        }
        Ok(Received { bytes, _share: share })
    }
}

/// Reads what is of no interest.
async fn pass_over(mut body: Body) {
    let mut seen = 0;
    while let (true, Some(Ok(frame))) = (seen < LINGER_BYTES_MAX, body.frame().await) {
        seen += frame.data_ref().map_or(0, |part| part.len());
    }
}

fn too_long(most: usize) -> Problem {
    Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        id::TOO_LONG,
        "The body of the request is too long.",
    )
    .because(format!("This resource takes {most} bytes at most."))
    .action("Send less, or raise message_bytes_max in the section [rest] of holdfast.toml.")
}

fn too_slow() -> Problem {
    Problem::new(StatusCode::REQUEST_TIMEOUT, id::TOO_SLOW, "The body did not arrive in time.")
        .because("The client let the door wait for too long.")
        .action("Send the request again.")
}

/// An answer with a text, which keeps its share until it was sent.
pub(crate) fn sent(mut headers: HeaderMap, text: String, share: Share) -> Response {
    headers.insert(header::CONTENT_LENGTH, text.len().into());
    let body = Full::new(Bytes::from(text)).map_frame(move |frame| {
        let _ = &share;
        frame
    });
    (headers, Body::new(body)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_comes_back() {
        let budget = Budget::new(10 * UNIT);
        let first = budget.take(6 * UNIT).ok().unwrap();
        assert!(budget.take(5 * UNIT).is_err());
        drop(first);
        assert!(budget.take(10 * UNIT).is_ok());
    }
}
