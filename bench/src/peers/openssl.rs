//! TLS handshakes by OpenSSL, both sides in this process, joined by a pair of buffers.
//!
//! 1. Declarations follow `openssl/ssl.h` and `openssl/bio.h` of OpenSSL 3.
//! 2. A connection owns its half of the pair of buffers (`SSL_set_bio`); contexts live as long as
//!    the peer, connections as long as a handshake.
//! 3. A session is kept once its ticket has come, which in TLS 1.3 is behind the handshake, and
//!    each ticket is used once. A connection that is let go without an end takes its session with
//!    it, so both sides are told that it has ended.
#![allow(unsafe_code)] // the functions of a C library
#![allow(non_snake_case)] // they are called as that library calls them

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};
use std::path::Path;
use std::ptr;

use crate::dynamic::{c_functions, text_of};
use crate::error::{BenchError, Result};

pub(crate) const NAME: &str = "OpenSSL";
pub(crate) const SETTINGS: &str = "as Debian packages it, with the same cipher suite";

/// `SSL_FILETYPE_PEM`.
const PEM: c_int = 1;
/// `SSL_VERIFY_PEER`.
const VERIFY_PEER: c_int = 1;
/// `SSL_CTRL_SET_SESS_CACHE_MODE` and `SSL_SESS_CACHE_OFF`.
const SET_CACHE_MODE: c_int = 44;
const CACHE_OFF: c_long = 0;
/// `SSL_SENT_SHUTDOWN` and `SSL_RECEIVED_SHUTDOWN`.
const ENDED: c_int = 1 | 2;
/// `OPENSSL_VERSION_STRING`.
const VERSION_STRING: c_int = 6;
/// The one that every TLS 1.3 has, and the one of the other side.
const CIPHER_SUITE: &CStr = c"TLS_AES_128_GCM_SHA256";
/// Bytes that wait in each direction; a flight of certificates fits.
const BUFFER: usize = 64 << 10;
/// Steps after which a handshake has failed.
const STEPS_MAX: usize = 16;

c_functions! {
    /// The functions of libssl that are used.
    Ssl for "OpenSSL" in ["libssl.so.3"] {
        fn TLS_client_method() -> *const c_void;
        fn TLS_server_method() -> *const c_void;
        fn SSL_CTX_new(method: *const c_void) -> *mut c_void;
        fn SSL_CTX_free(context: *mut c_void);
        fn SSL_CTX_ctrl(
            context: *mut c_void, command: c_int, value: c_long, more: *mut c_void
        ) -> c_long;
        fn SSL_CTX_use_certificate_chain_file(
            context: *mut c_void, file: *const c_char
        ) -> c_int;
        fn SSL_CTX_use_PrivateKey_file(
            context: *mut c_void, file: *const c_char, kind: c_int
        ) -> c_int;
        fn SSL_CTX_load_verify_locations(
            context: *mut c_void, file: *const c_char, folder: *const c_char
        ) -> c_int;
        fn SSL_CTX_set_ciphersuites(context: *mut c_void, names: *const c_char) -> c_int;
        fn SSL_CTX_set_verify(context: *mut c_void, mode: c_int, callback: *const c_void);
        fn SSL_new(context: *mut c_void) -> *mut c_void;
        fn SSL_free(connection: *mut c_void);
        fn SSL_set_bio(connection: *mut c_void, from: *mut c_void, to: *mut c_void);
        fn SSL_set_connect_state(connection: *mut c_void);
        fn SSL_set_accept_state(connection: *mut c_void);
        fn SSL_set1_host(connection: *mut c_void, name: *const c_char) -> c_int;
        fn SSL_do_handshake(connection: *mut c_void) -> c_int;
        fn SSL_read(connection: *mut c_void, to: *mut c_void, bytes: c_int) -> c_int;
        fn SSL_set_shutdown(connection: *mut c_void, how: c_int);
        fn SSL_session_reused(connection: *const c_void) -> c_int;
        fn SSL_get1_session(connection: *mut c_void) -> *mut c_void;
        fn SSL_set_session(connection: *mut c_void, session: *mut c_void) -> c_int;
        fn SSL_SESSION_is_resumable(session: *const c_void) -> c_int;
        fn SSL_SESSION_free(session: *mut c_void);
    }
}

c_functions! {
    /// The functions of libcrypto that are used.
    Crypto for "OpenSSL" in ["libcrypto.so.3"] {
        fn OpenSSL_version(kind: c_int) -> *const c_char;
        fn BIO_new_bio_pair(
            one: *mut *mut c_void, one_bytes: usize, other: *mut *mut c_void, other_bytes: usize
        ) -> c_int;
    }
}

/// A client and a server that know each other's certificate.
pub(crate) struct OpenSsl {
    ssl: Ssl,
    crypto: Crypto,
    client: *mut c_void,
    server: *mut c_void,
    /// What the last handshake left to resume.
    session: *mut c_void,
}

fn refused(action: &'static str) -> BenchError {
    BenchError::subject(NAME, action, "the library refuses")
}

fn expect(action: &'static str, code: c_int) -> Result<()> {
    if code == 1 { Ok(()) } else { Err(refused(action)) }
}

fn c_path(path: &Path) -> Result<CString> {
    CString::new(path.as_os_str().as_encoded_bytes()).map_err(|_| refused("take a path"))
}

