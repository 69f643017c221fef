/** The dialogs around forms of keys: over the whole screen on a phone. */
import { Modal } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'

type KeyDialogProps = {
  title: string
  isOpen: boolean
  close(): void
  /** Whether a click outside leaves the dialog open, because its content must be read. */
  isSticky?: boolean
  children: ReactNode
}

/** A dialog over the page, shown while `isOpen`. */
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

type KeyMakerProps = Pick<KeyDialogProps, 'title' | 'isOpen' | 'close'> & {
  /** The dialog's title once the key is made. */
  madeTitle: string
  /** The form, which calls `onMade` with the text of the key. */
  form(onMade: (key: string) => void): ReactNode
  /** Renders the new key until the person confirms that it is saved. */
  made(key: string, finish: () => void): ReactNode
}

/** The dialog that creates a key. It must stay on the page while it is open, even if the list reloads: only it shows the key. */
export function KeyMaker({ title, madeTitle, isOpen, close, form, made }: KeyMakerProps) {
  const [key, setKey] = useState<string>()
  function finish() {
    close()
    setKey(undefined)
  }
  const isMade = key !== undefined
  return (
    <KeyDialog title={isMade ? madeTitle : title} isOpen={isOpen || isMade} close={finish} isSticky={isMade}>
      {isMade ? made(key, finish) : form(setKey)}
    </KeyDialog>
  )
}
