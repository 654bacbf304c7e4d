/* lwIP's driver of the Ethernet MAC of STM32F2 and F4. */
#ifndef ETHERNETIF_H
#define ETHERNETIF_H

#include "lwip/netif.h"

/* For netif_add(): starts MAC and DMA; `netif->hwaddr` is set. ERR_IF when the MAC does not leave its reset
 * (no clock from the PHY) or no PHY answers. */
err_t ethernetif_init(struct netif *netif);

/* Look at the PHY: tells netif when the link came up (speed and duplex taken over) or went down. */
void ethernetif_check_link(struct netif *netif);

/* Hand all received frames to netif->input; returns how many there were. */
unsigned ethernetif_poll(struct netif *netif);

/* Of who calls ethernetif_poll(): the receive interrupt calls it, a frame waits. */
void ethernetif_arrived(void);

#endif
