// How a bot in C++ talks to the referee, with a small JSON reader, as C++ has none. You need not
// change anything here; your bot is in bot.cpp.

#ifndef PROTOCOL_HPP
#define PROTOCOL_HPP

// --- protocol ---
// One JSON object a line in, one a line out. `talk` reads, asks `choose` on every turn, and writes;
// nothing here knows a game.

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <unistd.h>

namespace referee {

// A JSON value. To read one never fails: what is not there is null, and a value of another kind
// reads as 0, false, "" or an empty list. So view["mine"]["numbers"][0].integer() is safe.
class Json {
public:
    using List = std::vector<Json>;
    using Object = std::vector<std::pair<std::string, Json>>;

    Json() = default; // null
    Json(std::nullptr_t) {}
    Json(bool value) : value_(value) {}
    template <typename Integer, typename = std::enable_if_t<std::is_integral_v<Integer>>>
    Json(Integer value) : value_(static_cast<long long>(value)) {}
    Json(double value) : value_(value) {}
    Json(std::string value) : value_(std::move(value)) {}
    Json(const char *value) : value_(std::string(value)) {}
    Json(List value) : value_(std::move(value)) {}
    Json(Object value) : value_(std::move(value)) {}

    bool is_null() const { return is<std::nullptr_t>(); }
    bool is_integer() const { return is<long long>(); }
    bool is_number() const { return is<long long>() || is<double>(); }
    bool is_text() const { return is<std::string>(); }
    bool is_list() const { return is<List>(); }

    bool boolean() const { return get<bool>(); }
    long long integer() const { return get<long long>(); }
    double number() const { return is_integer() ? static_cast<double>(integer()) : get<double>(); }
    const std::string &text() const { return get<std::string>(); }
    const List &list() const { return get<List>(); }
    const Object &object() const { return get<Object>(); }

    // The value under a key of an object.
    const Json &operator[](std::string_view key) const {
        const Json *found = &nothing();
        for (const auto &[name, value] : object())
            if (name == key)
                found = &value;
        return *found;
    }

    // The value at a place in a list, counted from 0.
    const Json &operator[](std::size_t place) const {
        return place < list().size() ? list()[place] : nothing();
    }

private:
    static const Json &nothing() { static const Json null{}; return null; }
    template <typename Kind> bool is() const { return std::holds_alternative<Kind>(value_); }
    template <typename Kind> const Kind &get() const {
        static const Kind none{};
        const Kind *value = std::get_if<Kind>(&value_);
        return value ? *value : none;
    }

    std::variant<std::nullptr_t, bool, long long, double, std::string, List, Object> value_;
};

struct BadJson : std::runtime_error { using std::runtime_error::runtime_error; };

// Reads one JSON text from front to back.
class JsonReader {
public:
    explicit JsonReader(std::string_view text) : rest_(text) {}

    Json read_all() {
        Json value = read_value(0);
        skip_space();
        if (!rest_.empty())
            throw BadJson("something behind the value");
        return value;
    }

private:
    void skip_space() {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
    }

    bool next_is(char token) {
        skip_space();
        return take(std::string_view(&token, 1));
    }

    bool take(std::string_view word) {
        if (rest_.substr(0, word.size()) != word)
            return false;
        rest_.remove_prefix(word.size());
        return true;
    }

    void must_be(char token) {
        if (!next_is(token))
            throw BadJson(std::string("no ") + token + " where one is due");
    }

    Json read_value(int depth) {
        if (depth > 500) // the stack has an end
            throw BadJson("nested too deep");
        if (next_is('{'))
            return read_object(depth);
        if (next_is('['))
            return read_list(depth);
        if (next_is('"'))
            return read_text();
        if (take("true"))
            return true;
        if (take("false"))
            return false;
        return take("null") ? Json() : read_number();
    }

    Json read_list(int depth) {
        Json::List list;
        if (next_is(']'))
            return list;
        do
            list.push_back(read_value(depth + 1));
        while (next_is(','));
        must_be(']');
        return Json(std::move(list));
    }

