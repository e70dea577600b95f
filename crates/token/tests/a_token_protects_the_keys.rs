//! A key file under a token, with SoftHSM in place of a device. Without SoftHSM these tests say
//! so and prove nothing (`scripts/setup.sh token` installs it).
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // makes a token from outside

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use base::{KeyGeneration, SystemId};
use holdfast_token::Pkcs11;
use seal::{KdfCost, KeyProvider, KeyRing, Passphrase, Protection, SealError, TokenPlace};
use seam::Seam;

const SYSTEM: SystemId = SystemId([9; 16]);
const PIN: &str = "4711-user";

/// Where Debian and others put the library.
const MODULES: [&str; 3] = [
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so",
    "/usr/lib64/pkcs11/libsofthsm2.so",
];

struct Bench {
    folder: PathBuf,
    module: PathBuf,
}

impl Bench {
    /// A folder with a token BANK, whose tool and library are told by the environment.
    fn new() -> Option<Bench> {
        let module = MODULES.map(PathBuf::from).into_iter().find(|path| path.exists());
        let Some(module) = module else {
            eprintln!("SKIPPED: SoftHSM is not installed (scripts/setup.sh token)");
            return None;
        };
        let folder = std::env::temp_dir().join(format!("holdfast-token-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("tokens")).unwrap();
        let tokens = folder.join("tokens");
        let text = format!("directories.tokendir = {}\nlog.level = ERROR\n", tokens.display());
        std::fs::write(folder.join("softhsm2.conf"), text).unwrap();
        let bench = Bench { folder, module };
        bench.make_token("BANK");
        Some(bench)
    }

    fn conf(&self) -> PathBuf {
        self.folder.join("softhsm2.conf")
    }

    fn make_token(&self, label: &str) {
        let made = Command::new("softhsm2-util")
            .env("SOFTHSM2_CONF", self.conf())
            .args(["--init-token", "--free", "--label", label, "--so-pin", "so-pin", "--pin", PIN])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }

    fn secret(&self, pin: &str) -> Passphrase {
        Passphrase::from(pin).with_token(Arc::new(Pkcs11::new(&self.module)))
    }

    fn place() -> TokenPlace {
        TokenPlace { token: "BANK".into(), key: "holdfast".into() }
    }

    fn open(&self, path: &Path, secret: &Passphrase) -> Result<KeyRing, SealError> {
        KeyRing::open(&Seam::real(), path, SYSTEM, secret)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[track_caller]
fn code<T>(result: Result<T, SealError>) -> &'static str {
    base::Coded::code(&result.err().expect("it is refused")).0
}

/// The environment names the tokens, so what needs it runs in a process of its own.
#[test]
fn a_token_protects_the_keys() {
    const WORKER: &str = "HOLDFAST_TOKEN_TEST";
    if let Some(folder) = std::env::var_os(WORKER) {
        let module = MODULES.map(PathBuf::from).into_iter().find(|path| path.exists()).unwrap();
        let bench = Bench { folder: folder.into(), module };
        keys_go_to_a_token_and_back(&bench);
        what_can_be_wrong_with_a_token_is_named(&bench);
        std::mem::forget(bench);
        return;
    }
    let Some(bench) = Bench::new() else { return };
    let ended = Command::new(std::env::current_exe().unwrap())
        .env(WORKER, &bench.folder)
        .env("SOFTHSM2_CONF", bench.conf())
        .args(["--exact", "a_token_protects_the_keys", "--nocapture"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{}{told}", String::from_utf8_lossy(&ended.stdout));
}

fn keys_go_to_a_token_and_back(bench: &Bench) {
    let seam = Seam::real();
    let path = bench.folder.join("keys");
    let passphrase = Passphrase::from("first");
    let ring = KeyRing::create(&seam, &path, SYSTEM, &passphrase, KdfCost::TEST).unwrap();
    ring.add_label("data").unwrap();
    let pin = bench.secret(PIN);
    ring.move_to_token(&pin, &Bench::place()).unwrap();
    assert_eq!(ring.protection(), Protection::Token(Bench::place()));
    drop(ring);
    // The passphrase opens it no longer; the PIN alone does nothing without the token.
    assert_eq!(code(bench.open(&path, &passphrase)), "HFS050");
    assert_eq!(code(bench.open(&path, &Passphrase::from(PIN))), "HFS050");
    let ring = bench.open(&path, &pin).unwrap();
    assert!(ring.key("data", KeyGeneration(1)).is_ok());
    ring.new_generation("data").unwrap();
    ring.change_master(&pin).unwrap();
    let ring = bench.open(&path, &pin).unwrap();
    assert_eq!(ring.current("data").unwrap(), KeyGeneration(2));
    ring.change_passphrase(&Passphrase::from("second"), KdfCost::TEST).unwrap();
    let ring = bench.open(&path, &Passphrase::from("second")).unwrap();
    assert!(ring.key("data", KeyGeneration(1)).is_ok());
    let other = bench.folder.join("other");
    let place = Bench::place();
    drop(KeyRing::create_in_token(&seam, &other, SYSTEM, &pin, &place).unwrap());
    assert!(bench.open(&other, &pin).is_ok());
}

fn what_can_be_wrong_with_a_token_is_named(bench: &Bench) {
    let seam = Seam::real();
    let pin = bench.secret(PIN);
    let path = bench.folder.join("other");
    assert_eq!(code(bench.open(&path, &bench.secret("wrong"))), "HFS053");
    let module = bench.folder.join("nothing.so");
    let nowhere = Passphrase::from(PIN).with_token(Arc::new(Pkcs11::new(&module)));
    assert_eq!(code(bench.open(&path, &nowhere)), "HFS051");
    // A ring whose file a token cannot wrap stays under its passphrase.
    let held = bench.folder.join("held");
    let passphrase = Passphrase::from("held");
    let ring = KeyRing::create(&seam, &held, SYSTEM, &passphrase, KdfCost::TEST).unwrap();
    let absent = TokenPlace { token: "GONE".into(), ..Bench::place() };
    assert_eq!(code(ring.move_to_token(&pin, &absent)), "HFS052");
    let unnamed = TokenPlace { token: String::new(), ..Bench::place() };
    assert_eq!(code(ring.move_to_token(&pin, &unnamed)), "HFS058");
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
    let ring = bench.open(&path, &pin).unwrap();
    ring.add_label("data").unwrap();
    let tokens = bench.folder.join("tokens");
    let away = bench.folder.join("away");
    std::fs::rename(&tokens, &away).unwrap();
    assert!(ring.key("data", KeyGeneration(1)).is_ok());
    ring.new_generation("data").unwrap();
    assert!(ring.change_master(&pin).is_err());
    std::fs::rename(&away, &tokens).unwrap();
    let again = bench.open(&path, &pin).unwrap();
    assert_eq!(again.current("data").unwrap(), KeyGeneration(2));
}

fn twox(bytes: &[u8]) -> [u8; 16] {
    twox_hash::XxHash3_128::oneshot(bytes).to_le_bytes()
}
