#!/usr/bin/env bash
# The built program and the preload library have the defences that the compiler and the linker offer:
# read from the ELF files, not from the options.
set -u
failed=0

claim() { # TEXT COMMAND ...
    local text=$1 && shift
    if "$@"; then echo "ok - $text"; else echo "not ok - $text" && failed=1; fi
}
is_position_independent() { readelf -hW "$1" | grep -q 'Type: *DYN'; }
has_full_relro() { # the linker binds all symbols at the start, and then the table is read-only
    readelf -lW "$1" | grep -q GNU_RELRO && readelf -dW "$1" | grep -qE 'BIND_NOW|FLAGS_1.*NOW'
}
has_no_executable_stack() { readelf -lW "$1" | grep GNU_STACK | grep -q 'RW '; }
uses() { readelf --dyn-syms -W "$1" | grep -qE " $2(@| |$)"; } # FILE SYMBOL
checks_sizes() { uses "$1" '__[a-z]+_chk'; }
begins_with_landing_pad() { # FILE FUNCTION
    objdump -d --no-show-raw-insn --disassemble="$2" "$1" | grep -A1 "<$2>:" | grep -q endbr
}
has_shadow_stack() { readelf -nW "$1" | grep -q 'x86 feature:.*SHSTK'; } # the kernel uses one only then

for file; do
    name=${file##*/}
    claim "$name is position-independent" is_position_independent "$file"
    claim "$name has full RELRO" has_full_relro "$file"
    claim "$name has no executable stack" has_no_executable_stack "$file"
    claim "$name has stack protectors" uses "$file" __stack_chk_fail
    claim "$name has the size checks of _FORTIFY_SOURCE" checks_sizes "$file"
done
if [ "$(uname -m)" = x86_64 ]; then
    for file; do
        claim "${file##*/} runs with a shadow stack" has_shadow_stack "$file"
    done
    claim "functions of ${1##*/} begin with a landing pad for indirect calls" begins_with_landing_pad "$1" main
else
    echo 'ok - landing pads # skip -fcf-protection is for x86'
fi
exit $failed
