/* See ethernetif.h. Enhanced descriptors in two chains, frames copied once on either side, checksums by the MAC.
 *
 * Kept here: the media interface is chosen while the MAC is held in reset; the descriptor's OWN bit is written last
 * and with a barrier; a suspended DMA is woken by its poll demand register; the PHY is asked by the registers that
 * IEEE 802.3 clause 22 gives to all of them, the link bit twice because it latches low.
 */
#include "ethernetif.h"

#include <string.h>

#include "board.h"
#include "clock.h"
#include "lwip/etharp.h"
#include "lwip/pbuf.h"
#include "netif/ethernet.h"
#include "stm32f4_eth.h"

#define RECEIVE_FRAMES 6
#define SEND_FRAMES 4
#define FRAME_BYTES 1524 /* header, VLAN tag, 1500 bytes, CRC; a whole number of words */
#define CRC_BYTES 4
#define BURST 32

#define RESET_LIMIT_MS 500
#define MII_LIMIT_MS 10
#define PHY_RESET_LIMIT_MS 500
#define SEND_LIMIT_MS 5

#define PHY_BCR 0
#define PHY_BSR 1
#define PHY_ID1 2
#define PHY_ANAR 4
#define PHY_ANLPAR 5
#define PHY_BCR_RESET (1u << 15)
#define PHY_BCR_AUTO (1u << 12)
#define PHY_BCR_RESTART (1u << 9)
#define PHY_BSR_LINK (1u << 2)
#define PHY_BSR_AUTO_DONE (1u << 5)
#define PHY_ABILITY_10_FULL (1u << 6)
#define PHY_ABILITY_100_HALF (1u << 7)
#define PHY_ABILITY_100_FULL (1u << 8)

static ETH_Descriptor receive_chain[RECEIVE_FRAMES], send_chain[SEND_FRAMES];
static uint8_t receive_buffers[RECEIVE_FRAMES][FRAME_BYTES] __attribute__((aligned(4)));
static uint8_t send_buffers[SEND_FRAMES][FRAME_BYTES] __attribute__((aligned(4)));
static unsigned receive_next, send_next;

static void barrier(void)
{
    __asm volatile("dsb" : : : "memory");
}

/* Wait until all of `bits` are clear; 0 when that took longer than `limit_ms`. */
static int cleared(REG *reg, uint32_t bits, uint32_t limit_ms)
{
    uint32_t start = clock_tick();
    while (*reg & bits) {
        if (clock_tick() - start > limit_ms) {
            return 0;
        }
    }
    return 1;
}

/* ---- PHY ---- */

static uint32_t mii_clock(void)
{
    return ETH_MACMIIAR_CR(BOARD_CORE_HZ >= 150000000u ? 4u : BOARD_CORE_HZ >= 100000000u ? 1u : 0u);
}

static int mii_access(unsigned number, uint32_t write)
{
    ETH->MACMIIAR = mii_clock() | ETH_MACMIIAR_PA((uint32_t)BOARD_PHY_ADDRESS) | ETH_MACMIIAR_MR(number) | write |
                    ETH_MACMIIAR_MB;
    return cleared(&ETH->MACMIIAR, ETH_MACMIIAR_MB, MII_LIMIT_MS);
}

/* A PHY register; all ones, as on an open line, when the access does not end. */
static uint32_t phy_read(unsigned number)
{
    return mii_access(number, 0) ? ETH->MACMIIDR & 0xFFFFu : 0xFFFFu;
}

static void phy_write(unsigned number, uint32_t value)
{
    ETH->MACMIIDR = value;
    mii_access(number, ETH_MACMIIAR_MW);
}

static int phy_start(void)
{
    uint32_t id = phy_read(PHY_ID1);
    if (id == 0 || id == 0xFFFFu) {
        return 0;
    }
    phy_write(PHY_BCR, PHY_BCR_RESET);
    uint32_t start = clock_tick();
    while (phy_read(PHY_BCR) & PHY_BCR_RESET) {
        if (clock_tick() - start > PHY_RESET_LIMIT_MS) {
            return 0;
        }
    }
    phy_write(PHY_BCR, PHY_BCR_AUTO | PHY_BCR_RESTART);
    return 1;
}

