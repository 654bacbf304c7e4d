/* lwIP for the reference firmware: one main loop, no operating system, IPv4 with DHCP and DNS, TCP and UDP.
 *
 * Checksums of IP, UDP, TCP and ICMP are the MAC's work. Sizes: docs/tls.md.
 */
#ifndef LWIPOPTS_H
#define LWIPOPTS_H

#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_SOCKET 0
#define LWIP_NETCONN 0

#define LWIP_IPV4 1
#define LWIP_IPV6 0
#define LWIP_ARP 1
#define ARP_QUEUEING 1 /* several connections may begin before the address is known */
#define LWIP_ETHERNET 1
#define LWIP_ICMP 1
#define LWIP_RAW 0
#define LWIP_DHCP 1
#define DHCP_DOES_ARP_CHECK 0 /* saves half a second at start */
#define LWIP_DNS 1
#define DNS_MAX_NAME_LENGTH 128
#define LWIP_UDP 1
#define LWIP_TCP 1
#define SO_REUSE 1 /* a port may be listened at again while earlier clients are served */
#define IP_REASSEMBLY 0
#define IP_FRAG 0

#define MEM_ALIGNMENT 4
#define MEM_SIZE (12 * 1024)
#define MEMP_NUM_TCP_PCB 6
#define MEMP_NUM_TCP_SEG 24
#define PBUF_POOL_SIZE 12
#define TCP_MSS 1460
#define TCP_WND (4 * TCP_MSS)
#define TCP_SND_BUF (4 * TCP_MSS)
#define TCP_SND_QUEUELEN 16
#define TCP_QUEUE_OOSEQ 1

#define LWIP_NETIF_HOSTNAME 1
#define LWIP_NETIF_LINK_CALLBACK 0
#define LWIP_NETIF_STATUS_CALLBACK 1
#define LWIP_STATS 0

#define CHECKSUM_GEN_IP 0
#define CHECKSUM_GEN_UDP 0
#define CHECKSUM_GEN_TCP 0
#define CHECKSUM_GEN_ICMP 0
#define CHECKSUM_CHECK_IP 0
#define CHECKSUM_CHECK_UDP 0
#define CHECKSUM_CHECK_TCP 0
#define CHECKSUM_CHECK_ICMP 0

#endif
