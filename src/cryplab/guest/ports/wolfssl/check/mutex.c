/* wolfCrypt's mutex for `cryplab check`, which may put another task's job at every access to a block: no task switch
 * while one is taken. Priorities at which a kernel switches tasks wait; device interrupts above them do not.
 */
#include <wolfssl/wolfcrypt/settings.h>

#include <wolfssl/wolfcrypt/error-crypt.h>
#include <wolfssl/wolfcrypt/wc_port.h>

#define KERNEL_PRIORITY 0xF0u

static unsigned taken;

static void mask(unsigned priority)
{
    __asm volatile("msr basepri, %0" ::"r"(priority) : "memory");
}

int wc_InitMutex(wolfSSL_Mutex *mutex)
{
    mutex->taken = 0;
    return 0;
}

int wc_FreeMutex(wolfSSL_Mutex *mutex)
{
    return mutex->taken ? BAD_MUTEX_E : 0;
}

int wc_LockMutex(wolfSSL_Mutex *mutex)
{
    mask(KERNEL_PRIORITY);
    if (mutex->taken) { /* by the same task, which would wait for ever */
        return BAD_MUTEX_E;
    }
    mutex->taken = 1;
    taken++;
    return 0;
}

int wc_UnLockMutex(wolfSSL_Mutex *mutex)
{
    if (!mutex->taken) {
        return BAD_MUTEX_E;
    }
    mutex->taken = 0;
    if (--taken == 0) {
        mask(0);
    }
    return 0;
}
