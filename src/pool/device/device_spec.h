/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of the device string, "0,2-3" or "0/16+116" for example. It makes no driver call.
 */
#ifndef POOL_DEVICE_SPEC_H
#define POOL_DEVICE_SPEC_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/device.h>
#include <devicepool/status.h>

#include "pool/device/parts.h"

/* A PCI address; a part that the string omits is -1. */
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

/* How the UUID of a MIG instance begins in the form of old drivers, "MIG-GPU-…/1/2". */
#define DEVICE_OLD_MIG "MIG-GPU-"

/* One element of the string. */
struct device_selector {
    enum device_selector_kind kind;
    int first, last;
    struct pci_address pci;
    char text[64]; /* the element without its parts: of UUIDs what device_has_uuid takes */
    struct device_parts parts; /* of each of the GPUs; count 0: the string names none */
};

/* Parses the string. The caller frees *selectors with base_free. */
pool_status device_spec_parse(const char *text, struct device_selector **selectors, size_t *count);

/* 1 when `text` is a PCI address, with or without domain and function. */
int pci_address_parse(const char *text, struct pci_address *address);
/* Whether `whole` agrees with the parts that `wanted` specifies. */
int pci_address_matches(const struct pci_address *wanted, const struct pci_address *whole);

#endif
