/* mark.c - the congested router: CE on ECN-capable packets of odd UDP source ports (RFC 3168 5).
 *
 * `tc` attaches `mark` to an egress. Which packets are marked depends on nothing but the packet, so
 * the receiver can check each. Not-ECT packets are never marked; the IPv4 header checksum is
 * updated, the UDP checksum does not cover the field.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#define SECTION(name) __attribute__((section(name), used))

static long (*store)(struct __sk_buff *skb, __u32 off, const void *from, __u32 len,
		     __u64 flags) = (void *)9;
static long (*load)(const struct __sk_buff *skb, __u32 off, void *to, __u32 len) = (void *)26;
static long (*l3_csum_replace)(struct __sk_buff *skb, __u32 off, __u64 from, __u64 to,
			       __u64 size) = (void *)10;

#define ETH 14

static int mark4(struct __sk_buff *skb)
{
	__u16 sport, old, new;
	__u8 head[2];

	if (load(skb, ETH, head, 2) < 0 || load(skb, ETH + 20, &sport, 2) < 0)
		return TC_ACT_OK;
	if (!(sport & __builtin_bswap16(1)) || (head[1] & 3) == 0 || (head[1] & 3) == 3)
		return TC_ACT_OK;
	__builtin_memcpy(&old, head, 2);
	head[1] |= 3;
	__builtin_memcpy(&new, head, 2);
	if (store(skb, ETH, head, 2, 0) < 0)
		return TC_ACT_SHOT;
	return l3_csum_replace(skb, ETH + 10, old, new, 2) < 0 ? TC_ACT_SHOT : TC_ACT_OK;
}

static int mark6(struct __sk_buff *skb)
{
	__u16 sport;
	__u8 second;

	if (load(skb, ETH + 1, &second, 1) < 0 || load(skb, ETH + 40, &sport, 2) < 0)
		return TC_ACT_OK;
	if (!(sport & __builtin_bswap16(1)) || (second & 0x30) == 0 || (second & 0x30) == 0x30)
		return TC_ACT_OK;
	second |= 0x30;
	return store(skb, ETH + 1, &second, 1, 0) < 0 ? TC_ACT_SHOT : TC_ACT_OK;
}

SECTION("tc/mark") int mark(struct __sk_buff *skb)
{
	if (skb->protocol == __builtin_bswap16(0x0800))
		return mark4(skb);
	if (skb->protocol == __builtin_bswap16(0x86dd))
		return mark6(skb);
	return TC_ACT_OK;
}

char _license[] SECTION("license") = "Dual BSD/GPL";
