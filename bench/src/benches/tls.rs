//! TLS handshakes: the price of a connection, by rustls and by OpenSSL.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs::{Ticketer, cipher_suite, default_provider, kx_group};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::sign::SigningKey;
use rustls::{
    ClientConfig, ClientConnection, HandshakeKind, RootCertStore, ServerConfig, ServerConnection,
    SignatureScheme,
};

use super::{Benchmark, Context, PlotBuilder, track};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Track, Work, interleave, ratio};
use crate::peers::openssl::{self, OpenSsl};
use crate::workload::Deadline;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "tls",
    title: "TLS handshakes",
    about: "TLS 1.3 with X25519 and TLS_AES_128_GCM_SHA256, client and server in one process and \
            without a network: the CPU time of both sides for a handshake, whole with each kind of \
            server key, and resumed. The client checks the server's certificate and name. The \
            seed's took 43 to 48 ms.",
    takes: "1 minute",
    run,
};

const OURS: &str = "Holdfast (rustls)";
/// What a whole handshake cannot do without: the server's signature.
const SIGNATURE: &str = "its signature alone";
/// The CPU time of both sides, in microseconds.
const LIMIT_US: f64 = 1000.0;
const NAME: &str = "localhost";
/// Rounds of flights after which a handshake has failed.
const STEPS_MAX: usize = 16;

