/* The mix of numbers for a position.

   A table of the whole game is best. Those with the default numbers and points, with and without
   wrap-around, are made when the bot is built. For other options one is made before the first move,
   where the game is small. In larger games the rounds until few numbers are left are judged by a
   formula, and the rest is solved. */

#include "underdog.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define QUICK 450000 /* positions of a game that is solved before its first move: some 0.2 s */
#define FEW 5        /* numbers in hands that are solved anew at every move: below 1 ms */
#define EXACT 1e-6   /* the widest gap of a table that counts as solved */

static const struct {
    const char *file;
    Rules rules;
} BUILT[] = {
    {"underdog.table", {.size = 10, .points = 3, .wrap = false, .rest_counts = true}},
    {"wrap.table", {.size = 10, .points = 3, .wrap = true, .rest_counts = true}},
};
#define TABLES (sizeof BUILT / sizeof *BUILT)

/* Solves the games of the files. Whether all went well; if not, it says what did not. */
bool make_tables(void)
{
    for (size_t k = 0; k < TABLES; k++) {
        Table table;
        Position top = first_position(&BUILT[k].rules);
        if (!table_make(&table, &BUILT[k].rules, &top)) {
            fputs("underdog-solver: no memory left\n", stderr);
            return false;
        }
        double gap = table_solve(&table);
        printf("%s: %ld positions, solved to %.0e\n", BUILT[k].file, table_length(&top), gap);
        if (gap > EXACT) {
            fputs("underdog-solver: that is not exact\n", stderr);
            return false;
        }
        if (!table_write(&table, BUILT[k].file)) {
            perror(BUILT[k].file);
            return false;
        }
        table_free(&table);
    }
    return true;
}

static bool same_rules(const Rules *a, const Rules *b)
{
    return a->size == b->size && a->points == b->points && a->wrap == b->wrap &&
           a->rest_counts == b->rest_counts;
}

/* The table in a file, though it may be made for another end of the game: where the numbers run
   out, which is rare. */
static bool read_built(const Rules *rules, Table *table)
{
    for (size_t k = 0; k < TABLES; k++) {
        Rules built = BUILT[k].rules, wanted = *rules;
        wanted.rest_counts = built.rest_counts;
        Position top = first_position(&built);
        if (same_rules(&wanted, &built) && table_make(table, &built, &top)) {
            if (table_read(table, BUILT[k].file))
                return true;
            table_free(table);
        }
    }
    return false;
}

/* The table of the whole game, or NULL where there is none. It is kept for the next game. */
static const Table *whole_game(const Rules *rules)
{
    static Table table;
    static Rules kept;
    if (!same_rules(rules, &kept)) {
        kept = *rules;
        table_free(&table);
        Position top = first_position(rules);
        long length = table_length(&top);
        if (length > 0 && length <= QUICK && table_make(&table, rules, &top))
            table_solve(&table);
        else
            read_built(rules, &table);
    }
    return table.worth ? &table : NULL;
}

/* A position as the formula sees it: the results of a round between any two numbers, lowest first,
   and their sums over the highest numbers of the other side, those that may still be played. */
typedef struct {
    int first; /* the place of the lowest such number; one below it moves up when one is gone */
    int result[MOST_NUMBERS][MOST_NUMBERS];
    int of_mine[MOST_NUMBERS], of_theirs[MOST_NUMBERS], total;
} Survey;

static void survey(const Rules *rules, const Position *now, Survey *of)
{
    int rounds = now->need + now->feared;
    memset(of, 0, sizeof *of);
    of->first = rounds < now->count - 1 ? now->count - rounds : 1;
    for (int a = 0; a < now->count; a++)
        for (int b = 0; b < now->count; b++) {
            int result = of->result[a][b] = round_result(rules, now->mine[a], now->theirs[b]);
            of->of_mine[a] += b >= of->first ? result : 0;
            of->of_theirs[b] += a >= of->first ? result : 0;
            of->total += a >= of->first && b >= of->first ? result : 0;
        }
}

/* What a round brings on average after these two numbers are gone. */
static double edge_without(const Survey *of, int a, int b, int count)
{
    int up = of->first - 1, high = count - of->first, sum = of->total;
    if (a >= of->first)
        sum += of->of_mine[up] - of->of_mine[a];
    if (b >= of->first)
        sum += of->of_theirs[up] - of->of_theirs[b];
    if (a >= of->first && b >= of->first)
        sum += of->result[a][b] - of->result[a][up] - of->result[up][b] + of->result[up][up];
    return (double)sum / (high * high);
}

/* What a position is worth, roughly: by the lead at the end if each round brings its average. */
static double outlook(int count, int need, int feared, double edge)
{
    if (need == 0 || feared == 0)
        return need == 0 ? 1 : -1;
    double rounds = fmin(count, need + feared - 1);
    return tanh((feared - need + edge * rounds) / sqrt(rounds));
}

/* The next round, with a formula for what comes after. Both hands hold two numbers or more. */
static void rough_round(const Rules *rules, const Position *now, Matrix *matrix)
{
    static Survey of;
    survey(rules, now, &of);
    matrix->rows = matrix->columns = now->count;
    for (int a = 0; a < now->count; a++)
        for (int b = 0; b < now->count; b++) {
            int result = of.result[a][b];
            matrix->cell[a][b] =
                outlook(now->count - 1, now->need - (result > 0), now->feared - (result < 0),
                        edge_without(&of, a, b, now->count));
        }
}

void find_mix(const Rules *rules, const Position *now, Solution *solution)
{
    static Matrix matrix;
    Table few;
    const Table *whole = whole_game(rules);
    if (whole && (whole->rest_counts == rules->rest_counts || now->count > FEW)) {
        table_round(whole, now, &matrix);
    } else if (now->count <= FEW && table_make(&few, rules, now)) {
        table_solve(&few);
        table_round(&few, now, &matrix);
        table_free(&few);
    } else {
        rough_round(rules, now, &matrix);
    }
    solve_matrix(&matrix, solution);
}
