/* Work beside a TLS session, in a task of the kernel: AES and SHA over and over with a key and texts of its own, every result
 * held against the first one. It shows that a session and somebody else may share the engines.
 *
 * The library's port has the work itself (ports/mbedtls/tls, ports/wolfssl/tls).
 */
#ifndef BESIDE_H
#define BESIDE_H

#define BESIDE_BYTES 2048

struct beside {
    unsigned char key[32], iv[16], text[BESIDE_BYTES];
    unsigned char cipher[BESIDE_BYTES], back[BESIDE_BYTES], digest[32];
};

/* AES-256-CBC of the text and back again, SHA-256 of the text; 0 or the library's error. */
int beside_work(struct beside *beside);

/* Do the work once, then start the task (and the kernel); 0 or an error. */
int beside_start(void);
/* Stop it and print how it went; the number of wrong results. */
unsigned beside_end(void);

#endif
