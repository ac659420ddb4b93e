/* Solves a matrix game: one side chooses a row, the other a column, both at once.

   Where a row is best against its worst column, and that column is worst in its best row, both
   stay there and nobody mixes. Else the simplex method finds the best mix of the columns, and with
   it, in the bottom row, the best mix of the rows. The table holds one column for each variable
   that is zero and one row for each that is not, and a step exchanges two of them.

   Equal cells leave the method a choice, and bad choices divide by little more than rounding
   errors, or go in circles. So it steps where most is to be gained and divides by the largest
   number that will do. After many steps it goes on by Bland's rule, which makes no circles. */

#include "underdog.h"

#include <string.h>

#define TINY 1e-11  /* less is a rounding error: in a mix, */
#define SMALL 1e-9  /* in a number to divide by, */
#define EQUAL 1e-10 /* between two that should be the same */
#define SHIFT 2.0   /* makes every cell positive, as the method needs */

typedef struct {
    int rows, columns; /* without the bottom row and the last column */
    double cell[MOST_NUMBERS + 1][MOST_NUMBERS + 1];
    int basic[MOST_NUMBERS], idle[MOST_NUMBERS]; /* variables: of the rows 0.., then the columns */
} Tableau;

static bool saddle(const Matrix *matrix, Solution *solution)
{
    int best = 0;
    double secured = -2, allowed = 2;
    for (int r = 0; r < matrix->rows; r++) {
        double least = 2;
        for (int c = 0; c < matrix->columns; c++)
            if (matrix->cell[r][c] < least)
                least = matrix->cell[r][c];
        if (least > secured) {
            secured = least;
            best = r;
        }
    }
    for (int c = 0; c < matrix->columns; c++) {
        double most = -2;
        for (int r = 0; r < matrix->rows; r++)
            if (matrix->cell[r][c] > most)
                most = matrix->cell[r][c];
        if (most < allowed)
            allowed = most;
    }
    if (secured < allowed)
        return false;
    memset(solution, 0, sizeof *solution);
    solution->worth = secured;
    solution->mix[best] = 1;
    return true;
}

static void fill(Tableau *t, const Matrix *matrix)
{
    t->rows = matrix->rows;
    t->columns = matrix->columns;
    for (int r = 0; r < t->rows; r++) {
        for (int c = 0; c < t->columns; c++)
            t->cell[r][c] = matrix->cell[r][c] + SHIFT;
        t->cell[r][t->columns] = 1;
        t->basic[r] = r;
    }
    for (int c = 0; c < t->columns; c++) {
        t->cell[t->rows][c] = -1;
        t->idle[c] = t->rows + c;
    }
    t->cell[t->rows][t->columns] = 0;
}

/* The column to step in, or -1 where nothing is to be gained any more. */
static int entering(const Tableau *t, bool bland)
{
    const double *bottom = t->cell[t->rows];
    int chosen = -1;
    for (int c = 0; c < t->columns; c++) {
        if (bottom[c] > -TINY)
            continue;
        if (chosen < 0 || (bland ? t->idle[c] < t->idle[chosen] : bottom[c] < bottom[chosen]))
            chosen = c;
    }
    return chosen;
}

/* The row that gives way first, or -1. */
static int leaving(const Tableau *t, int column, bool bland)
{
    int chosen = -1;
    double least = 0;
    for (int r = 0; r < t->rows; r++) {
        double by = t->cell[r][column];
        if (by < SMALL)
            continue;
        double ratio = t->cell[r][t->columns] / by;
        bool preferred = chosen < 0 || ratio < least - EQUAL;
        if (!preferred && ratio < least + EQUAL)
            preferred = bland ? t->basic[r] < t->basic[chosen] : by > t->cell[chosen][column];
        if (preferred) {
            chosen = r;
            least = ratio;
        }
    }
    return chosen;
}

static void exchange(Tableau *t, int row, int column)
{
    double pivot = t->cell[row][column], *from = t->cell[row];
    for (int c = 0; c <= t->columns; c++)
        from[c] /= pivot;
    from[column] = 1 / pivot;
    for (int r = 0; r <= t->rows; r++) {
        double factor = t->cell[r][column], *to = t->cell[r];
        if (r == row || factor == 0)
            continue;
        to[column] = 0;
        for (int c = 0; c <= t->columns; c++)
            to[c] -= factor * from[c];
    }
    int variable = t->basic[row];
    t->basic[row] = t->idle[column];
    t->idle[column] = variable;
}

/* A mix has no negative shares, and they add up to one. */
static void normalise(double *mix, int count)
{
    double total = 0;
    for (int k = 0; k < count; k++) {
        if (mix[k] < TINY)
            mix[k] = 0;
        total += mix[k];
    }
    for (int k = 0; k < count; k++)
        mix[k] /= total;
}

/* What both mixes are worth against the best answer: that shows how well the game is solved. */
static void judge(const Matrix *matrix, const double *answer, Solution *solution)
{
    double secured = 2, allowed = -2;
    for (int c = 0; c < matrix->columns; c++) {
        double worth = 0;
        for (int r = 0; r < matrix->rows; r++)
            worth += solution->mix[r] * matrix->cell[r][c];
        if (worth < secured)
            secured = worth;
    }
    for (int r = 0; r < matrix->rows; r++) {
        double worth = 0;
        for (int c = 0; c < matrix->columns; c++)
            worth += answer[c] * matrix->cell[r][c];
        if (worth > allowed)
            allowed = worth;
    }
    solution->worth = secured;
    solution->gap = allowed - secured;
}

void solve_matrix(const Matrix *matrix, Solution *solution)
{
    static Tableau t;
    static double answer[MOST_NUMBERS];
    if (saddle(matrix, solution))
        return;
    fill(&t, matrix);
    int many = 4 * (t.rows + t.columns), column, row;
    for (int steps = 0; steps < 2 * many; steps++) {
        bool bland = steps > many;
        if ((column = entering(&t, bland)) < 0 || (row = leaving(&t, column, bland)) < 0)
            break;
        exchange(&t, row, column);
    }
    memset(solution->mix, 0, sizeof solution->mix);
    memset(answer, 0, sizeof answer);
    for (int c = 0; c < t.columns; c++)
        if (t.idle[c] < t.rows)
            solution->mix[t.idle[c]] = t.cell[t.rows][c];
    for (int r = 0; r < t.rows; r++)
        if (t.basic[r] >= t.rows)
            answer[t.basic[r] - t.rows] = t.cell[r][t.columns];
    normalise(solution->mix, t.rows);
    normalise(answer, t.columns);
    judge(matrix, answer, solution);
}