    Json read_object(int depth) {
        Json::Object object;
        if (next_is('}'))
            return object;
        do {
            must_be('"');
            std::string key = read_text();
            must_be(':');
            object.emplace_back(std::move(key), read_value(depth + 1));
        } while (next_is(','));
        must_be('}');
        return Json(std::move(object));
    }

    Json read_number() {
        std::size_t length = rest_.find_first_not_of("+-.0123456789eE");
        const std::string digits(rest_.substr(0, length));
        rest_.remove_prefix(digits.size());
        const char *stop = digits.data() + digits.size();
        long long integer = 0;
        if (auto [end, error] = std::from_chars(digits.data(), stop, integer);
            error == std::errc() && end == stop)
            return integer;
        char *end = nullptr;
        double number = std::strtod(digits.c_str(), &end);
        if (digits.empty() || end != stop)
            throw BadJson("no value where one is due");
        return number;
    }

    // A text whose first quote has been taken.
    std::string read_text() {
        std::string text;
        for (;;) {
            std::size_t plain = rest_.find_first_of("\"\\");
            if (plain == rest_.npos)
                throw BadJson("a text without an end");
            text += rest_.substr(0, plain);
            bool ended = rest_[plain] == '"';
            rest_.remove_prefix(plain + 1);
            if (ended)
                return text;
            read_escape(text);
        }
    }

    // What stands behind a backslash.
    void read_escape(std::string &text) {
        constexpr std::string_view escapes = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
        if (take("u"))
            return put_utf8(text, read_character());
        std::size_t place = rest_.empty() ? escapes.npos : escapes.find(rest_[0]);
        if (place == escapes.npos)
            throw BadJson("an unknown escape");
        text += meanings[place];
        rest_.remove_prefix(1);
    }

    unsigned read_hex() {
        unsigned code = 0;
        std::string_view digits = rest_.substr(0, 4);
        const char *begin = digits.data(), *stop = begin + digits.size();
        if (std::from_chars(begin, stop, code, 16).ptr - begin != 4)
            throw BadJson("\\u without four digits");
        rest_.remove_prefix(4);
        return code;
    }

    // The character of a \u escape, or of two that are a surrogate pair. A lone surrogate is no
    // character, and becomes U+FFFD.
    unsigned read_character() {
        unsigned code = read_hex();
        if (code >> 10 == 0x36 && take("\\u")) {
            unsigned low = read_hex();
            return low >> 10 == 0x37 ? 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF) : 0xFFFD;
        }
        return code >> 11 == 0x1B ? 0xFFFD : code;
    }

    static void put_utf8(std::string &text, unsigned code) {
        int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        constexpr unsigned lead[] = {0, 0xC0, 0xE0, 0xF0};
        text += static_cast<char>(lead[more] | code >> 6 * more);
        while (more--)
            text += static_cast<char>(0x80 | (code >> 6 * more & 0x3F));
    }

    std::string_view rest_;
};

inline void write_text(std::string &out, std::string_view text) {
    out += '"';
    for (char letter : text) {
        if (letter == '"' || letter == '\\')
            out += '\\';
        if (static_cast<unsigned char>(letter) >= 0x20) {
            out += letter;
            continue;
        }
        constexpr char digits[] = "0123456789abcdef";
        out += {'\\', 'u', '0', '0', digits[letter >> 4], digits[letter & 15]};
    }
    out += '"';
}

// A number or a text as JSON; no other value is an id or a move.
inline void write_json(std::string &out, const Json &value) {
    if (!value.is_number())
        return write_text(out, value.text());
    out += value.is_integer() ? std::to_string(value.integer()) : std::to_string(value.number());
}

