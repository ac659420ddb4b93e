/*
 * How a bot talks to the referee, and a small reader of JSON, which Java has not. There is no
 * need to change this file.
 *
 * What can be asked of a `Json` value: get, isNull, isText, asInt, asLong, asInts, asText, asList,
 * asDouble, asBoolean. Printed, it is JSON again.
 */

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;

// --- protocol ---
/**
 * How a bot talks to the referee. The bot extends this class and thinks in {@code choose};
 * {@code answer} knows the messages and not where they come from, {@code play} the pipes.
 */
abstract class Protocol {
    private static final String HELLO =
            "{\"type\":\"hello\",\"protocol\":1,\"games_at_once\":64}\n";
    private static final String PONG = "{\"type\":\"pong\"}\n";
    private static final String BYE = null;

    /** An answer that waits for others is on the clock, so none waits for longer than this. */
    private static final long PATIENCE_NS = 10_000_000;

    /** Of the game at hand. It depends on the game's bot_seed and on nothing else. */
    Random luck = new Random(0);

    /** Of the games that go on, by name. */
    private final Map<Json, Random> lucks = new HashMap<>();

    /** Goes out with the next answer; "" for nothing. */
    private String note = "";

    /** The move to play, or null to resign; {@code legal} is null where there are too many. */
    abstract Json choose(Json view, List<Json> legal);

