# zsh -f zsh_matches.zsh DIR <LINES: for each line prints the line, a tab and the matches that zsh's completion system
# has for it, with the completions in DIR. Completion needs a line editor: a second zsh runs on a pseudo-terminal.
zmodload zsh/zpty
setup=$(mktemp) answers=$(mktemp)
cat >$setup <<SETUP
fpath=($1 \$fpath)
autoload -Uz compinit && compinit -u -D
compadd() { # writes the matches that it adds; a call with -O, -A or -D adds none
    local -a found
    if [[ " \${@[1,(i)(-|--)]} " != *" -"[a-zA-Z]#[OAD]" "* ]]; then
        builtin compadd -A found "\$@"
        print -rl -- \$found >>$answers
    fi
    builtin compadd "\$@"
}
write_matches() {
    _main_complete
    compstate[list]='' # shows no list, which could ask whether to show it
    print -r -- "END OF MATCHES \$BUFFER" >>$answers
}
setopt extended_glob
zle -C write_matches list-choices write_matches
bindkey -e
bindkey '^I' write_matches
SETUP
zpty -b matches zsh -f -i
zpty -w matches "PROMPT= RPROMPT=; source $setup"
while IFS= read -r line || [[ -n $line ]]; do
    : >$answers
    zpty -w -n matches $'\x15'"$line"$'\t'
    for ((i = 0; i < 1000; i++)); do
        grep -qxF "END OF MATCHES $line" $answers && break
        zpty -r matches shown # so that it never waits for a reader
        sleep 0.01
    done
    print -r -- "$line"$'\t'"$(grep -v 'END OF MATCHES' $answers | sort -u | xargs)"
done
zpty -d matches
rm -f $setup $answers
