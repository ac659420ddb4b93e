# @NAME@: a bot for the referee. Change choose; protocol.sh does the rest. Needs Bash 4.4 or newer.

source "$(dirname "$0")/protocol.sh"

# Sets move to the move to play, or leaves it unset to resign.
#
# view is all that you may know, as protocol.md describes it for each variant. For example:
#     points=${view[mine.points]}              # a number
#     numbers=(${view[theirs.numbers]})        # a list
#     last=${view[theirs.last]}                # the word null where it is null
# legal is an array of the legal moves. It is empty where a variant has too many to list. Make your
# own variables local, but not move. To see what you think, echo it: it goes to stderr. $(...) and
# other programs take about a millisecond each.
# `protocol_note "…"` sends a word to the record; `referee watch` shows it.
choose() {
    if ((${#legal[@]})); then
        move=${legal[RANDOM % ${#legal[@]}]}
    fi
}

protocol_play
