/* pci.h - PCI devices as the kernel knows them: what a port's address means, and why DPDK did not
 * take a device. */
#ifndef DAEMON_IO_PCI_H
#define DAEMON_IO_PCI_H

#include <stdbool.h>
#include <stddef.h>

#define CW_PCI_DEVICES "/sys/bus/pci/devices"
#define CW_PCI_NAME    32

/* The full form of a PCI address, 0000:3b:00.0, of what DPDK takes for one: 3b:00.0, pci:3b:00.0.
 * False: it is none. */
bool cw_pci_name(const char *text, char name[CW_PCI_NAME]);

/* Keep a device for this process, as long as the descriptor is open: VFIO does that too, UIO does
 * not. -1 with EWOULDBLOCK: another process that asked has it. */
int cw_pci_claim(const char *devices, const char *name);

/* Writes into `why` what keeps DPDK from a device, and what helps. `devices` is CW_PCI_DEVICES;
 * `physical` tells whether DPDK gives devices physical addresses. False: nothing is to be seen
 * there. */
bool cw_pci_explain(const char *devices, const char *name, bool physical, char *why, size_t size);

#endif