/// A key of RSA with 2048 bits, which protects nothing, and its certificate.
const RSA_KEY: &str = "\
-----BEGIN PRIVATE KEY-----\n\
MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDW5gTW9xHHQz1G\n\
pxQrPLsQ45G0Vtxi5eg/QhSb/JvE66WVwPvFo9Lok1Rq1oPKv6Z8m6DviFCXAibI\n\
A040maQ1qPbB4jD0HhkUOX5yhztrBpP4hvXNaeomNIWzurWX1uIQH7fw0Fbvn9hJ\n\
4p1Jz4r/meA7rbowVu1jPa4tOwJQZjqslzgzpYz96udqui+8guyXwttxppN+/qXU\n\
fuWm5wZ8sGwqIATmQgvVBuQkhxDhIalE/lXaz3+618mqImO9eh256GZK0f3kEUCX\n\
3QgVc9gw/sp5LdZHpeturhfmLo57HYpnzc7duwMgXphSm7MKiA43m0AHD3GKuvRJ\n\
55IMFHo9AgMBAAECggEAD6fzMdBkX+/u3/3DpdEXRX14K8Xek/5GcOII+4KdkZeO\n\
Y841uYTRfzFenNL93TCgZI3NCC5rmqN6PPz6qVvef1dM35FcT339heruDVImBXUq\n\
+hf7rT2vufKpIU/eCM7LqkY5THwih/N4BTf94rb8sYRIdmiWJY1BCbIgb/n6Ku5e\n\
31AJzQ9dqNOP5PH5osT33BfG2t1VX0Qp523NEA/fi0SWMwWpZ6kJDRAXuK224hHl\n\
3b3XYpPVNY5Rl9+8Z8PgSNVnzqmth1nV8MFle0zKBw3qCehPxETi8AEZXjFhaYBM\n\
oudHw0vfm5XEe0Iieqns5JtTsm1ayhpJn8XuREWMMQKBgQDsxj22FzJVwgu5e6/o\n\
Vrbjbvfg0rsFHyyrNJfPr8y2ichatk3nFMeSHMoztSarpoOT/RYrvww9asK33nUj\n\
DRprFn87xclVzEgNGs0ivCgeuzHRwqMA6eUANottlMKl+KsqLbQNTFAzSYf2tmQi\n\
LNJZhRjRjA2VMCDcsGl3hWtrLQKBgQDoWQz3zyJMzxjq9yXXvpcs98nQy9UVEaGG\n\
1U2rYIWt+0E+jVYs2X4wxu8Tjw3rfBZD4C/FwBDIe4dVUPJ2SKdvXT82RGGTM/bw\n\
Wtc3/BugKUUHaer7cGd4P1cq+9k11iCjUWySi8sj8KlrYSR6k5kWzT5oAYjdxch7\n\
NU5K8wx1UQKBgFtcgyNn//wnS+7eUxoLm7ZWcz9FEPUA+nN1b76rzwoAUFbwUU8B\n\
LaCrizo4hBtnvQ21coCez1JDh677H6fOvorju2SNBQseMA8ecFke0TxKbwbJW6xW\n\
lA5o/ZPi+tigAyvbRsZ609d2YAhKiIjHUsNIIDN7HyKZ15RQXeHIkZJhAoGBANGF\n\
9E7HyDuRifvhEYwjP7p6XNDf7vBH7OxlD9xad1I0QFrDI5HgM46S5mcx2rCfPojI\n\
8uuVzsyrsJe8HlmSHQMtCGLMeV1AQA/xKyE+RD9C2A/ecNt7OqNSIy4M3IxS4y3D\n\
sG/ahj6LuIuvlzC+RxAr13n84Ep1H9wTbt3hnTtxAoGBAJq0z9gLIgUM7IR5iVmW\n\
ELEI/taN7iQeQRRCJXx9g4K47Nd0QnEjdZrawV00J5nfMpxMjLTmjto5Q0xmX/l9\n\
/qEhT6EcDnEp5T7dKrsKIA0Og3Ba9Fs8vyHAp/vjXEfjqTosuXM2s15TIC+7kjMK\n\
LOfHDGCuK3Bd45UTlxKaibtM\n\
-----END PRIVATE KEY-----\n";
/// Its certificate.
const RSA_CERTIFICATE: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIIDHjCCAgagAwIBAgIUHMcbFcFf42icsMMhXlW0EZIp0qYwDQYJKoZIhvcNAQEL\n\
BQAwFDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjEzNTYyMFoYDzIxMjYx\n\
MDI5MTM1NjIwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwggEiMA0GCSqGSIb3DQEB\n\
AQUAA4IBDwAwggEKAoIBAQDW5gTW9xHHQz1GpxQrPLsQ45G0Vtxi5eg/QhSb/JvE\n\
66WVwPvFo9Lok1Rq1oPKv6Z8m6DviFCXAibIA040maQ1qPbB4jD0HhkUOX5yhztr\n\
BpP4hvXNaeomNIWzurWX1uIQH7fw0Fbvn9hJ4p1Jz4r/meA7rbowVu1jPa4tOwJQ\n\
ZjqslzgzpYz96udqui+8guyXwttxppN+/qXUfuWm5wZ8sGwqIATmQgvVBuQkhxDh\n\
IalE/lXaz3+618mqImO9eh256GZK0f3kEUCX3QgVc9gw/sp5LdZHpeturhfmLo57\n\
HYpnzc7duwMgXphSm7MKiA43m0AHD3GKuvRJ55IMFHo9AgMBAAGjZjBkMB0GA1Ud\n\
DgQWBBRNSG6XGEU2agz2Gimaej8/5/IyvzAfBgNVHSMEGDAWgBRNSG6XGEU2agz2\n\
Gimaej8/5/IyvzAUBgNVHREEDTALgglsb2NhbGhvc3QwDAYDVR0TAQH/BAIwADAN\n\
BgkqhkiG9w0BAQsFAAOCAQEAgnifkv231OiJ0cFNJVzlJp1RaRTffcdOZO/Or2bm\n\
vSbzNaUIrPcdA+Rx5fwKGIKE2RHzfSj+gQPIJxD+LHroC75ZG834WToqyBsAF9Xr\n\
FHHVbXCdN2c3ItGemRyGJD3pPCNCpdKLpKiTeJgynapkppblZoW7R8bHSrqnbLiJ\n\
iCkEuUHPHcorjzlGfIQQtE49HmtAGDlTdTc7i576/wWud9t3sWAjp0dmPe3KQQep\n\
h37U/9Yw4LMTqz3jrUu4gpIUaa2DAsVBWlKpZaJVTHhlzKYt1ZCJtlkLQo62/mrD\n\
ffJELP8MWYl/q5VgTqNoQ/iho2jgcxfLv1WcQudT/WAjNQ==\n\
-----END CERTIFICATE-----\n";

