// Plays the highest number that it holds. Plays every variant.
//
// It shows all its strength at once and is easy to foresee. Where a move is a number with a sign
// (target), it adds. Where the moves hold no number, it takes the first in the list.
//
// First comes the protocol, with a small JSON reader, as C has none; then `choose`, which thinks.

// --- protocol ---
// One JSON object a line in, one a line out. `talk` reads, asks `choose` on every turn, and writes;
// nothing here knows a game. The values of a line live until the next line is read: nothing has to
// be freed, and what a bot wants to remember it has to copy.

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT } JsonKind;

typedef struct Json Json;
struct Json {
    JsonKind kind;
    double number;      // of a number; 1 for true, 0 for all else
    const char *text;   // of a text, in UTF-8; "" for all else
    size_t length;      // the bytes of a text, or how many values a list or an object holds
    const Json *first;  // of the values in a list or an object; NULL where it holds none
    const Json *next;   // the value behind this one in the same list or object, or NULL
    const char *key;    // of a value in an object; else NULL
    const char *source; // the value as it stood in the line: an answer echoes this
    size_t source_length;
};

// A bot: it gets the view and the list of legal moves, and returns one of these, or NULL to resign.
// Where the variant lists no moves, `legal` has the length 0.
typedef const Json *Choose(const Json *view, const Json *legal);

// Stands for every value that is not there, so that no lookup can fail.
static const Json json_nothing = {.text = "", .source = "null", .source_length = 4};

// The value at a path such as "mine.numbers"; where there is none, a null with the number 0.
static inline const Json *json_get(const Json *object, const char *path) {
    for (;;) {
        size_t length = strcspn(path, ".");
        const Json *found = &json_nothing;
        if (object->kind == JSON_OBJECT)
            for (const Json *item = object->first; item; item = item->next)
                if (!strncmp(item->key, path, length) && !item->key[length])
                    found = item;
        if (!path[length])
            return found;
        object = found;
        path += length + 1;
    }
}

// The value at a place in a list, counted from 0; beyond its end, a null.
static inline const Json *json_at(const Json *list, size_t place) {
    const Json *item = list->first;
    while (item && place--)
        item = item->next;
    return item ? item : &json_nothing;
}

// Memory that lasts for one line, in blocks, the newest first.
typedef struct JsonBlock JsonBlock;
struct JsonBlock {
    JsonBlock *older;
    size_t used, size;
    _Alignas(max_align_t) char room[];
};
static JsonBlock *json_memory;

static void *json_must(void *memory) {
    if (memory)
        return memory;
    fputs("bot: out of memory\n", stderr);
    exit(EXIT_FAILURE);
}

static void *json_keep(size_t size) {
    size_t unit = _Alignof(max_align_t);
    size = (size + unit - 1) / unit * unit;
    if (!json_memory || json_memory->size - json_memory->used < size) {
        size_t room = size > 65536 ? size : 65536;
        JsonBlock *block = json_must(malloc(sizeof *block + room));
        *block = (JsonBlock){.older = json_memory, .size = room};
        json_memory = block;
    }
    json_memory->used += size;
    return json_memory->room + json_memory->used - size;
}

// Gives the memory of a line back, all but the oldest block, which serves the next line.
static void json_forget(void) {
    while (json_memory && json_memory->older) {
        JsonBlock *older = json_memory->older;
        free(json_memory);
        json_memory = older;
    }
    if (json_memory)
        json_memory->used = 0;
}

// The reader. `at` moves behind what was read; false or NULL means that it was not JSON. The text
// ends with a 0, which no token holds, so that nothing is ever read beyond it.

static bool json_next_is(const char **at, char token) {
    *at += strspn(*at, " \t\r\n");
    if (**at != token)
        return false;
    ++*at;
    return true;
}

static bool json_read_word(const char **at, const char *word) {
    bool same = !strncmp(*at, word, strlen(word));
    *at += same ? strlen(word) : 0;
    return same;
}

static bool json_read_number(const char **at, double *number) {
    // strtod also takes "0x1" and "inf"; then it ends elsewhere than the characters of a number.
    char *end;
    const char *due = *at + strspn(*at, "+-.0123456789eE");
    *number = strtod(*at, &end);
    bool good = due > *at && end == due;
    *at = due;
    return good;
}

static bool json_read_hex(const char **at, unsigned *code) {
    char digits[5] = "";
    for (int i = 0; i < 4 && (*at)[i]; i++)
        digits[i] = (*at)[i];
    *code = (unsigned)strtoul(digits, NULL, 16);
    bool good = strspn(digits, "0123456789abcdefABCDEF") == 4;
    *at += good ? 4 : 0;
    return good;
}

static char *json_put_utf8(char *to, unsigned code) {
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned lead[] = {0, 0xC0, 0xE0, 0xF0};
    *to++ = (char)(lead[more] | code >> 6 * more);
    while (more--)
        *to++ = (char)(0x80 | (code >> 6 * more & 0x3F));
    return to;
}

