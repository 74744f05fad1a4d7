# Sourced by the command tests. Sets `weft`, changes to a temporary directory, and defines `claim`.
# shellcheck shell=sh disable=SC2034 # the sourcing scripts use these names
set -u
weft=$(realpath "$1")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# claim TEXT COMMAND...: passes if the command succeeds
claim() {
    text=$1
    shift
    if "$@" >claim.out 2>claim.err; then
        echo "ok: $text"
    else
        echo "FAILED: $text"
        cat claim.out claim.err
        failed=1
    fi
}
