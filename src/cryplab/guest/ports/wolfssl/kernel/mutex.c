/* What wolfSSL takes for a mutex (WOLFSSL_USER_MUTEX), and the heap's, over those of the kernel. */
#include <wolfssl/wolfcrypt/settings.h>

#include <wolfssl/wolfcrypt/wc_port.h>

int wc_InitMutex(wolfSSL_Mutex *mutex)
{
    *mutex = (wolfSSL_Mutex){0};
    return 0;
}

int wc_FreeMutex(wolfSSL_Mutex *mutex)
{
    (void)mutex;
    return 0;
}

int wc_LockMutex(wolfSSL_Mutex *mutex)
{
    task_mutex_lock(mutex);
    return 0;
}

int wc_UnLockMutex(wolfSSL_Mutex *mutex)
{
    task_mutex_unlock(mutex);
    return 0;
}
