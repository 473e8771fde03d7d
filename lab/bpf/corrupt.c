/* corrupt.c - a bad cable: one bit of one large packet of 128 is turned over, at random.
 *
 * `tc` attaches `corrupt` to an egress. The bit is in the last 64 octets, so that headers are right
 * and only the ICRC can tell; packets of a connection set-up are smaller than 300 octets.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#define SECTION(name) __attribute__((section(name), used))

static __u32 (*random32)(void) = (void *)7;
static long (*store)(struct __sk_buff *skb, __u32 off, const void *from, __u32 len,
		     __u64 flags) = (void *)9;
static long (*load)(const struct __sk_buff *skb, __u32 off, void *to, __u32 len) = (void *)26;

SECTION("tc/corrupt") int corrupt(struct __sk_buff *skb)
{
	__u32 r = random32(), off = skb->len - 1 - (r >> 8 & 63);
	__u8 octet;

	if (skb->len < 300 || (r & 127) != 0)
		return TC_ACT_OK;
	if (load(skb, off, &octet, 1) < 0)
		return TC_ACT_OK;
	octet ^= (__u8)(1u << (r >> 16 & 7));
	return store(skb, off, &octet, 1, 0) < 0 ? TC_ACT_SHOT : TC_ACT_OK;
}

char _license[] SECTION("license") = "Dual BSD/GPL";