impl OpenSsl {
    /// Contexts for the key and the certificate in these files of PEM.
    pub(crate) fn new(key: &Path, certificate: &Path) -> Result<OpenSsl> {
        let (ssl, crypto) = (Ssl::load()?, Crypto::load()?);
        let null = ptr::null_mut();
        let mut made = OpenSsl { ssl, crypto, client: null, server: null, session: null };
        let (key, certificate) = (c_path(key)?, c_path(certificate)?);
        // SAFETY: methods are static objects of the library; a context that is null is not used.
        unsafe {
            made.client = ssl.SSL_CTX_new(ssl.TLS_client_method());
            made.server = ssl.SSL_CTX_new(ssl.TLS_server_method());
        }
        if made.client.is_null() || made.server.is_null() {
            return Err(refused("make a context"));
        }
        // SAFETY: live contexts, C strings that outlive the calls.
        unsafe {
            let file = certificate.as_ptr();
            let done = ssl.SSL_CTX_use_certificate_chain_file(made.server, file);
            expect("take a certificate", done)?;
            let done = ssl.SSL_CTX_use_PrivateKey_file(made.server, key.as_ptr(), PEM);
            expect("take a key", done)?;
            // Sessions are in tickets; a cache of them would only grow.
            ssl.SSL_CTX_ctrl(made.server, SET_CACHE_MODE, CACHE_OFF, ptr::null_mut());
            let done = ssl.SSL_CTX_load_verify_locations(made.client, file, ptr::null());
            expect("trust a certificate", done)?;
            ssl.SSL_CTX_set_verify(made.client, VERIFY_PEER, ptr::null());
            let done = ssl.SSL_CTX_set_ciphersuites(made.client, CIPHER_SUITE.as_ptr());
            expect("take a cipher suite", done)?;
        }
        Ok(made)
    }

    /// The library's version.
    pub(crate) fn version(&self) -> String {
        // SAFETY: a static string of the library.
        unsafe { text_of(self.crypto.OpenSSL_version(VERSION_STRING)) }
    }

    /// One handshake, whole or resumed from the last one, and the tickets behind it.
    pub(crate) fn handshake(&mut self, resumed: bool) -> Result<()> {
        let ssl = self.ssl;
        let client = Connection::new(ssl, self.client)?;
        let server = Connection::new(ssl, self.server)?;
        let (mut one, mut other) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: places for both halves; each goes to one connection, which frees it.
        unsafe {
            let done = self.crypto.BIO_new_bio_pair(&mut one, BUFFER, &mut other, BUFFER);
            expect("join two sides", done)?;
            ssl.SSL_set_bio(client.0, one, one);
            ssl.SSL_set_bio(server.0, other, other);
            ssl.SSL_set_connect_state(client.0);
            ssl.SSL_set_accept_state(server.0);
            expect("expect a name", ssl.SSL_set1_host(client.0, c"localhost".as_ptr()))?;
            if resumed && !self.session.is_null() {
                expect("resume", ssl.SSL_set_session(client.0, self.session))?;
            }
        }
        self.talk(&client, &server)?;
        // SAFETY: live connections; the buffer is as long as is said. There is no data, but reading
        // takes in the tickets (3).
        let was_resumed = unsafe {
            let mut nothing = [0_u8; 1];
            let _none = ssl.SSL_read(client.0, nothing.as_mut_ptr().cast(), 1);
            ssl.SSL_set_shutdown(client.0, ENDED);
            ssl.SSL_set_shutdown(server.0, ENDED);
            ssl.SSL_session_reused(client.0) == 1
        };
        if was_resumed != (resumed && !self.session.is_null()) {
            let what = "a handshake was resumed, or whole, against the plan";
            return Err(BenchError::subject(NAME, "shake hands", what));
        }
        if resumed { self.keep(&client) } else { Ok(()) }
    }

    /// Keeps what the next handshake resumes, in place of what this one has used.
    fn keep(&mut self, client: &Connection) -> Result<()> {
        self.forget();
        // SAFETY: a live connection; the session is freed by `forget`.
        let can_resume = unsafe {
            self.session = self.ssl.SSL_get1_session(client.0);
            !self.session.is_null() && self.ssl.SSL_SESSION_is_resumable(self.session) == 1
        };
        let none = || BenchError::subject(NAME, "resume", "there came no ticket");
        can_resume.then_some(()).ok_or_else(none)
    }

    fn talk(&self, client: &Connection, server: &Connection) -> Result<()> {
        for _ in 0..STEPS_MAX {
            // SAFETY: live connections, each with its half of the buffers.
            let done = unsafe {
                let here = self.ssl.SSL_do_handshake(client.0);
                let there = self.ssl.SSL_do_handshake(server.0);
                here == 1 && there == 1
            };
            if done {
                return Ok(());
            }
        }
        Err(BenchError::subject(NAME, "shake hands", "it comes to no end"))
    }

    fn forget(&mut self) {
        if !self.session.is_null() {
            // SAFETY: got once, freed once.
            unsafe { self.ssl.SSL_SESSION_free(self.session) };
            self.session = ptr::null_mut();
        }
    }
}

impl Drop for OpenSsl {
    fn drop(&mut self) {
        self.forget();
        // SAFETY: made once, freed once; no connection outlives a handshake. Null is allowed.
        unsafe {
            self.ssl.SSL_CTX_free(self.client);
            self.ssl.SSL_CTX_free(self.server);
        }
    }
}

/// One side of a connection.
struct Connection(*mut c_void, Ssl);

impl Connection {
    fn new(ssl: Ssl, context: *mut c_void) -> Result<Connection> {
        // SAFETY: a live context.
        let made = unsafe { ssl.SSL_new(context) };
        if made.is_null() { Err(refused("make a connection")) } else { Ok(Connection(made, ssl)) }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: made once, freed once, with its half of the buffers.
        unsafe { self.1.SSL_free(self.0) };
    }
}
