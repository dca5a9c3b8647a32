# shellcheck shell=bash
# What ./astrolabe and ./check share: installing what is missing, configuring a preset, building it.
#
# The caller sets `root` (the project's folder) and `program` (the name that messages begin with). Everything
# here is said on standard error, in plain lines; the output of apt-get, cmake and ninja goes to logs below
# build/ and is shown only when one of them fails.
: "${root:?}" "${program:?}"

note() { printf '%s: %s\n' "$program" "$1" >&2; }

# fail MESSAGE [HINT]: 1 is also the exit code of a simulation that failed; 2 and 3 blame the user's input.
fail() {
    note "error: $1"
    if [[ $# -gt 1 ]]; then
        printf '  hint: %s\n' "$2" >&2
    fi
    exit 1
}

show_log() {
    printf -- '--- the end of %s\n' "$1" >&2
    tail -n 40 -- "$1" >&2
    printf -- '---\n' >&2
}

# One process at a time installs, configures or builds; a second one waits here.
lock_build_folder() {
    if ! { mkdir -p -- "$root/build" && [[ -w $root/build ]]; } 2>/dev/null; then
        fail "cannot write to $root/build" "the program is built there: make it writable, or copy the project"
    fi
    if ! { exec {build_lock}>"$root/build/.lock"; } 2>/dev/null; then
        fail "cannot write to $root/build/.lock" "it belongs to another user, or the disk is read-only"
    fi
    if ! flock --nonblock "$build_lock"; then
        note "waiting for another build of this folder to finish"
        flock "$build_lock"
    fi
}

unlock_build_folder() { exec {build_lock}>&-; }

# install_missing_packages [LIST...]: what cmake/debian-packages.txt and other lists there name. `program=package` is
# for a program that may come from elsewhere: its package is missing where PATH does not find it.
# Asks dpkg's data base every time (about 10 ms), so a package that was removed is noticed. Where there is no
# dpkg, CMake says what it does not find.
install_missing_packages() {
    command -v dpkg-query >/dev/null || return 0
    local name list installed wanted=() missing=() as_root=()
    local lists=("$root/cmake/debian-packages.txt")
    for list; do
        lists+=("$root/cmake/$list")
    done
    while read -r name; do
        case $name in
            '' | '#'*) ;;
            *=*) command -v "${name%%=*}" >/dev/null || missing+=("${name#*=}") ;;
            *) wanted+=("$name") ;;
        esac
    done < <(cat -- "${lists[@]}")
    installed=$'\n'$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null)$'\n'
    for name in "${wanted[@]}"; do
        [[ $installed == *$'\n'"installed $name"$'\n'* ]] || missing+=("$name")
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0

    if ! command -v apt-get >/dev/null; then
        fail "these packages are missing, and there is no apt-get to install them: ${missing[*]}"
    fi
    if [[ $EUID -ne 0 ]]; then
        command -v sudo >/dev/null ||
            fail "these Debian packages are missing: ${missing[*]}" \
                "as root: apt-get install --no-install-recommends ${missing[*]}"
        as_root=(sudo)
    fi
    note "installing Debian packages: ${missing[*]}"
    local log=$root/build/packages.log apt=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300)
    if ! { "${as_root[@]}" "${apt[@]}" update &&
        "${as_root[@]}" "${apt[@]}" install --yes --no-install-recommends "${missing[@]}"; } \
        >"$log" 2>&1 </dev/null; then
        show_log "$log"
        fail "the packages could not be installed: ${missing[*]}" \
            "is the network reachable, and is this Debian 12? The whole log is $log"
    fi
}

# configure PRESET: only when it has not been done for this folder and these presets. A tree that was moved or whose
# presets changed is configured afresh.
configure() {
    local preset=$1 tree=$root/build/$1 log=$root/build/$1.log stamp='' fresh=() identity
    identity="$root $(cksum <"$root/CMakePresets.json")"
    [[ ! -f $tree/.configured ]] || read -r stamp <"$tree/.configured"
    if [[ $stamp == "$identity" && -f $tree/build.ninja ]]; then
        return 0
    fi
    [[ $stamp == "$identity" ]] || fresh=(--fresh)

    note "configuring (log: $log)"
    rm -f -- "$tree/.configured"
    if ! (cd -- "$root" && cmake --preset "$preset" "${fresh[@]}") >"$log" 2>&1 </dev/null; then
        show_log "$log"
        fail "CMake could not configure the preset '$preset'" "the whole log is $log"
    fi
    printf '%s\n' "$identity" >"$tree/.configured"
}

# build PRESET TARGET...: silent when everything is up to date, which a dry run of ninja tells; the commit that the program
# names is looked up each time, with what would follow if it were another. Where ninja cannot
# even plan (an interruption left a damaged tree, or a source file is gone) CMake has to have another look.
build() {
    local preset=$1 tree=$root/build/$1 log=$root/build/$1.log plan
    local each_time='^ninja: |write_version\.cmake|/version\.cpp\.o$|Linking CXX executable cli/astrolabe$'
    shift
    if plan=$(ninja -C "$tree" -n "$@" 2>&1); then
        [[ $plan != *'ninja: no work to do.'* ]] || return 0
    else
        rm -f -- "$tree/.configured"
        configure "$preset"
    fi
    if grep -Eqv "$each_time" <<<"$plan"; then
        note "building…, which takes some minutes the first time (log: $log)"
    fi
    (cd -- "$root" && cmake --build --preset "$preset" --parallel "$(nproc)" --target "$@") \
        >"$log" 2>&1 </dev/null && return 0
    show_log "$log"
    return 1
}
