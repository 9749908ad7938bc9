/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of the kernels in vector.cu, as the host fills them and the kernels read them. */
#ifndef PTX_VECTOR_ARGS_H
#define PTX_VECTOR_ARGS_H

#include "base/args.h"

struct vector_arg {
    DEVICE_POINTER(unsigned) data;
    unsigned long long stride; /* in 32-bit words */
};

/* The operation of vector_apply. */
enum vector_op { VECTOR_ADD, VECTOR_SUB, VECTOR_MUL, VECTOR_COPY };

#endif
