# How @NAME@ talks to the referee. There is nothing to change here: the moves are chosen in bot.sh.

# --- protocol ---
# Protocol 1 of the referee: one JSON object a line, in UTF-8. Lines are read and answered here;
# the thinking is done by the function `choose`, which finds the turn in two variables:
#
#   view   an associative array of all plain values, by path: ${view[mine.points]}. The items of a
#          list are counted from 0: ${view[mine.numbers.0]}. A list of plain values is also there
#          as a whole, with spaces between them: ${view[mine.numbers]}. null is the word null.
#   legal  an array of the legal moves; it is empty where there are too many to list.
#
# It sets `move`, or leaves it unset to resign. Bash has no reader for JSON, so there is a small one
# below. To start a process takes as long as to read a turn; so nothing here starts one, and
# functions leave their results in variables.

LC_ALL=C # bytes are quicker than characters, and go back as they came
set -f   # without it a move such as *5, written without quotes, stands for files that end in 5
declare -A view
declare -a legal
declare -A protocol_luck # of the games that go on, by name: what RANDOM is seeded with
protocol_noted=''        # the note as the last field of the next answer

# Talks to the referee until it says bye or hangs up.
protocol_play() {
    local line
    while IFS= read -r line; do
        protocol_read "$line"
        case $protocol_type in
            turn) protocol_answer ;;
            start) protocol_luck[$protocol_game]=$protocol_seed ;;
            over) unset -v 'protocol_luck[$protocol_game]' ;;
            hello) echo '{"type":"hello","protocol":1,"games_at_once":64}' ;;
            ping) echo '{"type":"pong"}' ;;
            bye) break ;;
        esac
    done
    return 0
}

# Writes the line that answers the turn that was read.
protocol_answer() {
    local -a moves=("${legal[@]}")
    unset -v move
    protocol_draw
    # stdin and stdout belong to the referee: what choose prints goes to stderr.
    choose </dev/null >&2
    local place text noted=$protocol_noted
    protocol_noted=''
    if [[ ! -v move ]]; then
        printf '{"id":%s,"type":"resign"}\n' "$protocol_id"
        return
    fi
    # A legal move goes back as it came: Bash does not tell 5 from "5", the referee does.
    for place in "${!moves[@]}"; do
        if [[ ${moves[place]} == "$move" ]]; then
            printf '{"id":%s,"move":%s%s}\n' "$protocol_id" "${protocol_legal[place]}" "$noted"
            return
        fi
    done
    # A move that was not listed: a whole number, else a text.
    if [[ ! $move =~ ^(0|-?[1-9][0-9]*)$ ]]; then
        text=$move
        protocol_escape
        move=\"$text\"
    fi
    printf '{"id":%s,"move":%s%s}\n' "$protocol_id" "$move" "$noted"
}

# Seeds RANDOM from the game's bot_seed and the count of its turns, and from nothing else.
protocol_draw() {
    local luck=${protocol_luck[$protocol_game]:-0}
    luck=$((luck * 6364136223846793005 + 1442695040888963407))
    protocol_luck[$protocol_game]=$luck
    RANDOM=$((luck >> 33 & 0x7fffffff))
}

# Sends a word to the record with the next move; of several the last counts.
protocol_note() {
    local LC_ALL=C text
    protocol_cut "$1" 1000
    protocol_escape
    protocol_noted=''
    if [[ $text ]]; then
        protocol_noted=",\"note\":\"$text\""
    fi
}

# Writes text as it stands between the quotes in JSON.
protocol_escape() {
    local control=$'[\1-\x1f]' char code
    text=${text//\\/'\\'}
    text=${text//\"/'\"'}
    while [[ $text == *$control* ]]; do
        char=${text#"${text%%$control*}"}
        char=${char:0:1}
        printf -v code '\\u%04x' "'$char"
        text=${text//"$char"/"$code"}
    done
}

# Sets text to so many characters of another at most. They are counted here, since Bash sees bytes:
# ASCII at once, other characters one by one. A byte that is no UTF-8 becomes U+FFFD.
protocol_cut() {
    local rest=${1:0:4 * $2} left=$2 more=$'[\x80-\xbf]' run size
    text=''
    while [[ $rest ]] && ((left > 0)); do
        run=${rest%%[$'\x80'-$'\xff']*}
        run=${run:0:left}
        if [[ $run ]]; then
            text+=$run rest=${rest:${#run}} left=$((left - ${#run}))
            continue
        fi
        size=0
        case $rest in
            $'\xe0'[$'\x80'-$'\x9f']* | $'\xf0'[$'\x80'-$'\x8f']*) ;; # longer than need be
            $'\xed'[$'\xa0'-$'\xbf']* | $'\xf4'[$'\x90'-$'\xbf']*) ;; # no character has that number
            [$'\xc2'-$'\xdf']$more*) size=2 ;;
            [$'\xe0'-$'\xef']$more$more*) size=3 ;;
            [$'\xf0'-$'\xf4']$more$more$more*) size=4 ;;
        esac
        if ((size)); then
            text+=${rest:0:size} rest=${rest:size}
        else
            text+=$'\xef\xbf\xbd' rest=${rest:1}
        fi
        left=$((left - 1))
    done
}

# Reads a line into view and legal, protocol_type, protocol_id, protocol_game, protocol_seed and
# protocol_legal: the moves as they were written. It trusts the referee to send good JSON, so that
# the brackets tell enough.
protocol_read() {
    protocol_type='' protocol_id='' protocol_game=: protocol_seed=0
    protocol_legal=() legal=() view=()
    # Where in the message: how deep, in which of its fields, in which bracket, the path to that
    # bracket, the key or number of the next value, and whether that key is still to come.
    local depth=0 field='' bracket='' path='' key='' wants_key=0
    local -a brackets paths keys texts items
    local structure word plain name is_flat=0 text_at=0 IFS=$' \t\r'
    protocol_split "$1"
    for word in $structure; do
        case $word in
            '{' | '[') protocol_open "$word"; continue ;;
            '}' | ']') protocol_close; continue ;;
            '"') protocol_text "${texts[text_at++]}" ;;
            *) plain=$word ;;
        esac
        if ((wants_key)); then
            key=$plain wants_key=0
            continue
        elif [[ $field == view ]]; then
            items+=("$plain") name=$path$key
            [[ -z $name ]] || view[$name]=$plain # "" is a good key in JSON, but not in Bash
        elif [[ $field == legal ]]; then
            legal+=("$plain") protocol_legal+=("$word")
        elif [[ $depth$key == 1type ]]; then
            protocol_type=$plain
        elif [[ $depth$key == 1id ]]; then
            protocol_id=$plain
        elif [[ $depth$key == 1game ]]; then
            protocol_game=:$plain # "" is no key in Bash, and @ is all of them
        elif [[ $depth$key == 1bot_seed ]]; then
            protocol_seed=$plain
        fi
        protocol_next
    done
}

