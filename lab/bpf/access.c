/* access.c - makes a bridge port an access port of one VLAN, for kernels without VLAN filtering.
 *
 * Compile with -DVID=N for the BPF target; `tc` attaches `untag` to the port's egress and `tag` to
 * its ingress. Towards the station: frames of VLAN N, without their tag; everything else stops
 * here. From the station: the tag goes on.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#define SECTION(name) __attribute__((section(name), used))

/* Helper functions, by their numbers in linux/bpf.h. */
static long (*vlan_push)(struct __sk_buff *skb, __u16 proto, __u16 tci) = (void *)18;
static long (*vlan_pop)(struct __sk_buff *skb) = (void *)19;

SECTION("tc/untag") int untag(struct __sk_buff *skb)
{
	if (!skb->vlan_present || (skb->vlan_tci & 0xfff) != VID)
		return TC_ACT_SHOT;
	return vlan_pop(skb) < 0 ? TC_ACT_SHOT : TC_ACT_OK;
}

SECTION("tc/tag") int tag(struct __sk_buff *skb)
{
	return vlan_push(skb, __builtin_bswap16(0x8100), VID) < 0 ? TC_ACT_SHOT : TC_ACT_OK;
}

char _license[] SECTION("license") = "Dual BSD/GPL";
