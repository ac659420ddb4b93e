/* Plays the variant underdog by its solution.

   How it thinks. A position is both hands and the points: some 1.7 million of them with the default
   options. From the last round backwards every position is a matrix game: a row for each number of
   mine, a column for each of theirs, and in each cell what the position after that round is worth.
   The simplex method finds the mix of numbers that does best against the cleverest answer. All this
   is worked out once, when the bot is built, and what the positions are worth goes to a file. In
   play the bot looks up the cells of the one matrix that it needs, solves it again and draws its
   number from the mix. Nobody can beat it on average: by symmetry the first position is worth
   nothing to either side, and no later one loses what the mix secures. But it does not look for
   habits either, and takes from a weak opponent only what that gives away by itself.

   This file talks to the referee, table.c and matrix.c solve, play.c finds the mix with whatever
   options are played. `./bot --solve` makes the files that it needs; with `./bot --notes` each move
   carries its mix as a note. */

#include "underdog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HELLO \
    "{\"type\":\"hello\",\"protocol\":1,\"name\":\"underdog-solver\",\"games_at_once\":64}\n"
#define LONGEST_NOTE 900 /* the referee cuts a note after 1000 characters */

/* One game, from `start` to `over`. */
typedef struct Game {
    char *name;
    Rules rules;
    uint64_t luck;
    struct Game *next;
} Game;

static Game *games;
static bool notes;

/* What is to be sent: the answers to one read go out in one write. */
static struct {
    char *text;
    size_t length, space;
    struct timespec since;
} out;

static void *must(void *memory)
{
    if (!memory) {
        fputs("underdog-solver: no memory left\n", stderr);
        exit(1);
    }
    return memory;
}

static void send_all(void)
{
    for (size_t sent = 0; sent < out.length;) {
        ssize_t count = write(1, out.text + sent, out.length - sent);
        if (count <= 0)
            exit(0); /* nobody listens any more */
        sent += (size_t)count;
    }
    out.length = 0;
}

/* An answer that waits for others is on the clock, so none waits for longer than 10 ms. */
static void send_if_due(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double waited_s = (double)(now.tv_sec - out.since.tv_sec);
    waited_s += 1e-9 * (double)(now.tv_nsec - out.since.tv_nsec);
    if (out.length && waited_s > 0.01)
        send_all();
    if (!out.length)
        out.since = now;
}

static void say(const char *text)
{
    size_t length = strlen(text);
    if (out.length + length > out.space) {
        out.space = 2 * (out.length + length);
        out.text = must(realloc(out.text, out.space));
    }
    memcpy(out.text + out.length, text, length);
    out.length += length;
}

/* A number from 0 to below 1, by the generator SplitMix64. */
static double draw(uint64_t *luck)
{
    uint64_t mixed = *luck += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return (double)((mixed ^ (mixed >> 31)) >> 11) / 9007199254740992.0;
}

static void start(const char *message, const char *name)
{
    const char *options = json_member(message, "options");
    Game *game = must(calloc(1, sizeof *game));
    game->name = must(strdup(name));
    game->rules.size = (int)json_integer(json_member(options, "size"), 10);
    if (game->rules.size > MOST_NUMBERS)
        game->rules.size = MOST_NUMBERS;
    game->rules.points = (int)json_integer(json_member(options, "points"), 3);
    game->rules.wrap = json_is(json_member(options, "wrap"), "yes");
    game->rules.rest_counts = !json_is(json_member(options, "exhausted"), "draw");
    game->luck = (uint64_t)json_integer(json_member(message, "bot_seed"), 1);
    game->next = games;
    games = game;
}

/* The place where the game is linked in, so that it can be taken out. */
static Game **find(const char *name)
{
    Game **at = &games;
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

static void over(const char *name)
{
    Game **at = find(name), *game = *at;
    if (!game)
        return;
    *at = game->next;
    free(game->name);
    free(game);
}

static Position read_view(const char *view, const Rules *rules)
{
    const char *mine = json_member(view, "mine"), *theirs = json_member(view, "theirs");
    Position at;
    at.count = json_list(json_member(mine, "numbers"), at.mine, MOST_NUMBERS);
    json_list(json_member(theirs, "numbers"), at.theirs, MOST_NUMBERS);
    at.need = rules->points - (int)json_integer(json_member(mine, "points"), 0);
    at.feared = rules->points - (int)json_integer(json_member(theirs, "points"), 0);
    return at;
}

/* The mix as people read it: what the position is worth, and each number with its share. */
static void say_note(const Position *at, const Solution *solution)
{
    char text[LONGEST_NOTE + 40];
    int length = sprintf(text, ",\"note\":\"worth %.8f:", solution->worth);
    for (int k = 0; k < at->count && length < LONGEST_NOTE; k++)
        if (solution->mix[k] > 0)
            length += sprintf(text + length, " %d (%.8f)", at->mine[k], solution->mix[k]);
    say(text);
    say("\"");
}

static void turn(const char *message, Game *game)
{
    static Solution solution;
    Position at = read_view(json_member(message, "view"), &game->rules);
    char text[80];
    if (!at.count)
        return;
    find_mix(&game->rules, &at, &solution);
    int chosen = at.mine[at.count - 1];
    double left = draw(&game->luck);
    for (int k = 0; k < at.count && left >= 0; k++)
        if (solution.mix[k] > 0) {
            chosen = at.mine[k];
            left -= solution.mix[k];
        }
    sprintf(text, "{\"id\":%lld,\"move\":%d",
            (long long)json_integer(json_member(message, "id"), 0), chosen);
    say(text);
    if (notes)
        say_note(&at, &solution);
    say("}\n");
}

/* Whether the talk goes on. */
static bool hear(const char *message)
{
    const char *type = json_member(message, "type");
    char *name = json_text(json_member(message, "game"));
    if (json_is(type, "turn") && name && *find(name))
        turn(message, *find(name));
    else if (json_is(type, "start") && name)
        start(message, name);
    else if (json_is(type, "over") && name)
        over(name);
    else if (json_is(type, "hello"))
        say(HELLO);
    else if (json_is(type, "ping"))
        say("{\"type\":\"pong\"}\n");
    free(name);
    return !json_is(type, "bye");
}

/* Talk to the referee, one JSON object a line, until it says bye or hangs up. */
static void talk(void)
{
    size_t length = 0, space = 1 << 16;
    char *text = must(malloc(space));
    bool going = true;
    ssize_t count;
    while (going && (count = read(0, text + length, space - length - 1)) > 0) {
        length += (size_t)count;
        text[length] = 0;
        char *line = text, *end;
        while (going && (end = memchr(line, '\n', (size_t)(text + length - line)))) {
            *end = 0;
            send_if_due();
            going = hear(line);
            line = end + 1;
        }
        send_all();
        length -= (size_t)(line - text);
        memmove(text, line, length);
        if (space - length < 1 << 15)
            text = must(realloc(text, space *= 2));
    }
    free(text);
}

int main(int count, char **words)
{
    if (count > 1 && strcmp(words[1], "--solve") == 0)
        return make_tables() ? 0 : 1;
    notes = count > 1 && strcmp(words[1], "--notes") == 0;
    talk();
    return 0;
}
