/* Start-up as vendor tools generate it for an STM32F4: stack, SystemInit, .data, .bss, constructors, main. */
    .syntax unified
    .cpu cortex-m4
    .fpu fpv4-sp-d16
    .thumb

    .global Reset_Handler
    .global Default_Handler

    .section .text.Reset_Handler
    .weak Reset_Handler
    .type Reset_Handler, %function
Reset_Handler:
    ldr   sp, =_estack
    bl    SystemInit
    ldr   r0, =_sdata
    ldr   r1, =_edata
    ldr   r2, =_sidata
    movs  r3, #0
    b     2f
1:  ldr   r4, [r2, r3]
    str   r4, [r0, r3]
    adds  r3, r3, #4
2:  adds  r4, r0, r3
    cmp   r4, r1
    bcc   1b
    ldr   r2, =_sbss
    ldr   r4, =_ebss
    movs  r3, #0
    b     4f
3:  str   r3, [r2]
    adds  r2, r2, #4
4:  cmp   r2, r4
    bcc   3b
    bl    __libc_init_array
    bl    main
    bx    lr
    .size Reset_Handler, .-Reset_Handler

    .section .text.Default_Handler,"ax",%progbits
Default_Handler:
    b     Default_Handler
    .size Default_Handler, .-Default_Handler

    .section .isr_vector,"a",%progbits
    .type vectors, %object
vectors:
    .word _estack
    .word Reset_Handler
    .word NMI_Handler
    .word HardFault_Handler
    .word MemManage_Handler
    .word BusFault_Handler
    .word UsageFault_Handler
    .word 0, 0, 0, 0
    .word SVC_Handler
    .word DebugMon_Handler
    .word 0
    .word PendSV_Handler
    .word SysTick_Handler
    .rept 16
    .word Default_Handler              /* 0 to 15 */
    .endr
    .word Default_Handler              /* 16 */
    .word Default_Handler              /* 17 */
    .rept 10
    .word Default_Handler              /* 18 to 27 */
    .endr
    .word TIM2_IRQHandler              /* 28 */
    .rept 8
    .word Default_Handler              /* 29 to 36 */
    .endr
    .word USART1_IRQHandler            /* 37 */
    .word Default_Handler              /* 38 */
    .word USART3_IRQHandler            /* 39 */
    .word EXTI15_10_IRQHandler         /* 40 */
    .rept 27
    .word Default_Handler              /* 41 to 67 */
    .endr
    .word DMA2_Stream5_IRQHandler      /* 68 */
    .word DMA2_Stream6_IRQHandler      /* 69 */
    .word DMA2_Stream7_IRQHandler      /* 70 */
    .rept 8
    .word Default_Handler              /* 71 to 78 */
    .endr
    .word CRYP_IRQHandler              /* 79 */
    .word HASH_RNG_IRQHandler          /* 80 */
    .size vectors, .-vectors

    .macro handler name
    .weak \name
    .thumb_set \name, Default_Handler
    .endm
    handler NMI_Handler
    handler HardFault_Handler
    handler MemManage_Handler
    handler BusFault_Handler
    handler UsageFault_Handler
    handler SVC_Handler
    handler DebugMon_Handler
    handler PendSV_Handler
    handler SysTick_Handler
    handler TIM2_IRQHandler
    handler USART1_IRQHandler
    handler USART3_IRQHandler
    handler EXTI15_10_IRQHandler
    handler DMA2_Stream5_IRQHandler
    handler DMA2_Stream6_IRQHandler
    handler DMA2_Stream7_IRQHandler
    handler CRYP_IRQHandler
    handler HASH_RNG_IRQHandler
