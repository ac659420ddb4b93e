// @NAME@: plays a random legal move. Change `choose`, and it is your bot.
//
// Standard output belongs to the protocol. To look into your bot, write to standard error:
// fprintf(stderr, "%zu moves\n", legal->length).

#include "protocol.h"

// The move to play: one of those in `legal`, or NULL to resign.
//
// `view` is all that you may know; protocol.md has its fields for every variant. To read them:
//
//     int points = (int)json_get(view, "mine.points")->number;
//     const Json *numbers = json_get(view, "mine.numbers");
//     for (const Json *held = numbers->first; held; held = held->next)
//         ... held->number ...
//
// A move in `legal` has its number in `number`, or its text in `text`.
//
// `random_below(6)` is a number from 0 to 5, drawn from the game's bot_seed.
//
// `note("…")` sends a word to the record; `referee watch` shows it.
// It takes what printf takes, so a text that you do not know goes as `note("%s", text)`.
static const Json *choose(const Json *view, const Json *legal) {
    (void)view; // this bot does not look; remove the line once yours does
    if (legal->length == 0)
        return NULL; // too many moves to list; a bot that knows one returns json_make("7")
    return json_at(legal, random_below(legal->length));
}

int main(void) {
    return talk(choose);
}