/// A key on P-256, which protects nothing, and its certificate.
const P256_KEY: &str = "\
-----BEGIN PRIVATE KEY-----\n\
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgcz9ZR7LbEAjfGmnk\n\
3FB9bHsIzTXj+Zo0HsRK1ieZ9l+hRANCAAT1/i1P0OyGMN+zrNMcmHk7GIsqwB6E\n\
GvD6Q5AWQaCTjL/6iU8mChum2tEk+4/rpI3lsD43diKs0UV1UaXHMuVJ\n\
-----END PRIVATE KEY-----\n";
/// Its certificate.
const P256_CERTIFICATE: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIIBkjCCATigAwIBAgIUX2LHEosquYtygkad59dRHTpPpfUwCgYIKoZIzj0EAwIw\n\
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjEzNTYyMFoYDzIxMjYxMDI5\n\
MTM1NjIwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO\n\
PQMBBwNCAAT1/i1P0OyGMN+zrNMcmHk7GIsqwB6EGvD6Q5AWQaCTjL/6iU8mChum\n\
2tEk+4/rpI3lsD43diKs0UV1UaXHMuVJo2YwZDAdBgNVHQ4EFgQUYYsdOyu3CFlv\n\
L4JLScyn295+Z7swHwYDVR0jBBgwFoAUYYsdOyu3CFlvL4JLScyn295+Z7swFAYD\n\
VR0RBA0wC4IJbG9jYWxob3N0MAwGA1UdEwEB/wQCMAAwCgYIKoZIzj0EAwIDSAAw\n\
RQIhAMGO61blh6Kf49NwAgmdguJSkeoT/OS1AsBNLTN12gUXAiBq0BX0Gg+yPisO\n\
OStUx+1OsA6cN903GsbPgIBZ55vxFQ==\n\
-----END CERTIFICATE-----\n";

/// What is measured: a name, the server's key and certificate, and whether handshakes resume.
struct Task {
    name: &'static str,
    key: &'static str,
    pem: (&'static str, &'static str),
    resumed: bool,
}

const TASKS: [Task; 4] = [
    Task { name: "RSA 2048", key: "rsa", pem: (RSA_KEY, RSA_CERTIFICATE), resumed: false },
    Task { name: "P-256", key: "p256", pem: (P256_KEY, P256_CERTIFICATE), resumed: false },
    Task {
        name: "RSA 2048, resumed",
        key: "rsa_resumed",
        pem: (RSA_KEY, RSA_CERTIFICATE),
        resumed: true,
    },
    Task {
        name: "P-256, resumed",
        key: "p256_resumed",
        pem: (P256_KEY, P256_CERTIFICATE),
        resumed: true,
    },
];

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let mut plot = PlotBuilder::new("CPU of both sides for a handshake", "us", Shape::Bars, "");
    for task in &TASKS {
        let theirs = match context.settings.alone {
            true => None,
            false => peer(context, task, document),
        };
        let theirs = theirs.map(|mut peer| move || peer.handshake(task.resumed));
        let tracks = measured(context, task, theirs, document)?;
        plot.column(task.name);
        plot.tracks(&tracks, Sample::cpu_us);
        let suffix = format!("_{}", task.key);
        let mut value = None;
        if let Some(ours) = track(&tracks, OURS) {
            document.add_ours(ours, &suffix);
            value = Some(ours.spread(Sample::cpu_us).median);
            if let Some(theirs) = track(&tracks, openssl::NAME) {
                document.add_peer(openssl::NAME, theirs, &suffix);
                let spread = ratio(ours, theirs, Sample::cpu_us);
                let name = format!("against_openssl{suffix}");
                document.figures.insert(name, Figure::new(&spread, "x"));
            }
        }
        if let Some(alone) = track(&tracks, SIGNATURE) {
            let spread = alone.spread(Sample::cpu_us);
            document.figures.insert(format!("signature_alone{suffix}"), Figure::new(&spread, "us"));
        }
        let name = format!("handshake, {}: CPU of both sides", task.name);
        document.checks.push(Check::at_most(&name, value, LIMIT_US, "us"));
    }
    plot.finish(document);
    Ok(())
}

