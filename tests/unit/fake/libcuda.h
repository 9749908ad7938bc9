/* SPDX-License-Identifier: Apache-2.0 */
/* The return values of the fake libcuda's functions, by the way in which they were found. */
#ifndef TESTS_UNIT_FAKE_LIBCUDA_H
#define TESTS_UNIT_FAKE_LIBCUDA_H

#define FAKE_BY_EXPORT 901
#define FAKE_BY_VERSION 902
#define FAKE_WRONG_VERSION 903

#endif