    /**
     * Sends a word with the move, for the record. Of several in one turn the last counts, and of a
     * long one the first 1000 characters. Half a character becomes a question mark on its way.
     */
    final void note(String text) {
        int count = Math.min(1000, text.codePointCount(0, text.length()));
        String cut = text.substring(0, text.offsetByCodePoints(0, count));
        note = new String(cut.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }

    /** The answer to one line of the referee: a line, "" where none is due, BYE at the end. */
    final String answer(byte[] bytes, int begin, int end) {
        Json message = Json.read(bytes, begin, end);
        Json type = message.get("type");
        switch (type.isText() ? type.asText() : "") {
            case "turn":
                luck = lucks.getOrDefault(message.get("game"), luck);
                Json legal = message.get("legal");
                Json move = choose(message.get("view"), legal.isNull() ? null : legal.asList());
                return answer(message.get("id"), move == null ? Json.NULL : move);
            case "start":
                lucks.put(message.get("game"), new Random(message.get("bot_seed").asLong()));
                return "";
            case "over":
                lucks.remove(message.get("game"));
                return "";
            case "hello": return HELLO;
            case "ping": return PONG;
            case "bye": return BYE;
            default: return ""; // error, and whatever a later referee may say
        }
    }

    private String answer(Json id, Json move) {
        StringBuilder out = new StringBuilder("{\"id\":").append(id);
        if (move.isNull()) {
            out.append(",\"type\":\"resign\"");
        } else {
            out.append(",\"move\":").append(move);
        }
        if (!note.isEmpty()) {
            out.append(",\"note\":").append(Json.of(note));
            note = "";
        }
        return out.append("}\n").toString();
    }

    /**
     * Talks to the referee over stdin and stdout until it says bye or hangs up. What came in one
     * read is answered in one write: with many games at once that saves time.
     */
    final void play() throws IOException {
        InputStream in = new FileInputStream(FileDescriptor.in);
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        System.setOut(System.err); // a stray line on stdout would lose the game
        byte[] bytes = new byte[1 << 16];
        int held = 0; // so many bytes are the beginning of a line that is not all there
        int came;
        while ((came = in.read(bytes, held, bytes.length - held)) >= 0) {
            StringBuilder answers = new StringBuilder();
            long since = System.nanoTime();
            int begin = 0;
            int end = held + came;
            for (int at = held; at < end; at++) {
                if (bytes[at] != '\n') {
                    continue;
                }
                String said = answer(bytes, begin, at);
                begin = at + 1;
                if (said == BYE) {
                    send(out, answers);
                    return;
                }
                answers.append(said);
                if (System.nanoTime() - since > PATIENCE_NS) {
                    send(out, answers);
                    since = System.nanoTime();
                }
            }
            send(out, answers);
            held = end - begin;
            System.arraycopy(bytes, begin, bytes, 0, held);
            if (held == bytes.length) {
                bytes = Arrays.copyOf(bytes, 2 * held);
            }
        }
    }

    private static void send(OutputStream out, StringBuilder answers) throws IOException {
        if (answers.length() > 0) {
            out.write(answers.toString().getBytes(StandardCharsets.US_ASCII));
            answers.setLength(0);
        }
    }

    /** A JSON value: an object, a list, a text, a number, true, false or null. */
    static final class Json {
        static final Json NULL = new Json(null);

        /** A Map of String to Json, a List of Json, String, Long, Double, Boolean or null. */
        private final Object value;

        private Json(Object value) {
            this.value = value;
        }

        static Json of(long number) {
            return new Json(number);
        }

        static Json of(String text) {
            return new Json(text);
        }

        /** The value that a part of the bytes stands for, NULL where it is blank. */
        static Json read(byte[] text, int begin, int end) {
            JsonReader reader = new JsonReader(text, begin, end);
            return reader.next() == 0 ? NULL : reader.value();
        }

        /** The field of an object, or of an object in it, and so on; NULL where there is none. */
        Json get(String... path) {
            Json found = this;
            for (String key : path) {
                Object fields = found.value;
                Object field = fields instanceof Map ? ((Map<?, ?>) fields).get(key) : null;
                found = field == null ? NULL : (Json) field;
            }
            return found;
        }

        boolean isNull() { return value == null; }
        boolean isText() { return value instanceof String; }
        boolean asBoolean() { return as(Boolean.class); }
        int asInt() { return Math.toIntExact(as(Long.class)); }
        long asLong() { return as(Long.class); }
        double asDouble() { return as(Number.class).doubleValue(); }
        String asText() { return as(String.class); }

        @SuppressWarnings("unchecked") // the reader puts nothing else into a list
        List<Json> asList() {
            return as(List.class);
        }

        int[] asInts() {
            List<Json> list = asList();
            int[] numbers = new int[list.size()];
            for (int i = 0; i < numbers.length; i++) {
                numbers[i] = list.get(i).asInt();
            }
            return numbers;
        }

        private <T> T as(Class<T> kind) {
            if (!kind.isInstance(value)) {
                throw new IllegalStateException(this + " is no " + kind.getSimpleName());
            }
            return kind.cast(value);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Json && Objects.equals(value, ((Json) other).value);
        }

        @Override
        public int hashCode() {
            return Objects.hashCode(value);
        }

        /** The value as JSON text, in ASCII. */
        @Override
        public String toString() {
            if (isText()) {
                return quoted((String) value);
            }
            if (!(value instanceof Map)) { // a list writes itself as JSON does
                return String.valueOf(value);
            }
            StringBuilder out = new StringBuilder();
            for (Map.Entry<?, ?> field : ((Map<?, ?>) value).entrySet()) {
                out.append(out.length() == 0 ? "{" : ",").append(quoted((String) field.getKey()));
                out.append(':').append(field.getValue());
            }
            return out.append(out.length() == 0 ? "{}" : "}").toString();
        }

        private static String quoted(String text) {
            StringBuilder out = new StringBuilder("\"");
            for (int i = 0; i < text.length(); i++) {
                char c = text.charAt(i);
                if (c < ' ' || c > '~') {
                    out.append("\\u").append(Integer.toHexString(0x10000 + c).substring(1));
                } else if (c == '"' || c == '\\') {
                    out.append('\\').append(c);
                } else {
                    out.append(c);
                }
            }
            return out.append('"').toString();
        }
    }

    /** Reads JSON in UTF-8, value by value. What the referee sends is good JSON. */
    private static final class JsonReader {
        private final byte[] text;
        private final int end;
        private int at;

        JsonReader(byte[] text, int begin, int end) {
            this.text = text;
            this.end = end;
            at = begin;
        }

        Json value() {
            switch (next()) {
                case '{': return new Json(object());
                case '[': return new Json(list());
                case '"': return new Json(string());
                case 't': return word("true", true);
                case 'f': return word("false", false);
                case 'n': return word("null", null);
                default: return number();
            }
        }

        private Map<String, Json> object() {
            Map<String, Json> fields = new LinkedHashMap<>();
            at++;
            while (next() != '}') {
                if (!fields.isEmpty()) {
                    expect(',');
                }
                String key = string();
                expect(':');
                fields.put(key, value());
            }
            at++;
            return fields;
        }

        private List<Json> list() {
            List<Json> values = new ArrayList<>();
            at++;
            while (next() != ']') {
                if (!values.isEmpty()) {
                    expect(',');
                }
                values.add(value());
            }
            at++;
            return values;
        }

        private String string() {
            expect('"');
            int begin = at;
            StringBuilder out = null; // most texts have no escape and are taken as they are
            for (byte c = text[at++]; c != '"'; c = text[at++]) {
                if (c == '\\') {
                    out = out == null ? new StringBuilder() : out;
                    out.append(decoded(begin, at - 1)).append(escape());
                    begin = at;
                }
            }
            String last = decoded(begin, at - 1);
            return out == null ? last : out.append(last).toString();
        }

        private char escape() {
            byte c = text[at++];
            if (c == 'u') {
                at += 4;
                return (char) Integer.parseInt(decoded(at - 4, at), 16);
            }
            return "\"\\/\b\f\n\r\t".charAt("\"\\/bfnrt".indexOf(c));
        }

        private Json number() {
            int begin = at;
            boolean minus = text[at] == '-';
            long whole = 0;
            for (at += minus ? 1 : 0; at < end && isDigit(text[at]); at++) {
                whole = 10 * whole + text[at] - '0';
            }
            int point = at;
            while (at < end && (isDigit(text[at]) || ".eE+-".indexOf(text[at]) >= 0)) {
                at++;
            }
            if (point == at && begin < at && at < begin + 19) { // a long has room for 18 digits
                return new Json(minus ? -whole : whole);
            }
            return new Json(Double.valueOf(decoded(begin, at)));
        }

        private Json word(String word, Object value) {
            at += word.length();
            return new Json(value);
        }

        /** The next byte that is no space, not yet taken; 0 at the end. */
        private byte next() {
            while (at < end && 0 < text[at] && text[at] <= ' ') {
                at++;
            }
            return at < end ? text[at] : 0;
        }

        private void expect(char due) {
            if (next() != due) {
                throw new IllegalArgumentException("no " + due + " in " + decoded(at, end));
            }
            at++;
        }

        private static boolean isDigit(byte c) {
            return '0' <= c && c <= '9';
        }

        private String decoded(int from, int to) {
            return new String(text, from, to - from, StandardCharsets.UTF_8);
        }
    }
}
// --- end of protocol ---