// What stands behind a backslash.
static bool json_read_escape(const char **at, char **to) {
    static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char letter = *(*at)++;
    const char *found = strchr(escapes, letter);
    if (found) {
        *(*to)++ = meanings[found - escapes];
        return true;
    }
    unsigned code, low;
    if (letter != 'u' || !json_read_hex(at, &code))
        return false;
    const char *behind = *at + 2;
    if (code >> 10 == 0x36 && !strncmp(*at, "\\u", 2) && json_read_hex(&behind, &low) &&
        low >> 10 == 0x37) {
        code = 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF);
        *at = behind;
    }
    *to = json_put_utf8(*to, code);
    return true;
}

static bool json_read_text(const char **at, const char **text, size_t *length) {
    if (!json_next_is(at, '"'))
        return false;
    const char *end = *at;
    for (; *end != '"'; end++)
        if (!*end || (*end == '\\' && !*++end))
            return false;
    char *to = json_keep((size_t)(end - *at) + 1); // an escape is never shorter than its meaning
    *text = to;
    while (*at < end)
        if (**at != '\\')
            *to++ = *(*at)++;
        else if (++*at, !json_read_escape(at, &to))
            return false;
    *to = 0;
    *length = (size_t)(to - *text);
    ++*at;
    return true;
}

static Json *json_read_value(const char **at, int depth);

static bool json_read_items(const char **at, Json *whole, int depth) {
    char close = whole->kind == JSON_OBJECT ? '}' : ']';
    const Json **link = &whole->first;
    ++*at;
    if (json_next_is(at, close))
        return true;
    do {
        const char *key = NULL;
        size_t length;
        if (whole->kind == JSON_OBJECT &&
            !(json_read_text(at, &key, &length) && json_next_is(at, ':')))
            return false;
        Json *item = json_read_value(at, depth);
        if (!item)
            return false;
        item->key = key;
        *link = item;
        link = &item->next;
        whole->length++;
    } while (json_next_is(at, ','));
    return json_next_is(at, close);
}

static Json *json_read_value(const char **at, int depth) {
    *at += strspn(*at, " \t\r\n");
    Json *value = json_keep(sizeof *value);
    *value = json_nothing;
    value->source = *at;
    bool good = true;
    if (**at == '{' || **at == '[') {
        value->kind = **at == '{' ? JSON_OBJECT : JSON_LIST;
        good = depth < 500 && json_read_items(at, value, depth + 1); // the stack has an end
    } else if (**at == '"') {
        value->kind = JSON_TEXT;
        good = json_read_text(at, &value->text, &value->length);
    } else if (json_read_word(at, "true") || json_read_word(at, "false")) {
        value->kind = JSON_BOOL;
        value->number = *value->source == 't';
    } else if (!json_read_word(at, "null")) {
        value->kind = JSON_NUMBER;
        good = json_read_number(at, &value->number);
    }
    value->source_length = (size_t)(*at - value->source);
    return good ? value : NULL;
}

// The value in a text that is JSON and nothing else, or NULL. The text has to stay where it is.
static const Json *json_read(const char *text) {
    const Json *value = json_read_value(&text, 0);
    return value && json_next_is(&text, 0) ? value : NULL;
}

// A move that no list offers, written as JSON: json_make("7"), json_make("\"a1\"").
static inline const Json *json_make(const char *source) {
    return json_read(strcpy(json_keep(strlen(source) + 1), source));
}

// What goes out with the next answer, for the record; "" for nothing.
static char wire_note[1001];

// Sends a word with the move, made from its arguments as printf does. Of several in one turn the
// last counts, and of a long one the first 1000 bytes.
__attribute__((format(printf, 1, 2))) static inline void note(const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(wire_note, sizeof wire_note, format, values);
    va_end(values);
}

// The bytes of the UTF-8 character that begins here; 0 where none does.
static size_t wire_character(const char *at) {
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned code = (unsigned char)*at;
    size_t length = code < 0x80 ? 1 : code < 0xC0 ? 0 : code < 0xE0 ? 2 : code < 0xF0 ? 3 : 4;
    code &= 0xFFu >> length;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3F);
    }
    return code < least[length] || code > 0x10FFFF || code >> 11 == 0x1B ? 0 : length;
}

// Bytes that are no character, such as what a cut left of one, would spoil the line: out they stay.
static void wire_put_note(void) {
    printf(",\"note\":\"");
    for (const char *at = wire_note; *at; at++) {
        size_t length = wire_character(at);
        if (length == 1 && (*at < ' ' || *at == '"' || *at == '\\'))
            printf("\\u%04x", *at);
        else
            fwrite(at, 1, length, stdout);
        at += length ? length - 1 : 0;
    }
    putchar('"');
    *wire_note = 0;
}

// A game that goes on, and the state of its random generator.
typedef struct WireGame WireGame;
struct WireGame {
    WireGame *next;
    uint64_t luck;
    char name[];
};
static WireGame *wire_games;

// The state of the generator of the game at hand; of none before the first.
static uint64_t wire_no_luck, *wire_luck = &wire_no_luck;

