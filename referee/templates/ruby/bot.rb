# @NAME@: a bot for the referee. Change choose; protocol.rb does the rest.

require_relative "protocol"

# The move to play, or nil to resign.
#
# view is all that you may know, as protocol.md describes it for each variant. For example:
#     points = view["mine"]["points"]         # a number
#     numbers = view["theirs"]["numbers"]     # an array
#     last = view["theirs"]["last"]           # nil where it is null
# legal is the array of the legal moves: return one of them. It is nil where a variant has too many
# to list. To see what you think, puts it: it goes to stderr.
# sample, shuffle and rand draw from the game's bot_seed: protocol.rb seeds them before every turn.
# `Protocol.note("…")` sends a word to the record; `referee watch` shows it.
def choose(view, legal)
  legal&.sample
end

Protocol.play { |view, legal| choose(view, legal) }
