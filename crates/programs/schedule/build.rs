//! The programs that the tests run find the call interface in the test's own executable.

fn main() {
    let own = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let list = format!("{own}/../region/exports.list");
    println!("cargo:rerun-if-changed={list}");
    println!("cargo:rustc-link-arg-tests=-Wl,--dynamic-list={list}");
}