// A random number from 0 to limit - 1. It depends on the game's bot_seed and on nothing else.
static inline size_t random_below(size_t limit) {
    uint64_t bits = *wire_luck += 0x9E3779B97F4A7C15;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB;
    return (size_t)((bits ^ bits >> 31) % limit);
}

// Where the list of games points to this one, or ends.
static WireGame **wire_find(const char *name) {
    WireGame **at = &wire_games;
    while (*at && strcmp((*at)->name, name))
        at = &(*at)->next;
    return at;
}

static void wire_start(const Json *start) {
    const char *name = json_get(start, "game")->text;
    WireGame **at = wire_find(name);
    if (!*at) {
        *at = json_must(calloc(1, sizeof **at + strlen(name) + 1));
        strcpy((*at)->name, name);
    }
    (*at)->luck = (uint64_t)json_get(start, "bot_seed")->number;
}

static void wire_end(const char *name) {
    WireGame **at = wire_find(name), *game = *at;
    if (game)
        *at = game->next;
    free(game);
}

static double wire_clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

// Answers one turn. An id and a move go back in the very words in which they came.
static void wire_answer_turn(const Json *turn, Choose *choose) {
    const Json *id = json_get(turn, "id");
    WireGame *game = *wire_find(json_get(turn, "game")->text);
    wire_luck = game ? &game->luck : &wire_no_luck;
    const Json *move = choose(json_get(turn, "view"), json_get(turn, "legal"));
    printf("{\"id\":%.*s,", (int)id->source_length, id->source);
    if (move && move->kind != JSON_NULL)
        printf("\"move\":%.*s", (int)move->source_length, move->source);
    else
        printf("\"type\":\"resign\"");
    if (*wire_note)
        wire_put_note();
    printf("}\n");
}

// Answers one line; false once the referee has said bye. What asks for no answer gets none.
static bool wire_answer(const char *line, Choose *choose) {
    if (!line[strspn(line, " \t\r")])
        return true;
    json_forget();
    const Json *message = json_read(line);
    if (!message)
        fprintf(stderr, "bot: a line that is not JSON: %.80s\n", line);
    const char *type = message ? json_get(message, "type")->text : "";
    if (!strcmp(type, "turn"))
        wire_answer_turn(message, choose);
    else if (!strcmp(type, "start"))
        wire_start(message);
    else if (!strcmp(type, "over"))
        wire_end(json_get(message, "game")->text);
    else if (!strcmp(type, "hello"))
        printf("{\"type\":\"hello\",\"protocol\":1,\"games_at_once\":64}\n");
    else if (!strcmp(type, "ping"))
        printf("{\"type\":\"pong\"}\n");
    return strcmp(type, "bye") != 0;
}

// Talks to the referee until it says bye or hangs up. What came in one read is answered in one
// write: with many games at once that saves time. But an answer that waits for others is on the
// clock, so none waits for longer than 10 ms.
static int talk(Choose *choose) {
    static char answers[1 << 17];
    setvbuf(stdout, answers, _IOFBF, sizeof answers);
    char *in = NULL;
    size_t size = 0, rest = 0; // `rest` bytes of a line whose end has not come yet
    for (bool talking = true; talking;) {
        if (size - rest < 65536)
            in = json_must(realloc(in, size = 2 * size + 65536));
        ssize_t got = read(STDIN_FILENO, in + rest, size - rest);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        char *line = in, *fresh = in + rest, *stop = fresh + got, *end;
        double since = wire_clock_ms();
        while (talking && (end = memchr(fresh, '\n', (size_t)(stop - fresh)))) {
            *end = 0;
            talking = wire_answer(line, choose);
            line = fresh = end + 1;
            if (wire_clock_ms() - since > 10) {
                fflush(stdout);
                since = wire_clock_ms();
            }
        }
        fflush(stdout);
        rest = (size_t)(stop - line);
        memmove(in, line, rest);
    }
    free(in);
    return 0;
}
// --- end of protocol ---

// The number in a move, and adding before the rest: 5 for 5, 5.5 for "+5", 5 for "*5".
static double size(const Json *move) {
    if (move->kind != JSON_TEXT)
        return move->number;
    const char *digit = move->text, *end = move->text + move->length;
    while (digit < end && (*digit < '0' || *digit > '9'))
        digit++;
    char digits[309] = "0";
    sscanf(digit, "%308[0-9]", digits); // strtod alone would also read the "e3" of "5e3"
    bool negative = digit > move->text && digit[-1] == '-';
    return (negative ? -1 : 1) * strtod(digits, NULL) + (*move->text == '+' ? 0.5 : 0);
}

// The move to play, or NULL to resign.
static const Json *choose(const Json *view, const Json *legal) {
    (void)view; // to show all its strength, it need not look
    const Json *best = legal->first;
    for (const Json *move = best; move; move = move->next)
        if (size(move) > size(best))
            best = move;
    return best;
}

int main(void) { return talk(choose); }