/// Both take turns. If the peer fails, what it said stands in the document, and only Holdfast is
/// measured.
fn measured(
    context: &Context,
    task: &Task,
    mut theirs: Option<impl FnMut() -> Result<()>>,
    document: &mut Document,
) -> Result<Vec<Track>> {
    let mut ours = Pair::new(task)?;
    let mut failure = None;
    let resumed = task.resumed;
    loop {
        let signer = ours.signer.clone();
        let mut entries = vec![Entry::new(OURS, |slice| work(slice, || ours.handshake(resumed)))];
        if !resumed {
            entries.push(Entry::new(SIGNATURE, |slice| work(slice, || sign(&*signer))));
        }
        if let Some(theirs) = &mut theirs {
            let failure = &mut failure;
            entries.push(Entry::new(openssl::NAME, move |slice| {
                work(slice, &mut *theirs).inspect_err(|error| *failure = Some(error.to_string()))
            }));
        }
        let done = interleave(&context.settings, &mut entries);
        drop(entries);
        match failure.take() {
            None => return done,
            Some(error) => {
                eprintln!("  {error}");
                document.notes.push(format!("{}, {}: {error}.", openssl::NAME, task.name));
                theirs = None;
            }
        }
    }
}

/// OpenSSL with the same key; a machine without it is told of.
fn peer(context: &Context, task: &Task, document: &mut Document) -> Option<OpenSsl> {
    let made = files(context, task).and_then(|(key, certificate)| OpenSsl::new(&key, &certificate));
    match made {
        Ok(made) => {
            document.describe_peer(openssl::NAME, &made.version(), openssl::SETTINGS);
            Some(made)
        }
        Err(error) => {
            document.add_missing(openssl::NAME, &error.to_string());
            None
        }
    }
}

fn files(context: &Context, task: &Task) -> Result<(PathBuf, PathBuf)> {
    let put = |ending: &str, text: &str| {
        let path = context.folder.join(format!("{}.{ending}", task.key));
        fs::write(&path, text).map_err(BenchError::system("write", &path))?;
        Ok(path)
    };
    Ok((put("key", task.pem.0)?, put("certificate", task.pem.1)?))
}

/// The signature of a server over a handshake, whose length hardly matters.
fn sign(key: &dyn SigningKey) -> Result<()> {
    let schemes = [SignatureScheme::RSA_PSS_SHA256, SignatureScheme::ECDSA_NISTP256_SHA256];
    let none = || BenchError::subject(OURS, "sign", "its key fits no scheme");
    let signer = key.choose_scheme(&schemes).ok_or_else(none)?;
    signer.sign(&[0; 130]).map(drop).map_err(refused("sign"))
}

fn work(slice: Duration, mut handshake: impl FnMut() -> Result<()>) -> Result<Work> {
    const PER_GLANCE: u64 = 8;
    let deadline = Deadline::after(slice);
    let mut operations = 0;
    deadline.until(|| {
        for _ in 0..PER_GLANCE {
            handshake()?;
        }
        operations += PER_GLANCE;
        Ok(())
    })?;
    Ok(Work { operations, bytes: 0, latency: None })
}

fn refused(action: &'static str) -> impl Fn(rustls::Error) -> BenchError {
    move |error| BenchError::subject(OURS, action, error.to_string())
}

/// A client and a server that know each other's certificate.
struct Pair {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    /// The server's key.
    signer: Arc<dyn SigningKey>,
    /// Whether there has been a handshake that the next one can resume.
    may_resume: bool,
}

