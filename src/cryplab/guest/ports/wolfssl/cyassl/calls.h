/* Calls of wolfCrypt as CyaSSL 2.4 had them: without prefix, many without a result. */
#ifndef CALLS_H
#define CALLS_H

#include <cyassl/ctaocrypt/aes.h>
#include <cyassl/ctaocrypt/arc4.h>
#include <cyassl/ctaocrypt/asn.h>
#include <cyassl/ctaocrypt/des3.h>
#include <cyassl/ctaocrypt/dh.h>
#include <cyassl/ctaocrypt/md5.h>
#include <cyassl/ctaocrypt/random.h>
#include <cyassl/ctaocrypt/rsa.h>
#include <cyassl/ctaocrypt/sha.h>
#include <cyassl/ctaocrypt/sha256.h>

typedef RNG WC_RNG;
typedef Md5 wc_Md5;
typedef Sha wc_Sha;
typedef Sha256 wc_Sha256;

#define NOTHING(call) ((call), 0)
#define wolfCrypt_Init() 0
#define wc_InitRng InitRng
#define wc_AesInit(aes, heap, device) 0
#define wc_AesSetKey AesSetKey
#define wc_AesCbcEncrypt(aes, out, in, size) NOTHING(AesCbcEncrypt(aes, out, in, size))
#define wc_Arc4Init(arc4, heap, device) 0
#define wc_Arc4SetKey(arc4, key, size) NOTHING(Arc4SetKey(arc4, key, size))
#define wc_Arc4Process(arc4, out, in, size) NOTHING(Arc4Process(arc4, out, in, size))
#define wc_Des_SetKey(des, key, iv, direction) NOTHING(Des_SetKey(des, key, iv, direction))
#define wc_Des_CbcEncrypt(des, out, in, size) NOTHING(Des_CbcEncrypt(des, out, in, size))
#define wc_Des3Init(des, heap, device) 0
#define wc_Des3_SetKey(des, key, iv, direction) NOTHING(Des3_SetKey(des, key, iv, direction))
#define wc_Des3_CbcEncrypt(des, out, in, size) NOTHING(Des3_CbcEncrypt(des, out, in, size))
#define wc_InitMd5(md5) NOTHING(InitMd5(md5))
#define wc_Md5Update(md5, in, size) NOTHING(Md5Update(md5, in, size))
#define wc_Md5Final(md5, out) NOTHING(Md5Final(md5, out))
#define wc_InitSha(sha) NOTHING(InitSha(sha))
#define wc_ShaUpdate(sha, in, size) NOTHING(ShaUpdate(sha, in, size))
#define wc_ShaFinal(sha, out) NOTHING(ShaFinal(sha, out))
#define wc_InitSha256(sha) NOTHING(InitSha256(sha))
#define wc_Sha256Update(sha, in, size) NOTHING(Sha256Update(sha, in, size))
#define wc_Sha256Final(sha, out) NOTHING(Sha256Final(sha, out))
#define wc_InitRsaKey(key, heap) NOTHING(InitRsaKey(key, heap))
#define wc_FreeRsaKey FreeRsaKey
#define wc_RsaPrivateKeyDecode RsaPrivateKeyDecode
#define wc_RsaPublicEncrypt RsaPublicEncrypt
#define wc_RsaPrivateDecrypt RsaPrivateDecrypt
#define wc_InitDhKey(key) NOTHING(InitDhKey(key))
#define wc_FreeDhKey FreeDhKey
#define wc_DhKeyDecode DhKeyDecode
#define wc_DhGenerateKeyPair DhGenerateKeyPair
#define wc_DhAgree DhAgree

#endif
