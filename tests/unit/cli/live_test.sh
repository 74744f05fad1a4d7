#!/bin/sh
# weft live at the command line: live_test.sh PATH-OF-WEFT
# shellcheck disable=SC2317 # functions are called by claim
# shellcheck source=../claim.sh
. "$(dirname "$0")/../claim.sh"

# A browser that says what it was given: its arguments, and what it finds there.
mkdir bin runtime
cat >bin/xdg-open <<'END'
#!/bin/sh
echo "$@" >arguments
stat -c '%a' "$1" "$(dirname "$1")" >modes 2>&1
cat "$1" >content 2>&1
echo opened >opened
END
chmod +x bin/xdg-open
mkfifo opened
printf 'topology ring 3 hosts=1\nsm H0 engine lash\nrun until settled\n' >ring.weft

umask 022
PATH="$PWD/bin:$PATH" XDG_RUNTIME_DIR="$PWD/runtime" "$weft" live ring.weft --open --paused >url &
live=$!
read -r _ <opened

path=$(cat arguments)
token=$(sed -n 's/.*#token=//p' url)
no_token_in_arguments() { [ -n "$token" ] && ! grep -q "$token" arguments; }
leads_to_the_page() { grep -qF "url=$(cat url)\"" content; }
for_the_user_only() { [ "$(tr '\n' ' ' <modes)" = '600 700 ' ]; }
removed() { [ -n "$path" ] && [ ! -e "$path" ] && [ ! -e "$(dirname "$path")" ]; }

claim '--open does not show the token in arguments' no_token_in_arguments
claim '--open gives a file that leads to the page' leads_to_the_page
claim 'only the user can read that file' for_the_user_only
kill "$live"
wait "$live"
claim 'the file is removed at the end' removed
exit "$failed"