// The bytes of the UTF-8 character at the front of a text; 0 where none is there.
inline std::size_t character(std::string_view text) {
    constexpr unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned code = static_cast<unsigned char>(text[0]);
    std::size_t length = code < 0x80 ? 1 : code < 0xC0 ? 0 : code < 0xE0 ? 2 : code < 0xF0 ? 3 : 4;
    code &= 0xFFu >> length;
    for (std::size_t i = 1; i < length; i++) {
        if (i == text.size() || (text[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3F);
    }
    return code < least[length] || code > 0x10FFFF || code >> 11 == 0x1B ? 0 : length;
}

inline std::string next_note; // goes out with the next answer

// Sends a word with the move, for the record. Of several in one turn the last counts, and of a
// long one the first 1000 bytes. Bytes that are no character would spoil the line: out they stay.
inline void note(std::string_view text) {
    next_note.clear();
    for (text = text.substr(0, 1000); !text.empty();) {
        std::size_t length = character(text);
        next_note += text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
}

using Luck = std::mt19937_64;

inline std::unordered_map<std::string, Luck> lucks; // of the games that go on, by name
inline std::string game_at_hand;

// The random generator of the game at hand. It depends on the game's bot_seed and on nothing else.
inline Luck &luck() { return lucks[game_at_hand]; }

inline void start_game(const Json &start) {
    lucks[start["game"].text()].seed(static_cast<Luck::result_type>(start["bot_seed"].integer()));
}

// A bot: it gets the view and the legal moves, and returns one of these, or null to resign. Where
// the variant lists no moves, `legal` is empty.
using Choose = std::function<Json(const Json &view, const Json::List &legal)>;

inline void answer_turn(const Json &turn, const Choose &choose, std::string &out) {
    game_at_hand = turn["game"].text();
    const Json move = choose(turn["view"], turn["legal"].list());
    out += "{\"id\":";
    write_json(out, turn["id"]);
    out += move.is_null() ? ",\"type\":\"resign\"" : ",\"move\":";
    if (!move.is_null())
        write_json(out, move);
    if (!next_note.empty()) {
        out += ",\"note\":";
        write_text(out, std::exchange(next_note, ""));
    }
    out += "}\n";
}

inline Json read_message(std::string_view line) {
    try {
        return JsonReader(line).read_all();
    } catch (const BadJson &error) {
        std::cerr << "bot: " << error.what() << ": " << line.substr(0, 80) << '\n';
        return {};
    }
}

// Answers one line; false once the referee has said bye. What asks for no answer gets none.
inline bool answer(std::string_view line, const Choose &choose, std::string &out) {
    if (line.find_first_not_of(" \t\r") == line.npos)
        return true;
    const Json message = read_message(line);
    const std::string &type = message["type"].text();
    if (type == "turn")
        answer_turn(message, choose, out);
    else if (type == "start")
        start_game(message);
    else if (type == "over")
        lucks.erase(message["game"].text());
    else if (type == "hello")
        out += "{\"type\":\"hello\",\"protocol\":1,\"games_at_once\":64}\n";
    else if (type == "ping")
        out += "{\"type\":\"pong\"}\n";
    return type != "bye";
}

inline void send(std::string &out) {
    for (std::size_t done = 0; done < out.size();) {
        ssize_t sent = ::write(STDOUT_FILENO, out.data() + done, out.size() - done);
        if (sent < 0 && errno != EINTR)
            std::exit(EXIT_FAILURE); // the referee has hung up
        done += sent > 0 ? static_cast<std::size_t>(sent) : 0;
    }
    out.clear();
}

// Talks to the referee until it says bye or hangs up. What came in one read is answered in one
// write: with many games at once that saves time. But an answer that waits for others is on the
// clock, so none waits for longer than 10 ms.
inline int talk(const Choose &choose) {
    using Clock = std::chrono::steady_clock;
    std::vector<char> chunk(65536);
    std::string in, out;
    for (bool talking = true; talking;) {
        ssize_t got = ::read(STDIN_FILENO, chunk.data(), chunk.size());
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        std::size_t begin = 0, end = in.size(); // a line may have begun in an earlier read
        in.append(chunk.data(), static_cast<std::size_t>(got));
        auto since = Clock::now();
        while (talking && (end = in.find('\n', end)) != in.npos) {
            talking = answer(std::string_view(in).substr(begin, end - begin), choose, out);
            begin = ++end;
            if (Clock::now() - since > std::chrono::milliseconds(10)) {
                send(out);
                since = Clock::now();
            }
        }
        send(out);
        in.erase(0, begin);
    }
    return 0;
}

} // namespace referee
// --- end of protocol ---

#endif
