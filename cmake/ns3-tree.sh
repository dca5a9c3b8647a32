# shellcheck shell=bash
# The part of ./check that tries ns3-backend/ as a module of an ns-3 source tree: builds it there, runs its tests under
# ns-3's test.py, its scenarios, and the program `astrolabe`, whose results must be those of ./astrolabe.
#
# The caller has sourced prepare.sh and counts in `passed` and `failed`.
: "${root:?}" "${program:?}"

ns3_log=$root/build/ns3-tree.log

# The oldest release of ns-3 that the module builds in, and that of the package libns3-dev that ./astrolabe is built on.
ns3_oldest=3.37

# print_tree_steps: how to get a source tree of ns-3 by hand on Debian, of the release that its package has.
print_tree_steps() {
    note "the source tree of ns-3 by hand, on Debian (each line is a command):"
    cat >&2 <<'END'
  sudo sed -i 's/^Types: deb$/Types: deb deb-src/' /etc/apt/sources.list.d/debian.sources   # adds deb-src to the source list
  # where the list is /etc/apt/sources.list:  sudo sed -i 's/^deb \(.*\)$/&\ndeb-src \1/' /etc/apt/sources.list
  sudo apt-get update
  apt-get source --download-only ns3
  cmake -E tar xf ns3_3.*.orig.tar.bz2
  ./check --ns3-tree ns-allinone-3.*/ns-3.*
END
}

