# How @NAME@ talks to the referee. There is nothing to change here: the moves are chosen in bot.rb.

# --- protocol ---
require "json"

# Protocol 1 of the referee: one JSON object a line, in UTF-8. Lines are read and answered here;
# the thinking is done by the block that `play` is given.
module Protocol
  HELLO = %({"type":"hello","protocol":1,"games_at_once":64}\n)
  PONG = %({"type":"pong"}\n)
  SEEDS = {} # of the games that go on, by name

  module_function

  # Talks to the referee until it says bye or hangs up. For each turn, the block is called with
  # the view and the legal moves (nil where there are too many to list) and returns a move, or nil
  # to resign.
  def play(&choose)
    STDIN.binmode
    STDOUT.binmode
    STDOUT.sync = true
    $stdout = $stderr # a plain puts goes there: stdout belongs to the referee
    rest = "".b
    talking = true
    while talking
      *lines, rest = (rest + STDIN.readpartial(65_536)).split("\n", -1)
      talking = reply_to(lines, &choose)
    end
  rescue EOFError
    # The referee hung up, which ends the bot as a bye does.
  end

  # Answers what came in one read in one write: with many games at once that saves time. But an
  # answer that waits for others is on the clock, so none waits for longer than 10 ms. Returns
  # whether the talk goes on.
  def reply_to(lines, &choose)
    answers, since, talking = +"", now, true
    lines.each do |line|
      if now - since > 0.01
        STDOUT.write(answers)
        answers, since = +"", now
      end
      message = line.strip.empty? ? {} : JSON.parse(line.force_encoding("UTF-8"))
      case message["type"]
      when "turn" then answers << answer(message, &choose)
      when "start" then SEEDS[message["game"]] = message["bot_seed"]
      when "over" then SEEDS.delete(message["game"])
      when "hello" then answers << HELLO
      when "ping" then answers << PONG
      when "bye" then break talking = false
      end
    end
    STDOUT.write(answers)
    talking
  end

  # Sends a word to the record with the next move; of several the last counts.
  def note(text)
    @note = text.to_s.encode("UTF-8", invalid: :replace, undef: :replace).scrub[0, 1000]
  end

  # The note as the last field of an answer, and of no other; "" where there is none.
  def take_note
    text, @note = @note.to_s, nil
    text.empty? ? "" : %(,"note":#{JSON.generate(text)})
  end

  # Seeds rand, sample and shuffle from the game's bot_seed and the count of its turns, and from
  # nothing else.
  def seed(game)
    srand(SEEDS[game] = SEEDS.fetch(game, 0) + 1)
  end

  # The line that answers a turn.
  def answer(turn)
    seed(turn["game"])
    move = yield(turn["view"], turn["legal"])
    field = take_note
    return %({"id":#{turn["id"]},"type":"resign"}\n) if move.nil?

    %({"id":#{turn["id"]},"move":#{JSON.generate(move)}#{field}}\n)
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
# --- end of protocol ---
