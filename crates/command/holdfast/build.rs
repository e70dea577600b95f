//! Programs that run in this executable find the call interface in it: it must export it.

fn main() {
    let crates = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let list = format!("{crates}/../../programs/region/exports.list");
    println!("cargo:rerun-if-changed={list}");
    println!("cargo:rustc-link-arg-bins=-Wl,--dynamic-list={list}");
}
