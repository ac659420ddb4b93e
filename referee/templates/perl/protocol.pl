# How @NAME@ talks to the referee. There is nothing to change here: the moves are chosen in bot.pl.

use strict;
use warnings;

# --- protocol ---
# Protocol 1 of the referee: one JSON object a line, in UTF-8. Lines are read and answered here;
# the thinking is done by the function that `play` is given.

package Protocol {
    use IO::Handle ();
    use JSON::PP   ();

    my $json_in  = JSON::PP->new->utf8;
    my $json_out = JSON::PP->new->ascii->allow_nonref;
    my $note     = '';
    my %luck;    # of the games that go on, by name: what rand is seeded with

    # Talks to the referee until it says bye or hangs up. For each turn, the function is called
    # with the view and the legal moves (undef where there are too many to list) and returns a
    # move, or undef to resign.
    sub play {
        my ($choose) = @_;
        binmode STDIN;
        binmode STDOUT;
        STDOUT->autoflush(1);
        select STDERR;    # a plain print goes there: stdout belongs to the referee
        while (my $line = <STDIN>) {
            last if $line !~ /\n\z/;    # cut short by the end of the input
            next if $line !~ /\S/;
            my $message = $json_in->decode($line);
            my $type    = $message->{type} // '';
            last if $type eq 'bye';
            print STDOUT reply($type, $message, $choose);
        }
        return;
    }

    # The line that answers a message; nothing where none is due.
    sub reply {
        my ($type, $message, $choose) = @_;
        return answer($message, $choose) if $type eq 'turn';
        $luck{ $message->{game} } = $message->{bot_seed} if $type eq 'start';
        delete $luck{ $message->{game} } if $type eq 'over';
        return qq({"type":"hello","protocol":1,"games_at_once":64}\n) if $type eq 'hello';
        return qq({"type":"pong"}\n) if $type eq 'ping';
        return '';
    }

    # Sends a word to the record with the next move; of several the last counts.
    sub note {
        my ($text) = @_;
        $note = $text // '';
        utf8::decode($note);    # a text that was written without `use utf8` comes as bytes
        $note =~ tr/\x{0}-\x{D7FF}\x{E000}-\x{10FFFF}/\x{FFFD}/c;    # what is no character
        $note = substr $note, 0, 1000;
        return;
    }

    # The note as the last field of an answer, and of no other; nothing where there is none.
    sub take_note {
        my $field = $note eq '' ? '' : ',"note":' . $json_out->encode($note);
        $note = '';
        return $field;
    }

    # Seeds rand from the game's bot_seed and the count of its turns, and from nothing else.
    sub seed {
        my ($game) = @_;
        use integer;
        $luck{$game} = ($luck{$game} // 0) * 6364136223846793005 + 1442695040888963407;
        srand($luck{$game} >> 33 & 0x7fffffff);
        return;
    }

    # The line that answers a turn.
    sub answer {
        my ($turn, $choose) = @_;
        my $legal = $turn->{legal};
        seed($turn->{game});
        my $move  = $choose->($turn->{view}, $legal && [@$legal]);
        my $field = take_note();
        return qq({"id":$turn->{id},"type":"resign"}\n) if !defined $move;

        # Perl may turn a number that was used as a text into one, and "5" is no legal move where
        # 5 is. So a legal move goes back as it came; the copy keeps it from being used here.
        my ($same) = grep { my $copy = $_; $copy eq $move } @{ $legal // [] };
        my $word = $json_out->encode($same // $move);
        return qq({"id":$turn->{id},"move":$word$field}\n);
    }
}
# --- end of protocol ---

1;
