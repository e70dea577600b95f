//! The programs that the tests run find the call interface in the test's own executable.

fn main() {
    let list = format!("{}/exports.list", std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo:rerun-if-changed={list}");
    println!("cargo:rustc-link-arg-tests=-Wl,--dynamic-list={list}");
}
