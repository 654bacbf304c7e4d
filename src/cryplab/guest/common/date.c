/* See date.h. The calendar runs from LSI, which every chip has; its years are 2000 to 2099. */
#include "date.h"

#include <stddef.h>

#include "clock.h"
#include "stm32f4_rtc.h"

#define LIMIT_MS 20
#define EPOCH_2000 946684800u /* seconds from 1970 to 2000 */
#define DAY 86400u

static int running;            /* the RTC keeps the date */
static uint32_t set_to, set_at; /* seconds, milliseconds of clock_tick() */

static int seen(REG *reg, uint32_t bit)
{
    uint32_t start = clock_tick();
    while (!(*reg & bit)) {
        if (clock_tick() - start > LIMIT_MS) {
            return 0;
        }
    }
    return 1;
}

static uint32_t bcd(uint32_t number)
{
    return number / 10 << 4 | number % 10;
}

static uint32_t number(uint32_t bcd_digits)
{
    return (bcd_digits >> 4 & 0xFu) * 10 + (bcd_digits & 0xFu);
}

static int leap(uint32_t year)
{
    return year % 4 == 0; /* of 2000 to 2099 */
}

static uint32_t month_days(uint32_t month, uint32_t year)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && leap(year) ? 1u : 0u);
}

static int backup_domain_open(void)
{
    RCC->APB1ENR |= RCC_APB1ENR_PWREN;
    PWR->CR |= PWR_CR_DBP;
    RCC->CSR |= RCC_CSR_LSION;
    if (!seen(&RCC->CSR, RCC_CSR_LSIRDY)) {
        return 0;
    }
    RCC->BDCR |= RCC_BDCR_RTCSEL_LSI | RCC_BDCR_RTCEN;
    return 1;
}

static int calendar_write(uint32_t seconds)
{
    uint32_t days = seconds / DAY, rest = seconds % DAY, year = 0, month = 1;
    uint32_t weekday = (days + 5) % 7 + 1; /* 2000-01-01 was a Saturday, 6 */
    while (days >= (leap(year) ? 366u : 365u)) {
        days -= leap(year) ? 366u : 365u;
        year++;
    }
    while (days >= month_days(month, year)) {
        days -= month_days(month, year);
        month++;
    }
    RTC->WPR = 0xCA;
    RTC->WPR = 0x53;
    RTC->ISR |= RTC_ISR_INIT;
    int ready = seen(&RTC->ISR, RTC_ISR_INITF);
    if (ready) {
        RTC->PRER = 249u; /* 32 kHz by 128 and 250: two writes, the synchronous part first */
        RTC->PRER = 127u << 16 | 249u;
        RTC->TR = bcd(rest / 3600) << 16 | bcd(rest / 60 % 60) << 8 | bcd(rest % 60);
        RTC->DR = bcd(year) << 16 | weekday << 13 | bcd(month) << 8 | bcd(days + 1);
    }
    RTC->ISR &= ~RTC_ISR_INIT;
    RTC->WPR = 0xFF;
    return ready && seen(&RTC->ISR, RTC_ISR_RSF);
}

void date_set(uint32_t seconds)
{
    set_to = seconds;
    set_at = clock_tick();
    running = backup_domain_open();
    if (seconds != 0) {
        running = running && seconds >= EPOCH_2000 && calendar_write(seconds - EPOCH_2000);
    }
}

time_t date_time(time_t *result)
{
    uint32_t seconds = set_to + (clock_tick() - set_at) / 1000;
    if (running) {
        uint32_t time = RTC->TR, date = RTC->DR; /* reading TR holds DR still until it is read */
        uint32_t year = number(date >> 16), month = number(date >> 8 & 0x1Fu), days = number(date & 0x3Fu) - 1;
        days += year * 365 + (year + 3) / 4;
        for (uint32_t m = 1; m < month && m <= 12; m++) {
            days += month_days(m, year);
        }
        seconds = EPOCH_2000 + days * DAY + number(time >> 16 & 0x3Fu) * 3600 + number(time >> 8 & 0x7Fu) * 60 +
                  number(time & 0x7Fu);
    }
    if (result != NULL) {
        *result = (time_t)seconds;
    }
    return (time_t)seconds;
}
