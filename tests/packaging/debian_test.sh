#!/usr/bin/env bash
# debian_test.sh WEFT SOURCE VERSION: debian/ is valid and agrees with the rest of the tree. package_test.sh builds and
# installs the packages, which takes minutes.
set -u
weft=$(realpath "$1") source=$2 version=$3
failed=0
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$source" || exit

claim() { # TEXT COMMAND ...
    local text=$1 && shift
    if "$@"; then echo "ok - $text"; else echo "not ok - $text" && failed=1; fi
}
is() { # EXPECTED COMMAND ...
    local expected=$1 answer && shift
    answer=$("$@")
    [ "$answer" = "$expected" ] || { echo "'$answer', not '$expected'" && return 1; }
}

# ---- the version and the commit ----

claim 'debian/changelog has the version of meson.build' is "$version" sed -n '1s/^weft (\([^)]*\)) .*/\1/p' debian/changelog
claim 'CHANGELOG.md begins with the version of meson.build' is "$version" \
    sh -c "sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1"
claim 'weft --version begins with the version of meson.build' is "weft $version" sh -c "'$weft' --version | sed 's/ (commit .*//'"
tells_commit() { # the program may be older than the last commit: only its form is known here
    "$weft" --version | grep -qE ' \(commit [0-9a-f]{12}(-modified)?\)$' || { "$weft" --version && return 1; }
}
archive_has_commit() {
    mkdir -p "$work/archive" && git archive HEAD tools/commit | tar --extract --directory "$work/archive" &&
        is "$(git rev-parse HEAD | cut -c 1-12)" "$work/archive/tools/commit"
}
source_package_has_commit() {
    mkdir -p "$work/unpacked/tools" "$work/unpacked/debian" && cp tools/commit "$work/unpacked/tools" &&
        is '' "$work/unpacked/tools/commit" && echo 0123456789ab >"$work/unpacked/debian/commit" &&
        is 0123456789ab "$work/unpacked/tools/commit"
}
if git rev-parse --verify --quiet HEAD >/dev/null 2>&1 && [ -e .git ]; then
    claim 'weft --version tells the commit' tells_commit
    claim 'an archive of git tells its commit' archive_has_commit
else
    echo 'ok - the commit # skip not a clone'
fi
claim 'a source package tells its commit' source_package_has_commit

# ---- debian/ ----

is_parsed() { # every field that lists packages, and the names of the packages
    perl -MDpkg::Control::Info -MDpkg::Deps -e '
        my $info = Dpkg::Control::Info->new("debian/control");
        for my $part ($info->get_source(), $info->get_packages()) {
            for my $field (grep { /Depends|Recommends|Suggests/ } keys %$part) {
                (my $value = $part->{$field}) =~ s/\$\{[^}]*\},?//g;
                defined deps_parse($value, build_dep => 1) or die "$field: $value\n";
            }
        }
        print join(" ", map { $_->{Package} } $info->get_packages()), "\n"'
}
if perl -MDpkg::Control::Info -e 1 2>/dev/null; then
    claim 'debian/control is valid' is 'weft weft-doc' is_parsed
    claim 'debian/changelog is valid' is '' sh -c 'dpkg-parsechangelog --file debian/changelog 2>&1 >/dev/null'
elif [ -n "${WEFT_TOOLS_REQUIRED-}" ]; then
    claim 'dpkg-dev is installed' false
else
    echo 'ok - debian/control # skip dpkg-dev is not installed'
fi

documents_exist() { xargs ls -d <debian/weft-doc.docs >/dev/null; }
claim 'every document of weft-doc exists' documents_exist
exit $failed
