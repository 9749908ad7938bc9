/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device string as data. Knows no driver.
 */
#ifndef POOL_DEVICES_TEXT_H
#define POOL_DEVICES_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/device.h>
#include <devicepool/status.h>

/* A PCI address; -1 for a part that was not given. */
struct pci_address {
    int64_t domain;
    int bus;
    int device;
    int function;
};

enum device_selector_kind {
    DEVICE_SELECT_ALL,
    DEVICE_SELECT_ORDINALS,
    DEVICE_SELECT_UUID,
    DEVICE_SELECT_PCI
};

/* One part of the string. */
struct device_selector {
    enum device_selector_kind kind;
    int first, last;
    char uuid[POOL_UUID_TEXT]; /* "GPU-…" or "MIG-…", the start of one */
    struct pci_address pci;
    char text[64]; /* as it was written, for messages */
};

/* Takes the string apart; *selectors is the caller's (base_free). */
pool_status devices_text_parse(const char *text, struct device_selector **selectors, size_t *count);

/* 1 when `text` is a PCI address, with or without domain and function. */
int pci_address_parse(const char *text, struct pci_address *address);
/* Whether an address with gaps can mean `whole`. */
int pci_address_matches(const struct pci_address *wanted, const struct pci_address *whole);

#endif
