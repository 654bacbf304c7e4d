/* See network.h: interface, DHCP, DNS, the loop that everybody waits in. */
#include "network.h"

#include <string.h>

#include "clock.h"
#include "console.h"
#include "ethernetif.h"
#include "lwip/dhcp.h"
#include "lwip/dns.h"
#include "lwip/etharp.h"
#include "lwip/init.h"
#include "lwip/timeouts.h"
#include "netif/ethernet.h"
#include "rows.h"

#define LINK_LIMIT_MS 6000
#define DHCP_LIMIT_MS 20000
#define DNS_LIMIT_MS 20000
#define LINK_CHECK_MS 250

static struct netif port;
static uint32_t link_checked;

uint64_t network_idle_cycles;

const char *network_words(int error)
{
    static const char *const words[] = {
        "no error",
        "the Ethernet MAC or its PHY does not answer",
        "the Ethernet link does not come up",
        "no address by DHCP",
        "the host name is not known",
        "connection refused or reset",
        "no answer in time",
        "the server closed the connection",
        "nothing yet",
        "out of memory",
    };
    return error <= 0 && -error < (int)(sizeof words / sizeof *words) ? words[-error] : "unknown error";
}

uint32_t sys_now(void)
{
    return clock_tick();
}

void network_assertion(const char *text)
{
    console_printf("lwIP: %s\n", text);
    cryplab_done(99);
}

void network_poll(void)
{
    while (ethernetif_poll(&port) != 0) {
    }
    sys_check_timeouts();
    if (clock_tick() - link_checked >= LINK_CHECK_MS) {
        link_checked = clock_tick();
        ethernetif_check_link(&port);
    }
}

void network_wait(void)
{
    network_poll();
    uint64_t start = clock_cycles();
    /* an interrupt that comes in between ends WFI at once, masked or not */
    __asm volatile("cpsid i" : : : "memory");
    if (!ethernetif_received) {
        __asm volatile("dsb\n wfi" : : : "memory");
    }
    __asm volatile("cpsie i" : : : "memory");
    network_idle_cycles += clock_cycles() - start;
}

int network_start(const uint8_t mac[6])
{
    lwip_init();
    memcpy(port.hwaddr, mac, ETH_HWADDR_LEN);
    if (netif_add_noaddr(&port, NULL, ethernetif_init, ethernet_input) == NULL) {
        return NETWORK_NO_PHY;
    }
    netif_set_hostname(&port, "cryplab");
    netif_set_default(&port);
    netif_set_up(&port);
    uint32_t start = clock_tick();
    while (!netif_is_link_up(&port)) {
        if (clock_tick() - start > LINK_LIMIT_MS) {
            return NETWORK_NO_LINK;
        }
        network_wait();
        ethernetif_check_link(&port);
    }
    return NETWORK_OK;
}

int network_dhcp(void)
{
    dhcp_start(&port);
    uint32_t start = clock_tick();
    while (!dhcp_supplied_address(&port)) {
        if (clock_tick() - start > DHCP_LIMIT_MS) {
            return NETWORK_NO_ADDRESS;
        }
        network_wait();
    }
    return NETWORK_OK;
}

void network_set_address(const uint8_t address[4])
{
    ip4_addr_t own, mask, gateway;
    IP4_ADDR(&own, address[0], address[1], address[2], address[3]);
    IP4_ADDR(&mask, 255, 255, 255, 0);
    IP4_ADDR(&gateway, 0, 0, 0, 0);
    netif_set_addr(&port, &own, &mask, &gateway);
}

const char *network_address(void)
{
    return ip4addr_ntoa(netif_ip4_addr(&port));
}

struct answer {
    ip_addr_t *address;
    volatile int error;
};

static void found(const char *name, const ip_addr_t *address, void *argument)
{
    (void)name;
    struct answer *answer = argument;
    if (address != NULL) {
        *answer->address = *address;
    }
    answer->error = address != NULL ? NETWORK_OK : NETWORK_NO_NAME;
}

int network_resolve(const char *name, ip_addr_t *address)
{
    static struct answer answer; /* lwIP may call back after we gave up */
    answer = (struct answer){address, NETWORK_AGAIN};
    err_t error = dns_gethostbyname(name, address, found, &answer);
    if (error != ERR_INPROGRESS) {
        return error == ERR_OK ? NETWORK_OK : NETWORK_NO_NAME;
    }
    uint32_t start = clock_tick();
    while (answer.error == NETWORK_AGAIN) {
        if (clock_tick() - start > DNS_LIMIT_MS) {
            return NETWORK_TIMEOUT;
        }
        network_wait();
    }
    return answer.error;
}
