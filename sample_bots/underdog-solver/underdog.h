/* What the parts of this bot know of each other. How it thinks is told in bot.c. */

#ifndef UNDERDOG_H
#define UNDERDOG_H

#include <stdbool.h>
#include <stdint.h>

#define MOST_NUMBERS 100 /* in a hand: the option size goes no higher */
#define MOST_SOLVED 10   /* numbers in a hand of the largest game that is solved */

/* matrix.c: what a round is worth, and how often to play each number in it. */

typedef struct {
    int rows, columns;
    double cell[MOST_NUMBERS][MOST_NUMBERS]; /* worth to the side of the rows, from -1 to 1 */
} Matrix;

typedef struct {
    double worth;             /* what the mix gets against the best answer */
    double gap;               /* how much more the other side's mix allows: rounding, if solved */
    double mix[MOST_NUMBERS]; /* how often to play each row */
} Solution;

void solve_matrix(const Matrix *matrix, Solution *solution);

/* table.c: what every position of a game is worth. */

typedef struct {
    int size, points;
    bool wrap, rest_counts; /* rest_counts: the numbers run out, and more points win */
} Rules;

typedef struct {
    int count; /* of the numbers in each hand */
    int mine[MOST_NUMBERS], theirs[MOST_NUMBERS];
    int need, feared; /* points that I and that they still need to win */
} Position;

typedef struct {
    Position top;
    bool rest_counts;
    int result[MOST_SOLVED][MOST_SOLVED]; /* of a round, by the places of both numbers in `top` */
    int wins, losses;                     /* numbers of points gained that are told apart */
    long sets[MOST_SOLVED + 1];           /* hands that hold so many numbers */
    long base[MOST_SOLVED + 2];           /* pairs of hands that hold fewer */
    float *worth;                         /* NULL where the table is not made */
} Table;

int round_result(const Rules *rules, int mine, int theirs);
Position first_position(const Rules *rules);
long table_length(const Position *top);
bool table_make(Table *table, const Rules *rules, const Position *top);
double table_solve(Table *table);
bool table_read(Table *table, const char *path);
bool table_write(const Table *table, const char *path);
void table_free(Table *table);
void table_round(const Table *table, const Position *now, Matrix *matrix);

/* play.c: the mix for a position, solved where that is quick enough. */

bool make_tables(void);
void find_mix(const Rules *rules, const Position *now, Solution *solution);

/* json.c: what is needed to read a message without building a tree of it. */

const char *json_member(const char *object, const char *key);
bool json_is(const char *value, const char *text);
char *json_text(const char *value);
int64_t json_integer(const char *value, int64_t otherwise);
int json_list(const char *value, int *numbers, int most);

#endif
