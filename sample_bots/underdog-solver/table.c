/* What every position of a game is worth, from the last round backwards.

   A position is what both players still hold and the points that both have gained. The hands at
   the top of the table are given, and every later hand is a part of them: a set of places, one bit
   each. Both players always hold as many numbers, so the sets of a pair are equally large, and
   the table counts them by size: all pairs of one number, then all pairs of two, and so on.

   When a pair of hands is reached, all smaller ones are solved, so each cell of its matrix game is
   known. Where both players begin alike, a position and its mirror image are worth the opposite:
   only one of them is solved, and a position that is its own image is worth nothing to either. */

#include "underdog.h"

#include <stdio.h>
#include <stdlib.h>

#define SETS (1 << MOST_SOLVED)

static int rank[SETS], bits[SETS]; /* of a set: its place among those as large, and its size */

static int sign(int number) { return (number > 0) - (number < 0); }

static int least(int a, int b) { return a < b ? a : b; }

/* 1 where my number wins the round, -1 where it loses, else 0. */
int round_result(const Rules *rules, int mine, int theirs)
{
    int ahead = mine - theirs, apart = abs(ahead);
    bool upset = apart == 1 || (rules->wrap && apart == rules->size - 1);
    return upset ? -sign(ahead) : sign(ahead);
}

Position first_position(const Rules *rules)
{
    Position at = {.count = rules->size, .need = rules->points, .feared = rules->points};
    for (int k = 0; k < rules->size; k++)
        at.mine[k] = at.theirs[k] = k + 1;
    return at;
}

/* Ranks do not depend on how many numbers there are: the sets of the first few come first. */
static void rank_sets(void)
{
    int ranked[MOST_SOLVED + 1] = {0};
    for (int set = 0; set < SETS; set++) {
        bits[set] = bits[set >> 1] + (set & 1);
        rank[set] = ranked[bits[set]]++;
    }
}

static long sets_of(int count, int size)
{
    long ways = 1;
    for (int k = 1; k <= size; k++)
        ways = ways * (count - size + k) / k;
    return ways;
}

/* How many positions a table with this top has; -1 where it would be too large. */
long table_length(const Position *top)
{
    long pairs = 0;
    if (top->count > MOST_SOLVED)
        return -1;
    for (int size = 0; size <= top->count; size++)
        pairs += sets_of(top->count, size) * sets_of(top->count, size);
    return pairs * least(top->need, top->count + 1) * least(top->feared, top->count + 1);
}

bool table_make(Table *table, const Rules *rules, const Position *top)
{
    rank_sets();
    table->top = *top;
    table->rest_counts = rules->rest_counts;
    table->wins = least(top->need, top->count + 1);
    table->losses = least(top->feared, top->count + 1);
    table->base[0] = 0;
    for (int size = 0; size <= top->count; size++) {
        long sets = table->sets[size] = sets_of(top->count, size);
        table->base[size + 1] = table->base[size] + sets * sets;
    }
    for (int a = 0; a < top->count; a++)
        for (int b = 0; b < top->count; b++)
            table->result[a][b] = round_result(rules, top->mine[a], top->theirs[b]);
    table->worth = calloc((size_t)table_length(top), sizeof *table->worth);
    return table->worth != NULL;
}

void table_free(Table *table)
{
    free(table->worth);
    table->worth = NULL;
}

static float *entry(const Table *table, int mine, int theirs, int won, int lost)
{
    int size = bits[mine];
    long pair = table->base[size] + rank[mine] * table->sets[size] + rank[theirs];
    return &table->worth[(pair * table->wins + won) * table->losses + lost];
}

/* What a position is worth: 1 for a sure win, -1 for a sure loss. */
static double worth(const Table *table, int mine, int theirs, int won, int lost)
{
    int need = table->top.need - won, feared = table->top.feared - lost;
    if (need == 0 || feared == 0)
        return need == 0 ? 1 : -1;
    if (!mine)
        return table->rest_counts ? sign(feared - need) : 0;
    return *entry(table, mine, theirs, won, lost);
}

/* The matrix of the next round. */
static void fill(const Table *table, int mine, int theirs, int won, int lost, Matrix *matrix)
{
    matrix->rows = 0;
    for (int a = 0; a < table->top.count; a++) {
        if (!(mine >> a & 1))
            continue;
        matrix->columns = 0;
        for (int b = 0; b < table->top.count; b++) {
            if (!(theirs >> b & 1))
                continue;
            int result = table->result[a][b];
            matrix->cell[matrix->rows][matrix->columns++] =
                worth(table, mine & ~(1 << a), theirs & ~(1 << b), won + (result > 0),
                      lost + (result < 0));
        }
        matrix->rows++;
    }
}

static bool symmetric(const Position *top)
{
    bool same = top->need == top->feared;
    for (int k = 0; k < top->count; k++)
        same = same && top->mine[k] == top->theirs[k];
    return same;
}

/* Solves the positions of one pair of hands. Gives the widest gap. */
static double solve_pair(Table *table, int mine, int theirs, bool mirrored)
{
    static Matrix matrix;
    static Solution solution;
    int played = table->top.count - bits[mine];
    double gap = 0;
    for (int won = 0; won < table->wins && won <= played; won++) {
        for (int lost = 0; lost < table->losses && lost <= played - won; lost++) {
            if (mirrored && (mine < theirs || (mine == theirs && won <= lost)))
                continue; /* its image is solved, or it is its own image and worth 0 */
            fill(table, mine, theirs, won, lost, &matrix);
            solve_matrix(&matrix, &solution);
            if (solution.gap > gap)
                gap = solution.gap;
            *entry(table, mine, theirs, won, lost) = (float)solution.worth;
            if (mirrored)
                *entry(table, theirs, mine, lost, won) = (float)-solution.worth;
        }
    }
    return gap;
}

/* Solves every position. Gives the widest gap between what the mixes of both sides secure. */
double table_solve(Table *table)
{
    bool mirrored = symmetric(&table->top);
    int sets = 1 << table->top.count;
    double widest = 0;
    for (int size = 1; size <= table->top.count; size++)
        for (int mine = 0; mine < sets; mine++)
            for (int theirs = 0; bits[mine] == size && theirs < sets; theirs++) {
                if (bits[theirs] != size)
                    continue;
                double gap = solve_pair(table, mine, theirs, mirrored);
                if (gap > widest)
                    widest = gap;
            }
    return widest;
}

static int set_of(const int *hand, int count, const int *top, int top_count)
{
    int set = 0;
    for (int k = 0; k < count; k++)
        for (int place = 0; place < top_count; place++)
            if (top[place] == hand[k])
                set |= 1 << place;
    return set;
}

/* The matrix of the next round in a position that comes after the top of the table. */
void table_round(const Table *table, const Position *now, Matrix *matrix)
{
    const Position *top = &table->top;
    int mine = set_of(now->mine, now->count, top->mine, top->count);
    int theirs = set_of(now->theirs, now->count, top->theirs, top->count);
    fill(table, mine, theirs, top->need - now->need, top->feared - now->feared, matrix);
}

/* Whether the file held a table of this length; it was written on the same machine. */
bool table_read(Table *table, const char *path)
{
    size_t length = (size_t)table_length(&table->top);
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    bool whole = fread(table->worth, sizeof *table->worth, length, file) == length &&
                 fgetc(file) == EOF;
    fclose(file);
    return whole;
}

bool table_write(const Table *table, const char *path)
{
    size_t length = (size_t)table_length(&table->top);
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool whole = fwrite(table->worth, sizeof *table->worth, length, file) == length;
    return fclose(file) == 0 && whole;
}