void ethernetif_check_link(struct netif *netif)
{
    phy_read(PHY_BSR); /* a link that was lost since the last look shows here */
    uint32_t status = phy_read(PHY_BSR);
    int up = status != 0xFFFFu && (status & PHY_BSR_LINK) && (status & PHY_BSR_AUTO_DONE);
    if (up && !netif_is_link_up(netif)) {
        uint32_t common = phy_read(PHY_ANAR) & phy_read(PHY_ANLPAR);
        uint32_t fast = common & (PHY_ABILITY_100_HALF | PHY_ABILITY_100_FULL);
        int full = fast ? (common & PHY_ABILITY_100_FULL) != 0 : (common & PHY_ABILITY_10_FULL) != 0;
        ETH->MACCR = (ETH->MACCR & ~(ETH_MACCR_FES | ETH_MACCR_DM)) | (fast ? ETH_MACCR_FES : 0) |
                     (full ? ETH_MACCR_DM : 0);
        netif_set_link_up(netif);
    } else if (!up && netif_is_link_up(netif)) {
        netif_set_link_down(netif);
    }
}

/* ---- MAC and DMA ---- */

static void pins_init(void)
{
    static const struct {
        uint8_t port, pin;
    } pins[] = {BOARD_ETHERNET_PINS};
    for (unsigned i = 0; i < sizeof pins / sizeof *pins; i++) {
        uint32_t port = (uint32_t)(pins[i].port - 'A'), pin = pins[i].pin;
        GPIO_TypeDef *gpio = (GPIO_TypeDef *)(0x40020000u + 0x400u * port);
        RCC->AHB1ENR |= 1u << port;
        gpio->MODER = (gpio->MODER & ~(3u << (2 * pin))) | GPIO_MODE_AF << (2 * pin);
        gpio->OSPEEDR |= 3u << (2 * pin);
        gpio->AFR[pin / 8] = (gpio->AFR[pin / 8] & ~(0xFu << (4 * (pin % 8)))) | 11u << (4 * (pin % 8));
    }
}

static int mac_reset(void)
{
    RCC->APB2ENR |= RCC_APB2ENR_SYSCFGEN;
    RCC->AHB1RSTR |= RCC_AHB1RSTR_ETHMACRST;
    if (BOARD_ETHERNET_RMII) {
        SYSCFG_PMC |= SYSCFG_PMC_MII_RMII_SEL;
    } else {
        SYSCFG_PMC &= ~SYSCFG_PMC_MII_RMII_SEL;
    }
    RCC->AHB1RSTR &= ~RCC_AHB1RSTR_ETHMACRST;
    RCC->AHB1ENR |= RCC_AHB1ENR_ETHMAC;
    (void)RCC->AHB1ENR; /* two bus cycles until the clock is there */
    ETH->DMABMR |= ETH_DMABMR_SR;
    return cleared(&ETH->DMABMR, ETH_DMABMR_SR, RESET_LIMIT_MS);
}

static void address_init(const uint8_t *mac)
{
    ETH->MACA0HR = (uint32_t)mac[5] << 8 | mac[4];
    ETH->MACA0LR = (uint32_t)mac[3] << 24 | (uint32_t)mac[2] << 16 | (uint32_t)mac[1] << 8 | mac[0];
}

static void chains_init(void)
{
    for (unsigned i = 0; i < RECEIVE_FRAMES; i++) {
        ETH_Descriptor *d = &receive_chain[i];
        d->control = ETH_RDES1_RCH | FRAME_BYTES;
        d->buffer = (uint32_t)receive_buffers[i];
        d->next = (uint32_t)&receive_chain[(i + 1) % RECEIVE_FRAMES];
        d->status = ETH_OWN;
    }
    for (unsigned i = 0; i < SEND_FRAMES; i++) {
        ETH_Descriptor *d = &send_chain[i];
        d->status = ETH_TDES0_TCH;
        d->buffer = (uint32_t)send_buffers[i];
        d->next = (uint32_t)&send_chain[(i + 1) % SEND_FRAMES];
    }
    receive_next = send_next = 0;
    ETH->DMARDLAR = (uint32_t)receive_chain;
    ETH->DMATDLAR = (uint32_t)send_chain;
}

static void mac_start(void)
{
    ETH->DMAIER = ETH_DMAIER_NISE | ETH_DMAIER_RIE;
    NVIC_ISER[ETH_IRQ / 32] = 1u << (ETH_IRQ % 32);
    barrier();
    ETH->MACCR |= ETH_MACCR_TE | ETH_MACCR_RE;
    ETH->DMAOMR |= ETH_DMAOMR_FTF;
    cleared(&ETH->DMAOMR, ETH_DMAOMR_FTF, RESET_LIMIT_MS);
    ETH->DMAOMR |= ETH_DMAOMR_ST | ETH_DMAOMR_SR;
}

