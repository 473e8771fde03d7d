/* pci: addresses of PCI devices, and what is said about one that DPDK does not take, on a made-up
 * /sys/bus/pci/devices.
 */
#include "test.h"
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include "daemon/io/pci.h"

#define DEV "0000:3b:00.1"

static char devices[] = "/tmp/cw-pci-XXXXXX";

/* The device with these links; NULL: without. */
static void device(const char *driver, const char *group)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/" DEV, devices);
	(void)mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/" DEV "/driver", devices);
	(void)unlink(path);
	if (driver != NULL)
		assert_int_equal(symlink(driver, path), 0);
	snprintf(path, sizeof(path), "%s/" DEV "/iommu_group", devices);
	(void)unlink(path);
	if (group != NULL)
		assert_int_equal(symlink(group, path), 0);
}

static int make(void **s)
{
	return mkdtemp(devices) != NULL ? 0 : -1;
}

static int clean(void **s)
{
	char path[128];

	device(NULL, NULL);
	snprintf(path, sizeof(path), "%s/" DEV, devices);
	return rmdir(path) == 0 ? rmdir(devices) : -1;
}

static void says(const char *name, bool physical, const char *want)
{
	char why[256] = "old";
	bool said = cw_pci_explain(devices, name, physical, why, sizeof(why));

	assert_int_equal(said, want != NULL);
	assert_string_equal(why, want != NULL ? want : "");
}

static void forms_of_an_address(void **s)
{
	static const char *const same[] = {DEV, "3b:00.1", "pci:3b:00.1", "pci:0000:3b:00.1",
					   "0000:3B:0.1"};
	static const char *const none[] = {"", "3b", "net_tap0", "pci:x:0.1", "usb:3b:00.1"};
	char name[CW_PCI_NAME];
	size_t i;

	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		assert_true(cw_pci_name(same[i], name));
		assert_string_equal(name, DEV);
	}
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(cw_pci_name(none[i], name));
}

static void absent(void **s)
{
	says("0000:3b:00.2", false, "there is no PCI device 0000:3b:00.2");
}

static void unbound(void **s)
{
	device(NULL, "../../kernel/iommu_groups/7");
	says(DEV, false,
	     "PCI device " DEV " has no driver; DPDK needs vfio-pci there: "
	     "dpdk-devbind.py --bind=vfio-pci " DEV);
}

static void the_kernels(void **s)
{
	device("../../bus/pci/drivers/ixgbe", NULL);
	says(DEV, false,
	     "PCI device " DEV " is driven by the kernel's ixgbe; DPDK needs vfio-pci there: "
	     "dpdk-devbind.py --bind=vfio-pci " DEV);
}

/* Its driver of DPDK works beside the kernel's: whatever is wrong, it is not that. */
static void beside_the_kernels(void **s)
{
	device("../../bus/pci/drivers/mlx5_core", NULL);
	says(DEV, false, NULL);
}

static void uio_without_physical_addresses(void **s)
{
	device("../../bus/pci/drivers/uio_pci_generic", NULL);
	says(DEV, false,
	     "PCI device " DEV ": uio_pci_generic needs root and enough free huge pages; "
	     "vfio-pci with an IOMMU does not");
	says(DEV, true, NULL);
}

static void group_that_is_not_there(void **s)
{
	device("vfio-pci", "../../kernel/iommu_groups/4000000000");
	says(DEV, false, "PCI device " DEV ": /dev/vfio/4000000000: No such file or directory");
	device("vfio-pci", NULL);
	says(DEV, false, NULL);
}

/* One at a time, until the descriptor is closed. */
static void claims(void **s)
{
	int first, second;

	device(NULL, NULL);
	assert_true((first = cw_pci_claim(devices, DEV)) >= 0);
	assert_int_equal(cw_pci_claim(devices, DEV), -1);
	assert_int_equal(errno, EWOULDBLOCK);
	close(first);
	assert_true((second = cw_pci_claim(devices, DEV)) >= 0);
	close(second);
	assert_int_equal(cw_pci_claim(devices, "0000:3b:00.2"), -1);
	assert_int_equal(errno, ENOENT);
}

/* Longer than any text here: cut, never written past. */
static void long_names_and_little_room(void **s)
{
	char why[20], driver[200];

	memset(driver, 'd', sizeof(driver) - 1);
	driver[sizeof(driver) - 1] = '\0';
	device(driver, NULL);
	assert_true(cw_pci_explain(devices, DEV, false, why, sizeof(why)));
	assert_string_equal(why, "PCI device 0000:3b:");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_of_an_address),
		cmocka_unit_test(absent),
		cmocka_unit_test(unbound),
		cmocka_unit_test(the_kernels),
		cmocka_unit_test(beside_the_kernels),
		cmocka_unit_test(uio_without_physical_addresses),
		cmocka_unit_test(group_that_is_not_there),
		cmocka_unit_test(claims),
		cmocka_unit_test(long_names_and_little_room),
	};

	return cmocka_run_group_tests(tests, make, clean);
}
