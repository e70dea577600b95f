//! A key file under a token, with SoftHSM in place of a device.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // makes a token from outside

mod softhsm;

use std::path::Path;
use std::sync::Arc;

use base::{KeyGeneration, SystemId};
use holdfast_token::Pkcs11;
use seal::{KdfCost, KeyProvider, Keyset, Passphrase, Protection, SealError, TokenPlace};
use seam::Seam;
use softhsm::{PIN, SoftHsm};

const SYSTEM: SystemId = SystemId([9; 16]);
/// A folder with a token.
struct Bench<'a>(&'a SoftHsm);

impl Bench<'_> {
    fn secret(&self, pin: &str) -> Passphrase {
        Passphrase::from(pin).with_token(Arc::new(Pkcs11::new(&self.0.module)))
    }

    fn place() -> TokenPlace {
        TokenPlace { token: "BANK".into(), key: "holdfast".into() }
    }

    fn open(&self, path: &Path, secret: &Passphrase) -> Result<Keyset, SealError> {
        Keyset::open(&Seam::real(), path, SYSTEM, secret)
    }
}

#[track_caller]
fn code<T>(result: Result<T, SealError>) -> &'static str {
    base::Coded::code(&result.err().expect("it is refused")).0
}

#[test]
fn a_token_protects_the_keys() {
    SoftHsm::work("a_token_protects_the_keys", |token| {
        keys_go_to_a_token_and_back(&Bench(token));
        what_can_be_wrong_with_a_token_is_named(&Bench(token));
    });
}

fn keys_go_to_a_token_and_back(bench: &Bench<'_>) {
    let seam = Seam::real();
    let path = bench.0.folder.join("keys");
    let passphrase = Passphrase::from("first");
    let keyset = Keyset::create(&seam, &path, SYSTEM, &passphrase, KdfCost::TEST).unwrap();
    keyset.add_label("data").unwrap();
    let pin = bench.secret(PIN);
    keyset.move_to_token(&pin, &Bench::place()).unwrap();
    assert_eq!(keyset.protection(), Protection::Token(Bench::place()));
    drop(keyset);
    // The passphrase opens it no longer; the PIN alone does nothing without the token.
    assert_eq!(code(bench.open(&path, &passphrase)), "HFS050");
    assert_eq!(code(bench.open(&path, &Passphrase::from(PIN))), "HFS050");
    let keyset = bench.open(&path, &pin).unwrap();
    assert!(keyset.key("data", KeyGeneration(1)).is_ok());
    keyset.new_generation("data").unwrap();
    keyset.change_master(&pin).unwrap();
    let keyset = bench.open(&path, &pin).unwrap();
    assert_eq!(keyset.current("data").unwrap(), KeyGeneration(2));
    keyset.change_passphrase(&Passphrase::from("second"), KdfCost::TEST).unwrap();
    let keyset = bench.open(&path, &Passphrase::from("second")).unwrap();
    assert!(keyset.key("data", KeyGeneration(1)).is_ok());
    let other = bench.0.folder.join("other");
    let place = Bench::place();
    drop(Keyset::create_in_token(&seam, &other, SYSTEM, &pin, &place).unwrap());
    assert!(bench.open(&other, &pin).is_ok());
}

fn what_can_be_wrong_with_a_token_is_named(bench: &Bench<'_>) {
    let seam = Seam::real();
    let pin = bench.secret(PIN);
    let path = bench.0.folder.join("other");
    assert_eq!(code(bench.open(&path, &bench.secret("wrong"))), "HFS053");
    let module = bench.0.folder.join("nothing.so");
    let nowhere = Passphrase::from(PIN).with_token(Arc::new(Pkcs11::new(&module)));
    assert_eq!(code(bench.open(&path, &nowhere)), "HFS051");
    // A ring whose file a token cannot wrap stays under its passphrase.
    let held = bench.0.folder.join("held");
    let passphrase = Passphrase::from("held");
    let keyset = Keyset::create(&seam, &held, SYSTEM, &passphrase, KdfCost::TEST).unwrap();
    let absent = TokenPlace { token: "GONE".into(), ..Bench::place() };
    assert_eq!(code(keyset.move_to_token(&pin, &absent)), "HFS052");
    let unnamed = TokenPlace { token: String::new(), ..Bench::place() };
    assert_eq!(code(keyset.move_to_token(&pin, &unnamed)), "HFS058");
    assert!(bench.open(&held, &passphrase).is_ok());
    // Who changes the wrapped key, or what stands before it, is found out by the token.
    let bytes = std::fs::read(&path).unwrap();
    let wrapped_at = 32 + 2 + "BANK".len() + 2 + "holdfast".len() + 12;
    let mut forged = bytes.clone();
    forged[wrapped_at] ^= 1;
    let body = forged.len() - 16;
    let sum = twox(&forged[..body]);
    forged[body..].copy_from_slice(&sum);
    std::fs::write(&path, &forged).unwrap();
    assert_eq!(code(bench.open(&path, &pin)), "HFS056");
    std::fs::write(&path, &bytes).unwrap();
    assert!(bench.open(&path, &pin).is_ok());
    // A token that loses its key, or goes while the system runs: what is open stays open.
    let keyset = bench.open(&path, &pin).unwrap();
    keyset.add_label("data").unwrap();
    let tokens = bench.0.tokens();
    let away = bench.0.folder.join("away");
    std::fs::rename(&tokens, &away).unwrap();
    assert!(keyset.key("data", KeyGeneration(1)).is_ok());
    keyset.new_generation("data").unwrap();
    assert!(keyset.change_master(&pin).is_err());
    std::fs::rename(&away, &tokens).unwrap();
    let again = bench.open(&path, &pin).unwrap();
    assert_eq!(again.current("data").unwrap(), KeyGeneration(2));
}

fn twox(bytes: &[u8]) -> [u8; 16] {
    twox_hash::XxHash3_128::oneshot(bytes).to_le_bytes()
}
