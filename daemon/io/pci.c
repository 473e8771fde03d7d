/* pci.c - PCI devices as the kernel knows them. See pci.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <rte_pci.h>
#include "daemon/io/pci.h"

bool cw_pci_name(const char *text, char name[CW_PCI_NAME])
{
	struct rte_pci_addr addr;

	if (strncmp(text, "pci:", 4) == 0)
		text += 4;
	if (rte_pci_addr_parse(text, &addr) != 0)
		return false;
	rte_pci_device_name(&addr, name, CW_PCI_NAME);
	return true;
}

int cw_pci_claim(const char *devices, const char *name)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", devices, name);
	if ((fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	errno = EWOULDBLOCK;
	return -1;
}

/* Last part of what a link of the device leads to; false: there is no such link. */
static bool link_of(const char *devices, const char *name, const char *link, char out[64])
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *last;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s/%s", devices, name, link);
	if ((n = readlink(path, target, sizeof(target) - 1)) <= 0)
		return false;
	target[n] = '\0';
	last = strrchr(target, '/');
	snprintf(out, 64, "%.63s", last != NULL ? last + 1 : target);
	return true;
}

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list != NULL; list++) {
		if (strcmp(word, *list) == 0)
			return true;
	}
	return false;
}

/* VFIO: a group of devices belongs to one process, and needs all of its devices to be free. */
static bool explain_group(const char *devices, const char *name, char *why, size_t size)
{
	struct vfio_group_status status = {.argsz = sizeof(status)};
	char group[64], path[96];
	int fd, err;

	if (!link_of(devices, name, "iommu_group", group))
		return false;
	snprintf(path, sizeof(path), "/dev/vfio/%s", group);
	fd = open(path, O_RDWR | O_CLOEXEC);
	err = errno;
	if (fd >= 0 && ioctl(fd, VFIO_GROUP_GET_STATUS, &status) == 0 &&
	    (status.flags & VFIO_GROUP_FLAGS_VIABLE) == 0)
		snprintf(why, size,
			 "PCI device %s shares IOMMU group %s with devices that the kernel still "
			 "drives: bind them to vfio-pci, too",
			 name, group);
	else if (fd < 0 && err == EBUSY)
		snprintf(why, size, "PCI device %s is in use by another process (%s is busy)", name,
			 path);
	else if (fd < 0)
		snprintf(why, size, "PCI device %s: %s: %s", name, path, strerror(err));
	if (fd >= 0)
		close(fd);
	return why[0] != '\0';
}

static bool exists(const char *devices, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", devices, name);
	return access(path, F_OK) == 0;
}

bool cw_pci_explain(const char *devices, const char *name, bool physical, char *why, size_t size)
{
	static const char *const user_space[] = {"vfio-pci", "uio_pci_generic", "igb_uio", NULL};
	/* DPDK's drivers of these devices work beside the kernel's. */
	static const char *const beside[] = {"mlx4_core", "mlx5_core", "mana", NULL};
	char driver[64];

	why[0] = '\0';
	if (!exists(devices, name)) {
		snprintf(why, size, "there is no PCI device %s", name);
	} else if (!link_of(devices, name, "driver", driver)) {
		snprintf(why, size,
			 "PCI device %s has no driver; DPDK needs vfio-pci there: "
			 "dpdk-devbind.py --bind=vfio-pci %s",
			 name, name);
	} else if (is_one_of(driver, beside)) {
		return false;
	} else if (!is_one_of(driver, user_space)) {
		snprintf(why, size,
			 "PCI device %s is driven by the kernel's %s; DPDK needs vfio-pci there: "
			 "dpdk-devbind.py --bind=vfio-pci %s",
			 name, driver, name);
	} else if (strcmp(driver, "vfio-pci") == 0) {
		return explain_group(devices, name, why, size);
	} else if (!physical) {
		snprintf(
			why, size,
			"PCI device %s: %s needs root and enough free huge pages; vfio-pci with an "
			"IOMMU does not",
			name, driver);
	}
	return why[0] != '\0';
}
