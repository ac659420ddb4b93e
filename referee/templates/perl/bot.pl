# @NAME@: a bot for the referee. Change choose(); protocol.pl does the rest.

use strict;
use warnings;
use FindBin;
require "$FindBin::Bin/protocol.pl";

# The move to play, or undef to resign.
#
# $view is all that you may know, as protocol.md describes it for each variant. For example:
#     my $points  = $view->{mine}{points};            # a number
#     my @numbers = @{ $view->{theirs}{numbers} };    # a list
#     my $last    = $view->{theirs}{last} // 0;       # undef where it is null
# $legal is the list of the legal moves: return one of them. It is undef where a variant has too
# many to list. To see what you think, print it: it goes to stderr.
# rand draws from the game's bot_seed: protocol.pl seeds it before every turn.
# `Protocol::note("…")` sends a word to the record; `referee watch` shows it.
sub choose {
    my ($view, $legal) = @_;
    return undef if !$legal || !@$legal;
    return $legal->[ rand @$legal ];
}

Protocol::play(\&choose);
