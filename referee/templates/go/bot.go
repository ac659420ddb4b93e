// @NAME@: a bot for the referee. Change choose; protocol.go does the talking.
//
// Standard output belongs to the protocol. To look into your bot, write to standard error:
// fmt.Fprintln(os.Stderr, view).
package main

func main() {
	talk(choose)
}

// choose gives the move to play: one of the legal ones, or nil to resign.
//
// The view is all that you may know; protocol.md lists its fields for every variant. For example:
//
//	numbers := view.Ints("mine", "numbers") // []int, empty where there are none
//	points := view.Int("mine", "points")    // int, 0 where there is none
//
// A move is an int in most variants and a string such as "+5" in others. legal is empty where a
// variant has too many moves to list.
//
// luck is a *rand.Rand that draws from the game's bot_seed.
// `note("…")` sends a word to the record; `referee watch` shows it.
func choose(view View, legal []Move) Move {
	if len(legal) == 0 {
		return nil
	}
	return legal[luck.Intn(len(legal))]
}
