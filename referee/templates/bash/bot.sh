# @NAME@: a bot for the referee. Change choose; protocol.sh does the rest. Needs Bash 4.4 or newer.

folder=${0%"${0##*/}"} # as dirname has it, which would be a process of its own
source "${folder:-./}protocol.sh"

# Sets move to the move to play, or leaves it unset to resign.
#
# view is all that you may know, as protocol.md describes it for each variant. For example:
#     points=${view[mine.points]}              # a number
#     numbers=(${view[theirs.numbers]})        # a list
#     last=${view[theirs.last]}                # the word null where it is null
# legal is an array of the legal moves. It is empty where a variant has too many to list. Make your
# own variables local, but not move. To see what you think, echo it: it goes to stderr.
# $(...), pipes and other programs are processes: each takes about a millisecond, and a referee that
# confines bots lets them start only if bot.toml asks for them by `processes`.
# RANDOM draws from the game's bot_seed: protocol.sh seeds it before every turn.
# `protocol_note "…"` sends a word to the record; `referee watch` shows it.
choose() {
    if ((${#legal[@]})); then
        move=${legal[RANDOM % ${#legal[@]}]}
    fi
}

protocol_play
