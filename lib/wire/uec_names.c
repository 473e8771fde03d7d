/* uec_names.c - names of UE 1.0 values. Spec: wire/uec.h. */
#include "causeway/wire/uec.h"

const struct cw_name cw_names_pds_type[] = {
	{CW_PDS_TSS, "TSS"},
	{CW_PDS_RUD, "RUD"},
	{CW_PDS_ROD, "ROD"},
	{CW_PDS_RUDI, "RUDI"},
	{CW_PDS_RUDI_RSP, "RUDI-response"},
	{CW_PDS_UUD, "UUD"},
	{CW_PDS_ACK, "ACK"},
	{CW_PDS_ACK_CC, "ACK_CC"},
	{CW_PDS_ACK_CCX, "ACK_CCX"},
	{CW_PDS_NACK, "NACK"},
	{CW_PDS_CTRL, "Control"},
	{CW_PDS_NACK_CCX, "NACK_CCX"},
	{CW_PDS_RUD_CC, "RUD_CC"},
	{CW_PDS_ROD_CC, "ROD_CC"},
	{0, NULL},
};

const struct cw_name cw_names_pds_next[] = {
	{CW_PDS_NEXT_NONE, "none"},
	{CW_PDS_NEXT_SMALL, "small"},
	{CW_PDS_NEXT_MEDIUM, "medium"},
	{CW_PDS_NEXT_STD, "standard"},
	{CW_PDS_NEXT_RSP, "response"},
	{CW_PDS_NEXT_RSP_DATA, "response-data"},
	{CW_PDS_NEXT_RSP_SMALL, "response-small"},
	{0, NULL},
};

const struct cw_name cw_names_pds_ctrl[] = {
	{0, "no-op"},          {1, "ACK-request"},   {2, "clear"}, {3, "clear-request"},
	{4, "close"},          {5, "close-request"}, {6, "probe"}, {7, "credit"},
	{8, "credit-request"}, {9, "negotiation"},   {0, NULL},
};

/* X(code, name, action) */
// clang-format off
#define NACKS(X)                                                                                   \
	X(0x01, "trimmed",                 RETRANSMIT)                                             \
	X(0x02, "trimmed-last-hop",        RETRANSMIT)                                             \
	X(0x03, "trimmed-ACK",             RETRANSMIT)                                             \
	X(0x04, "no-PDC",                  RETRANSMIT)                                             \
	X(0x05, "no-CCC",                  RETRANSMIT)                                             \
	X(0x06, "no-bitmap",               RETRANSMIT)                                             \
	X(0x07, "no-packet-buffer",        RETRANSMIT)                                             \
	X(0x08, "no-guaranteed-delivery",  RETRANSMIT)                                             \
	X(0x09, "no-SES-message",          RETRANSMIT)                                             \
	X(0x0a, "no-resource",             RETRANSMIT)                                             \
	X(0x0b, "PSN-out-of-window",       RETRANSMIT)                                             \
	X(0x0d, "ROD-out-of-order",        RETRANSMIT)                                             \
	X(0x0e, "bad-DPDCID",              CLOSE)                                                  \
	X(0x0f, "PDC-header-mismatch",     CLOSE)                                                  \
	X(0x10, "closing",                 CLOSE)                                                  \
	X(0x11, "closing-in-error",        CLOSE)                                                  \
	X(0x12, "packet-not-received",     RETRANSMIT)                                             \
	X(0x13, "guaranteed-response-gone", CLOSE)                                                 \
	X(0x14, "ACK-with-data",           RETRANSMIT)                                             \
	X(0x15, "invalid-SYN",             CLOSE)                                                  \
	X(0x16, "mode-mismatch",           CLOSE)                                                  \
	X(0x17, "new-start-PSN",           RETRANSMIT)                                             \
	X(0x18, "SES-processing",          IGNORE)                                                 \
	X(0x19, "unexpected",              CLOSE)                                                  \
	X(0x1a, "receiver-inferred-loss",  RETRANSMIT)                                             \
	X(0xfd, "experimental-normal",     RETRANSMIT)                                             \
	X(0xfe, "experimental-error",      RETRANSMIT)                                             \
	X(0xff, "experimental-fatal",      CLOSE)
// clang-format on

