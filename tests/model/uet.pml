/* uet.pml - the send / Ack / Nack / retransmit rules of the UET engine, small enough to see whole.
 *
 * One sender, one receiver, MESSAGES messages of PACKETS packets each over channels that lose,
 * duplicate and reorder. The receiver may lack a buffer (Nack, try again) and remembers which
 * messages are over. Losses, duplicates and refusals are bounded, so that the state space is.
 *
 * Claims, as assertions and one temporal property:
 *   - a message is delivered when all of its packets are there, not earlier, and once;
 *   - the sender ends a message only when it was delivered;
 *   - an Ack never tells of a packet that did not arrive;
 *   - <> done: with finitely many losses everything arrives (checked with weak fairness).
 */
#define MESSAGES 2
#define PACKETS  2
#define LOSSES   2
#define DUPS     1
#define REFUSALS 1
#define ALL      ((1 << PACKETS) - 1)

mtype = { DATA, ACK, NACK };

/* kind, message, packet, bitmap, complete */
chan net = [4] of { mtype, byte, byte, byte, bool };
chan back = [4] of { mtype, byte, byte, byte, bool };

byte losses, dups, refusals;
byte sent[MESSAGES];    /* by the sender: packets sent and not known lost */
byte acked[MESSAGES];   /* known to be there */
byte here[MESSAGES];    /* at the receiver */
bool has_buffer[MESSAGES], over[MESSAGES], finished[MESSAGES];
byte delivered[MESSAGES];
bool done;

/* Only the assertions look at it: which packets came out of the network. */
byte came[MESSAGES];

/* A packet is put on the channel, lost, or put there twice. */
inline put(c, kind, m, p, bits, whole)
{
	if
	:: nfull(c) -> c!kind, m, p, bits, whole
	:: losses < LOSSES -> losses++
	:: dups < DUPS && len(c) < 3 -> dups++; c!kind, m, p, bits, whole; c!kind, m, p, bits, whole
	fi
}

active proctype sender()
{
	byte m, p, bits;
	mtype kind;
	bool whole;

	do
	:: atomic { finished[0] && finished[1] -> done = true; break }
	/* a packet not sent yet, or sent again after a timeout or inferred loss */
	:: atomic {
		!(finished[0] && finished[1]) && len(net) == 0 && len(back) == 0 ->
		if
		:: !finished[0] && !(acked[0] & 1) -> m = 0; p = 0
		:: !finished[0] && !(acked[0] & 2) -> m = 0; p = 1
		:: !finished[1] && !(acked[1] & 1) -> m = 1; p = 0
		:: !finished[1] && !(acked[1] & 2) -> m = 1; p = 1
		fi;
		sent[m] = sent[m] | (1 << p);
		put(net, DATA, m, p, 0, false)
	   }
	/* more packets while others are on the way */
	:: atomic {
		nfull(net) && len(net) > 0 && sent[0] != ALL ->
		p = (sent[0] & 1 -> 1 : 0);
		sent[0] = sent[0] | (1 << p);
		put(net, DATA, 0, p, 0, false)
	   }
	:: atomic {
		nfull(net) && len(net) > 0 && sent[1] != ALL ->
		p = (sent[1] & 1 -> 1 : 0);
		sent[1] = sent[1] | (1 << p);
		put(net, DATA, 1, p, 0, false)
	   }
	/* any answer on the way may be the next to come: paths reorder */
	:: atomic {
		back??[kind, m, p, bits, whole] ->
		if
		:: back?kind, m, p, bits, whole
		:: len(back) > 1 -> back?kind, m, p, bits, whole; back!kind, m, p, bits, whole;
		   back?kind, m, p, bits, whole
		fi;
		if
		:: kind == ACK && !finished[m] ->
			acked[m] = acked[m] | bits;
			if
			:: whole -> acked[m] = ALL
			:: else
			fi;
			assert((acked[m] & ~came[m]) == 0);
			if
			:: acked[m] == ALL -> assert(delivered[m] > 0); finished[m] = true
			:: else
			fi
		:: else /* a Nack, or late: the packet is sent again when nothing moves */
		fi
	   }
	od
}

active proctype receiver()
{
	byte m, p, bits;
	mtype kind;
	bool whole;

end:	do
	:: atomic {
		net??[kind, m, p, bits, whole] ->
		if
		:: net?kind, m, p, bits, whole
		:: len(net) > 1 -> net?kind, m, p, bits, whole; net!kind, m, p, bits, whole;
		   net?kind, m, p, bits, whole
		fi;
		came[m] = came[m] | (1 << p);
		if
		:: over[m] -> put(back, ACK, m, p, 0, true)
		:: !over[m] && !has_buffer[m] && refusals < REFUSALS ->
			refusals++;
			put(back, NACK, m, p, 0, false)
		:: !over[m] ->
			has_buffer[m] = true;
			here[m] = here[m] | (1 << p);
			if
			:: here[m] == ALL ->
				delivered[m]++;
				assert(came[m] == ALL);
				assert(delivered[m] == 1);
				over[m] = true;
				put(back, ACK, m, p, ALL, true)
			:: else -> put(back, ACK, m, p, here[m], false)
			fi
		fi
	   }
	od
}

ltl arrives { <> done }
