/* A reader for one JSON object in one line of text.

   Nothing is copied: a value is the place in the line where it begins, and NULL is a value that is
   not there. What nobody asks for is skipped, however deep it goes. */

#include "underdog.h"

#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')
        at++;
    return at;
}

/* The end of the string that begins here: its closing quote, or the end of the line. */
static const char *string_end(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return at;
}

/* The place after the value that begins here. */
static const char *skip_value(const char *at)
{
    int depth = 0;
    for (; *at; at++) {
        if (*at == '"') {
            at = string_end(at);
            if (!*at)
                return at;
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if (*at == '}' || *at == ']') {
            if (depth == 0)
                return at;
            depth--;
        } else if (depth == 0 && (*at == ',' || skip_space(at) != at)) {
            return at;
        }
    }
    return at;
}

const char *json_member(const char *object, const char *key)
{
    if (!object || *(object = skip_space(object)) != '{')
        return NULL;
    const char *at = skip_space(object + 1);
    while (*at == '"') {
        const char *name = at + 1, *end = string_end(at);
        size_t length = (size_t)(end - name);
        bool found = length == strlen(key) && strncmp(name, key, length) == 0;
        at = *end ? skip_space(end + 1) : end;
        if (*at != ':')
            return NULL;
        at = skip_space(at + 1);
        if (found)
            return at;
        at = skip_space(skip_value(at));
        if (*at == ',')
            at = skip_space(at + 1);
    }
    return NULL;
}

bool json_is(const char *value, const char *text)
{
    if (!value || *value != '"')
        return false;
    size_t length = (size_t)(string_end(value) - value) - 1;
    return length == strlen(text) && strncmp(value + 1, text, length) == 0;
}

/* A string as it was written, escapes and all. It is to be freed; NULL where there is none. */
char *json_text(const char *value)
{
    if (!value || *value != '"')
        return NULL;
    return strndup(value + 1, (size_t)(string_end(value) - value) - 1);
}

int64_t json_integer(const char *value, int64_t otherwise)
{
    if (!value || !(*value == '-' || (*value >= '0' && *value <= '9')))
        return otherwise;
    return strtoll(value, NULL, 10);
}

/* How many integers of a list were put into `numbers`. */
int json_list(const char *value, int *numbers, int most)
{
    int count = 0;
    if (!value || *value != '[')
        return 0;
    for (const char *at = skip_space(value + 1); *at && *at != ']' && count < most;) {
        numbers[count++] = (int)json_integer(at, 0);
        at = skip_space(skip_value(at));
        if (*at == ',')
            at = skip_space(at + 1);
    }
    return count;
}
