# shellcheck shell=bash
# The networks of the interop tests: ibsim's examples and generated ones. Sets the array `networks` to
# file names in the working directory.
networks=()
for example in net net.1 net.2sw2path net.2sw2path4hca net.2sw2path4hca2port; do
    if [ -e "$IBSIM_EXAMPLES/$example" ]; then
        cp "$IBSIM_EXAMPLES/$example" "$example.net" && networks+=("$example.net")
    fi
done
while read -r name kind; do
    # shellcheck disable=SC2086 # a kind may have parameters
    "$WEFT" topo gen $kind speed=SDR >"$name.net" || exit
    networks+=("$name.net")
done <<'END'
figure1 figure1
irregular-16 irregular switches=16 hosts=14 --seed 1
irregular-64 irregular switches=64 hosts=82 --seed 1
fattree-324 fattree 324
fattree-648 fattree 648
END
