"""Register table of the reset and clock control of STM32F427 to F439."""

from __future__ import annotations

from cryplab.registers import Block, Reg, r, rw, w

__all__ = ["RccF4Registers"]


class RccF4Registers(Block):
    """Registers of the RCC; `RccF4` gives them their meaning.

    Source: RM0090, RCC chapter of STM32F42xxx and STM32F43xxx; bit positions compared with the vendor's header.
    """

    class CR(Reg, at=0x00, reset=0x0000_0083):
        """clock control register"""

        PLLSAIRDY = r(29, "PLLSAI locked")
        PLLSAION = rw(28, "PLLSAI on")
        PLLI2SRDY = r(27, "PLLI2S locked")
        PLLI2SON = rw(26, "PLLI2S on")
        PLLRDY = r(25, "main PLL locked")
        PLLON = rw(24, "main PLL on; cannot be cleared while it is the system clock")
        CSSON = rw(19, "clock security system on", modelled=False)
        HSEBYP = rw(18, "HSE is fed in, not a crystal; written while HSEON is 0")
        HSERDY = r(17, "HSE stable")
        HSEON = rw(16, "HSE on; cannot be cleared while it is the system clock")
        HSICAL = r(15, 8, "HSI calibration")
        HSITRIM = rw(7, 3, "HSI trimming")
        HSIRDY = r(1, "HSI stable")
        HSION = rw(0, "HSI on; cannot be cleared while it is the system clock")

    class PLLCFGR(Reg, at=0x04, reset=0x2400_3010):
        """main PLL configuration; written only while the PLL is off"""

        PLLQ = rw(27, 24, "divider for the 48 MHz clock, 2 to 15")
        PLLSRC = rw(22, "source of all PLLs", values={0: "HSI", 1: "HSE"})
        PLLP = rw(17, 16, "divider for the system clock", values={0: "2", 1: "4", 2: "6", 3: "8"})
        PLLN = rw(14, 6, "multiplier, 50 to 432")
        PLLM = rw(5, 0, "divider of the source, 2 to 63")

    class CFGR(Reg, at=0x08):
        """clock configuration register"""

        MCO2 = rw(31, 30, "clock output 2", modelled=False)
        MCO2PRE = rw(29, 27, "divider of clock output 2", modelled=False)
        MCO1PRE = rw(26, 24, "divider of clock output 1", modelled=False)
        I2SSRC = rw(23, "I2S clock", values={0: "PLLI2S", 1: "I2S_CKIN"})
        MCO1 = rw(22, 21, "clock output 1", modelled=False)
        RTCPRE = rw(20, 16, "HSE divider for the RTC, 0 and 1: no clock")
        PPRE2 = rw(15, 13, "APB2 divider", values={4: "2", 5: "4", 6: "8", 7: "16"})
        PPRE1 = rw(12, 10, "APB1 divider", values={4: "2", 5: "4", 6: "8", 7: "16"})
        HPRE = rw(7, 4, "AHB divider", values={8 + i: str(d) for i, d in enumerate((2, 4, 8, 16, 64, 128, 256, 512))})
        SWS = r(3, 2, "system clock in use", values={0: "HSI", 1: "HSE", 2: "PLL"})
        SW = rw(1, 0, "system clock wanted", values={0: "HSI", 1: "HSE", 2: "PLL"})

    class CIR(Reg, at=0x0C):
        """clock interrupt register"""

        CSSC = w(23, "clear CSSF")
        PLLSAIRDYC = w(22, "clear PLLSAIRDYF")
        PLLI2SRDYC = w(21, "clear PLLI2SRDYF")
        PLLRDYC = w(20, "clear PLLRDYF")
        HSERDYC = w(19, "clear HSERDYF")
        HSIRDYC = w(18, "clear HSIRDYF")
        LSERDYC = w(17, "clear LSERDYF")
        LSIRDYC = w(16, "clear LSIRDYF")
        PLLSAIRDYIE = rw(14, "interrupt when PLLSAI has locked")
        PLLI2SRDYIE = rw(13, "interrupt when PLLI2S has locked")
        PLLRDYIE = rw(12, "interrupt when the main PLL has locked")
        HSERDYIE = rw(11, "interrupt when HSE is stable")
        HSIRDYIE = rw(10, "interrupt when HSI is stable")
        LSERDYIE = rw(9, "interrupt when LSE is stable")
        LSIRDYIE = rw(8, "interrupt when LSI is stable")
        CSSF = r(7, "HSE has failed")
        PLLSAIRDYF = r(6, "PLLSAI has locked, with its interrupt enabled")
        PLLI2SRDYF = r(5, "PLLI2S has locked, with its interrupt enabled")
        PLLRDYF = r(4, "main PLL has locked, with its interrupt enabled")
        HSERDYF = r(3, "HSE has become stable, with its interrupt enabled")
        HSIRDYF = r(2, "HSI has become stable, with its interrupt enabled")
        LSERDYF = r(1, "LSE has become stable, with its interrupt enabled")
        LSIRDYF = r(0, "LSI has become stable, with its interrupt enabled")

    class BDCR(Reg, at=0x70):
        """backup domain control register; written only while PWR_CR.DBP is 1"""

        BDRST = rw(16, "backup domain held in reset")
        RTCEN = rw(15, "RTC clock on")
        RTCSEL = rw(9, 8, "RTC clock; changed only by a backup reset", values={0: "none", 1: "LSE", 2: "LSI", 3: "HSE"})
        LSEBYP = rw(2, "LSE is fed in, not a crystal")
        LSERDY = r(1, "LSE stable")
        LSEON = rw(0, "LSE on")

    class CSR(Reg, at=0x74, reset=0x0E00_0000):
        """control and status register"""

        LPWRRSTF = r(31, "reset came from a low-power mode")
        WWDGRSTF = r(30, "reset came from the window watchdog")
        IWDGRSTF = r(29, "reset came from the independent watchdog")
        SFTRSTF = r(28, "reset came from software")
        PORRSTF = r(27, "reset came from power-on")
        PINRSTF = r(26, "reset came from the NRST pin")
        BORRSTF = r(25, "reset came from a brown-out")
        RMVF = w(24, "clear the reset flags")
        LSIRDY = r(1, "LSI stable")
        LSION = rw(0, "LSI on")

    class SSCGR(Reg, at=0x80):
        """spread spectrum clock generation"""

        SSCGEN = rw(31, "spread spectrum on", modelled=False)
        SPREADSEL = rw(30, "centre or down spread")
        INCSTEP = rw(27, 13, "incrementation step")
        MODPER = rw(12, 0, "modulation period")

    class PLLI2SCFGR(Reg, at=0x84, reset=0x2400_3000):
        """PLLI2S configuration"""

        PLLI2SR = rw(30, 28, "divider for I2S, 2 to 7")
        PLLI2SQ = rw(27, 24, "divider for SAI, 2 to 15")
        PLLI2SN = rw(14, 6, "multiplier, 50 to 432")

    class PLLSAICFGR(Reg, at=0x88, reset=0x2400_3000):
        """PLLSAI configuration"""

        PLLSAIR = rw(30, 28, "divider for LTDC, 2 to 7")
        PLLSAIQ = rw(27, 24, "divider for SAI, 2 to 15")
        PLLSAIN = rw(14, 6, "multiplier, 50 to 432")

    class DCKCFGR(Reg, at=0x8C):
        """dedicated clocks configuration"""

        TIMPRE = rw(24, "timer clocks: 0 twice the APB clock, 1 four times, at most HCLK")
        SAI1BSRC = rw(23, 22, "SAI1-B clock")
        SAI1ASRC = rw(21, 20, "SAI1-A clock")
        PLLSAIDIVR = rw(17, 16, "divider of PLLSAI for LTDC")
        PLLSAIDIVQ = rw(12, 8, "divider of PLLSAI for SAI")
        PLLI2SDIVQ = rw(4, 0, "divider of PLLI2S for SAI")

    class AHB1RSTR(Reg, at=0x10):
        """AHB1 peripheral reset register"""

        OTGHRST = rw(29, "OTGHS held in reset")
        ETHMACRST = rw(25, "ETHMAC held in reset")
        DMA2DRST = rw(23, "DMA2D held in reset")
        DMA2RST = rw(22, "DMA2 held in reset")
        DMA1RST = rw(21, "DMA1 held in reset")
        CRCRST = rw(12, "CRC held in reset")
        GPIOKRST = rw(10, "GPIOK held in reset")
        GPIOJRST = rw(9, "GPIOJ held in reset")
        GPIOIRST = rw(8, "GPIOI held in reset")
        GPIOHRST = rw(7, "GPIOH held in reset")
        GPIOGRST = rw(6, "GPIOG held in reset")
        GPIOFRST = rw(5, "GPIOF held in reset")
        GPIOERST = rw(4, "GPIOE held in reset")
        GPIODRST = rw(3, "GPIOD held in reset")
        GPIOCRST = rw(2, "GPIOC held in reset")
        GPIOBRST = rw(1, "GPIOB held in reset")
        GPIOARST = rw(0, "GPIOA held in reset")

    class AHB2RSTR(Reg, at=0x14):
        """AHB2 peripheral reset register"""

        OTGFSRST = rw(7, "OTGFS held in reset")
        RNGRST = rw(6, "RNG held in reset")
        HASHRST = rw(5, "HASH held in reset")
        CRYPRST = rw(4, "CRYP held in reset")
        DCMIRST = rw(0, "DCMI held in reset")

    class AHB3RSTR(Reg, at=0x18):
        """AHB3 peripheral reset register"""

        FMCRST = rw(0, "FMC held in reset")

    class APB1RSTR(Reg, at=0x20):
        """APB1 peripheral reset register"""

        UART8RST = rw(31, "UART8 held in reset")
        UART7RST = rw(30, "UART7 held in reset")
        DACRST = rw(29, "DAC held in reset")
        PWRRST = rw(28, "PWR held in reset")
        CAN2RST = rw(26, "CAN2 held in reset")
        CAN1RST = rw(25, "CAN1 held in reset")
        I2C3RST = rw(23, "I2C3 held in reset")
        I2C2RST = rw(22, "I2C2 held in reset")
        I2C1RST = rw(21, "I2C1 held in reset")
        UART5RST = rw(20, "UART5 held in reset")
        UART4RST = rw(19, "UART4 held in reset")
        USART3RST = rw(18, "USART3 held in reset")
        USART2RST = rw(17, "USART2 held in reset")
        SPI3RST = rw(15, "SPI3 held in reset")
        SPI2RST = rw(14, "SPI2 held in reset")
        WWDGRST = rw(11, "WWDG held in reset")
        TIM14RST = rw(8, "TIM14 held in reset")
        TIM13RST = rw(7, "TIM13 held in reset")
        TIM12RST = rw(6, "TIM12 held in reset")
        TIM7RST = rw(5, "TIM7 held in reset")
        TIM6RST = rw(4, "TIM6 held in reset")
        TIM5RST = rw(3, "TIM5 held in reset")
        TIM4RST = rw(2, "TIM4 held in reset")
        TIM3RST = rw(1, "TIM3 held in reset")
        TIM2RST = rw(0, "TIM2 held in reset")

    class APB2RSTR(Reg, at=0x24):
        """APB2 peripheral reset register"""

        LTDCRST = rw(26, "LTDC held in reset")
        SAI1RST = rw(22, "SAI1 held in reset")
        SPI6RST = rw(21, "SPI6 held in reset")
        SPI5RST = rw(20, "SPI5 held in reset")
        TIM11RST = rw(18, "TIM11 held in reset")
        TIM10RST = rw(17, "TIM10 held in reset")
        TIM9RST = rw(16, "TIM9 held in reset")
        SYSCFGRST = rw(14, "SYSCFG held in reset")
        SPI4RST = rw(13, "SPI4 held in reset")
        SPI1RST = rw(12, "SPI1 held in reset")
        SDIORST = rw(11, "SDIO held in reset")
        ADCRST = rw(8, "ADC held in reset")
        USART6RST = rw(5, "USART6 held in reset")
        USART1RST = rw(4, "USART1 held in reset")
        TIM8RST = rw(1, "TIM8 held in reset")
        TIM1RST = rw(0, "TIM1 held in reset")

    class AHB1ENR(Reg, at=0x30, reset=0x0010_0000):
        """AHB1 peripheral clock enable register"""

        OTGHSULPIEN = rw(30, "OTGHSULPI clock on")
        OTGHSEN = rw(29, "OTGHS clock on")
        ETHMACPTPEN = rw(28, "ETHMACPTP clock on")
        ETHMACRXEN = rw(27, "ETHMACRX clock on")
        ETHMACTXEN = rw(26, "ETHMACTX clock on")
        ETHMACEN = rw(25, "ETHMAC clock on")
        DMA2DEN = rw(23, "DMA2D clock on")
        DMA2EN = rw(22, "DMA2 clock on")
        DMA1EN = rw(21, "DMA1 clock on")
        CCMDATARAMEN = rw(20, "CCMDATARAM clock on")
        BKPSRAMEN = rw(18, "BKPSRAM clock on")
        CRCEN = rw(12, "CRC clock on")
        GPIOKEN = rw(10, "GPIOK clock on")
        GPIOJEN = rw(9, "GPIOJ clock on")
        GPIOIEN = rw(8, "GPIOI clock on")
        GPIOHEN = rw(7, "GPIOH clock on")
        GPIOGEN = rw(6, "GPIOG clock on")
        GPIOFEN = rw(5, "GPIOF clock on")
        GPIOEEN = rw(4, "GPIOE clock on")
        GPIODEN = rw(3, "GPIOD clock on")
        GPIOCEN = rw(2, "GPIOC clock on")
        GPIOBEN = rw(1, "GPIOB clock on")
        GPIOAEN = rw(0, "GPIOA clock on")

    class AHB2ENR(Reg, at=0x34):
        """AHB2 peripheral clock enable register"""

        OTGFSEN = rw(7, "OTGFS clock on")
        RNGEN = rw(6, "RNG clock on")
        HASHEN = rw(5, "HASH clock on")
        CRYPEN = rw(4, "CRYP clock on")
        DCMIEN = rw(0, "DCMI clock on")

    class AHB3ENR(Reg, at=0x38):
        """AHB3 peripheral clock enable register"""

        FMCEN = rw(0, "FMC clock on")

    class APB1ENR(Reg, at=0x40):
        """APB1 peripheral clock enable register"""

        UART8EN = rw(31, "UART8 clock on")
        UART7EN = rw(30, "UART7 clock on")
        DACEN = rw(29, "DAC clock on")
        PWREN = rw(28, "PWR clock on")
        CAN2EN = rw(26, "CAN2 clock on")
        CAN1EN = rw(25, "CAN1 clock on")
        I2C3EN = rw(23, "I2C3 clock on")
        I2C2EN = rw(22, "I2C2 clock on")
        I2C1EN = rw(21, "I2C1 clock on")
        UART5EN = rw(20, "UART5 clock on")
        UART4EN = rw(19, "UART4 clock on")
        USART3EN = rw(18, "USART3 clock on")
        USART2EN = rw(17, "USART2 clock on")
        SPI3EN = rw(15, "SPI3 clock on")
        SPI2EN = rw(14, "SPI2 clock on")
        WWDGEN = rw(11, "WWDG clock on")
        TIM14EN = rw(8, "TIM14 clock on")
        TIM13EN = rw(7, "TIM13 clock on")
        TIM12EN = rw(6, "TIM12 clock on")
        TIM7EN = rw(5, "TIM7 clock on")
        TIM6EN = rw(4, "TIM6 clock on")
        TIM5EN = rw(3, "TIM5 clock on")
        TIM4EN = rw(2, "TIM4 clock on")
        TIM3EN = rw(1, "TIM3 clock on")
        TIM2EN = rw(0, "TIM2 clock on")

    class APB2ENR(Reg, at=0x44):
        """APB2 peripheral clock enable register"""

        LTDCEN = rw(26, "LTDC clock on")
        SAI1EN = rw(22, "SAI1 clock on")
        SPI6EN = rw(21, "SPI6 clock on")
        SPI5EN = rw(20, "SPI5 clock on")
        TIM11EN = rw(18, "TIM11 clock on")
        TIM10EN = rw(17, "TIM10 clock on")
        TIM9EN = rw(16, "TIM9 clock on")
        SYSCFGEN = rw(14, "SYSCFG clock on")
        SPI4EN = rw(13, "SPI4 clock on")
        SPI1EN = rw(12, "SPI1 clock on")
        SDIOEN = rw(11, "SDIO clock on")
        ADC3EN = rw(10, "ADC3 clock on")
        ADC2EN = rw(9, "ADC2 clock on")
        ADC1EN = rw(8, "ADC1 clock on")
        USART6EN = rw(5, "USART6 clock on")
        USART1EN = rw(4, "USART1 clock on")
        TIM8EN = rw(1, "TIM8 clock on")
        TIM1EN = rw(0, "TIM1 clock on")

    class AHB1LPENR(Reg, at=0x50, reset=0x7EEF_97FF):
        """AHB1 peripheral clock enable in low power mode register"""

        OTGHSULPILPEN = rw(30, "OTGHSULPI clocked in sleep")
        OTGHSLPEN = rw(29, "OTGHS clocked in sleep")
        ETHMACPTPLPEN = rw(28, "ETHMACPTP clocked in sleep")
        ETHMACRXLPEN = rw(27, "ETHMACRX clocked in sleep")
        ETHMACTXLPEN = rw(26, "ETHMACTX clocked in sleep")
        ETHMACLPEN = rw(25, "ETHMAC clocked in sleep")
        DMA2DLPEN = rw(23, "DMA2D clocked in sleep")
        DMA2LPEN = rw(22, "DMA2 clocked in sleep")
        DMA1LPEN = rw(21, "DMA1 clocked in sleep")
        SRAM3LPEN = rw(19, "SRAM3 clocked in sleep")
        BKPSRAMLPEN = rw(18, "BKPSRAM clocked in sleep")
        SRAM2LPEN = rw(17, "SRAM2 clocked in sleep")
        SRAM1LPEN = rw(16, "SRAM1 clocked in sleep")
        FLITFLPEN = rw(15, "FLITF clocked in sleep")
        CRCLPEN = rw(12, "CRC clocked in sleep")
        GPIOKLPEN = rw(10, "GPIOK clocked in sleep")
        GPIOJLPEN = rw(9, "GPIOJ clocked in sleep")
        GPIOILPEN = rw(8, "GPIOI clocked in sleep")
        GPIOHLPEN = rw(7, "GPIOH clocked in sleep")
        GPIOGLPEN = rw(6, "GPIOG clocked in sleep")
        GPIOFLPEN = rw(5, "GPIOF clocked in sleep")
        GPIOELPEN = rw(4, "GPIOE clocked in sleep")
        GPIODLPEN = rw(3, "GPIOD clocked in sleep")
        GPIOCLPEN = rw(2, "GPIOC clocked in sleep")
        GPIOBLPEN = rw(1, "GPIOB clocked in sleep")
        GPIOALPEN = rw(0, "GPIOA clocked in sleep")

    class AHB2LPENR(Reg, at=0x54, reset=0x0000_00F1):
        """AHB2 peripheral clock enable in low power mode register"""

        OTGFSLPEN = rw(7, "OTGFS clocked in sleep")
        RNGLPEN = rw(6, "RNG clocked in sleep")
        HASHLPEN = rw(5, "HASH clocked in sleep")
        CRYPLPEN = rw(4, "CRYP clocked in sleep")
        DCMILPEN = rw(0, "DCMI clocked in sleep")

    class AHB3LPENR(Reg, at=0x58, reset=0x0000_0001):
        """AHB3 peripheral clock enable in low power mode register"""

        FMCLPEN = rw(0, "FMC clocked in sleep")

    class APB1LPENR(Reg, at=0x60, reset=0xF6FE_C9FF):
        """APB1 peripheral clock enable in low power mode register"""

        UART8LPEN = rw(31, "UART8 clocked in sleep")
        UART7LPEN = rw(30, "UART7 clocked in sleep")
        DACLPEN = rw(29, "DAC clocked in sleep")
        PWRLPEN = rw(28, "PWR clocked in sleep")
        CAN2LPEN = rw(26, "CAN2 clocked in sleep")
        CAN1LPEN = rw(25, "CAN1 clocked in sleep")
        I2C3LPEN = rw(23, "I2C3 clocked in sleep")
        I2C2LPEN = rw(22, "I2C2 clocked in sleep")
        I2C1LPEN = rw(21, "I2C1 clocked in sleep")
        UART5LPEN = rw(20, "UART5 clocked in sleep")
        UART4LPEN = rw(19, "UART4 clocked in sleep")
        USART3LPEN = rw(18, "USART3 clocked in sleep")
        USART2LPEN = rw(17, "USART2 clocked in sleep")
        SPI3LPEN = rw(15, "SPI3 clocked in sleep")
        SPI2LPEN = rw(14, "SPI2 clocked in sleep")
        WWDGLPEN = rw(11, "WWDG clocked in sleep")
        TIM14LPEN = rw(8, "TIM14 clocked in sleep")
        TIM13LPEN = rw(7, "TIM13 clocked in sleep")
        TIM12LPEN = rw(6, "TIM12 clocked in sleep")
        TIM7LPEN = rw(5, "TIM7 clocked in sleep")
        TIM6LPEN = rw(4, "TIM6 clocked in sleep")
        TIM5LPEN = rw(3, "TIM5 clocked in sleep")
        TIM4LPEN = rw(2, "TIM4 clocked in sleep")
        TIM3LPEN = rw(1, "TIM3 clocked in sleep")
        TIM2LPEN = rw(0, "TIM2 clocked in sleep")

    class APB2LPENR(Reg, at=0x64, reset=0x0477_7F33):
        """APB2 peripheral clock enable in low power mode register"""

        LTDCLPEN = rw(26, "LTDC clocked in sleep")
        SAI1LPEN = rw(22, "SAI1 clocked in sleep")
        SPI6LPEN = rw(21, "SPI6 clocked in sleep")
        SPI5LPEN = rw(20, "SPI5 clocked in sleep")
        TIM11LPEN = rw(18, "TIM11 clocked in sleep")
        TIM10LPEN = rw(17, "TIM10 clocked in sleep")
        TIM9LPEN = rw(16, "TIM9 clocked in sleep")
        SYSCFGLPEN = rw(14, "SYSCFG clocked in sleep")
        SPI4LPEN = rw(13, "SPI4 clocked in sleep")
        SPI1LPEN = rw(12, "SPI1 clocked in sleep")
        SDIOLPEN = rw(11, "SDIO clocked in sleep")
        ADC3LPEN = rw(10, "ADC3 clocked in sleep")
        ADC2LPEN = rw(9, "ADC2 clocked in sleep")
        ADC1LPEN = rw(8, "ADC1 clocked in sleep")
        USART6LPEN = rw(5, "USART6 clocked in sleep")
        USART1LPEN = rw(4, "USART1 clocked in sleep")
        TIM8LPEN = rw(1, "TIM8 clocked in sleep")
        TIM1LPEN = rw(0, "TIM1 clocked in sleep")

    ahb1rstr: AHB1RSTR
    ahb2rstr: AHB2RSTR
    ahb3rstr: AHB3RSTR
    apb1rstr: APB1RSTR
    apb2rstr: APB2RSTR
    ahb1enr: AHB1ENR
    ahb2enr: AHB2ENR
    ahb3enr: AHB3ENR
    apb1enr: APB1ENR
    apb2enr: APB2ENR
    ahb1lpenr: AHB1LPENR
    ahb2lpenr: AHB2LPENR
    ahb3lpenr: AHB3LPENR
    apb1lpenr: APB1LPENR
    apb2lpenr: APB2LPENR
    cr: CR
    pllcfgr: PLLCFGR
    cfgr: CFGR
    cir: CIR
    bdcr: BDCR
    csr: CSR
    sscgr: SSCGR
    plli2scfgr: PLLI2SCFGR
    pllsaicfgr: PLLSAICFGR
    dckcfgr: DCKCFGR
