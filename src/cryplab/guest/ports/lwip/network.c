/* See network.h: interface, DHCP, DNS. */
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
#include "sharing.h"

#define LINK_LIMIT_MS 6000
#define DHCP_LIMIT_MS 20000
#define DNS_LIMIT_MS 20000
#define LINK_CHECK_MS 250
#define SHORT_WAIT_MS 1

static struct netif port;
static uint32_t link_checked;

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

void network_work(void)
{
    while (ethernetif_poll(&port) != 0) {
    }
    sys_check_timeouts();
    if (clock_tick() - link_checked >= LINK_CHECK_MS) {
        link_checked = clock_tick();
        ethernetif_check_link(&port);
    }
}

/* Of the interface: our address is another one. */
static void address_changed(struct netif *netif)
{
    (void)netif;
    network_changed(NULL);
}

static int link_is_up(void)
{
    network_enter();
    ethernetif_check_link(&port);
    int up = netif_is_link_up(&port);
    network_leave();
    return up;
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
    netif_set_status_callback(&port, address_changed);
    netif_set_up(&port);
    network_begin();
    uint32_t start = clock_tick();
    while (!link_is_up()) {
        if (clock_tick() - start > LINK_LIMIT_MS) {
            return NETWORK_NO_LINK;
        }
        network_wait_at_most(SHORT_WAIT_MS);
    }
    return NETWORK_OK;
}

int network_dhcp(void)
{
    network_enter();
    dhcp_start(&port);
    network_leave();
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
    network_enter();
    netif_set_addr(&port, &own, &mask, &gateway);
    network_leave();
}

const char *network_address(void)
{
    return ip4addr_ntoa(netif_ip4_addr(&port));
}

/* One question at a time. lwIP may answer one that we gave up, so the number of the question comes back with it. */
static struct {
    unsigned number;
    int busy;
    volatile int error;
    ip_addr_t address;
} question;

static void found(const char *name, const ip_addr_t *address, void *argument)
{
    (void)name;
    if ((unsigned)argument == question.number) {
        question.address = address != NULL ? *address : question.address;
        question.error = address != NULL ? NETWORK_OK : NETWORK_NO_NAME;
        network_changed(NULL);
    }
}

static int ask(const char *name)
{
    question.number++;
    question.error = NETWORK_AGAIN;
    err_t error = dns_gethostbyname(name, &question.address, found, (void *)question.number);
    return error == ERR_INPROGRESS ? NETWORK_AGAIN : error == ERR_OK ? NETWORK_OK : NETWORK_NO_NAME;
}

int network_resolve(const char *name, ip_addr_t *address)
{
    uint32_t start = clock_tick();
    network_enter();
    while (question.busy) {
        network_leave();
        network_wait();
        network_enter();
    }
    question.busy = 1;
    question.error = ask(name);
    network_leave();
    while (question.error == NETWORK_AGAIN && clock_tick() - start <= DNS_LIMIT_MS) {
        network_wait();
    }
    network_enter();
    int error = question.error == NETWORK_AGAIN ? NETWORK_TIMEOUT : question.error;
    *address = question.address;
    question.busy = 0;
    network_changed(NULL);
    network_leave();
    return error;
}
