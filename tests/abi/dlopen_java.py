# SPDX-License-Identifier: Apache-2.0
"""The shared library in a Java virtual machine, which opens it by dlopen: threads of Java hash on simulated devices, a failure
has its message, and the machine ends by itself. Skipped where there is no JDK.
usage: dlopen_java.py C-COMPILER INCLUDE-DIRECTORY LIBRARY"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

JAVA = """
public class Hash {
    static native String hash(String devices);

    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        System.load(arguments[1]);
        Thread[] threads = new Thread[4];
        String[] answers = new String[threads.length];
        for (int i = 0; i < threads.length; i++) {
            final int index = i;
            threads[i] = new Thread(() -> {
                for (int k = 0; k < 5; k++)
                    answers[index] = hash("sim:2");
            });
            threads[i].start();
        }
        System.gc();
        for (Thread thread : threads)
            thread.join();
        for (String answer : answers)
            System.out.println(answer);
        System.out.println(hash("nonsense"));
    }
}
"""
NATIVE = r"""
#include <devicepool.h>
#include <jni.h>
#include <stdio.h>

JNIEXPORT jstring JNICALL Java_Hash_hash(JNIEnv *env, jclass type, jstring devices)
{
    uint8_t inputs[2][32] = {{1}, {2}}, digest[32];
    pool_span in = {.data = inputs, .count = 1}, out = {.data = digest, .count = 1};
    pool_exec exec = {.struct_size = sizeof(exec)};
    pool_params params = {.struct_size = sizeof(params)};
    pool_poseidon *set = NULL;
    device_pool *pool = NULL;
    pool_status status;
    char text[128];

    (void)type;
    params.devices = (*env)->GetStringUTFChars(env, devices, NULL);
    status = pool_create(&pool, &params);
    (*env)->ReleaseStringUTFChars(env, devices, params.devices);
    if (!status)
        status = pool_next_device(pool, &exec.device);
    if (!status)
        status = pool_poseidon_by_name("circom-bn254-t3", &set);
    if (!status)
        status = pool_poseidon_hash(set, &exec, &in, 2, &out);
    for (int i = 0; i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[31 - i]);
    if (status)
        snprintf(text, sizeof(text), "%s", pool_status_name(pool_last_error()->status));
    pool_poseidon_destroy(&set);
    if (pool_destroy(&pool))
        snprintf(text, sizeof(text), "%s", pool_last_error()->message);
    return (*env)->NewStringUTF(env, text);
}
"""
HASH = "115cc0f5e7d690413df64c6b9662e9cf2a3617f2743245519e19607a4417189a"


def main():
    compiler, include, library = sys.argv[1:]
    javac, java = shutil.which("javac"), shutil.which("java")
    headers = pathlib.Path(os.path.realpath(javac)).parents[1] / "include" if javac else None
    if not javac or not java or not (headers / "jni.h").exists():
        print("skipped: there is no JDK with jni.h")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as directory:
        where = pathlib.Path(directory)
        (where / "Hash.java").write_text(JAVA, encoding="utf-8")
        (where / "hash.c").write_text(NATIVE, encoding="utf-8")
        subprocess.run([javac, "-d", directory, where / "Hash.java"], check=True)
        subprocess.run([*compiler.split(), "-std=gnu11", "-w", "-shared", "-fPIC", f"-I{include}", f"-I{headers}",
                        f"-I{headers}/linux", where / "hash.c", "-o", where / "hash.so", library], check=True)
        done = subprocess.run([java, "-cp", directory, "Hash", library, where / "hash.so"], capture_output=True, text=True,
                              timeout=200, check=False)
    answers = done.stdout.split()
    print(done.stdout, done.stderr)
    if done.returncode or answers != [HASH] * 4 + ["POOL_ERR_INVALID_ARGUMENT"]:
        sys.exit(f"exit code {done.returncode}, another answer than {HASH}")


main()