# Splits a line into its texts and its structure, in which a quote stands for each text.
#
# Two backslashes, and a backslash with a quote, each become one character that JSON forbids in
# texts. Then every quote begins or ends a text: split at the quotes, every second part is a text.
# The others hold brackets, numbers and words, and commas and colons, which are taken for spaces.
protocol_split() {
    local line=${1//'\\'/$'\2'} IFS='"' part is_text=0
    local -a between=()
    for part in ${line//'\"'/$'\3'}; do
        if ((is_text)); then
            texts+=("$part") is_text=0
        else
            between+=("$part") is_text=1
        fi
    done
    structure="${between[*]}"
    structure=${structure//[,:]/ }
    structure=${structure//'"'/ '"' }
    structure=${structure//'['/ [ }
    structure=${structure//']'/ ] }
    structure=${structure//'{'/ { }
    structure=${structure//'}'/ '}' }
}

# A bracket opens. Paths begin below the fields of the message.
protocol_open() {
    brackets[depth]=$bracket paths[depth]=$path keys[depth]=$key
    case $depth in
        0) ;;
        1) field=$key ;;
        *) path+=$key. ;;
    esac
    bracket=$1
    depth=$((depth + 1))
    if [[ $bracket == '[' ]]; then
        key=0 wants_key=0 is_flat=1 items=()
    else
        wants_key=1
    fi
}

# A bracket closes: a list of plain values is now complete, and what it stands in has a value.
protocol_close() {
    name=${path%.}
    if [[ $bracket == '[' && $field == view && $name ]] && ((is_flat)); then
        view[$name]="${items[*]}"
    fi
    depth=$((depth - 1))
    bracket=${brackets[depth]} path=${paths[depth]} key=${keys[depth]} is_flat=0
    if ((depth == 1)); then
        field=''
    fi
    protocol_next
}

# A value is complete: on to the next number of a list, or to the next key of an object.
protocol_next() {
    if [[ $bracket == '[' ]]; then
        key=$((key + 1))
        wants_key=0
    else
        wants_key=1
    fi
}

# Sets word to a text as JSON, and plain to what it says. The backslashes that are left in it all
# begin an escape: split at them, each piece but the first begins with the letter of one.
protocol_text() {
    plain=$1 word=\"$1\"
    if [[ $1 != *[$'\\\2\3']* ]]; then
        return
    fi
    word=${word//$'\2'/'\\'}
    word=${word//$'\3'/'\"'}
    local IFS='\' at piece char high=0
    local -a pieces=($1)
    for at in "${!pieces[@]}"; do
        piece=${pieces[at]//$'\2'/'\'}
        piece=${piece//$'\3'/'"'}
        case $((at > 0))$piece in
            1b*) piece=$'\b'${piece:1} ;;
            1f*) piece=$'\f'${piece:1} ;;
            1n*) piece=$'\n'${piece:1} ;;
            1r*) piece=$'\r'${piece:1} ;;
            1t*) piece=$'\t'${piece:1} ;;
            1u*)
                protocol_unicode "${piece:1:4}"
                piece=$char${piece:5}
                ;;
        esac
        pieces[at]=$piece
    done
    IFS=''
    plain="${pieces[*]}"
}

# Sets char to the character of \uXXXX, in UTF-8. The first of two that are one character goes to
# high instead.
protocol_unicode() {
    local code=$((16#$1))
    local -a bytes
    char=''
    if ((code >> 10 == 0x36)); then
        high=$((code & 0x3ff))
        return
    elif ((code >> 10 == 0x37)); then
        code=$((0x10000 + (high << 10) + (code & 0x3ff)))
    fi
    if ((code < 0x80)); then
        bytes=("$code")
    elif ((code < 0x800)); then
        bytes=($((0xc0 | code >> 6)) $((0x80 | code & 0x3f)))
    elif ((code < 0x10000)); then
        bytes=($((0xe0 | code >> 12)) $((0x80 | code >> 6 & 0x3f)) $((0x80 | code & 0x3f)))
    else
        bytes=($((0xf0 | code >> 18)) $((0x80 | code >> 12 & 0x3f)))
        bytes+=($((0x80 | code >> 6 & 0x3f)) $((0x80 | code & 0x3f)))
    fi
    printf -v char '\\x%02x' "${bytes[@]}"
    printf -v char %b "$char"
}
# --- end of protocol ---