void ETH_IRQHandler(void)
{
    ETH->DMASR = ETH_DMASR_RS | ETH_DMASR_NIS;
    (void)ETH->DMASR; /* the write has arrived before the handler returns */
    ethernetif_arrived();
}

/* ---- frames ---- */

static err_t send(struct netif *netif, struct pbuf *frame)
{
    (void)netif;
    ETH_Descriptor *d = &send_chain[send_next];
    if (frame->tot_len > FRAME_BYTES - CRC_BYTES) {
        return ERR_BUF;
    }
    if (!cleared(&d->status, ETH_OWN, SEND_LIMIT_MS)) {
        return ERR_MEM; /* the wire is slower than we are: TCP sends it again */
    }
    pbuf_copy_partial(frame, send_buffers[send_next], frame->tot_len, 0);
    d->control = frame->tot_len;
    barrier();
    d->status = ETH_OWN | ETH_TDES0_FS | ETH_TDES0_LS | ETH_TDES0_CIC_FULL | ETH_TDES0_TCH;
    send_next = (send_next + 1) % SEND_FRAMES;
    barrier();
    ETH->DMASR = ETH_DMASR_TBUS;
    ETH->DMATPDR = 0;
    return ERR_OK;
}

static int good(const ETH_Descriptor *d)
{
    uint32_t status = d->status;
    if ((status & ETH_RDES0_ES) || !(status & ETH_RDES0_FS) || !(status & ETH_RDES0_LS)) {
        return 0;
    }
    return !(status & ETH_RDES0_EXTENDED) || !(d->extended[0] & (ETH_RDES4_IPHE | ETH_RDES4_IPPE));
}

static struct pbuf *take(const ETH_Descriptor *d, const uint8_t *data)
{
    uint32_t length = ETH_RDES0_FL(d->status) - CRC_BYTES;
    if (!good(d) || length > FRAME_BYTES) {
        return NULL;
    }
    struct pbuf *frame = pbuf_alloc(PBUF_RAW, (u16_t)length, PBUF_POOL);
    if (frame != NULL) {
        pbuf_take(frame, data, (u16_t)length);
    }
    return frame;
}

unsigned ethernetif_poll(struct netif *netif)
{
    unsigned frames = 0;
    for (; frames < RECEIVE_FRAMES && !(receive_chain[receive_next].status & ETH_OWN); frames++) {
        ETH_Descriptor *d = &receive_chain[receive_next];
        struct pbuf *frame = take(d, receive_buffers[receive_next]);
        barrier();
        d->status = ETH_OWN;
        receive_next = (receive_next + 1) % RECEIVE_FRAMES;
        if (frame != NULL && netif->input(frame, netif) != ERR_OK) {
            pbuf_free(frame);
        }
    }
    if (ETH->DMASR & ETH_DMASR_RBUS) {
        ETH->DMASR = ETH_DMASR_RBUS;
        ETH->DMARPDR = 0;
    }
    return frames;
}

err_t ethernetif_init(struct netif *netif)
{
    netif->name[0] = 'e';
    netif->name[1] = 'n';
    netif->hwaddr_len = ETH_HWADDR_LEN;
    netif->mtu = 1500;
    netif->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET;
    netif->output = etharp_output;
    netif->linkoutput = send;
    pins_init();
    if (!mac_reset() || !phy_start()) {
        return ERR_IF;
    }
    ETH->MACCR = ETH_MACCR_IPCO | ETH_MACCR_ROD | ETH_MACCR_FES | ETH_MACCR_DM;
    ETH->MACFFR = 0; /* frames to our address, broadcasts */
    ETH->DMAOMR = ETH_DMAOMR_RSF | ETH_DMAOMR_TSF;
    ETH->DMABMR = ETH_DMABMR_AAB | ETH_DMABMR_FB | ETH_DMABMR_RDP(BURST) | ETH_DMABMR_PBL(BURST) | ETH_DMABMR_USP |
                  ETH_DMABMR_EDE;
    address_init(netif->hwaddr);
    chains_init();
    mac_start();
    return ERR_OK;
}
