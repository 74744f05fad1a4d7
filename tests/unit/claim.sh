# Sourced by the command tests: the program under test, a folder to work in, and claim.
# shellcheck shell=sh disable=SC2034 # who sources it uses the names
set -u
weft=$(realpath "$1")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# claim TEXT COMMAND...: the command succeeds
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
