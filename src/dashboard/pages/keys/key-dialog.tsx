/** The dialog around a form of an API key: over the whole screen on a phone. */
import { Modal } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { ReactNode } from 'react'

type KeyDialogProps = {
  title: string
  isOpen: boolean
  close(): void
  /** What must be read is not closed by a click beside it. */
  isSticky?: boolean
  children: ReactNode
}

/** Opens over the page while `isOpen`. */
export function KeyDialog({ title, isOpen, close, isSticky = false, children }: KeyDialogProps) {
  const isPhone = useMediaQuery('(max-width: 40em)')
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={title}
      size="lg"
      fullScreen={isPhone ?? false}
      closeOnClickOutside={!isSticky}
      closeOnEscape={!isSticky}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {children}
    </Modal>
  )
}
