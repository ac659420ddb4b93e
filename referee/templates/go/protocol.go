// How a bot talks to the referee: lines of JSON in, lines of JSON out. A bot needs no change here.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"time"
)

// --- protocol ---

// Move is an int in most variants, and a string such as "+5" in others. The nil Move resigns.
type Move any

// View is all that a bot may know of a game. Its numbers are of the type json.Number, because a
// float64 would not hold every integer; Int and Ints read them.
type View map[string]any

// At gives what is at a place in the view, as in view.At("mine", "last"); nil where there is
// nothing.
func (view View) At(path ...string) any {
	var value any = map[string]any(view)
	for _, name := range path {
		fields, _ := value.(map[string]any)
		value = fields[name]
	}
	return value
}

// Int gives the integer at a place in the view; 0 where there is none.
func (view View) Int(path ...string) int {
	number, _ := integer(view.At(path...))
	return number
}

// Ints gives the list of integers at a place in the view; an empty one where there is none.
func (view View) Ints(path ...string) []int {
	values, _ := view.At(path...).([]any)
	numbers := make([]int, 0, len(values))
	for _, value := range values {
		if number, ok := integer(value); ok {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// integer gives the integer that a JSON value is, and whether it is one.
func integer(value any) (int, bool) {
	text, _ := value.(json.Number)
	number, err := strconv.Atoi(string(text))
	return number, err == nil
}

// luck is the random generator of the game at hand. It depends on the game's bot_seed alone.
var luck = rand.New(rand.NewSource(0))

// lucks has the generators of the games that go on, by name.
var lucks = map[any]*rand.Rand{}

// begin makes the generator of a new game.
func begin(start map[string]any) {
	seed, _ := integer(start["bot_seed"])
	lucks[start["game"]] = rand.New(rand.NewSource(int64(seed)))
}

// nextNote goes out with the next answer.
var nextNote string

// note sends a word with the move, for the record. Of several in one turn the last counts, and of a
// long one the first 1000 characters.
func note(text string) {
	nextNote = fmt.Sprintf("%.1000s", text)
}

// takeNote gives the note as a field of an answer, once; "" where there is none.
func takeNote() string {
	if nextNote == "" {
		return ""
	}
	text, err := json.Marshal(nextNote)
	if err != nil {
		giveUp(err)
	}
	nextNote = ""
	return `,"note":` + string(text)
}

// talk talks to the referee, one JSON object a line, until it says bye or hangs up. It asks choose
// for every move; where a variant has too many legal moves to list, choose gets none.
//
// What came in one read is answered in one write: with many games at once that saves time. A read
// may end in the middle of a line, which then waits for its rest.
func talk(choose func(view View, legal []Move) Move) {
	var waiting []byte
	chunk := make([]byte, 65536)
	for going := true; going; {
		count, err := os.Stdin.Read(chunk)
		if err != nil {
			return // the end of the input, mostly
		}
		waiting = append(waiting, chunk[:count]...)
		if bytes.IndexByte(chunk[:count], '\n') >= 0 {
			end := bytes.LastIndexByte(waiting, '\n')
			going = answerLines(bytes.Split(waiting[:end], []byte{'\n'}), choose)
			waiting = append(waiting[:0], waiting[end+1:]...)
		}
	}
}

// answerLines answers lines of the referee and tells whether it goes on, which it does until bye.
func answerLines(lines [][]byte, choose func(View, []Move) Move) bool {
	// An answer that waits for others is on the clock, so none waits for longer than this.
	const patience = 10 * time.Millisecond
	var answers []byte
	since := time.Now()
	for _, line := range lines {
		if time.Since(since) > patience {
			send(answers)
			answers, since = answers[:0], time.Now()
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		switch message := read(line); message["type"] {
		case "turn":
			answers = append(answers, answer(message, choose)...)
		case "start":
			begin(message)
		case "over":
			delete(lucks, message["game"])
		case "hello":
			answers = append(answers, `{"type":"hello","protocol":1,"games_at_once":64}`+"\n"...)
		case "ping":
			answers = append(answers, `{"type":"pong"}`+"\n"...)
		case "bye":
			send(answers)
			return false
		}
		// Start, over and error want no answer, nor does what a later referee may say.
	}
	send(answers)
	return true
}

// answer gives the line that answers a turn.
func answer(turn map[string]any, choose func(View, []Move) Move) string {
	view, _ := turn["view"].(map[string]any)
	values, _ := turn["legal"].([]any)
	legal := make([]Move, len(values))
	for place, value := range values {
		legal[place] = value
		if number, ok := integer(value); ok {
			legal[place] = number
		}
	}
	if known, ok := lucks[turn["game"]]; ok {
		luck = known
	}
	move := choose(view, legal)
	if move == nil {
		return fmt.Sprintf(`{"id":%v,"type":"resign"%s}`+"\n", turn["id"], takeNote())
	}
	text, err := json.Marshal(move)
	if err != nil {
		giveUp(err)
	}
	return fmt.Sprintf(`{"id":%v,"move":%s%s}`+"\n", turn["id"], text, takeNote())
}

func read(line []byte) map[string]any {
	var message map[string]any
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(&message); err != nil {
		giveUp(fmt.Errorf("%w in the line %s", err, line))
	}
	return message
}

func send(answers []byte) {
	if len(answers) == 0 {
		return
	}
	if _, err := os.Stdout.Write(answers); err != nil {
		giveUp(err)
	}
}

func giveUp(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// --- end of protocol ---
