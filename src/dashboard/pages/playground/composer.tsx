import { Box, Button, Group, Text, Textarea } from '@mantine/core'
import { IconPlayerStop, IconSend2 } from '@tabler/icons-react'
import { useState } from 'react'
import { AttachButton, pastedImages, readImages, Thumbnails } from './attachments'

type ComposerProps = {
  isWriting: boolean
  obstacle: string | undefined
  takesImages: boolean
  send(text: string, images: readonly string[]): void
  stop(): void
}

const NO_IMAGES = 'This model takes no images: remove them, or choose another one.'

/** The playground's input: Enter sends, Shift+Enter starts a line; images can be attached. Keeps the text until it is sent. */
export function Composer({ isWriting, obstacle, takesImages, send, stop }: ComposerProps) {
  const [text, setText] = useState('')
  const [images, setImages] = useState<readonly string[]>([])
  const [fault, setFault] = useState<string>()
  const hindrance = obstacle ?? (images.length > 0 && !takesImages ? NO_IMAGES : undefined)
  const canSend = !isWriting && hindrance === undefined && text.trim() !== ''

  function submit() {
    if (!canSend) return
    send(text.trim(), images)
    setText('')
    setImages([])
    setFault(undefined)
  }

  async function attach(files: readonly File[]) {
    if (files.length === 0) return
    const read = await readImages(files, images)
    setFault(typeof read === 'string' ? read : undefined)
    if (typeof read !== 'string') setImages((now) => [...new Set([...now, ...read])])
  }

  return (
    <Box
      component="form"
      p="md"
      style={{ borderTop: '1px solid var(--hairline)' }}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <Thumbnails images={images} remove={(index) => setImages((now) => now.filter((_, other) => other !== index))} />
      <Textarea
        aria-label="Message"
        placeholder="Write a message"
        autosize
        minRows={2}
        maxRows={10}
        value={text}
        error={fault}
        onChange={(event) => setText(event.currentTarget.value)}
        onPaste={(event) => void (takesImages && attach(pastedImages(event.clipboardData)))}
        onKeyDown={(event) => {
          // With some input methods, Enter also ends the composition of a character.
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          submit()
        }}
      />
      <Group justify="space-between" mt="xs" gap="sm">
        <Text size="xs" c="dimmed">
          {hindrance ?? 'Enter sends, Shift + Enter begins a new line'}
        </Text>
        <Group gap="xs">
          {takesImages && <AttachButton attach={attach} />}
          {isWriting ? (
            <Button type="button" variant="default" leftSection={<IconPlayerStop size={16} />} onClick={stop}>
              Stop
            </Button>
          ) : (
            <Button type="submit" leftSection={<IconSend2 size={16} />} disabled={!canSend}>
              Send
            </Button>
          )}
        </Group>
      </Group>
    </Box>
  )
}
