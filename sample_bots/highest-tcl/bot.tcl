# Plays the highest number that it holds. Plays every variant.
#
# It shows all its strength at once and is easy to foresee. Where a move is a number with a sign
# (target), it adds. Where the moves hold no number, it takes the first in the list.

# The move to play, or an empty text to resign.
proc choose {view legal} {
    set best [lindex $legal 0]
    foreach move $legal {
        if {[size $move] > [size $best]} {
            set best $move
        }
    }
    return $best
}

# The number in a move, and adding before the rest: 5 for 5, 5.5 for "+5", 5 for "*5".
proc size {move} {
    set number 0
    regexp -- {-?[0-9]+} $move number
    # scan, since expr takes 010 for eight.
    return [expr {[scan $number %lld] + 0.5 * [string match +* $move]}]
}

# --- protocol ---
# Protocol 1 of the referee: one JSON object a line, in UTF-8. Lines are read and answered here;
# the thinking is done by the command that `protocol::play` is given.
#
# Tcl has no reader for JSON, so there is a small one below. Objects become dicts, lists become
# lists, texts and numbers become what they say, and true, false and null become these words. It
# trusts the referee to send good JSON, and so takes commas and colons for spaces.

namespace eval protocol {
    # A text, a bracket, or a word: a number, true, false or null.
    variable token {"(?:[^"\\]|\\.)*"|[][{}]|[^][{}",:\s]+}
    # The note as the last field of the next answer.
    variable noted ""
    # Of the games that go on, by name: what rand() is seeded with.
    variable luck {}
}

# Talks to the referee until it says bye or hangs up. For each turn, the command is called with
# the view and the legal moves (an empty list where there are too many to list) and returns a
# move, or an empty text to resign.
proc protocol::play {choose} {
    variable luck
    fconfigure stdin -translation binary
    fconfigure stdout -translation binary -buffering line
    fconfigure stderr -encoding utf-8
    rename ::puts ::protocol::write
    rename ::protocol::print ::puts
    while {[gets stdin line] >= 0 && ![eof stdin]} {
        if {[string trim $line] eq ""} {
            continue
        }
        set message [read_message $line]
        switch -- [dict get $message type] {
            turn  { write [answer $message $choose] }
            start { dict set luck [dict get $message game] [dict get $message bot_seed] }
            over  { dict unset luck [dict get $message game] }
            hello { write {{"type":"hello","protocol":1,"games_at_once":64}} }
            ping  { write {{"type":"pong"}} }
            bye   { return }
        }
    }
}

# Stands in for puts: what the bot prints goes to stderr, since stdout belongs to the referee.
proc protocol::print {args} {
    set at [expr {[llength $args] > 1 && [lindex $args 0] eq "-nonewline"}]
    if {[llength $args] == $at + 1} {
        set args [linsert $args $at stderr]
    } elseif {[lindex $args $at] eq "stdout"} {
        lset args $at stderr
    }
    ::protocol::write {*}$args
}

# Sends a word to the record with the next move; of several the last counts.
proc protocol::note {text} {
    variable noted
    # The text is cut where it is ASCII already: some Tcl take a character beyond \uffff for two.
    # Half of such a character, alone, is no text.
    set json [escaped [string range $text 0 1999]]
    set chars [regexp -all -inline {\\ud[89ab]..\\ud[c-f]..|\\u....|\\.|.} $json]
    set whole [lmap char [lrange $chars 0 999] { regsub {^\\ud[89a-f]..$} $char {\\ufffd} }]
    set noted [expr {$text eq "" ? "" : ",\"note\":\"[join $whole ""]\""}]
}

# Seeds rand() from the game's bot_seed and the count of its turns, and from nothing else.
proc protocol::seed {game} {
    variable luck
    set state [expr {[dict exists $luck $game] ? [dict get $luck $game] : 0}]
    set state [expr {($state * 6364136223846793005 + 1442695040888963407) & 0xffffffffffffffff}]
    dict set luck $game $state
    expr {srand($state >> 33)}
}

# The line that answers a turn.
proc protocol::answer {turn choose} {
    variable noted
    set id [dict get $turn id]
    set raw [dict get $turn legal]
    set legal [lmap word $raw { plain $word }]
    seed [dict get $turn game]
    set move [uplevel #0 [list {*}$choose [dict get $turn view] $legal]]
    set field $noted
    set noted ""
    # A legal move goes back as it came: Tcl does not tell 5 from "5", the referee does.
    set place [lsearch -exact $legal $move]
    if {$place >= 0} {
        return "{\"id\":$id,\"move\":[lindex $raw $place]$field}"
    }
    if {$move eq ""} {
        return "{\"id\":$id,\"type\":\"resign\"}"
    }
    return "{\"id\":$id,\"move\":[write_move $move]$field}"
}

# A line as a dict. The legal moves stay as they were written; null is the same as none.
proc protocol::read_message {line} {
    variable token
    set tokens [regexp -all -inline -- $token $line]
    set message {type {} view {} legal {}}
    set at 1
    while {[peek $tokens $at] ne "\}"} {
        set key [value $tokens at]
        if {$key ne "legal"} {
            dict set message $key [value $tokens at]
            continue
        }
        set start [incr at]
        if {[lindex $tokens $at-1] eq "\["} {
            while {[peek $tokens $at] ne "\]"} {
                incr at
            }
            incr at
        }
        dict set message legal [lrange $tokens $start $at-2]
    }
    return $message
}

# The value that begins at a place in the list of tokens; the place moves on to what follows.
proc protocol::value {tokens place} {
    upvar 1 $place at
    set first [peek $tokens $at]
    incr at
    if {$first eq "\{"} {
        set fields {}
        while {[peek $tokens $at] ne "\}"} {
            set key [value $tokens at]
            dict set fields $key [value $tokens at]
        }
        incr at
        return $fields
    }
    if {$first eq "\["} {
        set items {}
        while {[peek $tokens $at] ne "\]"} {
            lappend items [value $tokens at]
        }
        incr at
        return $items
    }
    return [plain $first]
}

proc protocol::peek {tokens at} {
    if {$at >= [llength $tokens]} {
        error "a line that is cut short or not JSON"
    }
    return [lindex $tokens $at]
}

# What a token says that is no bracket. The escapes of JSON mean the same in Tcl.
proc protocol::plain {word} {
    if {[string index $word 0] ne "\""} {
        return $word
    }
    set text [encoding convertfrom utf-8 [string range $word 1 end-1]]
    if {[string first "\\" $text] < 0} {
        return $text
    }
    return [subst -nocommands -novariables $text]
}

# A move that was not listed, as JSON in ASCII: a whole number, else a text.
proc protocol::write_move {move} {
    if {[regexp {^(0|-?[1-9][0-9]*)$} $move]} {
        return $move
    }
    return "\"[escaped $move]\""
}

# What stands between the quotes of a text in JSON, in ASCII.
proc protocol::escaped {words} {
    set text ""
    foreach char [split $words ""] {
        scan $char %c code
        if {$char in {"\"" "\\"}} {
            append text "\\$char"
        } elseif {$code >= 0x20 && $code < 0x7f} {
            append text $char
        } elseif {$code <= 0xffff} {
            append text [format {\u%04x} $code]
        } else {
            set high [expr {0xd7c0 + ($code >> 10)}]
            append text [format {\u%04x\u%04x} $high [expr {0xdc00 + ($code & 0x3ff)}]]
        }
    }
    return $text
}
# --- end of protocol ---

protocol::play choose
