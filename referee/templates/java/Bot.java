/*
 * @NAME@. The method `choose` is the bot: edit it. Needs Java 11 or newer.
 *
 * Print for yourself with System.err: stdout belongs to the referee.
 */

import java.io.IOException;
import java.util.List;

class Bot extends Protocol {
    /**
     * The move to play: one of `legal`, or null to resign.
     *
     * `view` is all that you may know of the game. `legal` lists the legal moves, numbers or
     * texts; it is null where a variant has too many to list.
     *
     * `luck` is a java.util.Random that draws from the game's bot_seed.
     * `note("…")` sends a word to the record; `referee watch` shows it.
     */
    @Override
    Json choose(Json view, List<Json> legal) {
        // protocol.md lists the fields of each variant's view. In underdog, for example:
        //     int[] mine = view.get("mine", "numbers").asInts(); // {1, 2, 5}: what you have left
        //     int points = view.get("theirs", "points").asInt();
        // A move can also be made from a number or a text: Json.of(5), Json.of("+5").
        if (legal == null || legal.isEmpty()) {
            return null;
        }
        return legal.get(luck.nextInt(legal.size()));
    }

    public static void main(String[] words) throws IOException {
        new Bot().play();
    }
}
