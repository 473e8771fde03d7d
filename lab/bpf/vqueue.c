/* vqueue.c - ECN marking by queue depth for kernels without RED, CoDel or PIE (RFC 3168, RFC 7141).
 *
 * A virtual queue: every octet that leaves joins it, and it drains at RATE octets a second, so it is
 * as deep as the shaper's queue behind it (tbf at the same rate). ECN-capable packets are marked
 * with a probability that grows from 0 at KMIN octets to 1 at KMAX, as RED does.
 * Compile with -g (the map needs BTF), -DRATE=, -DKMIN=, -DKMAX=.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#define SECTION(name) __attribute__((section(name), used))

static void *(*lookup)(void *map, const void *key) = (void *)1;
static __u64 (*now)(void) = (void *)5;
static __u32 (*random32)(void) = (void *)7;
static long (*ecn_set_ce)(struct __sk_buff *skb) = (void *)97;

struct queue {
	__u64 at, octets;
};

struct {
	int (*type)[BPF_MAP_TYPE_ARRAY];
	int (*max_entries)[1];
	__u32 *key;
	struct queue *value;
} queues SECTION(".maps");

SECTION("tc/vqueue") int vqueue(struct __sk_buff *skb)
{
	__u32 zero = 0;
	struct queue *q = lookup(&queues, &zero);
	__u64 t = now(), gone;

	if (q == 0)
		return TC_ACT_OK;
	gone = t - q->at > 1000000000 ? q->octets : (t - q->at) * RATE / 1000000000;
	q->octets = (q->octets > gone ? q->octets - gone : 0) + skb->len;
	q->at = t;
	if (q->octets > KMIN && random32() % (KMAX - KMIN) < q->octets - KMIN)
		ecn_set_ce(skb); /* leaves what is not ECN-capable alone */
	return TC_ACT_OK;
}

char _license[] SECTION("license") = "Dual BSD/GPL";
