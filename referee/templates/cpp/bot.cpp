// @NAME@: plays a random legal move. Change `choose`, and it is your bot.
//
// Standard output belongs to the protocol. To look into your bot, write to standard error:
// std::cerr << legal.size() << " moves\n".

#include <random>

#include "protocol.hpp"

using referee::Json;
using referee::luck;
using referee::note;

// The move to play: one of those in `legal`, or null to resign.
//
// `view` is all that you may know; protocol.md has its fields for every variant. To read them:
//
//     long long points = view["mine"]["points"].integer();
//     for (const Json &held : view["mine"]["numbers"].list())
//         ... held.integer() ...
//
// A move in `legal` is an integer(), or in some variants a text().
//
// `luck()` is a std::mt19937_64 that draws from the game's bot_seed.
// `note("…")` sends a word to the record; `referee watch` shows it.
static Json choose([[maybe_unused]] const Json &view, const Json::List &legal) {
    if (legal.empty())
        return nullptr; // too many moves to list; a bot that knows one returns 7 or "a1"
    std::uniform_int_distribution<std::size_t> place(0, legal.size() - 1);
    return legal[place(luck())];
}

int main() { return referee::talk(choose); }