impl Pair {
    fn new(task: &Task) -> Result<Pair> {
        let broken = |_| BenchError::subject(OURS, "take a key", "its text is broken");
        let key = PrivateKeyDer::from_pem_slice(task.pem.0.as_bytes()).map_err(broken)?;
        let certificate = CertificateDer::from_pem_slice(task.pem.1.as_bytes()).map_err(broken)?;
        let mut provider = default_provider();
        provider.kx_groups = vec![kx_group::X25519];
        provider.cipher_suites = vec![cipher_suite::TLS13_AES_128_GCM_SHA256];
        let provider = Arc::new(provider);
        let signer = provider.key_provider.load_private_key(key.clone_key());
        let signer = signer.map_err(refused("take a key"))?;
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).map_err(refused("trust a certificate"))?;
        let mut client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(refused("begin"))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(refused("begin"))?
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .map_err(refused("take a key"))?;
        server.ticketer = Ticketer::new().map_err(refused("make tickets"))?;
        if !task.resumed {
            client.resumption = Resumption::disabled();
        }
        Ok(Pair { client: Arc::new(client), server: Arc::new(server), signer, may_resume: false })
    }

    /// One handshake, whole or resumed from the last one, and the tickets behind it.
    fn handshake(&mut self, resumed: bool) -> Result<()> {
        let name = ServerName::try_from(NAME)
            .map_err(|_| BenchError::subject(OURS, "connect", "its name is none"))?;
        let client = ClientConnection::new(Arc::clone(&self.client), name);
        let mut client = client.map_err(refused("connect"))?;
        let mut server =
            ServerConnection::new(Arc::clone(&self.server)).map_err(refused("accept"))?;
        let mut flight = Vec::with_capacity(16 << 10);
        let broken = |_| BenchError::subject(OURS, "shake hands", "a buffer refuses bytes");
        for _ in 0..STEPS_MAX {
            while client.wants_write() {
                client.write_tls(&mut flight).map_err(broken)?;
            }
            take(&mut flight, |from| server.read_tls(from)).map_err(broken)?;
            server.process_new_packets().map_err(refused("shake hands"))?;
            while server.wants_write() {
                server.write_tls(&mut flight).map_err(broken)?;
            }
            take(&mut flight, |from| client.read_tls(from)).map_err(broken)?;
            client.process_new_packets().map_err(refused("shake hands"))?;
            let is_over = !client.is_handshaking() && !server.is_handshaking();
            if is_over && !client.wants_write() && !server.wants_write() {
                let was_resumed = client.handshake_kind() == Some(HandshakeKind::Resumed);
                if was_resumed != (resumed && self.may_resume) {
                    let what = "a handshake was resumed, or whole, against the plan";
                    return Err(BenchError::subject(OURS, "shake hands", what));
                }
                self.may_resume = true;
                return Ok(());
            }
        }
        Err(BenchError::subject(OURS, "shake hands", "it comes to no end"))
    }
}

/// Gives all that was written to the other side.
fn take(
    flight: &mut Vec<u8>,
    mut read: impl FnMut(&mut &[u8]) -> std::io::Result<usize>,
) -> std::io::Result<()> {
    let mut rest = &flight[..];
    while !rest.is_empty() {
        read(&mut rest)?;
    }
    flight.clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benches::tests::{context, empty_document};

    #[test]
    fn every_kind_of_handshake_is_measured_beside_openssl() {
        let mut document = empty_document();
        run(&context("tls"), &mut document).unwrap();
        assert_eq!(document.checks.len(), TASKS.len());
        assert!(document.checks.iter().all(|check| check.value.is_some()));
        assert!(document.figures.contains_key("cpu_per_operation_rsa_resumed"));
        assert!(document.figures.contains_key("signature_alone_rsa"));
        let peer = &document.peers[openssl::NAME];
        if peer.missing.is_none() {
            assert!(peer.figures.contains_key("cpu_per_operation_p256_resumed"), "{peer:?}");
            assert!(document.figures.contains_key("against_openssl_rsa_resumed"));
            assert!(document.notes.is_empty(), "{:?}", document.notes);
        }
    }

    #[test]
    fn a_peer_that_fails_is_told_of_and_holdfast_is_measured() {
        let mut document = empty_document();
        let mut left = 20;
        let theirs = || {
            left -= 1;
            match left {
                0 => Err(BenchError::subject(openssl::NAME, "shake hands", "it is tired")),
                _ => Ok(()),
            }
        };
        let tracks = measured(&context("tls-fails"), &TASKS[1], Some(theirs), &mut document);
        let tracks = tracks.unwrap();
        assert!(track(&tracks, OURS).is_some() && track(&tracks, openssl::NAME).is_none());
        assert!(document.notes[0].contains("it is tired"), "{:?}", document.notes);
    }
}