# report NAME CODE: counts one test; shows the log of one that failed, which has just written to it.
report() {
    if [[ $2 -eq 0 ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        show_log "$ns3_log"
        note "error: in the ns-3 tree: $1 (the whole log is $ns3_log)"
    fi
}

# ns3_cache: prints the folder that keeps the source tree and what was built in it, outside the project if possible,
# so that it outlives a clone.
ns3_cache() {
    local folder
    for folder in "${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/astrolabe" "$root/build"; do
        if { mkdir -p -- "$folder/ns-3.37" && [[ -w $folder/ns-3.37 ]]; } 2>/dev/null; then
            printf '%s\n' "$folder/ns-3.37"
            return
        fi
    done
    return 1
}

# package_site [APT OPTION...]: prints the site and the suite that libns3-dev comes from, where apt's lists name one. Its
# lines are "package | version | site suite/component architecture Packages".
package_site() {
    apt-cache "$@" madison libns3-dev 2>/dev/null | sed -n '1s:^.*| *\([^ ]*\) \([^ /]*\)/.*$:\1 \2:p'
}

# fetch_ns3_tree CACHE: leaves Debian's ns-3.37, as its authors published it, in CACHE/tree. apt finds it where it finds
# libns3-dev, checks the signatures, and touches none of the machine's own lists: it needs no privileges.
fetch_ns3_tree() {
    local cache=$1 work=$1/apt site suite private=()
    rm -rf -- "$work" && mkdir -p -- "$work/lists/partial" "$work/archives/partial" "$work/source" || return 1
    private=(-o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work"
        -o Acquire::Retries=2 -o Acquire::http::Timeout=20 -o APT::Sandbox::User=root)
    read -r site suite < <(package_site)
    if [[ -z $suite ]]; then
        # The machine keeps no lists: those of its sites, here.
        apt-get "${private[@]}" update || return 1
        read -r site suite < <(package_site "${private[@]}")
    fi
    [[ -n $suite ]] || return 1
    printf 'deb-src %s %s main\n' "$site" "$suite" >"$work/sources.list"
    private+=(-o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null)
    apt-get "${private[@]}" update &&
        (cd -- "$work/source" && apt-get "${private[@]}" source --download-only ns3) &&
        (cd -- "$work" && cmake -E tar xf source/ns3_3.37.orig.tar.bz2 -- ns-allinone-3.37/ns-3.37) &&
        mv -- "$work/ns-allinone-3.37/ns-3.37" "$cache/tree" &&
        rm -rf -- "$work"
}

# drop_stale_headers TREE: deletes from the tree's include folder what is left of headers that were removed or moved. ns-3
# writes there one line for each header, which includes it by its path, and never writes or deletes a line a second time.
drop_stale_headers() {
    local stub line path
    for stub in "$1"/build/include/ns3/*.h; do
        if [[ -f $stub ]] && read -r line <"$stub" && [[ $line == '#include "/'*'"' ]]; then
            path=${line#*\"}
            [[ -e ${path%\"} ]] || rm -f -- "$stub"
        fi
    done
}

# link_module TREE: makes contrib/astrolabe a link to this project's module. What another project's module left built
# goes: files of an older date with other contents would not be compiled again.
link_module() {
    local link=$1/contrib/astrolabe
    if [[ $(readlink -f -- "$link") != "$root/ns3-backend" ]]; then
        if [[ -e $link && ! -L $link ]]; then
            note "error: $link is not a link to $root/ns3-backend: move it away"
            return 1
        fi
        rm -rf -- "$1"/{build,cmake-cache}/contrib/astrolabe "$1"/build/lib/libns*astrolabe* &&
            ln -sfn -- "$root/ns3-backend" "$link" || return
    fi
    drop_stale_headers "$1"
}

# build_ns3_tree TREE: with what it was configured for; by default the module with what it needs, and as Debug, which
# takes half the time to compile and has ns-3's assertions on.
build_ns3_tree() {
    local options=(--enable-examples --enable-tests)
    if [[ ! -f $1/cmake-cache/CMakeCache.txt ]]; then
        options+=(-G Ninja -d debug --disable-werror
            --enable-modules=astrolabe --filter-module-examples-and-tests=astrolabe)
    fi
    # ./ns3 build leaves a core idle, whatever it is told; first without it.
    (cd -- "$1" && ./ns3 configure "${options[@]}" && cmake --build cmake-cache --parallel "$(nproc)" &&
        ./ns3 build)
}

# build_ns3_program TREE: ./ns3 run builds it by itself; here it takes all cores.
build_ns3_program() {
    (cd -- "$1" && cmake --build cmake-cache --parallel "$(nproc)" --target astrolabe)
}

# count_module_steps TREE: prints how many commands the module adds to a build of the tree, its tests and scenarios
# included. Fails where they are 120 or more: then it builds more than itself, as the program once was.
count_module_steps() {
    local steps
    steps=$(cmake --build "$1/cmake-cache" --target all -- -t commands | grep -c -- "contrib/astrolabe/")
    printf 'the module adds %s steps to a build\n' "$steps"
    [[ $steps -gt 0 && $steps -lt 120 ]]
}

# same_fingerprint TREE CHANGE...: of the quickstart with these changes, by ./ns3 run and by ./astrolabe run. The path
# through the link is one that ./ns3 run takes as one word wherever the project is.
same_fingerprint() {
    local tree=$1 here there experiment=examples/quickstart/experiment.yaml
    local fingerprint='s/^ *"fingerprint": "\([0-9a-f]*\)".*/\1/p'
    shift
    here=$("$root/astrolabe" run "$root/$experiment" "${@/#/--set=}" --json | sed -n "$fingerprint")
    there=$(cd -- "$tree" && ./ns3 run --no-build \
        "astrolabe --experiment=contrib/astrolabe/../$experiment ${*/#/--set=} --json" | sed -n "$fingerprint")
    printf 'quickstart with %s: %s by ./astrolabe, %s by ./ns3\n' "$*" "$here" "$there"
    [[ -n $here && $here == "$there" ]]
}

# installed_ns3: prints the release of the installed package, which ./astrolabe is built on.
installed_ns3() {
    dpkg-query --show --showformat='${Version}' libns3-dev 2>/dev/null | sed 's/-[^-]*$//'
}

# try_ns3_tree TREE: what was built there.
try_ns3_tree() {
    local tree=$1 scenario changes
    "$root/astrolabe" --version >/dev/null  # builds it, where nothing else has
    (cd -- "$tree" && ./test.py --no-build --nocolor --suite='astrolabe*') >>"$ns3_log" 2>&1 </dev/null
    report "the suites astrolabe* of test.py" $?
    while IFS= read -r scenario; do
        (cd -- "$tree" && ./ns3 run --no-build "$scenario") >>"$ns3_log" 2>&1 </dev/null
        report "./ns3 run \"$scenario\"" $?
    done < <(sed -n 's/^ *("\([a-z]*-[^"]*\)", "True", "[A-Za-z]*"),$/\1/p' \
        "$root/ns3-backend/test/examples-to-run.py")
    local all=(backend.kind=fluid backend.kind=packet)
    # ns-3's TCP differs from release to release; all of the quickstart would take it a minute.
    if [[ $(cat -- "$tree/VERSION") == "$(installed_ns3)" ]]; then
        all+=('backend.kind=tcp cluster.ranks=4 workload.iterations=1')
    fi
    for changes in "${all[@]}"; do
        # shellcheck disable=SC2086 # words
        same_fingerprint "$tree" $changes >>"$ns3_log" 2>&1 </dev/null
        report "the fingerprint of the quickstart with $changes" $?
    done
}

# check_ns3_tree TREE
check_ns3_tree() {
    local tree=$1 tree_lock version
    version=$(cat -- "$tree/VERSION" 2>/dev/null)
    if [[ ! -x $tree/ns3 || ! $version =~ ^3\.[0-9] ]] ||
        ! printf '%s\n' "$ns3_oldest" "$version" | sort --version-sort --check=quiet; then
        note "error: '$tree' is not the source tree of ns-$ns3_oldest or later (it has no ns3 script, or another VERSION)"
        print_tree_steps
        failed=$((failed + 1))
        return
    fi
    [[ $version == "$ns3_oldest" ]] ||
        note "ns-$version: source trees are tested with ns-$ns3_oldest (ns3-backend/doc/astrolabe.rst, Releases of ns-3)"
    if [[ ! -w $tree || ! -w $tree/contrib ]]; then
        note "error: cannot write to $tree"
        failed=$((failed + 1))
        return
    fi
    exec {tree_lock}<"$tree"
    if ! flock --nonblock "$tree_lock"; then
        note "waiting for another check in $tree to finish"
        flock "$tree_lock"
    fi
    note "building and testing the ns-3 module in $tree (log: $ns3_log)"
    { link_module "$tree" && build_ns3_tree "$tree"; } >"$ns3_log" 2>&1 </dev/null
    local code=$?
    report "the build of the module" "$code"
    if [[ $code -eq 0 ]]; then
        count_module_steps "$tree" >>"$ns3_log" 2>&1
        report "the steps that the module adds to a build" $?
        build_ns3_program "$tree" >>"$ns3_log" 2>&1 </dev/null
        report "the build of the program" $?
        try_ns3_tree "$tree"
    fi
    exec {tree_lock}<&-
}

# check_debian_ns3_tree: in the tree of Debian's source package, got once. Without it nothing was tried, which is
# said but is no failure: the machine may be offline.
check_debian_ns3_tree() {
    local cache cache_lock log=$root/build/ns3-source.log
    if ! cache=$(ns3_cache); then
        note "error: no folder to keep ns-3's source tree in, neither ${XDG_CACHE_HOME:-~/.cache} nor $root/build"
        failed=$((failed + 1))
        return
    fi
    exec {cache_lock}<"$cache"
    flock "$cache_lock"
    print_tree_steps
    if [[ ! -d $cache/tree ]]; then
        note "getting ns-3's source package (log: $log)"
        if ! fetch_ns3_tree "$cache" >"$log" 2>&1 </dev/null; then
            rm -rf -- "$cache/apt"
            note "1 skipped: the module in an ns-3 source tree, since ns-3's source package cannot be had (log: $log)"
            return
        fi
    fi
    exec {cache_lock}<&-
    check_ns3_tree "$cache/tree"
}