const struct cw_name cw_names_pds_nack[] = {
#define CW_X(code, name, action) {code, name},
	NACKS(CW_X)
#undef CW_X
		{0, NULL},
};

enum cw_pds_nack_action cw_pds_nack_action(uint32_t code)
{
	switch (code) {
#define CW_X(code, name, action) \
	case code:               \
		return CW_PDS_NACK_##action;
		NACKS(CW_X)
#undef CW_X
	default:
		return CW_PDS_NACK_UNKNOWN;
	}
}

const struct cw_name cw_names_pds_ack_req[] = {
	{0, "none"},
	{1, "clear"},
	{2, "close"},
	{0, NULL},
};

const struct cw_name cw_names_pds_cc_type[] = {
	{CW_PDS_CC_NSCC, "NSCC"},
	{CW_PDS_CC_CREDIT, "credit"},
	{0, NULL},
};

const struct cw_name cw_names_ses_opcode[] = {
	{0x00, "no-op"},
	{0x01, "write"},
	{0x02, "read"},
	{0x03, "atomic"},
	{0x04, "fetch-atomic"},
	{0x05, "send"},
	{0x06, "rendezvous-send"},
	{0x07, "datagram-send"},
	{0x08, "deferrable-send"},
	{0x09, "tagged-send"},
	{0x0a, "rendezvous-tagged-send"},
	{0x0b, "deferrable-tagged-send"},
	{0x0c, "deferrable-RTR"},
	{0x0d, "tagged-send-atomic"},
	{0x0e, "tagged-send-fetch-atomic"},
	{0x0f, "message-error"},
	{0x10, "sync-write"},
	{0x11, "sync-atomic"},
	{0, NULL},
};

const struct cw_name cw_names_ses_amo[] = {
	{0x00, "min"},        {0x01, "max"},      {0x02, "sum"},      {0x03, "diff"},
	{0x04, "prod"},       {0x05, "lor"},      {0x06, "land"},     {0x07, "bor"},
	{0x08, "band"},       {0x09, "lxor"},     {0x0a, "bxor"},     {0x0b, "read"},
	{0x0c, "write"},      {0x0d, "cswap"},    {0x0e, "cswap-ne"}, {0x0f, "cswap-le"},
	{0x10, "cswap-lt"},   {0x11, "cswap-ge"}, {0x12, "cswap-gt"}, {0x13, "mswap"},
	{0x14, "invalidate"}, {0, NULL},
};

const struct cw_name cw_names_ses_list[] = {{0, "expected"}, {1, "overflow"}, {0, NULL}};

const struct cw_name cw_names_ses_rsp_op[] = {
	{0, "default"}, {1, "response"}, {2, "with-data"}, {3, "none"}, {0, NULL},
};

const struct cw_name cw_names_ses_rc[] = {
	{0x00, "null"},
	{0x01, "ok"},
	{0x02, "bad-generation"},
	{0x03, "disabled"},
	{0x04, "disabled-generation"},
	{0x05, "no-match"},
	{0x06, "unsupported-operation"},
	{0x07, "unsupported-size"},
	{0x08, "AT-invalid"},
	{0x09, "AT-permission"},
	{0x0a, "AT-ATS-error"},
	{0x0b, "AT-no-translation"},
	{0x0c, "AT-out-of-range"},
	{0x0d, "host-poisoned"},
	{0x0e, "host-unsuccessful-completion"},
	{0x0f, "AMO-unsupported-operation"},
	{0x10, "AMO-unsupported-datatype"},
	{0x11, "AMO-unsupported-size"},
	{0x12, "AMO-unaligned"},
	{0x13, "AMO-FP-NaN"},
	{0x14, "AMO-FP-underflow"},
	{0x15, "AMO-FP-overflow"},
	{0x16, "AMO-FP-inexact"},
	{0x17, "permission-violation"},
	{0x18, "operation-violation"},
	{0x19, "bad-index"},
	{0x1a, "bad-PID"},
	{0x1b, "bad-JobID"},
	{0x1c, "bad-memory-key"},
	{0x1d, "bad-address"},
	{0x1e, "cancelled"},
	{0x1f, "undeliverable"},
	{0x20, "uncorrectable"},
	{0x21, "uncorrectable-transient"},
	{0x22, "too-long"},
	{0x23, "initiator-error"},
	{0x24, "dropped"},
	{0, NULL},
};
