//! Pages for those who measure a system.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::Semaphore;

use crate::metrics::Metrics;

/// A page is gathered within so long, or the request ends with 503.
pub const REQUEST_SECONDS_MAX: u64 = 10;

/// Who knows what the pages say.
pub trait Pages: Send + Sync + 'static {
    /// Everything that is counted.
    fn metrics(&self, metrics: &mut Metrics);

    /// The system's state, or why it cannot be told.
    ///
    /// # Errors
    /// For people.
    fn status(&self) -> Result<serde_json::Value, String>;

    /// Whether the system works.
    fn is_well(&self) -> bool;
}

/// What every request needs.
struct PageState {
    pages: Arc<dyn Pages>,
    /// Who gathers a page at present.
    gathers: Semaphore,
}

/// The pages, to be served at an address, alone or with others.
pub fn pages(pages: Arc<dyn Pages>) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .route("/status", get(status))
        .route("/health", get(health))
        .with_state(Arc::new(PageState { pages, gathers: Semaphore::new(1) }))
}

/// Has a page gathered on a thread that may wait, one at a time, within its time.
async fn gathered<T: Send + 'static>(
    state: Arc<PageState>,
    gather: impl FnOnce(&dyn Pages) -> T + Send + 'static,
) -> Result<T, StatusCode> {
    let work = async {
        let turn = state.gathers.acquire().await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
        let pages = Arc::clone(&state.pages);
        let page = tokio::task::spawn_blocking(move || gather(&*pages)).await;
        drop(turn);
        page.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
    };
    let limit = Duration::from_secs(REQUEST_SECONDS_MAX);
    tokio::time::timeout(limit, work).await.unwrap_or(Err(StatusCode::SERVICE_UNAVAILABLE))
}

async fn metrics(State(state): State<Arc<PageState>>) -> Result<Response, StatusCode> {
    let text = gathered(state, |pages| {
        let mut metrics = Metrics::default();
        pages.metrics(&mut metrics);
        metrics.into_text()
    });
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((kind, text.await?).into_response())
}

async fn status(State(state): State<Arc<PageState>>) -> Result<Response, StatusCode> {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    Ok(match gathered(state, Pages::status).await? {
        Ok(status) => (kind, status.to_string()).into_response(),
        Err(why) => {
            let body = serde_json::json!({ "error": why }).to_string();
            (StatusCode::SERVICE_UNAVAILABLE, kind, body).into_response()
        }
    })
}

async fn health(State(state): State<Arc<PageState>>) -> Result<Response, StatusCode> {
    match gathered(state, Pages::is_well).await? {
        true => Ok("well\n".into_response()),
        false => Err(StatusCode::SERVICE_UNAVAILABLE),
    }
}
