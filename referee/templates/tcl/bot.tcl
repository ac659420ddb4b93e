# @NAME@: a bot for the referee. Change choose; protocol.tcl does the rest.

source [file join [file dirname [info script]] protocol.tcl]

# The move to play, or an empty text to resign.
#
# view is all that you may know, as protocol.md describes it for each variant, as a dict. For
# example:
#     set points [dict get $view mine points]         ;# a number
#     set numbers [dict get $view theirs numbers]     ;# a list
#     set last [dict get $view theirs last]           ;# the word null where it is null
# legal is the list of the legal moves: return one of them. It is empty where a variant has too
# many to list. To see what you think, puts it: it goes to stderr.
# rand() draws from the game's bot_seed: protocol.tcl seeds it before every turn.
# `protocol::note "…"` sends a word to the record; `referee watch` shows it.
proc choose {view legal} {
    return [lindex $legal [expr {int(rand() * [llength $legal])}]]
}

protocol::play choose
