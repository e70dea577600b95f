# What the scripts share: where the repository lies, which Rust is used, where builds go.
# Sourced, not run. Each script begins with `set -euo pipefail`.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '%s\n' "$*" >&2; }
fail() {
    say "error: $*"
    exit 1
}

# Builds go to CARGO_TARGET_DIR if it is set, else to a folder of HOLDFAST_CACHE if that is set.
if [[ -n "${HOLDFAST_CACHE:-}" && -z "${CARGO_TARGET_DIR:-}" ]]; then
    mkdir -p "$HOLDFAST_CACHE"
    CARGO_TARGET_DIR=$(cd "$HOLDFAST_CACHE" && pwd)/target
    export CARGO_TARGET_DIR
fi
target_dir=${CARGO_TARGET_DIR:-target}

# rustup's own installer puts cargo here, also when the shell has not been started anew.
[[ -d "$HOME/.cargo/bin" ]] && PATH="$HOME/.cargo/bin:$PATH"

# rust-toolchain.toml names one release. Where rustup neither has nor can fetch it, its stable
# release serves if it is not older; Cargo checks that by itself (rust-version).
choose_toolchain() {
    command -v rustup >/dev/null || return 0
    rustup which cargo >/dev/null 2>&1 && return 0
    local pinned
    pinned=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
    say "rustup has no Rust $pinned: fetching it"
    if ! rustup toolchain install "$pinned" --profile minimal -c clippy -c rustfmt; then
        say "Rust $pinned cannot be fetched: trying the stable release that is installed"
        export RUSTUP_TOOLCHAIN=stable
        rustup which cargo >/dev/null || fail "no Rust toolchain; install Rust $pinned or newer"
    fi
}

# Whether this machine has a Debian package.
has_package() {
    [[ $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) == "install ok installed" ]]
}

# Whether a leader that was frozen stays replaced by this Patroni: from 3.0.3 on.
patroni_is_sound() {
    local version
    version=$("$1" --version 2>/dev/null) || return 1
    printf '%s\n' "patroni 3.0.3" "$version" | sort --version-sort --check=quiet
}

# Whether the loader finds a library of this name.
has_library() {
    local found
    found=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null || true)
    [[ $found == *"$1 "* ]]
}

# Installs those of the named Debian packages that are missing.
need_packages() {
    local missing=() package
    for package in "$@"; do
        has_package "$package" || missing+=("$package")
    done
    ((${#missing[@]} == 0)) && return 0
    say "installing ${missing[*]}"
    command -v apt-get >/dev/null || fail "please install ${missing[*]} (this is no Debian)"
    local as_root=()
    if ((EUID != 0)); then
        command -v sudo >/dev/null || fail "please install, as root: ${missing[*]}"
        as_root=(sudo)
    fi
    "${as_root[@]}" apt-get update -qq || say "apt-get update failed; trying with the old lists"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
